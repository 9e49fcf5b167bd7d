"""Output files: which a request names, whether they can be written, and their contents."""

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from geosleuth.agent import Trajectory
from geosleuth.agent.display import classify_extent, whole_country
from geosleuth.agent.locate import Finding
from geosleuth.answer import Answer, Candidate
from geosleuth.answer.formats import AnswerContext, Format, LocatedAnswer, Polygons, find_format
from geosleuth.answer.formats.context import Reviewed
from geosleuth.answer.granularity import Granularity
from geosleuth.atlas.granular import country_outline, wide_country
from geosleuth.names import country_code
from geosleuth.support.errors import BadInput
from geosleuth.support.files import refuse_to_replace, write_text_atomically

from .request import REPLAY, LocateRequest, get_recording_path

PAGE = (".html", ".htm")
# File extension of an evidence package: see `geosleuth.report.evidence_package`.
PACKAGE = ".zip"

INDEX = "index.html"
# Generator named in a batch's page, so that the next batch may replace the page.
SUMMARY_GENERATOR = "geosleuth batch"

_HEAD_BYTES = 4096
# File extensions of photos.
PHOTO_EXTENSIONS = (".jpg", ".jpeg", ".png", ".webp", ".tif", ".tiff", ".heic", ".heif")

# File extensions of photos that a place can be written into.
WRITABLE_EXTENSIONS = (".jpg", ".jpeg", ".png")

# Suffix of a copy with the place in its metadata.
LOCATED_SUFFIX = "-located"


@dataclass(frozen=True, slots=True)
class Outputs:
    """Files to write for a finding: files by their suffixes, a batch's folder, files beside the photos."""

    files: tuple[Path, ...] = ()
    folder: Path | None = None
    overwrite: bool = False
    exif: bool = False
    sidecars: bool = False


def parse_outputs(out: Sequence[str], photos: Sequence[Path], *, batch: bool, overwrite: bool) -> Outputs:
    """Read ``--out``.

    Raises:
        BadInput: there is no such format, a file is there already, or it could not be written.
    """
    if not all(name.strip() for name in out):
        raise BadInput("--out names no file; give one, such as report.html")
    folders = [Path(name) for name in out if _is_folder(name, batch=batch)]
    files = [Path(name) for name in out if not _is_folder(name, batch=batch)]
    if folders and not batch:
        raise BadInput(f"{folders[0]}: is a folder, which holds the findings of a batch; add --batch, or name a file")
    if len(folders) > 1:
        raise BadInput("--out names two folders; a batch has one")
    for path in files:
        if path.name.lower().endswith(PACKAGE):
            if batch:
                raise BadInput(f"{path}: an evidence package holds one finding; name one photo, or use --out DIR/")
        elif not path.name.lower().endswith(PAGE) and not _format(path).many and len(photos) != 1:
            raise BadInput(f"{path}: holds one photo's finding; use --sidecars, which writes one beside each photo")
        if len({file.absolute() for file in files}) < len(files):
            raise BadInput(f"{path}: --out names the same file twice")
        check_new_file(path, overwrite=overwrite)
        check_not_input(path, photos, "the photo itself")
    for folder in folders:
        _check_index(folder / INDEX, overwrite=overwrite)
    return Outputs(tuple(files), folders[0] if folders else None, overwrite)


def _check_index(path: Path, *, overwrite: bool) -> None:
    """Refuse to replace a page other than that of an earlier batch."""
    try:
        ours = path.is_file() and _is_summary(path)
    except (OSError, ValueError) as error:
        raise BadInput(f"{path}: can't be read: {getattr(error, 'strerror', None) or error}") from error
    if not ours:
        refuse_to_replace([path], overwrite=overwrite)


def _is_summary(path: Path) -> bool:
    with path.open("rb") as stream:
        return f'content="{SUMMARY_GENERATOR}"'.encode() in stream.read(_HEAD_BYTES)


def _format(path: Path) -> Format:
    return find_format(path, beside=f"{PAGE[0]}, {PACKAGE}")


def _is_folder(name: str, *, batch: bool) -> bool:
    path = Path(name)
    return name.endswith(("/", os.sep)) or path.is_dir() or (batch and not path.suffix)


def check_new_file(path: Path, *, overwrite: bool = False) -> None:
    """Complain before the work about a file that can't be begun; the file itself is made when there is something.

    Raises:
        BadInput: it is there already, or can't be made.
    """
    try:
        there, folder = path.exists() or path.is_symlink(), path.parent.is_dir()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a usable path"
        raise BadInput(f"{path}: can't be written: {reason}") from error
    refuse_to_replace([path], overwrite=overwrite)
    if there and not path.is_file():
        raise BadInput(f"{path}: can't be written: it is not a plain file")
    if not folder:
        raise BadInput(f"{path}: the folder {path.parent} does not exist")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise BadInput(f"{path}: no permission to write into {path.parent}")


def check_not_input(path: Path, files: Iterable[Path], what: str) -> None:
    """Complain about an output that is one of the inputs, under any name.

    Raises:
        BadInput: it is.
    """
    if path.exists() and any(file.exists() and path.samefile(file) for file in files):
        raise BadInput(f"{path}: is {what}; choose another name")


