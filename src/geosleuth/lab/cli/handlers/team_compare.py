"""What ``team compare``, ``team sweep`` and ``team tries`` do; imported only when one runs."""

import asyncio
import hashlib
import json
import os
import random
import shlex
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from geosleuth.agent.locate import Finding
from geosleuth.agent.setup import AgentSetup, Resources
from geosleuth.atlas import OfflineAtlas
from geosleuth.atlas.placing import Placer
from geosleuth.cli.preparation import ask_consent, offline_atlas
from geosleuth.geo.extent import plain
from geosleuth.lab.cli.handlers.bench import thresholds_km
from geosleuth.lab.cli.handlers.team_sources import sources_of
from geosleuth.lab.teams.against_truth import THRESHOLDS_KM, Errors, errors_of
from geosleuth.lab.teams.against_truth import figures as tries_figures
from geosleuth.lab.teams.sweeps.track_record import (
    Example,
    Measured,
    Paired,
    examples_of,
    measure,
    paired,
    records,
    sweep,
)
from geosleuth.lab.teams.sweeps.ways import (
    GRID,
    SWARM,
    USUAL,
    Point,
    RememberedSociety,
    StoredMember,
    open_store,
    points,
    read_variation,
    read_ways,
    ready,
    too_large,
)
from geosleuth.lab.teams.team_page import curves_of, render_team_page
from geosleuth.pipeline.plan import Plan, make_plan
from geosleuth.pipeline.profiles import SAVED
from geosleuth.pipeline.request import LocateRequest
from geosleuth.pipeline.team import Several
from geosleuth.support.console import (
    CTRL_C,
    Bar,
    cancelled_by_ctrl_c,
    progress,
    quiet_libraries,
    show,
    show_json,
    table_view,
    talk,
)
from geosleuth.support.errors import BadInput, GeosleuthError, UserError
from geosleuth.support.files import refuse_to_replace, write_text_atomically
from geosleuth.support.text.numbers import plural
from geosleuth.support.text.safe import one_line
from geosleuth.teams import Society
from geosleuth.teams.parallel import answered, locate_in_parallel
from geosleuth.teams.parallel.locate import Verification
from geosleuth.teams.swarm import SwarmSettings
from geosleuth.teams.swarm.locate import Seat, Team, make_team
from geosleuth.teams.swarm.members import Surroundings
from geosleuth.teams.swarm.spec import AgentSpec, TeamSpec, read_team

if TYPE_CHECKING:
    from rich.console import RenderableType

_HEADS = (">95 % interval", ">tokens a photo", ">calls", ">seconds of replies", ">elapsed", ">failed replies")


class NothingMeasured(GeosleuthError):
    """No member of the team replied: the models are out of reach, or refuse."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Options that both commands share."""

    dataset: Path
    team: Path
    replies: Path | None = None
    photos: int | None = None
    seed: int = 0
    at_once: int = 4
    offline: bool = False
    yes: bool = False
    prompts: Path | None = None


@dataclass(frozen=True, slots=True)
class _Ready:
    """A loaded team with stored replies."""

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
    """Compare ways of working on photos with known places."""
    names = read_ways(ways)
    refuse_to_replace([out] if out else [], overwrite=overwrite)
    spec = read_team(setting.team)
    examples = _examples(setting.dataset, setting)
    known = _examples(record, setting) if record else []
    measured, lead, asked = asyncio.run(_compared(setting, spec, names, examples, known))
    _report_failures(list(measured.values()))
    first, *others = measured
    tests = paired(measured[first], {name: measured[name] for name in others})
    document = {
        "photos": len(examples),
        "within_km": spec.settings.within_km,
        "lead": spec.names[lead],
        "ways": {name: figures(one) for name, one in measured.items()},
        "paired": {"first": first, "against": {name: asdict(one) for name, one in tests.items()}},
        "asked": asked,
    }
    if out is not None:
        about = [f"{plural(len(examples), 'photo', 'photos')}, a team of {len(spec.agents)}: {', '.join(spec.names)}."]
        _write(out, "Ways for a team to work", about, ways=measured)
        document["page"] = str(out)
    if as_json:
        show_json(document)
        return
    show(ways_table(measured, spec.settings.within_km))
    if tests:
        show(_paired_table(first, tests))
    why = "best by its record" if known else "the first of the team, as no --record was given"
    talk(f"who works alone or ranks: {spec.names[lead]}, {why}; {plural(asked, 'reply', 'replies')} newly asked for")


