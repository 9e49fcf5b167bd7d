"""What ``team compare`` and ``team sweep`` do once their words are read; imported only when one runs."""

import asyncio
import random
import shlex
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

from geosleuth.agent.setup import Resources
from geosleuth.app.console import offline_atlas, progress, show, show_json, talk
from geosleuth.app.report.team_curves import curves_of, render_team_page
from geosleuth.errors import BadInput, GeosleuthError
from geosleuth.files import refuse_to_replace, write_text_atomically
from geosleuth.team import Placer, Society
from geosleuth.team.learning import read_sources
from geosleuth.team.swarm import SwarmSettings
from geosleuth.team.swarm.making import Team, make_team
from geosleuth.team.swarm.members import Surroundings
from geosleuth.team.swarm.spec import AgentSpec, TeamSpec, read_team
from geosleuth.team.sweeps.learning import Example, Measured, examples_of, measure, records, sweep
from geosleuth.team.sweeps.stored import StoredMember, open_store
from geosleuth.team.sweeps.varying import USUAL, Point, points, read_variation, too_large
from geosleuth.team.sweeps.ways import SWARM, RememberedSociety, read_ways, ready
from geosleuth.text.numbers import plural


class NothingMeasured(GeosleuthError):
    """No member of the team said anything: the models are out of reach, or refuse."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What both commands are told."""

    dataset: Path
    team: Path
    replies: Path | None = None
    photos: int | None = None
    seed: int = 0
    at_once: int = 4
    offline: bool = False
    yes: bool = False


@dataclass(frozen=True, slots=True)
class _Ready:
    """A team at work, with replies that are kept."""

    members: tuple[StoredMember, ...]
    society: Society
    settings: SwarmSettings
    placer: Placer
    learned: bool

    @property
    def asked(self) -> int:
        return sum(member.asked for member in self.members)


def compare_ways(
    setting: Setting, ways: str, record: Path | None, out: Path | None, *, overwrite: bool, as_json: bool
) -> None:
    """Run ways of working over photos whose place is known, and say how each did."""
    names = read_ways(ways)
    refuse_to_replace([out] if out else [], overwrite=overwrite)
    spec = read_team(setting.team)
    examples = _examples(setting.dataset, setting)
    known = _examples(record, setting) if record else []
    measured, lead, asked = asyncio.run(_compared(setting, spec, names, examples, known))
    _tell_failures(list(measured.values()))
    told = {
        "photos": len(examples),
        "within_km": spec.settings.within_km,
        "lead": spec.names[lead],
        "ways": {name: figures(one) for name, one in measured.items()},
        "asked": asked,
    }
    if out is not None:
        about = [f"{plural(len(examples), 'photo', 'photos')}, a team of {len(spec.agents)}: {', '.join(spec.names)}."]
        _write(out, "Ways for a team to work", about, ways=measured)
        told["page"] = str(out)
    if as_json:
        show_json(told)
        return
    show(ways_table(measured, spec.settings.within_km))
    why = "best by its record" if known else "the first of the team, as no --record was given"
    talk(f"who works alone or ranks: {spec.names[lead]}, {why}; {plural(asked, 'reply', 'replies')} newly asked for")


def sweep_settings(setting: Setting, vary: Sequence[str] | None, out: Path, *, overwrite: bool, as_json: bool) -> None:
    """Run the swarm with varied settings over photos whose place is known, and plot it."""
    variations = [read_variation(words) for words in vary or USUAL]
    refuse_to_replace([out], overwrite=overwrite)
    spec = read_team(setting.team)
    runs = points(variations, spec.settings, [_backbone(agent) for agent in spec.agents])
    if lost := too_large(variations, len(spec.agents)):
        words = "; ".join(f"{name} {', '.join(map(str, values))}" for name, values in lost.items())
        talk(f"left out, because a team of {len(spec.agents)} is too small for it: {words}")
    examples = _examples(setting.dataset, setting)
    swept, asked = asyncio.run(_swept(setting, spec, runs, examples))
    _tell_failures([one for _, one in swept])
    about = [f"{plural(len(examples), 'photo', 'photos')}, a team of {len(spec.agents)}: {', '.join(spec.names)}."]
    _write(out, "What a swarm's settings do", about, swept=swept)
    if as_json:
        rows = [
            {"setting": point.setting, "value": point.value, "line": point.line, **figures(one)} for point, one in swept
        ]
        show_json({"photos": len(examples), "points": rows, "asked": asked, "page": str(out)})
        return
    show(_swept_table(swept))
    talk(f"{out}: the page of plots; {plural(asked, 'reply', 'replies')} newly asked for")


def _tell_failures(measured: Sequence[Measured]) -> None:
    """Say how many replies failed, and why the first did.

    Raises:
        NothingMeasured: all of them failed.
    """
    failures = [failure for one in measured for failure in one.failures]
    if not failures:
        return
    calls = sum(sum(one.calls) for one in measured)
    if len(failures) == calls:
        raise NothingMeasured(f"every reply failed, so that nothing was measured; the first: {failures[0]}")
    talk(f"{len(failures):,} of {plural(calls, 'reply', 'replies')} failed; the first: {failures[0]}")


