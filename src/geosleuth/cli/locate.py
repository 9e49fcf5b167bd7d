"""``geosleuth locate``: where was this photo taken?"""

from pathlib import Path
from typing import ClassVar

from geosleuth.cli.options import PANEL, WAY, Options, RunOptions, argument, build_request, flag, option

_KNOWN = "What you know"
_LEAVES = "What comes out"

# Most used options: the ones that `--help` shows.
COMMON_OPTIONS = (
    "within", "hint", "seen", "taken", "check", "same_place", "model", "offline", "out", "granularity", "overwrite",
    "as_json",
)  # fmt: skip


class OutputOptions(Options):
    """Output options."""

    out: list[str] = option(
        [],
        "Also write the finding, by the ending: .html (a report), .zip (an evidence package), .json, "
        ".geojson, .kml, .csv, .dwc.csv, .xmp; DIR/ for a batch. May be repeated.",
        panel=_LEAVES,
        metavar="FILE",
    )
    granularity: str = option(
        "exact", "Tell nothing finer than this: country, region, city, street or exact.", panel=_LEAVES, metavar="LEVEL"
    )
    overwrite: bool = flag("Files that are there already may be replaced.", panel=_LEAVES)
    write_exif: bool = flag(
        "After asking, write a copy of each photo with the estimated place in its metadata.", panel=_LEAVES
    )
    sidecars: bool = flag("Write an XMP sidecar, PHOTO.jpg.xmp, beside each photo.", panel=_LEAVES)


class KnownOptions(Options):
    """Options for what the user knows about the photo."""

    within: str | None = option(
        None,
        "Where it must lie: a country, a region, S,W,N,E or LAT,LON,KM, or a GeoJSON file with polygons.",
        panel=_KNOWN,
        metavar="AREA",
    )
    hint: str | None = option(None, "What you know about the photo.", panel=_KNOWN, metavar="TEXT")
    taken: str | None = option(None, "When it was taken, such as 2026-07-14T15:30+02:00.", panel=_KNOWN, metavar="TIME")
    drives_on: str | None = option(None, "Where traffic keeps to: left or right.", panel=_KNOWN, metavar="SIDE")
    seen: str | None = option(
        None,
        'What you see, such as "yellow centre line, left-hand traffic": weighed by the field guide.',
        panel=_KNOWN,
        metavar="TEXT",
    )
    check: str | None = option(None, "Say what speaks for this place and against it.", panel=_KNOWN, metavar="LAT,LON")
    area: str | None = option(None, "Where the place lies, in words for a model.", panel=_KNOWN, metavar="TEXT")


class PhotoOptions(Options):
    """The photos, and whether each has an answer of its own."""

    photos: list[str] = argument(
        "A photo: a file, an https address, - (standard input) or clipboard:. Several, folders or quoted "
        "patterns are worked on as a batch. Or one video.",
        metavar="PHOTO...",
    )


class BatchOptions(Options):
    """Options for many photos."""

    same_place: bool = flag("The photos were taken at one place: one answer.", panel=WAY)
    batch: bool = flag("A batch, even of one photo.", panel=WAY)
    jobs: int | None = option(
        None,
        "Photos of a batch that are worked on at once.",
        panel=WAY,
        min=1,
        show_default="2 for the detective, 4 for models",
    )


class LastOptions(Options):
    """Options listed last in the help."""

    image_url: str | None = option(
        None,
        "Where the photo is on the web already, for an image search that takes addresses only.",
        panel=PANEL,
        metavar="URL",
    )
    trajectory: Path | None = option(None, "Keep every step in this file (JSON lines).", metavar="FILE")
    as_json: bool = flag("Print one JSON document on stdout and nothing else.", "--json")


class LocateCommandOptions(LastOptions, RunOptions, BatchOptions, KnownOptions, OutputOptions, PhotoOptions):
    """All options of the command, in the order of the help from the right."""

    shown: ClassVar = COMMON_OPTIONS


def locate(options: LocateCommandOptions) -> None:
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
    from geosleuth.cli.handlers.photo_arguments import resolve_inputs
    from geosleuth.cli.handlers.photo_sources import local_photos
    from geosleuth.photo.video_limits import is_video

    request = build_request(
        options, RunOptions, KnownOptions, OutputOptions, image_url=options.image_url, trajectory=options.trajectory
    )
    with local_photos(options.photos, request) as words:
        paths, many, named = resolve_inputs(words, batch=options.batch, same_place=options.same_place)
        if any(map(is_video, paths)):
            from geosleuth.cli.handlers.locate_video import locate_video

            locate_video(paths, request, as_json=options.as_json)
        elif many:
            from geosleuth.cli.handlers.locate_batch import locate_batch

            locate_batch(paths, request, as_json=options.as_json, jobs=options.jobs, named=named)
        else:
            from geosleuth.cli.handlers.locate import locate_photos

            locate_photos(paths, request, as_json=options.as_json)