def sweep_settings(
    setting: Setting, vary: Sequence[str] | None, ways: str, out: Path, *, overwrite: bool, as_json: bool
) -> None:
    """Sweep the swarm's settings on photos with known places, and plot the results."""
    variations = [read_variation(words) for words in vary or USUAL]
    names = read_ways(ways)
    if names != (SWARM,) and not any(one.setting == "agents" for one in variations):
        raise BadInput("--ways compares ways of working over the number of agents; add --vary agents=2..6")
    refuse_to_replace([out], overwrite=overwrite)
    spec = read_team(setting.team)
    runs = points(variations, spec.settings, [_backbone(agent) for agent in spec.agents], names)
    if lost := too_large(variations, len(spec.agents)):
        words = "; ".join(f"{name} {', '.join(map(str, values))}" for name, values in lost.items())
        talk(f"left out, because a team of {len(spec.agents)} is too small for it: {words}")
    examples = _examples(setting.dataset, setting)
    swept, asked = asyncio.run(_swept(setting, spec, runs, examples))
    _report_failures([one for _, one in swept])
    about = [f"{plural(len(examples), 'photo', 'photos')}, a team of {len(spec.agents)}: {', '.join(spec.names)}."]
    _write(out, "What a swarm's settings do", about, swept=swept)
    if as_json:
        rows = [
            {"setting": point.setting, "value": point.value, "line": point.line, **figures(one)} for point, one in swept
        ]
        show_json({"photos": len(examples), "points": rows, "asked": asked, "page": str(out)})
        return
    grid = [(point, one) for point, one in swept if point.setting == GRID]
    if grid:
        show(_grid_table(grid))
    show(_swept_table(swept))
    talk(f"{out}: the page of plots; {plural(asked, 'reply', 'replies')} newly asked for")


def _report_failures(measured: Sequence[Measured]) -> None:
    """Report how many replies failed, and the first reason.

    Raises:
        NothingMeasured: all failed.
    """
    failures = [failure for one in measured for failure in one.failures]
    if not failures:
        return
    calls = sum(sum(one.calls) for one in measured)
    if len(failures) == calls:
        raise NothingMeasured(f"every reply failed, so nothing was measured; the first: {failures[0]}")
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

                def report(done: int, total: int, number: int = number, name: str = name) -> None:
                    bar.at(number * total + done, len(names) * total, name)

                found[name] = await measure(
                    ask,
                    examples,
                    placer=ready_.placer,
                    within_km=within_km,
                    seed=seed,
                    at_once=at_once,
                    progress=report,
                )
        if SWARM in names and not ready_.learned:
            talk("the team has learned nothing yet, so its swarm trusts all members equally; run geosleuth team learn")
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
    team = make_team(spec, offline=setting.offline, prompts=setting.prompts)
    ask_consent_for_team(team, yes=setting.yes)
    atlas = offline_atlas(needed=True)
    kept = setting.replies or setting.team.with_suffix(".replies.sqlite")
    try:
        team = await team.load(talk)
        with open_store(kept) as store:
            members = tuple(
                StoredMember(member, store, identity_of(seat))
                for member, seat in zip(team.members(Surroundings(Resources(atlas))), team.seats, strict=True)
            )
            try:
                yield _Ready(members, RememberedSociety(team.society), spec.settings, Placer(atlas), team.learned)
            finally:
                for member in members:
                    await member.aclose()
    finally:
        await team.aclose()


