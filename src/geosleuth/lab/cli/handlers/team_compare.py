"""Handlers of ``team compare`` and ``team tries``; imported only when one runs."""

import asyncio
import random
import shlex
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from geosleuth.agent.setup import Resources
from geosleuth.atlas.placing import Placer
from geosleuth.cli.preparation import agree, offline_atlas
from geosleuth.geo import distance_km, threshold_text
from geosleuth.lab.cli.handlers.team_sources import load_photos
from geosleuth.lab.teams.compare import (
    GRID,
    SWARM,
    USUAL,
    WAY,
    Example,
    Measured,
    Paired,
    Point,
    RememberedSociety,
    compare_pairs,
    points,
    points_of_ways,
    read_variation,
    read_ways,
    records,
    sweep,
    too_large,
)
from geosleuth.lab.teams.measures import TriedPhoto, read_tried_photos, tries_figures
from geosleuth.lab.teams.replies import StoredMember, open_store
from geosleuth.lab.teams.team_page import comparison_page
from geosleuth.support.console import progress, show, show_json, show_result, table_view, talk
from geosleuth.support.errors import BadInput, GeosleuthError
from geosleuth.support.files import refuse_to_replace, write_text_atomically
from geosleuth.support.text.numbers import plural
from geosleuth.teams import Society
from geosleuth.teams.swarm.locate import Seat, Team, make_team
from geosleuth.teams.swarm.members import Surroundings
from geosleuth.teams.swarm.spec import AgentSpec, TeamSpec, read_team

if TYPE_CHECKING:
    from rich.console import RenderableType

    from geosleuth.geo import LatLon
    from geosleuth.lab.cli.team import CompareOptions

TRIES_KM = (1.0, 25.0, 200.0, 750.0)
_HEADS = (">95 % interval", ">tokens a photo", ">calls", ">seconds of replies", ">elapsed", ">failed replies")


class NothingMeasured(GeosleuthError):
    """No member of the team replied: the models are out of reach, or refuse."""


@dataclass(frozen=True, slots=True)
class _Ready:
    """Loaded team with stored replies."""

    members: tuple[StoredMember, ...]
    society: Society
    placer: Placer
    learned: bool


def compare_team(options: "CompareOptions") -> None:
    """Run ways of working, or settings of the swarm, over photos with known places, and print what came of them.

    Raises:
        UserError: invalid input.
        NothingMeasured: every reply failed.
    """
    ways = read_ways(options.ways or ("all" if not options.vary else SWARM))
    variations = [
        read_variation(words) for part in options.vary or () for words in (USUAL if part == "usual" else [part])
    ]
    if variations and ways != (SWARM,) and not any(variation.setting == "agents" for variation in variations):
        raise BadInput("--ways beside --vary compares ways over the number of agents; add --vary agents=2..6")
    refuse_to_replace([options.out] if options.out else [], overwrite=options.overwrite)
    spec = read_team(options.team)
    if variations:
        runs = points(variations, spec.settings, [_backbone(agent) for agent in spec.agents], ways)
    else:
        runs = points_of_ways(ways, spec.settings, len(spec.agents))
    if lost := too_large(variations, len(spec.agents)):
        words = "; ".join(f"{name} {', '.join(map(str, values))}" for name, values in lost.items())
        talk(f"left out, because a team of {len(spec.agents)} is too small for it: {words}")
    examples = load_examples(options.dataset, options.photos, options.seed)
    record = load_examples(options.record, options.photos, options.seed) if options.record else []
    swept, lead, count = asyncio.run(_measure_points(options, spec, runs, examples, record))
    _report_failures([measured for _, measured in swept])
    tests = _tests(swept)
    document = {
        "photos": len(examples),
        "within_km": spec.settings.within_km,
        "lead": spec.names[lead],
        "points": [
            {"setting": point.setting, "value": point.value, "line": point.line, **measured.figures()}
            for point, measured in swept
        ],
        "paired": {name: asdict(one) for name, one in tests.items()},
        "asked": count,
    }
    if options.out is not None:
        page = comparison_page(
            swept,
            title="What a swarm's settings do" if variations else "Ways for a team to work",
            about=[
                f"{plural(len(examples), 'photo', 'photos')}, a team of {len(spec.agents)}: {', '.join(spec.names)}."
            ],
            generated=datetime.now(UTC).strftime("%Y-%m-%d"),
            command=shlex.join(["geosleuth", *sys.argv[1:]]),
        )
        write_text_atomically(options.out, page)
        document["page"] = str(options.out)
    if options.as_json:
        show_json(document)
        return
    if grid := [(point, one) for point, one in swept if point.setting == GRID]:
        show(_grid_table(grid))
    show(_render_sweep_table(swept, spec.settings.within_km))
    if tests:
        show(_render_paired_table(swept[0][0].line, tests))
    why = "best by its record" if record else "the first of the team, as no --record was given"
    talk(f"who works alone or ranks: {spec.names[lead]}, {why}; {plural(count, 'reply', 'replies')} newly asked for")


