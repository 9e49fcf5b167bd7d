"""The files of findings: those that ``--out`` names, and those beside the photos.

Beside the photos go copies with the estimated place in their metadata, and XMP sidecars. Originals are never written
to, and nothing is replaced without ``--overwrite``: in a batch what is there stays and is counted, so that a batch can
be gone on with.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from geosleuth.agent.locate import Finding
from geosleuth.atlas import Atlas
from geosleuth.cli.preparation import confirm
from geosleuth.geo import coordinates, round_point
from geosleuth.pipeline.outputs import (
    LOCATED_SUFFIX,
    PACKAGE,
    PAGE,
    WRITABLE_EXTENSIONS,
    Outputs,
    PlacedPhoto,
    build_entries,
    build_placed,
    exif_copy_path,
    sidecar_path,
    write_entries,
)
from geosleuth.pipeline.result import ClaimCheck, format_claim_check
from geosleuth.support.console import talk
from geosleuth.support.errors import BadInput
from geosleuth.support.files import write_bytes_atomically, write_text_atomically
from geosleuth.support.text.numbers import plural


async def build_report(
    finding: Finding, atlas: Atlas | None, *, checked: ClaimCheck | None = None, frames: Sequence[str] = ()
) -> str:
    """Return the report of one finding, with what was found out about a claimed place.

    ``frames`` says for a video which second told what, a line each.
    """
    from geosleuth.report import report_html

    pictures = finding.album.__getitem__ if finding.album is not None else None
    claim = () if checked is None else tuple(format_claim_check(checked))
    return await report_html(finding, atlas=atlas, pictures=pictures, claim=claim, frames=frames)


async def write_outputs(
    finding: Finding, paths: Sequence[Path], outputs: Outputs, atlas: Atlas | None, *, checked: ClaimCheck | None = None
) -> None:
    """Write every file that was asked for, and say so."""
    for path in outputs.files:
        if path.name.lower().endswith(PAGE):
            write_text_atomically(path, await build_report(finding, atlas, checked=checked))
        elif path.name.lower().endswith(PACKAGE):
            from geosleuth.report.evidence_package import evidence_package

            package = evidence_package(finding, await build_report(finding, atlas, checked=checked), checked)
            write_bytes_atomically(path, package)
            talk(f"the SHA-256 of {path} is {hashlib.sha256(package).hexdigest()}")
        else:
            hashes = [claims.sha256 for claims in finding.claims]
            photos = zip(hashes, paths, strict=True)
            write_entries(path, build_entries(finding.trajectory, photos, finding.granularity))
        talk(f"wrote {path}")


def write_exif(finding: Finding, photo: Path, outputs: Outputs, *, yes: bool) -> None:
    """Write a copy with the place in its metadata, after a confirmation; the original stays as it is.

    Raises:
        BadInput: it can't be written.
    """
    from geosleuth.photo.geotag import write_exif_copy

    if not outputs.exif:
        return
    copy, answer = exif_copy_path(photo), finding.whole_answer
    named = finding.granularity == "exact"
    (item,) = build_placed(finding, [photo])
    point = item.entry.point
    if point is None:
        why = "there is no point to put into it"
        why = "the finding is a country or region, and no point in it" if answer.point is not None else why
        talk(f"{copy.name if named else 'a copy'} is not written: {why}")
        return
    where = coordinates(point, answer.radius_km)
    called = f"the copy {copy}" if named else "a copy beside the photo"
    if not yes and not confirm(f"Write {where} as an estimated place into {called}?"):
        talk("nothing was written into a copy")
        return
    done = write_exif_copy(
        photo, copy, round_point(point, answer.radius_km), answer.radius_km, overwrite=outputs.overwrite
    )
    replaced = "" if done.replaced is None else "; the place that the original claims is not in it"
    talk(f"wrote {copy if named else 'a copy beside the photo'} with {where} as an estimated place{replaced}")


def write_copies(found: Sequence[PlacedPhoto], outputs: Outputs, *, yes: bool) -> None:
    """Write copies of a batch's photos, after one confirmation for all; a photo that can't be copied is one line."""
    if not outputs.exif:
        return
    placed = [item for item in found if item.entry.point is not None]
    fit = [item for item in placed if item.photo.suffix.lower() in WRITABLE_EXTENSIONS]
    wanted = [item for item in fit if outputs.overwrite or not exif_copy_path(item.photo).exists()]
    photos = plural(len(wanted), "photo", "photos")
    question = f"Write estimated places into copies of {photos}, beside the originals as NAME{LOCATED_SUFFIX}?"
    if wanted and not yes and not confirm(question):
        talk("nothing was written into copies")
        return
    written = sum(_write_copy(item, overwrite=outputs.overwrite) for item in wanted)
    _tell("copy", "copies", written, kept=len(fit) - len(wanted))
    if len(placed) > len(fit):
        unfit = plural(len(placed) - len(fit), "photo is", "photos are")
        talk(f"{unfit} neither JPEG nor PNG and got no copy; --sidecars is for all kinds")


def _write_copy(photo: PlacedPhoto, *, overwrite: bool) -> bool:
    from geosleuth.photo.geotag import write_exif_copy

    answer, place = photo.entry.answer, photo.entry.point
    if place is None:
        return False
    try:
        point = round_point(place, answer.radius_km)
        write_exif_copy(photo.photo, exif_copy_path(photo.photo), point, answer.radius_km, overwrite=overwrite)
    except BadInput as error:
        talk(_anonymize_complaint(str(error), photo, exif_copy_path(photo.photo)))
        return False
    return True


def write_sidecars(found: Sequence[PlacedPhoto], outputs: Outputs) -> None:
    """Write a sidecar beside each photo that has a point."""
    if not outputs.sidecars:
        return
    placed = {sidecar_path(item.photo): item for item in found if item.entry.answer.point is not None}
    wanted = {path: one for path, one in placed.items() if outputs.overwrite or not path.exists()}
    written = 0
    for path, item in wanted.items():
        try:
            write_entries(path, [item.entry])
            written += 1
        except (BadInput, OSError) as error:
            complaint = f"{path}: can't be written: {getattr(error, 'strerror', None) or error}"
            talk(_anonymize_complaint(complaint, item, path))
    _tell("sidecar", "sidecars", written, kept=len(placed) - len(wanted))


def _anonymize_complaint(complaint: str, photo: PlacedPhoto, beside: Path) -> str:
    """Return an error about a file beside a photo, with the photo's public name in it."""
    if photo.name == photo.photo.name:
        return complaint
    for path in (beside, photo.photo):
        complaint = complaint.replace(str(path), photo.name)
    return complaint