def ask_consent_for_team(team: Team, *, yes: bool) -> None:
    """Say where a team's photos go, and ask before they leave the machine.

    Raises:
        BadInput: no consent was given.
    """
    consent = "; ".join(team.consent_lines())
    if yes or not team.hosts:
        talk(consent)
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise BadInput(f"{consent}; add --yes to allow it")
    talk(consent)
    sys.stderr.write("Continue? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().casefold() not in ("y", "yes"):
        raise BadInput("nothing was sent; add --yes to allow it")


def _examples(dataset: Path, setting: Setting) -> list[Example]:
    found, left_out = examples_of(sources_of(dataset))
    for why, count in left_out.items():
        talk(f"{dataset}: {plural(count, 'photo is', 'photos are')} left out: {why}")
    if not found:
        raise BadInput(f"{dataset}: no photo has a known place; give geotagged photos, or a table with path, lat, lon")
    if setting.photos is not None and setting.photos < len(found):
        chance = random.Random(setting.seed)  # noqa: S311 - no secret depends on it
        found = chance.sample(found, setting.photos)
    return found


def _backbone(agent: AgentSpec) -> str:
    return f"{agent.model} {agent.base_url or ''}".strip()


def identity_of(seat: Seat) -> str:
    """Return all that an agent's replies depend on besides the request."""
    told = {**asdict(seat.spec), "method": seat.method.name, "prompts": seat.method.prompts_sha256}
    told["policy_card"] = seat.card and seat.card.words_sha256
    # Replies that were kept before there were cards and words of the user's own count still.
    new = ("policy_card", "prompts")
    return repr(sorted((name, value) for name, value in told.items() if name not in new or value is not None))


def figures(measured: Measured) -> dict[str, Any]:
    """Return the measurements for JSON."""
    estimate = measured.accuracy
    return {
        "accuracy": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "tokens": measured.tokens_per_query,
        "calls": measured.calls_per_query,
        "seconds": measured.seconds_per_query,
        "elapsed_seconds": measured.elapsed_per_query,
        "failed": len(measured.failures),
    }


def ways_table(measured: Mapping[str, Measured], within_km: float) -> "RenderableType":
    """Return ways of working for the terminal."""
    rows = [(name, *_cells(one)) for name, one in measured.items()]
    return table_view(("way", f">within {within_km:g} km", *_HEADS), rows)


def _paired_table(first: str, tests: Mapping[str, Paired]) -> "RenderableType":
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
        rows.append((str(value), *(f"{one.accuracy.value:.1%}, {one.tokens_per_query:,.0f}" for one in cells)))
    return table_view(("answer agents: right, tokens", *(f">{line}" for line in lines)), rows)


def _swept_table(swept: Sequence[tuple[Point, Measured]]) -> "RenderableType":
    rows = []
    for point, one in swept:
        line = "" if point.line == SWARM else f" ({point.line})"
        rows.append((f"{point.setting}{line}", str(point.value), *_cells(one)))
    return table_view(("setting", "value", ">right", *_HEADS), rows)


def _cells(one: Measured) -> tuple[str, ...]:
    estimate = one.accuracy
    return (
        f"{estimate.value:.1%}",
        f"{estimate.low:.1%} to {estimate.high:.1%}",
        f"{one.tokens_per_query:,.0f}",
        f"{one.calls_per_query:.1f}",
        f"{one.seconds_per_query:.2f}",
        f"{one.elapsed_per_query:.2f}",
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


@dataclass(frozen=True, slots=True)
class Row:
    """A finished photo."""

    photo: str
    errors: Errors
    failed_tries: int
    verifier_failed: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TriesSetting:
    """Which figures of tries are wanted, over how many photos, and how many photos are tried at the same time."""

    k: str | None = None
    within: str | None = None
    photos: int | None = None
    at_once: int = 1

    def thresholds_km(self) -> tuple[float, ...]:
        """Return the distances of ``--within``."""
        return THRESHOLDS_KM if self.within is None else thresholds_km(self.within)


def measure_tries(dataset: Path, request: LocateRequest, wanted: TriesSetting, *, out: Path, as_json: bool) -> None:
    """Ask about every photo that is not in ``out`` yet, and print figures over all.

    Raises:
        UserError: invalid input.
        GeosleuthError: the model failed at every photo.
    """
    ks, within_km = _ks(wanted.k, request.parallel), wanted.thresholds_km()
    with quiet_libraries():
        plan = make_plan(request, [])
        if plan.several is None:
            raise BadInput("the detective is rule-based, so all its tries would be the same; name a model with --model")
        examples = _tries_examples(dataset, wanted.photos, request.seed or 0)
        results = _ResultsFile(out, _asked(request, plan))
        ask_consent(plan, yes=request.yes)
        try:
            rows, trouble = asyncio.run(_all(plan, plan.several, examples, results, wanted.at_once))
        except asyncio.CancelledError:
            talk(f"stopped; {out} holds every finished photo; run the same command to resume")
            raise typer.Exit(CTRL_C) from None
    if not rows:
        raise GeosleuthError(f"nothing was measured; the first error: {one_line(trouble[0]) if trouble else 'none'}")
    if trouble:
        talk(f"{plural(len(trouble), 'photo', 'photos')} failed; run the command again: {one_line(trouble[0])}")
    figures_found = tries_figures([row.errors for row in rows], ks, within_km)
    _report(rows, figures_found, within_km, request, len(trouble), out, as_json=as_json)


def _report(
    rows: Sequence[Row],
    found: Mapping[str, Sequence[float]],
    within_km: Sequence[float],
    request: LocateRequest,
    failed: int,
    out: Path,
    *,
    as_json: bool,
) -> None:
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
                "thresholds_km": list(within_km),
                "figures": dict(found),
                "out": str(out),
            }
        )
        return
    heads = (plural(len(rows), "photo", "photos"), *(f">within {km:g} km" for km in within_km))
    show(table_view(heads, [(name, *(f"{value:.1%}" for value in values)) for name, values in found.items()]))
    if failed_tries:
        talk(f"{plural(failed_tries, 'try', 'tries')} gave no answer and count as wrong")
    if replaced:
        photos = plural(len(replaced), "photo", "photos")
        talk(f"the verifier {request.verifier} failed at {photos}; decided by rule instead: {one_line(replaced[0])}")


