"""What ``dataset rate``, ``filter`` and ``tier`` do once their words are read; imported only when one runs."""

import asyncio
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack, ExitStack, aclosing
from pathlib import Path
from typing import Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from geosleuth.app.cli.handlers.bench import positive_km, records_of, score_all, tier_files
from geosleuth.app.console import (
    CTRL_C,
    SOME_FAILED,
    ask_consent,
    cancelled_by_ctrl_c,
    progress,
    quiet_libraries,
    show,
    show_json,
    talk,
)
from geosleuth.bench.makers.filters import Filter, Sieved, sieve
from geosleuth.bench.makers.looks import FIELDS, HEURISTIC, Look
from geosleuth.bench.makers.memory import open_memory
from geosleuth.bench.makers.rating import GivenUp, Seen, by_heuristic, by_model, each
from geosleuth.bench.makers.tables import check_table, field_names, writing_table
from geosleuth.bench.makers.tiers import TIER, Tiered, with_tiers
from geosleuth.bench.sets import DataSet, Item, open_set, subset
from geosleuth.errors import BadInput
from geosleuth.files import refuse_to_replace
from geosleuth.pipeline.plan import Plan, make_plan
from geosleuth.pipeline.request import LocateRequest
from geosleuth.policies import EndpointSettings, Usage, make_policy
from geosleuth.policies.detective import Detective
from geosleuth.text import one_line
from geosleuth.text.numbers import plural

_SIZE = re.compile(r"(\d{1,6})\s*[xX×]\s*(\d{1,6})")
_MODEL_JOBS, _CODE_JOBS = 4, 2
_TOLD_FAILURES = 5
_TOLD_EVERY = 100


def check_outputs(paths: Sequence[Path | None], specs: Sequence[str], *, overwrite: bool) -> None:
    """Whether tables can be written, before any work is done.

    Raises:
        BadInput: one can't.
    """
    wanted = [path for path in paths if path is not None]
    named = [spec.partition("::")[0] for spec in specs]
    read = [Path(part) for spec in named for part in (spec, spec.partition(":")[2]) if part]
    for number, path in enumerate(wanted):
        check_table(path, *read, *wanted[:number])
    refuse_to_replace(wanted, overwrite=overwrite)


