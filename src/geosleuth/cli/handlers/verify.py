"""Implementation of ``geosleuth verify``."""

import asyncio
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from geosleuth.agent import ToolObserved
from geosleuth.agent.locate import Finding, cap_finding, list_album_photos
from geosleuth.agent.replay import first_view_pixels
from geosleuth.answer import Address, Level
from geosleuth.answer.answer import envelope
from geosleuth.atlas import OfflineAtlas
from geosleuth.atlas.granular import OfflineGazetteer
from geosleuth.photo import Claims, OpenedPhoto, open_photo
from geosleuth.report import cut_pictures
from geosleuth.report.evidence_package import (
    REPORT,
    RESULT,
    TOOLS,
    TRAJECTORY,
    Changed,
    Package,
    check_result,
    open_package,
)
from geosleuth.report.pictures import Pictures
from geosleuth.report.remade import check_report
from geosleuth.report.signature import NotSigned, check_signature, sign
from geosleuth.support.console import quiet_libraries, show_json
from geosleuth.support.errors import BadInput
from geosleuth.support.files import compute_sha256
from geosleuth.support.text.numbers import plural
from geosleuth.support.text.safe import one_line

from .trajectory import replay_trajectory


def verify_package(
    path: Path,
    photos: Sequence[Path],
    sha256: str | None,
    *,
    signed_by: Path | None = None,
    sign_with: Path | None = None,
    as_json: bool,
) -> None:
    """Check a package and print what was found, what is proved, and what is not; then sign it, where that is wanted.

    Raises:
        BadInput: a file can't be read, or there is no program for signatures.
        typer.Exit: something was changed.
    """
    document: dict[str, Any] = {"whole": False, "changed": None, "proved": [], "not_proved": []}
    lines: list[str] = []
    try:
        package = open_package(path)
        if sha256 is not None and sha256.strip().lower() != package.sha256:
            raise Changed(f"the package: its SHA-256 is {package.sha256}, another than you were told")
        if signed_by is not None:
            check_signature(path, signed_by)
            document["proved"].append(f"signed with the key in {signed_by}")
        document |= {"sha256": package.sha256, "files": len(package.files), "versions": package.versions}
        lines += [
            f"whole: {plural(len(package.files), 'file', 'files')}, each as it was written",
            f"finding: {_format_package_place(package)}",
            f"written by geosleuth {one_line(str(package.versions.get('geosleuth')))[:40]}",
            f"SHA-256 of the package: {package.sha256}",
        ]
        with quiet_libraries():
            proved, not_proved = reproduce_package(package, photos)
        document["proved"] += proved
        document["not_proved"] += not_proved
        if sha256 is None and signed_by is None:
            document["not_proved"].append("who wrote it: ask for its SHA-256 another way, or for a signature")
        if sign_with is not None:
            lines.append(f"wrote {sign(path, sign_with)}")
    except (Changed, NotSigned) as error:
        document["changed"] = one_line(str(error))
    document["whole"] = document["changed"] is None
    lines += [f"proved: {item}" for item in document["proved"]] + [
        f"not proved: {item}" for item in document["not_proved"]
    ]
    if as_json:
        show_json(document)
    else:
        changed = document["changed"]
        sys.stdout.write("".join(f"{line}\n" for line in (lines if changed is None else [f"changed: {changed}"])))
    if not document["whole"]:
        raise typer.Exit(1)


def _format_package_place(package: Package) -> str:
    answer = package.result.get("answer")
    named = answer if isinstance(answer, dict) else {}
    levels = {level: named.get(level) for level in ("precise", "region", "country")}
    said = {level: one.get("conclusion") for level, one in levels.items() if isinstance(one, dict)}
    address = Address(**{level: Level(str(words)) for level, words in said.items() if words})
    return one_line(envelope(address) or "no place was found")[:200]


