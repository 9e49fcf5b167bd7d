"""``geosleuth locate``: where was this photo taken?"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from geosleuth.cli.options import PANEL, WAY, RunOptions, request_of, takes

_KNOWN = "What you know"
_LEAVES = "What comes out"


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """What comes out."""

    out: Annotated[
        list[str],
        typer.Option(
            metavar="FILE",
            rich_help_panel=_LEAVES,
            help="Also write the finding, by the ending: .html (a report), .zip (an evidence package), .json, "
            ".geojson, .kml, .csv, .dwc.csv, .xmp; DIR/ for a batch. May be repeated.",
        ),
    ] = field(default_factory=list)
    granularity: Annotated[
        str,
        typer.Option(
            metavar="LEVEL",
            rich_help_panel=_LEAVES,
            help="Tell nothing finer than this: country, region, city, street or exact.",
        ),
    ] = "exact"
    overwrite: Annotated[
        bool, typer.Option("--overwrite", rich_help_panel=_LEAVES, help="Files that are there already may be replaced.")
    ] = False
    write_exif: Annotated[
        bool,
        typer.Option(
            "--write-exif",
            rich_help_panel=_LEAVES,
            help="After asking, write a copy of each photo with the estimated place in its metadata.",
        ),
    ] = False
    sidecars: Annotated[
        bool,
        typer.Option(
            "--sidecars", rich_help_panel=_LEAVES, help="Write an XMP sidecar, PHOTO.jpg.xmp, beside each photo."
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class KnownOptions:
    """What the user knows about the photo."""

    within: Annotated[
        str | None,
        typer.Option(
            metavar="AREA",
            rich_help_panel=_KNOWN,
            help="Where it must lie: a country, a region, S,W,N,E or LAT,LON,KM, or a GeoJSON file with polygons.",
        ),
    ] = None
    hint: Annotated[
        str | None,
        typer.Option(metavar="TEXT", rich_help_panel=_KNOWN, help="What you know about the photo."),
    ] = None
    taken: Annotated[
        str | None,
        typer.Option(metavar="TIME", rich_help_panel=_KNOWN, help="When it was taken, such as 2026-07-14T15:30+02:00."),
    ] = None
    drives_on: Annotated[
        str | None,
        typer.Option(metavar="SIDE", rich_help_panel=_KNOWN, help="Where traffic keeps to: left or right."),
    ] = None
    seen: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            rich_help_panel=_KNOWN,
            help='What you see, such as "yellow centre line, left-hand traffic": weighed by the field guide.',
        ),
    ] = None
    check: Annotated[
        str | None,
        typer.Option(metavar="LAT,LON", rich_help_panel=_KNOWN, help="Say what speaks for this place and against it."),
    ] = None
    area: Annotated[
        str | None,
        typer.Option(metavar="TEXT", rich_help_panel=_KNOWN, help="Where the place lies, in words for a model."),
    ] = None


@dataclass(frozen=True, kw_only=True)
class PhotoOptions:
    """The photos, and whether each has an answer of its own."""

    photos: Annotated[
        list[str],
        typer.Argument(
            metavar="PHOTO...",
            help="A photo: a file, an https address, - (standard input) or clipboard:. Several, folders or quoted "
            "patterns are worked on as a batch. Or one video.",
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class BatchOptions:
    """How photos are worked on."""

    same_place: Annotated[
        bool, typer.Option("--same-place", rich_help_panel=WAY, help="The photos were taken at one place: one answer.")
    ] = False
    batch: Annotated[bool, typer.Option("--batch", rich_help_panel=WAY, help="A batch, even of one photo.")] = False
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1,
            rich_help_panel=WAY,
            show_default="2 for the detective, 4 for models",
            help="Photos of a batch that are worked on at once.",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class LastOptions:
    """What stands last in the help."""

    image_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            rich_help_panel=PANEL,
            help="Where the photo is on the web already, for an image search that takes addresses only.",
        ),
    ] = None
    trajectory: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Keep every step in this file (JSON lines)."),
    ] = None
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else.")] = False


@dataclass(frozen=True, kw_only=True)
class LocateOptions(LastOptions, RunOptions, BatchOptions, KnownOptions, OutputOptions, PhotoOptions):
    """All options of the command, in the order of the help from the right."""


MOST_USED = (
    "within", "hint", "seen", "taken", "check", "same_place", "model", "offline", "out", "granularity", "overwrite",
    "as_json",
)  # fmt: skip
"""What `--help` shows."""


@takes(LocateOptions, shown=MOST_USED)
def locate(options: LocateOptions) -> None:
    """Find out where a photo was taken. The result is a lead with its uncertainty, not a verdict.

    Without --model nothing leaves this machine: a detective in code reads the text in the photo, looks names up in the
    atlas and weighs the clues.

    Examples:

      geosleuth locate photo.jpg

      geosleuth locate photo.jpg --within France --hint "near Nice" --out report.html --out place.geojson

      geosleuth locate photo.jpg --granularity city --json

      geosleuth locate photo.jpg --check 43.7384,7.4246

      geosleuth locate --same-place front.jpg back.jpg

      geosleuth locate holiday/ --out findings/

      geosleuth locate clip.mp4 --out places.html

      geosleuth locate https://example.org/street.jpg --yes

      geosleuth locate photo.jpg --model openai:gpt-5

      geosleuth locate photo.jpg --model hf:models/my-vlm --offline --force-answer --json
    """
    from geosleuth.cli.handlers.photo_arguments import inputs_of
    from geosleuth.cli.handlers.photo_sources import local_photos
    from geosleuth.photo.video_limits import is_video

    request = request_of(
        options,
        RunOptions,
        KnownOptions,
        OutputOptions,
        image_url=options.image_url,
        trajectory=options.trajectory,
    )
    with local_photos(options.photos, request) as words:
        paths, many, named = inputs_of(words, batch=options.batch, same_place=options.same_place)
        if any(map(is_video, paths)):
            from geosleuth.cli.handlers.locate_video import locate_video

            locate_video(paths, request, as_json=options.as_json)
        elif many:
            from geosleuth.cli.handlers.locate_batch import locate_batch

            locate_batch(paths, request, as_json=options.as_json, jobs=options.jobs, named=named)
        else:
            from geosleuth.cli.handlers.locate import locate_photos

            locate_photos(paths, request, as_json=options.as_json)