async def _measure_points(
    options: "CompareOptions",
    spec: TeamSpec,
    runs: Sequence[Point],
    examples: Sequence[Example],
    record: Sequence[Example],
) -> tuple[list[tuple[Point, Measured]], int, int]:
    lead = 0
    async with _working(options, spec) as team:
        with progress("comparing", len(runs) * len(examples)) as bar:
            if record:
                shares = await records(
                    team.members, record, placer=team.placer, within_km=spec.settings.within_km, seed=options.seed,
                    at_once=options.at_once, progress=lambda done, total: bar.update(done, total, "records"),
                )  # fmt: skip
                lead = max(range(len(shares)), key=lambda index: shares[index])
            swept = await sweep(
                [replace(point, leader=lead) for point in runs],
                team.members,
                examples,
                society=team.society,
                placer=team.placer,
                seed=options.seed,
                at_once=options.at_once,
                progress=lambda point, done, total: bar.update(
                    done, total, f"{point.line} {point.setting} {point.value}"
                ),
            )
        if any(point.way == SWARM for point in runs) and not team.learned:
            talk("the team has learned nothing yet, so its swarm trusts all members equally; run geosleuth team learn")
        return swept, lead, sum(member.asked for member in team.members)


@asynccontextmanager
async def _working(options: "CompareOptions", spec: TeamSpec) -> AsyncIterator[_Ready]:
    team = make_team(spec, offline=options.offline, prompts=options.prompts)
    ask_consent_for_team(team, yes=options.yes)
    atlas = offline_atlas(needed=True)
    try:
        team = await team.load(talk)
        with open_store(options.replies or options.team.with_suffix(".replies.sqlite")) as store:
            members = tuple(
                StoredMember(member, store, describe_seat(seat))
                for member, seat in zip(team.members(Surroundings(Resources(atlas))), team.seats, strict=True)
            )
            yield _Ready(members, RememberedSociety(team.society), Placer(atlas), team.learned)
    finally:
        await team.aclose()


def ask_consent_for_team(team: Team, *, yes: bool) -> None:
    """Say where a team's photos go, and ask before they leave the machine."""
    agree("; ".join(team.consent_lines()), yes=yes or not team.hosts, stopped="nothing was sent")


def load_examples(dataset: Path, photos: int | None, seed: int) -> list[Example]:
    """Return the photos with a known place, or so many of them, drawn by the seed."""
    found = [Example(item.truth, item.picture) for item in load_photos(dataset)]
    if photos is not None and photos < len(found):
        found = random.Random(seed).sample(found, photos)  # noqa: S311 - no secret depends on it
    return found


def describe_seat(seat: Seat) -> str:
    """Return all that an agent's replies depend on besides the request."""
    told = {
        **asdict(seat.spec),
        "method": seat.method.name,
        "prompts": seat.method.prompts_sha256,
        "policy_card": seat.card and seat.card.words_sha256,
    }
    return repr(sorted(told.items()))


def _backbone(agent: AgentSpec) -> str:
    return f"{agent.model} {agent.base_url or ''}".strip()


