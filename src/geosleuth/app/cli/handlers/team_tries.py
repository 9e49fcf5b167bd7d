"""What ``team tries`` does once its words are read; imported only when it runs."""

import asyncio
import hashlib
import json
import os
import random
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from geosleuth.agent.locating import Finding
from geosleuth.agent.setup import AgentSetup, Resources
from geosleuth.app.console import (
    CTRL_C,
    ask_consent,
    cancelled_by_ctrl_c,
    offline_atlas,
    progress,
    quiet_libraries,
    show,
    show_json,
    talk,
)
from geosleuth.atlas import OfflineAtlas
from geosleuth.errors import BadInput, GeosleuthError, UserError
from geosleuth.files import write_text_atomically
from geosleuth.pipeline.plan import Plan, make_plan
from geosleuth.pipeline.request import LocateRequest
from geosleuth.pipeline.team import Several
from geosleuth.team.learning import read_sources
from geosleuth.team.parallel import answered, locate_in_parallel
from geosleuth.team.parallel.learning import THRESHOLDS_KM, Errors, errors_of, figures
from geosleuth.team.parallel.locating import Verification
from geosleuth.team.sweeps.learning import Example, examples_of
from geosleuth.text import one_line
from geosleuth.text.numbers import plural


@dataclass(frozen=True, slots=True)
class Row:
    """A photo that is done."""

    photo: str
    errors: Errors
    failed_tries: int
    verifier_failed: str | None


def measure_tries(
    dataset: Path, request: LocateRequest, *, k: str | None, photos: int | None, out: Path, as_json: bool
) -> None:
    """Ask about every photo that is not in ``out`` yet, and print the figures over all of them.

    Raises:
        UserError: something must be mended.
        GeosleuthError: the model failed at every photo.
    """
    ks = _ks(k, request.parallel)
    with quiet_libraries():
        plan = make_plan(request, [])
        if plan.several is None:
            raise BadInput("the detective works by rule, so all its tries would be the same; name a model with --model")
        examples = _examples(dataset, photos, request.seed or 0)
        book = _Book(out, _asked(request))
        ask_consent(plan, yes=request.yes)
        try:
            rows, trouble = asyncio.run(_all(plan, plan.several, examples, book))
        except asyncio.CancelledError:
            talk(f"stopped; {out} holds every photo that was finished, and the same command goes on from there")
            raise typer.Exit(CTRL_C) from None
    if not rows:
        raise GeosleuthError(f"nothing was measured; the first trouble: {one_line(trouble[0]) if trouble else 'none'}")
    if trouble:
        talk(f"{plural(len(trouble), 'photo', 'photos')} failed; the same command asks again: {one_line(trouble[0])}")
    _tell(rows, ks, request, len(trouble), out, as_json=as_json)


def _tell(
    rows: Sequence[Row], ks: Sequence[int], request: LocateRequest, failed: int, out: Path, *, as_json: bool
) -> None:
    found = figures([row.errors for row in rows], ks)
    failed_tries = sum(row.failed_tries for row in rows)
    replaced = [row.verifier_failed for row in rows if row.verifier_failed]
    if as_json:
        show_json(
            {
                "photos": len(rows),
                "failed_photos": failed,
                "tries": request.parallel,
                "failed_tries": failed_tries,
                "model": request.model,
                "verifier": request.verifier or "code",
                "verifier_failed": len(replaced),
                "thresholds_km": list(THRESHOLDS_KM),
                "figures": found,
                "out": str(out),
            }
        )
        return
    table = Table(plural(len(rows), "photo", "photos"), box=SIMPLE_HEAD)
    for km in THRESHOLDS_KM:
        table.add_column(f"within {km:g} km", justify="right")
    for name, values in found.items():
        table.add_row(name, *(f"{value:.1%}" for value in values))
    show(table)
    if failed_tries:
        talk(f"{plural(failed_tries, 'try', 'tries')} came to no answer and count as wrong")
    if replaced:
        photos = plural(len(replaced), "photo", "photos")
        talk(f"the verifier {request.verifier} failed at {photos}, decided in code instead: {one_line(replaced[0])}")


async def _all(
    plan: Plan, several: Several, examples: Sequence[tuple[str, Example]], book: "_Book"
) -> tuple[list[Row], list[str]]:
    atlas = offline_atlas(needed=True)
    trouble: list[str] = []
    rows = []
    async with AsyncExitStack() as held:
        await plan.load(held)
        with progress("trying", len(examples)) as bar, cancelled_by_ctrl_c():
            for done, (photo, example) in enumerate(examples):
                bar.at(done, len(examples), Path(photo).name)
                row = book.known.get(photo)
                if row is None:
                    try:
                        row = await _one(plan, several, atlas, photo, example)
                    except UserError:
                        raise
                    except GeosleuthError as error:
                        trouble.append(str(error))
                        continue
                    book.add(row)
                rows.append(row)
            bar.at(len(examples), len(examples))
    return rows, trouble


