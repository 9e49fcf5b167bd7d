"""What ``geosleuth verify`` does."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from geosleuth.agent import ToolObserved
from geosleuth.answer import Address, Level
from geosleuth.answer.answer import envelope
from geosleuth.app.console import quiet_libraries, show_json
from geosleuth.app.evidence import Changed, Package, open_package
from geosleuth.errors import BadInput
from geosleuth.files import sha256_of
from geosleuth.text.numbers import plural
from geosleuth.text.safe import one_line

from .trajectory import replayed


def verify_package(path: Path, photos: Sequence[Path], sha256: str | None, *, as_json: bool) -> None:
    """Check a package and print what was found.

    Raises:
        BadInput: a file can't be read.
        typer.Exit: something was changed.
    """
    document: dict[str, Any] = {"whole": False, "changed": None}
    lines: list[str] = []
    try:
        package = open_package(path)
        if sha256 is not None and sha256.strip().lower() != package.sha256:
            raise Changed(f"the package: its SHA-256 is {package.sha256}, another than you were told")
        document |= {"sha256": package.sha256, "files": len(package.files), "versions": package.versions}
        lines += [
            f"whole: {plural(len(package.files), 'file', 'files')}, each as it was written",
            f"finding: {_place(package)}",
            f"written by geosleuth {one_line(str(package.versions.get('geosleuth')))[:40]}",
            f"SHA-256 of the package: {package.sha256}",
        ]
        if photos:
            lines += _held_against(package, photos)
    except Changed as error:
        document["changed"] = one_line(str(error))
    document["whole"] = document["changed"] is None
    if as_json:
        show_json(document)
    else:
        changed = document["changed"]
        sys.stdout.write("".join(f"{line}\n" for line in (lines if changed is None else [f"changed: {changed}"])))
    if not document["whole"]:
        raise typer.Exit(1)


def _place(package: Package) -> str:
    answer = package.result.get("answer")
    named = answer if isinstance(answer, dict) else {}
    levels = {level: named.get(level) for level in ("precise", "region", "country")}
    said = {level: one.get("conclusion") for level, one in levels.items() if isinstance(one, dict)}
    address = Address(**{level: Level(str(words)) for level, words in said.items() if words})
    return one_line(envelope(address) or "no place was found")[:200]


def _held_against(package: Package, photos: Sequence[Path]) -> list[str]:
    """Compare the photos' digests, and let the tools work once more.

    Raises:
        Changed: a photo is another one, or a tool answers something else.
    """
    rows = package.result.get("photos")
    told = [one.get("sha256") for one in rows if isinstance(one, dict)] if isinstance(rows, list) else []
    if len(told) != len(photos):
        raise BadInput(f"the package is about {plural(len(told), 'photo', 'photos')}; give as many with --photo")
    for number, (path, digest) in enumerate(zip(photos, told, strict=True), 1):
        if sha256_of(path) != digest:
            raise Changed(f"{path}: is not photo {number} of the package; its SHA-256 is another")
    compared = f"{'the photo is' if len(photos) == 1 else 'the photos are'} those of the package, by SHA-256"
    compared = compared.replace("is those", "is that")
    run = package.trajectory()
    result = package.result  # packages of before told the cap as their granularity
    if result.get("allowed_granularity", result.get("granularity")) != "exact" or "team" in result:
        return [compared, "the tools were not asked again: that needs one run that may be told exactly"]
    with quiet_libraries():
        _, difference = replayed(run, photos)
    if difference is not None:
        raise Changed(f"trajectory.jsonl: asked again, the tools answer something else: {one_line(difference)[:300]}")
    calls = sum(isinstance(event.body, ToolObserved) for event in run.events)
    return [compared, f"tools: {plural(calls, 'answer', 'answers')}, the same when asked again"]
