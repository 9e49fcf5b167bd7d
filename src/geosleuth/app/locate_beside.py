"""Files beside the photos: copies with the estimated place in their metadata, and XMP sidecars.

Originals are never written to, and nothing is replaced without ``--overwrite``: in a batch what is there stays and is
counted, so that a batch can be gone on with.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from geosleuth.agent.locating import Finding
from geosleuth.answer.formats import Entry
from geosleuth.app.console import talk
from geosleuth.app.locate_outputs import LOCATED, Outputs, asked, entries_of, write_entries
from geosleuth.bench.numbers import plural
from geosleuth.errors import BadInput
from geosleuth.geo import coordinates, rounded

_WRITABLE = (".jpg", ".jpeg", ".png")


@dataclass(frozen=True, slots=True)
class Placed:
    """A photo, what was found out about it, and what it is called on the screen."""

    photo: Path
    entry: Entry
    name: str


def copy_of(photo: Path) -> Path:
    """Where the copy of a photo with EXIF data goes."""
    return photo.with_name(f"{photo.stem}{LOCATED}{photo.suffix}")


def sidecar_of(photo: Path) -> Path:
    """Where the sidecar of a photo goes: the whole name stays, since photos may differ in their endings alone."""
    return photo.with_name(f"{photo.name}.xmp")


def is_copy(photo: Path) -> bool:
    """Whether a file is such a copy, with its original beside it."""
    stem = photo.stem.removesuffix(LOCATED)
    return stem != photo.stem and photo.with_name(f"{stem}{photo.suffix}").is_file()


def check_exif(photos: Sequence[Path], *, batch: bool, yes: bool) -> None:
    """Complain before the work where copies can't be written.

    Raises:
        BadInput: nobody can be asked, or no photo is of a kind that can be written.
    """
    if not batch and len(photos) != 1:
        raise BadInput("--write-exif makes a copy of each photo of a batch; leave out --same-place, or give one photo")
    if not yes and not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise BadInput("--write-exif asks before it writes, and nobody is there to ask; add --yes")
    if not any(photo.suffix.lower() in _WRITABLE for photo in photos):
        raise BadInput(f"{photos[0]}: a place can be written into copies of JPEG and PNG files; use --sidecars instead")


def write_exif(finding: Finding, photo: Path, outputs: Outputs, *, yes: bool) -> None:
    """Write a copy with the place in its metadata, after a confirmation; the original stays as it is.

    Raises:
        BadInput: it can't be written.
    """
    from geosleuth.photo.writing import write_exif_copy

    if not outputs.exif:
        return
    copy, answer = copy_of(photo), finding.answer
    named = finding.granularity == "exact"
    if answer.point is None:
        talk(f"{copy.name if named else 'a copy'} is not written: there is no point to put into it")
        return
    where = coordinates(answer.point, answer.radius_km)
    called = f"the copy {copy}" if named else "a copy beside the photo"
    if not yes and not asked(f"Write {where} as an estimated place into {called}?"):
        talk("nothing was written into a copy")
        return
    done = write_exif_copy(
        photo, copy, rounded(answer.point, answer.radius_km), answer.radius_km, overwrite=outputs.overwrite
    )
    replaced = "" if done.replaced is None else "; the place that the original claims is not in it"
    talk(f"wrote {copy if named else 'a copy beside the photo'} with {where} as an estimated place{replaced}")


def write_copies(found: Sequence[Placed], outputs: Outputs, *, yes: bool) -> None:
    """Write copies of a batch's photos, after one confirmation for all; a photo that can't be copied is one line."""
    if not outputs.exif:
        return
    placed = [one for one in found if one.entry.answer.point is not None]
    fit = [one for one in placed if one.photo.suffix.lower() in _WRITABLE]
    wanted = [one for one in fit if outputs.overwrite or not copy_of(one.photo).exists()]
    told = plural(len(wanted), "photo", "photos")
    question = f"Write estimated places into copies of {told}, beside the originals as NAME{LOCATED}?"
    if wanted and not yes and not asked(question):
        talk("nothing was written into copies")
        return
    written = sum(_copied(one, overwrite=outputs.overwrite) for one in wanted)
    _tell("copy", "copies", written, kept=len(fit) - len(wanted))
    if len(placed) > len(fit):
        unfit = plural(len(placed) - len(fit), "photo is", "photos are")
        talk(f"{unfit} neither JPEG nor PNG and got no copy; --sidecars is for all kinds")


def _copied(one: Placed, *, overwrite: bool) -> bool:
    from geosleuth.photo.writing import write_exif_copy

    answer = one.entry.answer
    if answer.point is None:
        return False
    try:
        point = rounded(answer.point, answer.radius_km)
        write_exif_copy(one.photo, copy_of(one.photo), point, answer.radius_km, overwrite=overwrite)
    except BadInput as error:
        talk(_renamed(str(error), one, copy_of(one.photo)))
        return False
    return True


def write_sidecars(found: Sequence[Placed], outputs: Outputs) -> None:
    """Write a sidecar beside each photo that has a point."""
    if not outputs.sidecars:
        return
    placed = {sidecar_of(one.photo): one for one in found if one.entry.answer.point is not None}
    wanted = {path: one for path, one in placed.items() if outputs.overwrite or not path.exists()}
    written = 0
    for path, one in wanted.items():
        try:
            write_entries(path, [one.entry])
            written += 1
        except (BadInput, OSError) as error:
            told = f"{path}: can't be written: {getattr(error, 'strerror', None) or error}"
            talk(_renamed(told, one, path))
    _tell("sidecar", "sidecars", written, kept=len(placed) - len(wanted))


def _renamed(told: str, one: Placed, beside: Path) -> str:
    """What went wrong with a file beside a photo, under the name that the photo goes by."""
    if one.name == one.photo.name:
        return told
    for path in (beside, one.photo):
        told = told.replace(str(path), one.name)
    return told


def placed_of(finding: Finding, photos: Sequence[Path]) -> list[Placed]:
    """The photos of one finding, each with its entry."""
    hashed = [(claims.sha256, photo) for claims, photo in zip(finding.claims, photos, strict=True)]
    entries = entries_of(finding.trajectory, hashed, finding.granularity)
    exact = finding.granularity == "exact"
    return [
        Placed(photo, entry, photo.name if exact else f"photo {number}")
        for number, (photo, entry) in enumerate(zip(photos, entries, strict=True), 1)
    ]


def _tell(one: str, many: str, written: int, *, kept: int) -> None:
    there = f"; {plural(kept, one, many)} from before kept, --overwrite replaces them" if kept else ""
    talk(f"wrote {plural(written, one, many)}{there}")