def _report_failures(measured: Sequence[Measured]) -> None:
    """Report how many replies failed, and the first reason.

    Raises:
        NothingMeasured: all failed.
    """
    failures = [failure for item in measured for failure in item.failures]
    if not failures:
        return
    calls = sum(sum(item.calls) for item in measured)
    if len(failures) == calls:
        raise NothingMeasured(f"every reply failed, so nothing was measured; the first: {failures[0]}")
    talk(f"{len(failures):,} of {plural(calls, 'reply', 'replies')} failed; the first: {failures[0]}")


def _tests(swept: Sequence[tuple[Point, Measured]]) -> dict[str, Paired]:
    """Test the first way against every other."""
    ways = {point.line: measured for point, measured in swept if point.setting == WAY}
    return compare_pairs(next(iter(ways.values())), dict(list(ways.items())[1:])) if ways else {}


def _render_sweep_table(swept: Sequence[tuple[Point, Measured]], within_km: float) -> "RenderableType":
    rows = []
    for point, measured in swept:
        line = "" if point.setting == WAY or point.line == SWARM else f" ({point.line})"
        name = point.line if point.setting == WAY else f"{point.setting} {point.value}{line}"
        found = measured.figures()
        rows.append(
            (
                name,
                f"{found['accuracy']:.1%}",
                f"{found['low']:.1%} to {found['high']:.1%}",
                f"{found['tokens']:,.0f}",
                f"{found['calls']:.1f}",
                f"{found['seconds']:.2f}",
                f"{found['elapsed_seconds']:.2f}",
                f"{found['failed']:,}",
            )
        )
    return table_view(("way", f">within {within_km:g} km", *_HEADS), rows)


def _render_paired_table(first: str, tests: Mapping[str, Paired]) -> "RenderableType":
    rows = [
        (
            name,
            f"{100 * one.difference.value:+.1f}",
            f"{100 * one.difference.low:+.1f} to {100 * one.difference.high:+.1f}",
            f"{one.only_first}, {one.only_second}",
            f"{one.p:.3g}",
            f"{one.p_adjusted:.3g}",
        )
        for name, one in tests.items()
    ]
    heads = (f"{first} against", ">points", ">95 % interval", ">right alone", ">p (McNemar)", ">p (Holm)")
    return table_view(heads, rows)


def _grid_table(swept: Sequence[tuple[Point, Measured]]) -> "RenderableType":
    """Return accuracy and tokens by answerers (rows) and reviewers (columns)."""
    lines = list(dict.fromkeys(point.line for point, _ in swept))
    found = {(point.value, point.line): one for point, one in swept}
    rows = []
    for value in dict.fromkeys(point.value for point, _ in swept):
        cells = [found[value, line] for line in lines]
        rows.append((str(value), *(f"{cell.accuracy.value:.1%}, {cell.tokens_per_query:,.0f}" for cell in cells)))
    return table_view(("answer agents: right, tokens", *(f">{line}" for line in lines)), rows)


def show_tries(run: Path, ks: Sequence[int], within_km: Sequence[float], *, as_json: bool) -> None:
    """Print how often the tries of a benchmark run, and its verifier, are right."""
    with progress("reading the tries"):
        photos = list(read_tried_photos(run))
    count = max((len(photo.tries) for photo in photos), default=0)
    if count < 2:
        raise BadInput(f"{run}: no photo was tried several times; make the run with geosleuth bench run --parallel N")
    errors = np.array(
        [[*(_off_km(photo, point) for point in photo.tries), *_missing(photo, count)] for photo in photos]
    )
    verified = [_off_km(photo, photo.answer) for photo in photos]
    figures = tries_figures(errors, verified, within_km, ks)
    document = {"photos": len(photos), "tries": count, "thresholds_km": list(within_km), "figures": figures}
    heads = (plural(len(photos), "photo", "photos"), *(f">within {threshold_text(km)} km" for km in within_km))
    rows = [(name, *(f"{value:.1%}" for value in values)) for name, values in figures.items()]
    show_result(document, table_view(heads, rows), as_json=as_json)


def _off_km(photo: TriedPhoto, point: "LatLon | None") -> float:
    return nan if point is None else distance_km(point, photo.truth)


def _missing(photo: TriedPhoto, count: int) -> list[float]:
    """Return NaN for each try that never began."""
    return [nan] * (count - len(photo.tries))