async def _one(plan: Plan, several: Several, atlas: OfflineAtlas, photo: str, example: Example) -> Row:
    finding = await locate_in_parallel(
        [await asyncio.to_thread(example.load)],
        AgentSetup(
            method=plan.method,
            policy=plan.policy,
            toolset=plan.toolset,
            budget=plan.budget,
            sampling=plan.sampling,
            wire=plan.wire,
        ),
        Resources(atlas, visual=plan.visual),
        count=several.tries,
        verification=Verification(verifier=several.verifier, chains=several.chains),
    )
    if why := _out_of_reach(finding):
        raise GeosleuthError(why)
    ended = finding.gave_way[-1].ended if finding.gave_way else None
    return Row(
        photo,
        errors_of(finding, example.truth, several.tries),
        several.tries - sum(map(answered, finding.team)),
        (ended.trouble or ended.reason) if ended else None,
    )


def _out_of_reach(finding: Finding) -> str | None:
    """Why the model failed at every try: that says nothing about how well it would have done."""
    ends = [one.ended for one in finding.team if one.ended is not None]
    if ends and all(one.reason in ("service", "error") for one in ends):
        return ends[0].trouble or ends[0].reason
    return None


class _Book:
    """The file with a line for each photo that is done. Lines that were asked for otherwise stay, and are not read."""

    def __init__(self, path: Path, asked: dict[str, Any]) -> None:
        """Read what is there; a last line that was cut off is dropped.

        Raises:
            BadInput: the file is something else, or can't be read or written.
        """
        self._path, self._asked = path, asked
        self.known: dict[str, Row] = {}
        if not path.parent.is_dir():
            raise BadInput(f"{path}: the folder {path.parent} does not exist")
        if not path.exists():
            return
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(f"{path}: can't be read as lines of JSON; name another file with --out") from error
        whole, cut, torn = text.rpartition("\n")
        for number, line in enumerate(whole.splitlines(), 1):
            self._read(number, line)
        if torn:
            write_text_atomically(path, whole + cut)

    def _read(self, number: int, line: str) -> None:
        try:
            told = json.loads(line)
            if told["asked"] != self._asked:
                return
            row = Row(str(told["photo"]), Errors.read(told), int(told["failed_tries"]), told["verifier_failed"])
        except (ValueError, KeyError, TypeError) as error:
            raise BadInput(f"{self._path}, line {number}: is no photo of this command; name another --out") from error
        if len(row.errors.tries_km) == self._asked["parallel"]:
            self.known[row.photo] = row

    def add(self, row: Row) -> None:
        """Write a photo down for good."""
        told = {
            "photo": row.photo,
            "asked": self._asked,
            **row.errors.document(),
            "failed_tries": row.failed_tries,
            "verifier_failed": row.verifier_failed,
        }
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(told, ensure_ascii=False) + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise BadInput(f"{self._path}: can't be written: {error.strerror or error}") from error


def _asked(request: LocateRequest) -> dict[str, Any]:
    """All that the tries depend on beside the photo."""
    names = ("model", "base_url", "parallel", "verifier", "chains", "method", "tools", "turns", "seed")
    return {name: getattr(request, name) for name in names}


def _examples(dataset: Path, photos: int | None, seed: int) -> list[tuple[str, Example]]:
    """The photos with a name that changes when the file or its place does."""
    found, left_out = examples_of(read_sources(dataset))
    for why, count in left_out.items():
        talk(f"{dataset}: {plural(count, 'photo is', 'photos are')} left out: {why}")
    if not found:
        raise BadInput(f"{dataset}: no photo's place is known; give geotagged photos, or a table with path, lat, lon")
    if photos is not None and photos < len(found):
        found = random.Random(seed).sample(found, photos)  # noqa: S311 - no secret depends on it
    return [(_name(one), one) for one in found]


def _name(example: Example) -> str:
    if example.path is None:
        raise ValueError("an example of a dataset is a file")
    place = example.truth.point
    content = hashlib.sha256(example.path.read_bytes())
    content.update(f"{place.lat:.6f},{place.lon:.6f}".encode())
    return f"{example.path.name} {content.hexdigest()[:16]}"


def _ks(told: str | None, tries: int) -> list[int]:
    if told is None:
        return sorted({*(2**power for power in range(tries.bit_length()) if 2**power <= tries), tries})
    try:
        found = [int(part) for part in told.split(",")]
    except ValueError as error:
        raise BadInput(f"--k is {told[:40]!r}; write numbers with commas, such as 1,2,4") from error
    if wrong := [one for one in found if not 1 <= one <= tries]:
        raise BadInput(f"--k has {wrong[0]}; it must lie between 1 and the {tries} tries of --parallel")
    return found
