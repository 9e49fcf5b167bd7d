"""Where findings go: which files ``--out`` names, whether they can be written, and writing them."""

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from geosleuth.agent import Trajectory
from geosleuth.agent.locating import Finding
from geosleuth.answer import Answer
from geosleuth.answer.formats import Context, Entry, format_of
from geosleuth.answer.granularity import Granularity
from geosleuth.app.console import talk
from geosleuth.atlas import Atlas
from geosleuth.errors import BadInput
from geosleuth.files import write_text_atomically
from geosleuth.names import country_code

PAGE = (".html", ".htm")
LOCATED = "-located"
"""What is added to the name of a copy with the place in its metadata."""


@dataclass(frozen=True, slots=True)
class Outputs:
    """What is written once there is a finding: files by their endings, a batch's folder, a copy with EXIF data."""

    files: tuple[Path, ...] = ()
    folder: Path | None = None
    exif_copy: Path | None = None
    overwrite: bool = False


def outputs_of(
    out: Sequence[str], photos: Sequence[Path], *, batch: bool, overwrite: bool, exif: bool, yes: bool
) -> Outputs:
    """Read ``--out`` and ``--write-exif``.

    Raises:
        BadInput: there is no such format, a file is there already, or it could not be written.
    """
    folders = [Path(name) for name in out if _is_folder(name, batch=batch)]
    files = [Path(name) for name in out if not _is_folder(name, batch=batch)]
    if folders and not batch:
        raise BadInput(f"{folders[0]}: is a folder, which holds the findings of a batch; add --batch, or name a file")
    if len(folders) > 1:
        raise BadInput("--out names two folders; a batch has one")
    for path in files:
        if not path.name.lower().endswith(PAGE) and not format_of(path).many and len(photos) != 1:
            raise BadInput(f"{path}: holds one photo's finding; give one photo, or another format")
        if len({file.absolute() for file in files}) < len(files):
            raise BadInput(f"{path}: --out names the same file twice")
        check_new_file(path, overwrite=overwrite)
        if path.exists() and any(photo.exists() and path.samefile(photo) for photo in photos):
            raise BadInput(f"{path}: is the photo itself")
    copy = _copy_name(photos, batch=batch, yes=yes) if exif else None
    if copy is not None:
        check_new_file(copy, overwrite=overwrite)
    return Outputs(tuple(files), folders[0] if folders else None, copy, overwrite)


def _is_folder(name: str, *, batch: bool) -> bool:
    path = Path(name)
    return name.endswith(("/", os.sep)) or path.is_dir() or (batch and not path.suffix)


def _copy_name(photos: Sequence[Path], *, batch: bool, yes: bool) -> Path:
    if batch or len(photos) != 1:
        raise BadInput("--write-exif makes a copy of one photo; give one photo")
    if not yes and not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise BadInput("--write-exif asks before it writes, and nobody is there to ask; add --yes")
    (photo,) = photos
    if photo.suffix.lower() not in (".jpg", ".jpeg", ".png"):
        raise BadInput(f"{photo}: a place can be written into copies of JPEG and PNG files; use --out FILE.xmp instead")
    return photo.with_name(f"{photo.stem}{LOCATED}{photo.suffix}")


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
    if there and not overwrite:
        raise BadInput(f"{path}: is there already; choose another name")
    if there and not path.is_file():
        raise BadInput(f"{path}: can't be written: it is not a plain file")
    if not folder:
        raise BadInput(f"{path}: the folder {path.parent} does not exist")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise BadInput(f"{path}: no permission to write into {path.parent}")


def entries_of(trajectory: Trajectory, photos: Iterable[tuple[str, Path]], granularity: Granularity) -> list[Entry]:
    """A finding, capped already, with its context: once for each photo, given by its hash and its path."""
    answer = trajectory.answer or Answer()
    sources = dict.fromkeys(source for seen in trajectory.observations for source in seen.sources)
    context = Context(
        model=trajectory.started.policy,
        method=trajectory.started.method,
        when=trajectory.created,
        tools=trajectory.started.tools,
        sources=tuple(sources),
        country_code=country_code(answer.address.country.conclusion or ""),
    )
    return [
        Entry(answer, replace(context, sha256=sha256, file_name=path.name).capped(granularity))
        for sha256, path in photos
    ]


def write_entries(path: Path, entries: Sequence[Entry]) -> None:
    """Write findings in the format that the file's ending asks for."""
    write_text_atomically(path, format_of(path).render(entries))


async def write_report(path: Path, finding: Finding, atlas: Atlas | None) -> None:
    """Write the report of one finding."""
    from geosleuth.app.report import report_html

    pictures = finding.album.__getitem__ if finding.album is not None else None
    page = await report_html(finding, atlas=atlas, pictures=pictures)
    write_text_atomically(path, page)


async def write_outputs(finding: Finding, paths: Sequence[Path], outputs: Outputs, atlas: Atlas | None) -> None:
    """Write every file that was asked for, and say so."""
    for path in outputs.files:
        if path.name.lower().endswith(PAGE):
            await write_report(path, finding, atlas)
        else:
            hashes = [claims.sha256 for claims in finding.claims]
            photos = zip(hashes, paths, strict=True)
            write_entries(path, entries_of(finding.trajectory, photos, finding.granularity))
        talk(f"wrote {path}")


def write_exif(finding: Finding, photo: Path, outputs: Outputs, *, yes: bool) -> None:
    """Write a copy with the place in its metadata, after a confirmation; the original stays as it is.

    Raises:
        BadInput: it can't be written.
    """
    from geosleuth.photo.writing import write_exif_copy

    copy, answer = outputs.exif_copy, finding.answer
    if copy is None:
        return
    if answer.point is None:
        talk(f"{copy.name} is not written: there is no point to put into it")
        return
    where = f"{answer.point.lat:.5f}, {answer.point.lon:.5f}"
    if not yes and not asked(f"Write {where} as an estimated place into the copy {copy}?"):
        talk("nothing was written into a copy")
        return
    done = write_exif_copy(photo, copy, answer.point, answer.radius_km, overwrite=outputs.overwrite)
    replaced = "" if done.replaced is None else "; the place that the original claims is not in it"
    talk(f"wrote {copy} with {where} as an estimated place{replaced}")


def asked(question: str) -> bool:
    """Ask whoever sits at the terminal; anything but yes is no."""
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
