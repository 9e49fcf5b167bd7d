"""Implementation of the ``photo`` commands; imported on demand."""

from datetime import datetime
from pathlib import Path
from typing import Any

import typer
from rich.console import RenderableType
from rich.text import Text

from geosleuth.cli.preparation import agree
from geosleuth.geo.extent import plain
from geosleuth.photo import Claims, SidecarClaim, first_view, open_photo
from geosleuth.photo.geotag import is_copy_of_ours
from geosleuth.photo.sidecar import is_sidecar_of_ours
from geosleuth.photo.text import ReadingOptions, TextLine, read_picture
from geosleuth.pipeline.outputs import exif_copy_path, photos_below, sidecar_path
from geosleuth.support.console import EXIT_SOME_FAILED, facts_view, progress, show_json, show_result, table_view, talk
from geosleuth.support.errors import BadInput
from geosleuth.support.files import compute_sha256, make_folder
from geosleuth.support.text import printable
from geosleuth.support.text.numbers import plural
from geosleuth.tools.similar import NO_TROUBLE, ImageIndex, IndexSummary, Match, build_index, default_index_path

_SKIPPED_SHOWN = 10


def show_claims(file: Path, *, as_json: bool) -> None:
    """Print what the metadata of a photo claims."""
    found = open_photo(file).claims
    show_result({name: _value(value) for name, value in plain(found).items()}, _claims_view(found), as_json=as_json)


def show_text(file: Path, script: str | None, *, as_json: bool) -> None:
    """Print what is written in a photo."""
    options = ReadingOptions(script=script)
    lines = read_picture(open_photo(file).photo.image, options).lines
    show_result([plain(line) for line in lines], _text_view(lines), as_json=as_json)


def undo_estimates(folder: Path, *, reviewed: bool, yes: bool, as_json: bool) -> None:
    """Remove our sidecars and copies beside the photos of a folder, after a confirmation.

    Raises:
        BadInput: there is no such folder, it holds no photo, or the user did not agree.
    """
    if not folder.is_dir():
        raise BadInput(f"{folder}: there is no such folder; check the path")
    beside = [(photo, made(photo)) for photo in photos_below(folder) for made in (sidecar_path, exif_copy_path)]
    there = [(photo, path) for photo, path in beside if path.is_file() and not path.is_symlink()]
    ours = [(photo, path) for photo, path in there if _is_ours(photo, path, reviewed=reviewed)]
    left = len(there) - len(ours)
    if ours:
        told = f"{plural(len(ours), 'file', 'files')} that geosleuth wrote beside photos in {folder} will be removed"
        agree(told, yes=yes, stopped="nothing was removed")
    removed, troubles = [], []
    for photo, path in ours:
        try:
            # Looked at again: much may have happened while the user thought about the answer.
            if _is_ours(photo, path, reviewed=reviewed):
                path.unlink()
                removed.append(str(path))
        except OSError as error:
            troubles.append(f"{path}: can't be removed: {error.strerror or error}")
    for trouble in troubles:
        talk(trouble)
    if as_json:
        show_json({"removed": removed, "left": left, "troubles": troubles})
    talk(f"removed {plural(len(removed), 'file', 'files')}; {left} beside these photos are not geosleuth's estimates")
    if troubles:
        raise typer.Exit(EXIT_SOME_FAILED)


def _is_ours(photo: Path, path: Path, *, reviewed: bool) -> bool:
    if path == exif_copy_path(photo):
        return is_copy_of_ours(photo, path, reviewed=reviewed)
    return is_sidecar_of_ours(path, compute_sha256(photo), reviewed=reviewed)


def make_index(folder: Path, out: Path | None, encoder: str, coordinates: Path | None, *, as_json: bool) -> None:
    """Index the photos of a folder and print a summary."""
    path = out or default_index_path()
    if out is None:
        make_folder(path.parent)
    with progress("looking at photos") as bar:
        done = build_index(folder, path, encoder, bar.update, coordinates=coordinates)
    show_result(
        {"index": str(path), **plain(done), "reasons": dict(done.reasons)}, _summary_view(path, done), as_json=as_json
    )


def show_similar(file: Path, index: Path | None, limit: int, *, as_json: bool) -> None:
    """Print which photos of the index look like this one."""
    opened = open_photo(file)
    photos = ImageIndex.open(index or default_index_path()).exclude([opened])
    found = photos.find(first_view(opened.photo).image, limit=limit)
    show_result([plain(match) for match in found], _similar_view(found), as_json=as_json)


def _value(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def _claims_view(found: Claims) -> RenderableType:
    point = found.point
    kind = "estimated from the picture, not measured" if found.estimated else "a claim, not evidence"
    return facts_view(
        {
            "format": f"{found.format}, {found.size_px[0]} x {found.size_px[1]}, {found.file_bytes:,} bytes",
            "claims to be at": None if point is None else f"{point.lat:.5f}, {point.lon:.5f} ({kind})",
            "sidecar claims": [printable(_sidecar_line(sidecar)) for sidecar in found.sidecars],
            "claims to be taken": None if found.taken_at is None else str(_value(found.taken_at)),
            "camera": printable(" ".join(part for part in (found.camera_make, found.camera_model) if part)),
            "focal length": None if found.focal_35mm is None else f"{found.focal_35mm:g} mm (35 mm equivalent)",
            "software": None if found.software is None else printable(found.software),
            "sha256": found.sha256,
            "notes": [printable(note) for note in found.notes],
        }
    )


def _sidecar_line(claim: SidecarClaim) -> str:
    if claim.trouble is not None:
        return claim.trouble
    point = "" if claim.point is None else f"{claim.point.lat:.5f}, {claim.point.lon:.5f}"
    kind = "estimated from the picture, not measured" if claim.estimated else "a claim, not evidence"
    return f"{'; '.join(filter(None, (point, claim.place)))} ({kind})"


def _text_view(lines: list[TextLine]) -> RenderableType:
    if not lines:
        return Text("no text found")
    rows = []
    for line in lines:
        left, top, right, bottom = (round(edge) for edge in line.bounds)
        where = f"{left}, {top} to {right}, {bottom}"
        rows.append((printable(line.text), line.script, f"{line.confidence:.2f}", where))
    return table_view(("text", "script", "confidence", "where"), rows)


def _summary_view(path: Path, done: IndexSummary) -> RenderableType:
    left_out = [f"{count} x {printable(reason)}" for reason, count in sorted(done.reasons.items())]
    # Photos without a place are common and expected; the others may need fixing.
    named = [
        f"{printable(item.path)}: {printable(item.reason)}" for item in done.skipped if item.reason not in NO_TROUBLE
    ]
    more = [f"and {len(named) - _SKIPPED_SHOWN} more; --json names them all"] if len(named) > _SKIPPED_SHOWN else []
    return facts_view(
        {
            "index": str(path),
            "photos in it": done.total,
            "newly looked at": done.added,
            "unchanged": done.unchanged,
            "gone": done.removed,
            "left out": left_out,
            "in trouble": "\n".join(named[:_SKIPPED_SHOWN] + more),
            "rows of the table without a photo": done.unmatched or None,
        }
    )


def _similar_view(found: list[Match]) -> RenderableType:
    if not found:
        return Text("the index is empty")
    rows = []
    for match in found:
        point = match.point
        where = f"{point.lat:.5f}, {point.lon:.5f}" if point else f"{match.same}: no evidence"
        rows.append((f"{match.score:.3f}", where, printable(match.title)))
    return table_view(("similarity", "where", "photo"), rows)