async def _all(
    plan: Plan, several: Several, examples: Sequence[tuple[str, Example]], results: "_ResultsFile", at_once: int
) -> tuple[list[Row], list[str]]:
    atlas = offline_atlas(needed=True)
    trouble: list[str] = []
    rows: dict[int, Row] = {}
    waiting = iter(enumerate(examples))

    async def worker(bar: Bar) -> None:
        for number, (photo, example) in waiting:
            bar.at(len(rows) + len(trouble), len(examples), Path(photo).name)
            row = results.known.get(photo)
            if row is None:
                try:
                    row = await _one(plan, several, atlas, photo, example)
                except UserError:
                    raise
                except GeosleuthError as error:
                    trouble.append(str(error))
                    continue
                results.add(row)
            rows[number] = row

    async with AsyncExitStack() as held:
        plan = await plan.load(held, talk)
        with progress("trying", len(examples)) as bar, cancelled_by_ctrl_c():
            try:
                async with asyncio.TaskGroup() as group:
                    for _ in range(min(at_once, len(examples))):
                        group.create_task(worker(bar))
            except BaseExceptionGroup as together:
                # The first error is the one to fix.
                raise together.exceptions[0] from None
            bar.at(len(examples), len(examples))
    return [rows[number] for number in sorted(rows)], trouble


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
        Resources(atlas, visual=plan.searches.visual),
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
    """Return why the model failed at every try: that says nothing about how well it would have done."""
    ends = [one.ended for one in finding.team if one.ended is not None]
    if ends and all(one.reason in ("service", "error") for one in ends):
        return ends[0].trouble or ends[0].reason
    return None


class _ResultsFile:
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
            record = json.loads(line)
            if record["asked"] != self._asked:
                return
            row = Row(str(record["photo"]), Errors.read(record), int(record["failed_tries"]), record["verifier_failed"])
        except (ValueError, KeyError, TypeError) as error:
            raise BadInput(f"{self._path}, line {number}: is no photo of this command; name another --out") from error
        if len(row.errors.tries_km) == self._asked["parallel"]:
            self.known[row.photo] = row

    def add(self, row: Row) -> None:
        """Append a photo's row and flush it to disk."""
        record = {
            "photo": row.photo,
            "asked": self._asked,
            **row.errors.document(),
            "failed_tries": row.failed_tries,
            "verifier_failed": row.verifier_failed,
        }
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise BadInput(f"{self._path}: can't be written: {error.strerror or error}") from error


def _asked(request: LocateRequest, plan: Plan) -> dict[str, Any]:
    """Return all that the tries depend on besides the photo; what files from before did not say, only where it counts.

    The words of a card tell method, tools and boxes, too.
    """
    names = ("model", "base_url", "parallel", "verifier", "chains", "method", "tools", "turns", "seed")
    card, prompts = plan.card, plan.method.prompts_sha256
    said = {
        "policy_card": card and card.words_sha256,
        "prompts": prompts,
        "wire": request.wire,
        "boxes": None if request.boxes == "auto" else request.boxes,
    }
    usual = LocateRequest()
    others = [name for name in SAVED if name not in (*names, *said)]
    said |= {name: plain(value) for name in others if (value := getattr(request, name)) != getattr(usual, name)}
    return {name: getattr(request, name) for name in names} | {name: one for name, one in said.items() if one}


def _tries_examples(dataset: Path, photos: int | None, seed: int) -> list[tuple[str, Example]]:
    """Return the photos with a key that changes with the file or its place."""
    found, left_out = examples_of(sources_of(dataset))
    for why, count in left_out.items():
        talk(f"{dataset}: {plural(count, 'photo is', 'photos are')} left out: {why}")
    if not found:
        raise BadInput(f"{dataset}: no photo has a known place; give geotagged photos, or a table with path, lat, lon")
    if photos is not None and photos < len(found):
        found = random.Random(seed).sample(found, photos)  # noqa: S311 - no secret depends on it
    return [(_name(one), one) for one in found]


def _name(example: Example) -> str:
    if example.path is None:
        raise ValueError("an example of a data set must be a file")
    place = example.truth.point
    content = hashlib.sha256(example.path.read_bytes())
    content.update(f"{place.lat:.6f},{place.lon:.6f}".encode())
    return f"{example.path.name} {content.hexdigest()[:16]}"


def _ks(text: str | None, tries: int) -> list[int]:
    if text is None:
        return sorted({*(2**power for power in range(tries.bit_length()) if 2**power <= tries), tries})
    try:
        found = [int(part) for part in text.split(",")]
    except ValueError as error:
        raise BadInput(f"--k is {text[:40]!r}; write numbers with commas, such as 1,2,4") from error
    if wrong := [one for one in found if not 1 <= one <= tries]:
        raise BadInput(f"--k has {wrong[0]}; it must lie between 1 and the {tries} tries of --parallel")
    return found