def reproduce_package(package: Package, photos: Sequence[Path]) -> tuple[list[str], list[str]]:
    """Return what is proved by making it again, and what is not.

    Raises:
        Changed: a photo is another one, a tool answers something else, or a part says something else than the runs.
    """
    proved, unproved = [f"{RESULT} and {TOOLS}: they follow from {TRAJECTORY}"], []
    claims, pictures = None, None
    if photos:
        proved.append(_compare_photos(package, photos))
        opened = [open_photo(path) for path in photos]
        claims = asyncio.run(_claims(package, opened))
        tools, left, pictures = _repeat_tool_calls(package, opened)
        proved += tools
        unproved += left
    else:
        unproved.append("the photos and what the tools answered: give them with --photo")
    finding = package.finding(claims)
    if claims is not None:
        check_result(package, finding)
    with _blaming(TRAJECTORY):
        left_out = asyncio.run(check_report(package, finding, pictures))
    if not any(item.startswith(f"{REPORT}:") for item in left_out):
        proved.append(f"{REPORT}: its words follow from {TRAJECTORY}")
    unproved += left_out
    if package.claim_check is not None:
        unproved.append("the verdict on the claimed place: it is taken as recorded")
    if any(run.steps for run in package.runs.values()):
        unproved.append("what a model said: its words are taken as recorded")
    return proved, unproved


@contextmanager
def _blaming(name: str) -> Iterator[None]:
    """Name the file of the package that is at fault: the photos are the right ones by their digests."""
    try:
        yield
    except Changed:
        raise
    except BadInput as error:
        raise Changed(f"{name}: {one_line(str(error))[:300]}") from error


def _compare_photos(package: Package, photos: Sequence[Path]) -> str:
    told = [claims.sha256 for claims in package.finding().claims]
    if len(told) != len(photos):
        raise BadInput(f"the package is about {plural(len(told), 'photo', 'photos')}; give as many with --photo")
    for number, (path, digest) in enumerate(zip(photos, told, strict=True), 1):
        if compute_sha256(path) != digest:
            raise Changed(f"{path}: is not photo {number} of the package; its SHA-256 is another")
    whose = "the photo is that" if len(photos) == 1 else "the photos are those"
    return f"{whose} of the package, by SHA-256"


async def _claims(package: Package, photos: Sequence[OpenedPhoto]) -> tuple[Claims, ...]:
    """Return what the photos' files claim, no finer than the finding may be told."""
    own = Finding(package.runs[TRAJECTORY], tuple(photo.claims for photo in photos))
    return (await cap_finding(own, package.granularity, OfflineGazetteer(OfflineAtlas()))).claims


def _repeat_tool_calls(package: Package, photos: Sequence[OpenedPhoto]) -> tuple[list[str], list[str], Pictures]:
    """Let the tools of every run work once more; return what is proved, what is not, and the pictures."""
    shown = package.finding().best_attempt or package.runs[TRAJECTORY]
    with _blaming(next(name for name, run in package.runs.items() if run is shown)):
        pictures = cut_pictures(shown, list_album_photos(photos, shown.task), max_pixels=first_view_pixels(shown))
    if (allowed := package.granularity) != "exact":
        held_back = f"the finding is told no finer than the {allowed}, and what they answered is left out"
        return [], [f"the tools were not asked again: {held_back}"], pictures
    proved, unproved = [], []
    for name, run in package.runs.items():
        try:
            _, difference, album = replay_trajectory(run, photos)
        except BadInput as error:
            unproved.append(f"{name}: its tools were not asked again: {one_line(str(error))[:200]}")
            continue
        if difference is not None:
            raise Changed(f"{name}: asked again, the tools answer something else: {one_line(difference)[:300]}")
        calls = sum(isinstance(event.body, ToolObserved) for event in run.events)
        proved.append(f"tools of {name}: {plural(calls, 'answer', 'answers')}, the same when asked again")
        if run is shown and album is not None:
            pictures = album.__getitem__
    return proved, unproved, pictures