def build_entries(
    trajectory: Trajectory,
    photos: Iterable[tuple[str, Path]],
    granularity: Granularity,
    *,
    reviewed: Reviewed | None = None,
) -> list[LocatedAnswer]:
    """A finding, capped already, with its context: once for each photo, given by its hash and its path."""
    answer = trajectory.answer or Answer()
    country = whole_country(trajectory, granularity)
    outline = country_outline(country) if country else None
    sources = dict.fromkeys(source for seen in trajectory.observations for source in seen.sources)
    context = AnswerContext(
        model=trajectory.started.policy,
        method=trajectory.started.method,
        when=trajectory.created,
        tools=trajectory.started.tools,
        sources=tuple(sources),
        country_code=country_code(answer.address.country.conclusion or ""),
        outline=outline.polygons if outline else [],
        extent=classify_extent(trajectory, granularity) or "point",
        candidate_areas=tuple(_candidate_area(candidate) for candidate in answer.candidates),
        reviewed=reviewed,
    )
    return [
        LocatedAnswer(answer, replace(context, sha256=sha256, file_name=path.name).coarsen(granularity))
        for sha256, path in photos
    ]


def _candidate_area(candidate: Candidate) -> Polygons | None:
    """The outline of the country that a candidate is; None for a place, also for a country as small as a city."""
    code = wide_country(candidate.name or "")
    if code is None:
        return None
    outline = country_outline(code)
    return [] if outline is None else outline.polygons


def write_entries(path: Path, entries: Sequence[LocatedAnswer]) -> None:
    """Write findings in the format that the file's ending asks for."""
    write_text_atomically(path, find_format(path).render(entries))


@dataclass(frozen=True, slots=True)
class PlacedPhoto:
    """A photo, what was found out about it, and what it is called on the screen."""

    photo: Path
    entry: LocatedAnswer
    name: str


def exif_copy_path(photo: Path) -> Path:
    """Return the path for the copy of a photo with EXIF data."""
    return photo.with_name(f"{photo.stem}{LOCATED_SUFFIX}{photo.suffix}")


def sidecar_path(photo: Path) -> Path:
    """Return the path for a photo's sidecar: the whole name stays, as photos may differ in suffix only."""
    return photo.with_name(f"{photo.name}.xmp")


def is_copy(photo: Path) -> bool:
    """Return whether a file is such a copy, with its original beside it."""
    stem = photo.stem.removesuffix(LOCATED_SUFFIX)
    return stem != photo.stem and photo.with_name(f"{stem}{photo.suffix}").is_file()


def check_exif(photos: Sequence[Path], *, batch: bool, yes: bool) -> None:
    """Complain before the work where copies can't be written.

    Raises:
        BadInput: there is no terminal to ask on, or no photo is of a kind that can be written.
    """
    if not batch and len(photos) != 1:
        raise BadInput("--write-exif makes a copy of each photo of a batch; leave out --same-place, or give one photo")
    if not yes and not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise BadInput("--write-exif asks before it writes, and nobody is there to ask; add --yes")
    if not any(photo.suffix.lower() in WRITABLE_EXTENSIONS for photo in photos):
        raise BadInput(f"{photos[0]}: a place can be written into copies of JPEG and PNG files; use --sidecars instead")


def build_placed(finding: Finding, photos: Sequence[Path]) -> list[PlacedPhoto]:
    """The photos of one finding, each with its entry."""
    hashed = [(claims.sha256, photo) for claims, photo in zip(finding.claims, photos, strict=True)]
    entries = build_entries(finding.trajectory, hashed, finding.granularity)
    exact = finding.granularity == "exact"
    return [
        PlacedPhoto(photo, entry, photo.name if exact else f"photo {number}")
        for number, (photo, entry) in enumerate(zip(photos, entries, strict=True), 1)
    ]


def photos_below(folder: Path) -> list[Path]:
    """Return the photos in a folder and below it, sorted; hidden ones and copies of ours are left out.

    Raises:
        BadInput: there is none.
    """
    inside = ((item, item.relative_to(folder)) for item in folder.rglob("*") if item.suffix.lower() in PHOTO_EXTENSIONS)
    seen = [one for one, under in inside if not any(part.startswith(".") for part in under.parts) and one.is_file()]
    if found := sorted(item for item in seen if not is_copy(item)):
        return found
    raise BadInput(f"{folder}: holds no photo; photos end in {', '.join(PHOTO_EXTENSIONS)}")


def build_outputs(request: LocateRequest, photos: Sequence[Path], *, batch: bool) -> Outputs:
    """Return what a run writes, once no file stands in its way.

    Raises:
        BadInput: a file is there already, or is one of the photos.
    """
    if request.trajectory is not None:
        _check_trajectory(request.trajectory, request, photos)
    outputs = parse_outputs(request.out, photos, batch=batch, overwrite=request.overwrite)
    beside: list[Path] = []
    if request.write_exif:
        check_exif(photos, batch=batch, yes=request.yes)
        beside += map(exif_copy_path, photos)
    if request.sidecars:
        beside += map(sidecar_path, photos)
    if not batch:
        for path in beside:
            check_new_file(path, overwrite=request.overwrite)
    return replace(outputs, exif=request.write_exif, sidecars=request.sidecars)


def _check_trajectory(path: Path, request: LocateRequest, photos: Sequence[Path]) -> None:
    check_new_file(path, overwrite=request.overwrite)
    check_not_input(path, photos, "the photo itself")
    check_not_input(path, map(Path, request.out), "named by --out too")
    if request.model is not None and request.model.startswith(REPLAY):
        check_not_input(path, [get_recording_path(request.model)], "the recording itself")