async def _compared(
    setting: Setting, spec: TeamSpec, names: Sequence[str], examples: Sequence[Example], known: Sequence[Example]
) -> tuple[dict[str, Measured], int, int]:
    async with _working(setting, spec) as ready_:
        within_km, seed, at_once = spec.settings.within_km, setting.seed, setting.at_once
        lead = 0
        with progress("comparing", len(names) * len(examples)) as bar:
            if known:
                shares = await records(
                    ready_.members, known, placer=ready_.placer, within_km=within_km, seed=seed, at_once=at_once,
                    progress=lambda done, total: bar.at(done, total, "records"),
                )  # fmt: skip
                lead = max(range(len(shares)), key=lambda index: shares[index])
            found = {}
            for number, name in enumerate(names):
                ask = ready(
                    name, ready_.members, placer=ready_.placer, society=ready_.society, settings=ready_.settings,
                    lead=lead, seed=seed,
                )  # fmt: skip

                def tell(done: int, total: int, number: int = number, name: str = name) -> None:
                    bar.at(number * total + done, len(names) * total, name)

                found[name] = await measure(
                    ask, examples, placer=ready_.placer, within_km=within_km, seed=seed, at_once=at_once, progress=tell
                )
        if SWARM in names and not ready_.learned:
            talk("the team has learned nothing yet, so that its swarm trusts everybody alike: geosleuth team learn")
        return found, lead, ready_.asked


async def _swept(
    setting: Setting, spec: TeamSpec, runs: Sequence[Point], examples: Sequence[Example]
) -> tuple[list[tuple[Point, Measured]], int]:
    async with _working(setting, spec) as ready_:
        with progress("sweeping", len(runs) * len(examples)) as bar:
            swept = await sweep(
                runs,
                ready_.members,
                examples,
                society=ready_.society,
                placer=ready_.placer,
                seed=setting.seed,
                at_once=setting.at_once,
                progress=lambda point, done, total: bar.at(done, total, f"{point.setting} {point.value}"),
            )
        return swept, ready_.asked


@asynccontextmanager
async def _working(setting: Setting, spec: TeamSpec) -> AsyncIterator[_Ready]:
    team = make_team(spec, offline=setting.offline)
    ask_leave(team, yes=setting.yes)
    atlas = offline_atlas(needed=True)
    kept = setting.replies or setting.team.with_suffix(".replies.sqlite")
    try:
        await team.load()
        with open_store(kept) as store:
            members = tuple(
                StoredMember(member, store, _identity(agent))
                for member, agent in zip(team.members(Surroundings(Resources(atlas))), spec.agents, strict=True)
            )
            try:
                yield _Ready(members, RememberedSociety(team.society), spec.settings, Placer(atlas), team.learned)
            finally:
                for member in members:
                    await member.aclose()
    finally:
        await team.aclose()


def ask_leave(team: Team, *, yes: bool) -> None:
    """Say where a team's photos go, and ask before they leave the machine.

    Raises:
        BadInput: nobody agreed.
    """
    told = "; ".join(team.consent_lines())
    if yes or not team.hosts:
        talk(told)
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise BadInput(f"{told}; add --yes to allow it")
    talk(told)
    sys.stderr.write("Go on? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().casefold() not in ("y", "yes"):
        raise BadInput("nothing was sent; add --yes to allow it")


def _examples(dataset: Path, setting: Setting) -> list[Example]:
    found, left_out = examples_of(read_sources(dataset))
    for why, count in left_out.items():
        talk(f"{dataset}: {plural(count, 'photo is', 'photos are')} left out: {why}")
    if not found:
        raise BadInput(f"{dataset}: no photo's place is known; give geotagged photos, or a table with path, lat, lon")
    if setting.photos is not None and setting.photos < len(found):
        chance = random.Random(setting.seed)  # noqa: S311 - no secret depends on it
        found = chance.sample(found, setting.photos)
    return found


def _backbone(agent: AgentSpec) -> str:
    return f"{agent.model} {agent.base_url or ''}".strip()


def _identity(agent: AgentSpec) -> str:
    """All that an agent's replies depend on beside the request."""
    return repr(sorted(asdict(agent).items()))


def figures(measured: Measured) -> dict[str, Any]:
    """What was measured, as JSON has it."""
    estimate = measured.accuracy
    return {
        "accuracy": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "tokens": measured.tokens_per_query,
        "calls": measured.calls_per_query,
        "seconds": measured.seconds_per_query,
        "failed": len(measured.failures),
    }


def ways_table(measured: Mapping[str, Measured], within_km: float) -> Table:
    """Ways of working for the terminal."""
    table = Table("way", box=SIMPLE_HEAD)
    _add_heads(table, f"within {within_km:g} km")
    for name, one in measured.items():
        table.add_row(name, *_cells(one))
    return table


def _swept_table(swept: Sequence[tuple[Point, Measured]]) -> Table:
    table = Table("setting", "value", box=SIMPLE_HEAD)
    _add_heads(table, "right")
    for point, one in swept:
        line = "" if point.line == SWARM else f" ({point.line})"
        table.add_row(f"{point.setting}{line}", str(point.value), *_cells(one))
    return table


def _add_heads(table: Table, right: str) -> None:
    for head in (right, "95 % interval", "tokens a photo", "calls", "seconds of replies", "failed replies"):
        table.add_column(head, justify="right")


def _cells(one: Measured) -> tuple[str, ...]:
    estimate = one.accuracy
    return (
        f"{estimate.value:.1%}",
        f"{estimate.low:.1%} to {estimate.high:.1%}",
        f"{one.tokens_per_query:,.0f}",
        f"{one.calls_per_query:.1f}",
        f"{one.seconds_per_query:.2f}",
        f"{len(one.failures):,}",
    )


def _write(
    out: Path,
    title: str,
    about: Sequence[str],
    *,
    ways: Mapping[str, Measured] | None = None,
    swept: Sequence[tuple[Point, Measured]] = (),
) -> None:
    page = render_team_page(
        title=title,
        about=about,
        ways=ways,
        curves=curves_of(swept),
        generated=datetime.now(UTC).strftime("%Y-%m-%d"),
        command=shlex.join(["geosleuth", *sys.argv[1:]]),
    )
    write_text_atomically(out, page)