def rate_set(
    spec: str,
    out: Path,
    request: LocateRequest,
    *,
    jobs: int | None,
    limit: int | None,
    again: bool,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Look at every photo, and write the table when all have been looked at.

    Raises:
        UserError: something must be mended; nothing has been sent.
        typer.Exit: it was stopped, or some photos could not be rated.
    """
    check_outputs([out], [spec], overwrite=overwrite)
    data = subset(open_set(spec), limit=limit)
    with quiet_libraries():
        jobs = jobs or (_CODE_JOBS if request.model is None else _MODEL_JOBS)
        plan = _plan(request, jobs)
        if plan is not None:
            ask_consent(plan, yes=request.yes)
        told = _Told()
        try:
            asyncio.run(_rate(data, out, plan, told, jobs, again=again))
        except asyncio.CancelledError:
            talk(f"stopped; {plural(told.rated, 'rating is', 'ratings are')} kept, and the same command goes on")
            raise typer.Exit(CTRL_C) from None
        except GivenUp as error:
            raise GivenUp(f"{one_line(str(error))}; what was said is kept, and the same command goes on") from error
    told.by = plan.policy.name if plan else HEURISTIC
    if as_json:
        show_json({**told.document(), "out": str(out)})
    else:
        show(told.view())
        talk(f"wrote {out}")
    if told.failed:
        talk(
            f"{plural(told.failed, 'photo has', 'photos have')} no rating; the same command with --overwrite tries "
            "them alone, and with --ask-again those, too, whose replies hold none"
        )
        raise typer.Exit(SOME_FAILED)


def _plan(request: LocateRequest, jobs: int) -> Plan | None:
    """Who is asked; None where code looks."""
    if request.model is None:
        if request.base_url is not None:
            raise BadInput("--base-url is where a model is served; name it with --model server:NAME")
        return None
    if request.model.startswith("replay:") or request.model == Detective.name:
        raise BadInput("name a model that looks at photos with --model, or leave it out: a heuristic looks then")
    at_once = EndpointSettings(concurrency=max(EndpointSettings().concurrency, jobs))
    model = make_policy(request.model, base_url=request.base_url, settings=at_once, offline=request.offline)
    return make_plan(request, [], thinker=model)


class _Told:
    """What has come of a rating so far."""

    def __init__(self) -> None:
        self.by, self.rated, self.known, self.failed = HEURISTIC, 0, 0, 0
        self.usage, self.bands, self.landmarks = Usage(tries=0), Counter[str](), 0

    def add(self, seen: Seen[Look]) -> None:
        look = seen.found
        if look is None:
            self.failed += 1
            self.usage += seen.wasted
            if self.failed <= _TOLD_FAILURES:
                talk(f"not rated: {seen.trouble}")
            return
        self.rated += 1
        self.known += look.known
        self.usage += look.usage
        self.landmarks += look.landmark is not None
        self.bands[_band(look.locatability.score)] += 1

    @property
    def done(self) -> int:
        """Photos that were looked at, or tried."""
        return self.rated + self.failed

    def document(self) -> dict[str, Any]:
        """The account, for programs."""
        return {
            "by": self.by,
            "rated": self.rated,
            "known_before": self.known,
            "failed": self.failed,
            "landmarks": self.landmarks,
            "bands": {band: self.bands[band] for band in _BANDS},
            "input_tokens": self.usage.input_tokens,
            "output_tokens": self.usage.output_tokens,
            "cost_usd": self.usage.cost_usd,
        }

    def view(self) -> Table:
        """The account, for people."""
        table = Table(f"locatability by {self.by}", "photos", box=SIMPLE_HEAD)
        for band in _BANDS:
            table.add_row(band, str(self.bands[band]))
        table.add_row("famous landmarks", str(self.landmarks))
        table.add_row("not rated", str(self.failed))
        table.add_row("known before, not asked again", str(self.known))
        if self.by != HEURISTIC:
            cost = "unknown" if self.usage.cost_usd is None else f"{self.usage.cost_usd:.4f} USD"
            table.add_row("tokens now", f"{self.usage.input_tokens} in, {self.usage.output_tokens} out; {cost}")
        return table


_BANDS = ("10", "8-9", "6-7", "4-5", "1-3", "0")


def _band(score: float) -> str:
    edges = ((9.75, "10"), (7.75, "8-9"), (5.75, "6-7"), (3.75, "4-5"), (0.75, "1-3"))
    return next((band for edge, band in edges if score >= edge), "0")


async def _rate(data: DataSet, out: Path, plan: Plan | None, told: _Told, jobs: int, *, again: bool) -> None:
    async with AsyncExitStack() as held:
        if plan is not None:
            await plan.load(held)
        memory = held.enter_context(open_memory())
        total, fields = _counted(data)
        looking = by_heuristic(memory) if plan is None else by_model(plan.policy, memory, again=again)
        write = held.enter_context(writing_table(out, (*fields, *FIELDS)))
        bar = held.enter_context(progress("rating", total))
        held.enter_context(cancelled_by_ctrl_c())
        nothing = dict.fromkeys(FIELDS, "")
        async with aclosing(each(data, looking, at_once=jobs)) as all_seen:
            async for seen in all_seen:
                told.add(seen)
                write(seen.item, nothing if seen.found is None else seen.found.fields())
                bar.advance()
                if not bar.drawn and told.done % _TOLD_EVERY == 0:
                    talk(f"{told.done} of {total} looked at, {told.failed} failed")


def _counted(data: DataSet) -> tuple[int, list[str]]:
    """How many photos a set has, and the names of their fields."""
    count = 0

    def counting() -> Any:
        nonlocal count
        for item in data:
            count += 1
            yield item

    names = field_names(counting())
    return count, names


def wanted_of(least: float, column: str, least_size: str | None, *, landmarks: bool) -> Filter:
    """The words of ``dataset filter``.

    Raises:
        BadInput: the size is none.
    """
    size = None
    if least_size is not None:
        match = _SIZE.fullmatch(least_size.strip())
        if match is None:
            raise BadInput(f"--least-size takes width and height in pixels, such as 1600x1200; not {least_size[:40]!r}")
        size = int(match[1]), int(match[2])
    return Filter(least, landmarks, size, column)


def filter_set(spec: str, out: Path, wanted: Filter, *, dropped: Path | None, overwrite: bool, as_json: bool) -> None:
    """Write what stays, and what goes where that is wanted.

    Raises:
        BadInput: the set has not been rated, or a table can't be written.
    """
    check_outputs([out, dropped], [spec], overwrite=overwrite)
    data = open_set(spec)
    fields, counted = field_names(data), Sieved()
    with ExitStack() as held:
        keep = held.enter_context(writing_table(out, fields))
        drop = None if dropped is None else held.enter_context(writing_table(dropped, (*fields, "dropped_for")))

        def gone(item: Item, reason: str) -> None:
            if drop is not None:
                drop(item, {"dropped_for": reason})

        for item in sieve(data, wanted, counted, gone):
            keep(item)
    if as_json:
        document = {"kept": counted.kept, "dropped": dict(counted.dropped), "by_heuristic": counted.by_heuristic}
        show_json({**document, "out": str(out)})
    else:
        table = Table("photos", "", box=SIMPLE_HEAD)
        table.add_row("kept", str(counted.kept))
        for reason, number in sorted(counted.dropped.items()):
            table.add_row(f"left out: {reason}", str(number))
        show(table)
        talk(f"wrote {out}")
    if counted.by_heuristic and wanted.landmarks:
        talk(
            f"{plural(counted.by_heuristic, 'photo was', 'photos were')} rated by the heuristic, which knows landmarks "
            "by names that stand in the picture alone; rate with a model to find the others"
        )


def tier_set(
    spec: str, answers: Sequence[Path], out: Path, *, within_km: float, overwrite: bool, as_json: bool
) -> None:
    """Write the set with the tier that recorded answers give its photos.

    Raises:
        BadInput: the answers are not to the same photos, or the table can't be written.
    """
    positive_km(within_km, "--within-km")
    files = [records_of(path) for path in answers]
    check_outputs([out], [spec, *map(str, files)], overwrite=overwrite)
    data, counted = open_set(spec), Tiered()
    tiers = tier_files(score_all(files, "lenient", "geodesic"), within_km)
    with writing_table(out, field_names(data, TIER)) as write:
        for item, fields in with_tiers(data, tiers, counted):
            write(item, fields)
    if as_json:
        show_json({"easy": counted.easy, "hard": counted.hard, "unknown": counted.unknown, "out": str(out)})
        return
    table = Table("tier", "photos", box=SIMPLE_HEAD)
    for name in ("easy", "hard", "unknown"):
        table.add_row(name, str(getattr(counted, name)))
    show(table)
    talk(f"wrote {out}")
