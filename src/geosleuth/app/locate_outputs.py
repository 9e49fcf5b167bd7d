"""Where findings go: which files ``--out`` names, whether they can be written, and writing them."""

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from geosleuth.agent import Trajectory
from geosleuth.agent.locating import Finding
from geosleuth.answer import Answer
from geosleuth.answer.formats import Context, Entry, Format, format_of
from geosleuth.answer.granularity import Granularity
from geosleuth.app.console import talk
from geosleuth.app.overwriting import refuse_to_replace
from geosleuth.atlas import Atlas
from geosleuth.atlas.outlines import country_outline, found_country
from geosleuth.errors import BadInput
from geosleuth.files import write_text_atomically
from geosleuth.names import country_code

PAGE = (".html", ".htm")
INDEX = "index.html"
LOCATED = "-located"
"""What is added to the name of a copy with the place in its metadata."""


@dataclass(frozen=True, slots=True)
class Outputs:
    """What is written once there is a finding: files by their endings, a batch's folder, files beside the photos."""

    files: tuple[Path, ...] = ()
    folder: Path | None = None
    overwrite: bool = False
    exif: bool = False
    sidecars: bool = False


def outputs_of(out: Sequence[str], photos: Sequence[Path], *, batch: bool, overwrite: bool) -> Outputs:
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
        if not path.name.lower().endswith(PAGE) and not _format(path).many and len(photos) != 1:
            raise BadInput(f"{path}: holds one photo's finding; use --sidecars, which writes one beside each photo")
        if len({file.absolute() for file in files}) < len(files):
            raise BadInput(f"{path}: --out names the same file twice")
        check_new_file(path, overwrite=overwrite)
        check_is_none_of(path, photos, "the photo itself")
    for folder in folders:
        _check_index(folder / INDEX, overwrite=overwrite)
    return Outputs(tuple(files), folders[0] if folders else None, overwrite)


def _check_index(path: Path, *, overwrite: bool) -> None:
    """A batch replaces the page of an earlier one, and no other."""
    from geosleuth.app.report.summary import is_summary

    try:
        ours = path.is_file() and is_summary(path)
    except (OSError, ValueError) as error:
        raise BadInput(f"{path}: can't be read: {getattr(error, 'strerror', None) or error}") from error
    if not ours:
        refuse_to_replace([path], overwrite=overwrite)


def _format(path: Path) -> Format:
    try:
        return format_of(path)
    except BadInput as error:
        raise BadInput(str(error).replace("there are ", f"there are {PAGE[0]}, ")) from error


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


def check_is_none_of(path: Path, files: Iterable[Path], what: str) -> None:
    """Complain about an output that is one of the inputs, under whatever name.

    Raises:
        BadInput: it is.
    """
    if path.exists() and any(file.exists() and path.samefile(file) for file in files):
        raise BadInput(f"{path}: is {what}; choose another name")


def entries_of(trajectory: Trajectory, photos: Iterable[tuple[str, Path]], granularity: Granularity) -> list[Entry]:
    """A finding, capped already, with its context: once for each photo, given by its hash and its path."""
    answer = trajectory.answer or Answer()
    country = found_country(answer)
    outline = country_outline(country) if country else None
    sources = dict.fromkeys(source for seen in trajectory.observations for source in seen.sources)
    context = Context(
        model=trajectory.started.policy,
        method=trajectory.started.method,
        when=trajectory.created,
        tools=trajectory.started.tools,
        sources=tuple(sources),
        country_code=country_code(answer.address.country.conclusion or ""),
        outline=outline.polygons if outline else [],
    )
    return [
        Entry(answer, replace(context, sha256=sha256, file_name=path.name).capped(granularity))
        for sha256, path in photos
    ]


def write_entries(path: Path, entries: Sequence[Entry]) -> None:
    """Write findings in the format that the file's ending asks for."""
    write_text_atomically(path, format_of(path).render(entries))


async def write_report(path: Path, finding: Finding, atlas: Atlas | None, *, claim: Sequence[str] = ()) -> None:
    """Write the report of one finding; ``claim`` says what was found out about a place that somebody claims."""
    from geosleuth.app.report import report_html

    pictures = finding.album.__getitem__ if finding.album is not None else None
    page = await report_html(finding, atlas=atlas, pictures=pictures, claim=claim)
    write_text_atomically(path, page)


async def write_outputs(
    finding: Finding, paths: Sequence[Path], outputs: Outputs, atlas: Atlas | None, *, claim: Sequence[str] = ()
) -> None:
    """Write every file that was asked for, and say so."""
    for path in outputs.files:
        if path.name.lower().endswith(PAGE):
            await write_report(path, finding, atlas, claim=claim)
        else:
            hashes = [claims.sha256 for claims in finding.claims]
            photos = zip(hashes, paths, strict=True)
            write_entries(path, entries_of(finding.trajectory, photos, finding.granularity))
        talk(f"wrote {path}")


def asked(question: str) -> bool:
    """Ask whoever sits at the terminal; anything but yes is no."""
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