def _tell(text: str, many: str, written: int, *, kept: int) -> None:
    there = f"; {plural(kept, text, many)} from before kept, --overwrite replaces them" if kept else ""
    talk(f"wrote {plural(written, text, many)}{there}")


def build_photo_label(number: int) -> str:
    """Return the label of a photo whose name must not be shown; 0 is the first."""
    return f"photo {number + 1}"


@contextmanager
def names_left_out(photos: Sequence[Path], granularity: str) -> Iterator[None]:
    """Below ``exact``, refusals speak of photos, and of files beside them, by their numbers.

    Raises:
        BadInput: as it came, without the names.
    """
    try:
        yield
    except BadInput as error:
        complaint = str(error) if granularity == "exact" else without_names(str(error), photos)
        if complaint == str(error):
            raise
        # The error as it came has the name in it.
        raise BadInput(complaint) from None


def without_names(text: str, photos: Sequence[Path]) -> str:
    """A text with numbers in place of the photos' names, and of those of copies and sidecars."""
    names: dict[str, str] = {}
    for number, photo in enumerate(photos):
        called = build_photo_label(number)
        for path, words in (
            (photo, called),
            (exif_copy_path(photo), f"the copy of {called}"),
            (sidecar_path(photo), f"the sidecar of {called}"),
        ):
            names[str(path)] = words
        if photo.parent.name:
            names[str(photo.parent)] = "its folder"
    for name in sorted((name for name in names if name in text), key=len, reverse=True):
        text = re.sub(rf"(?<![\w./-]){re.escape(name)}(?![\w-])", names[name], text)
    return text
