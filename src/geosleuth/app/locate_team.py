"""Several minds on one photo: tries with a verifier, or a team, from the command's words to a finding."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from geosleuth.agent import Sink, Trajectory, TrajectoryWriter
from geosleuth.agent.locating import Finding
from geosleuth.answer.wording import envelope
from geosleuth.app.console import talk
from geosleuth.atlas import Atlas
from geosleuth.bench.numbers import plural
from geosleuth.bench.plain import one_line
from geosleuth.errors import BadInput, GeosleuthError
from geosleuth.geo import coordinates
from geosleuth.photo import OpenedPhoto
from geosleuth.policies import EndpointSettings, Policy, Sampling, Wire, make_policy
from geosleuth.policies.detective import Detective
from geosleuth.policies.replay import ReplayPolicy
from geosleuth.team.parallel import Chains, Try, Watch, answered, locate_in_parallel
from geosleuth.tools import ImageSearch

if TYPE_CHECKING:
    from geosleuth.app.locate_setup import Plan, Wishes
    from geosleuth.team.swarm import Team

SAME = "same"
"""The verifier that is the model of the tries."""

Say = Callable[[str], None]
Keep = Callable[[Path], TrajectoryWriter]
_SHOWN_CHARACTERS = 160


@dataclass(frozen=True, slots=True)
class Several:
    """So many tries, and who verifies them: a model, or None for the verifier in code. Or else a team."""

    tries: int
    verifier: Policy | None = None
    chains: Chains | None = None
    team: "Team | None" = None
    wire: Wire | None = None


class NoAnswer(GeosleuthError):
    """No try came to an answer; ``finding`` has them all."""

    def __init__(self, finding: Finding) -> None:
        ended = finding.trajectory.ended
        super().__init__(f"no try came to an answer: {ended.reason if ended else 'broken off'}")
        self.finding = finding


def several_of(wishes: "Wishes", policy: Policy) -> Several | None:
    """Read ``--parallel``, ``--verifier``, ``--chains`` and ``--team``; None where one try is all there is.

    Raises:
        UserError: they contradict each other, there is no such verifier, or the team's file must be mended.
    """
    if wishes.team is not None:
        return Several(1, team=_team(wishes, wishes.team), wire=policy_wire(wishes))
    chains = _chains(wishes)
    if wishes.parallel == 1 and wishes.verifier is None:
        return None
    if isinstance(policy, ReplayPolicy):
        raise BadInput("a recording is always the same; leave out --parallel and --verifier")
    verifier = _verifier(wishes, policy)
    if isinstance(policy, Detective):
        if wishes.parallel > 1:
            talk("the detective works by rule, so all its tries would be the same: one is made")
        return None if verifier is None else Several(1, verifier, chains)
    return Several(wishes.parallel, verifier, chains)


def check_several(wishes: "Wishes") -> None:
    """Complain about words that contradict each other, before anything is opened or made.

    Raises:
        BadInput: they do.
    """
    if wishes.team is None:
        _chains(wishes)
        return
    told = {
        "--model": wishes.model,
        "--base-url": wishes.base_url,
        "--parallel": None if wishes.parallel == 1 else wishes.parallel,
        "--verifier": wishes.verifier,
        "--chains": wishes.chains,
        "--method": wishes.method,
        "--tools": wishes.tools,
    }
    if option := next((option for option, value in told.items() if value is not None), None):
        raise BadInput(f"{option} is each agent's own, which {wishes.team} says; leave out {option} or --team")


def _team(wishes: "Wishes", path: Path) -> "Team":
    from geosleuth.team.swarm import make_team, read_team

    spec = read_team(path)
    return make_team(spec, offline=wishes.offline, endpoints=endpoint_settings(wishes, len(spec.agents)))


def policy_wire(wishes: "Wishes") -> Wire | None:
    """How calls travel, where the user says so for all agents of a team."""
    return next((wire for wire in get_args(Wire) if wire == wishes.wire), None)


def _chains(wishes: "Wishes") -> Chains | None:
    if wishes.chains is None:
        return None
    if wishes.verifier is None:
        raise BadInput("--chains is what a model reads that verifies; name it with --verifier, or leave --chains out")
    for kind in get_args(Chains):
        if wishes.chains == kind:
            chosen: Chains = kind
            return chosen
    raise BadInput(f"--chains is {wishes.chains[:40]!r}; it must be {' or '.join(get_args(Chains))}")


def _verifier(wishes: "Wishes", policy: Policy) -> Policy | None:
    if wishes.verifier is None:
        return None
    if wishes.verifier == Detective.name or (wishes.verifier == SAME and isinstance(policy, Detective)):
        raise BadInput(
            "the detective reads no tries; name a model with --verifier, or leave it out: code verifies then"
        )
    if wishes.verifier in (SAME, wishes.model):
        return policy
    kind, own = (spec.partition(":")[0] for spec in (wishes.verifier, wishes.model or ""))
    base_url = wishes.base_url if kind == own else None
    return make_policy(wishes.verifier, base_url=base_url, settings=endpoint_settings(wishes), offline=wishes.offline)


def endpoint_settings(wishes: "Wishes", minds: int = 1) -> EndpointSettings:
    """How a model's server is asked: by all tries or minds at once, unless the user says otherwise."""
    usual = EndpointSettings()
    return EndpointSettings(concurrency=wishes.requests or max(usual.concurrency, wishes.parallel, minds))


def thinkers(plan: "Plan") -> list[Policy]:
    """Everybody who gets to see the photo, each once, in the order in which they do."""
    if plan.several is not None and plan.several.team is not None:
        return list(plan.several.team.policies)
    verifier = plan.several.verifier if plan.several else None
    return [plan.policy] if verifier is None or verifier is plan.policy else [plan.policy, verifier]


def try_file(path: Path, number: int) -> Path:
    """Where a try is kept, beside the verifier's own trajectory."""
    return path.with_name(f"{path.stem}.try{number}{path.suffix}")


def verifier_file(path: Path) -> Path:
    """Where a verifier is kept that failed and was replaced."""
    return path.with_name(f"{path.stem}.verifier{path.suffix}")


def member_file(path: Path, number: int) -> Path:
    """Where a run of a team's member is kept, beside the team's own trajectory: one for each turn, in their order."""
    return path.with_name(f"{path.stem}.run{number}{path.suffix}")


def files_beside(path: Path, several: Several | None) -> Iterator[Path]:
    """The files that a run with several minds writes beside the trajectory's own; of a team's, those that are there."""
    if several is not None and several.team is not None:
        for found in sorted(path.parent.glob(f"{escape(path.stem)}.run*{escape(path.suffix)}")):
            number = found.name.removeprefix(f"{path.stem}.run").removesuffix(path.suffix)
            if number.isdecimal():
                yield found
    elif several is not None:
        yield verifier_file(path)
        yield from (try_file(path, number) for number in range(1, several.tries + 1))


@dataclass(slots=True)
class _Files:
    """The files of a run while it goes on."""

    path: Path | None
    keep: Keep
    newest: TrajectoryWriter | None = field(default=None)

    def of_try(self, number: int) -> TrajectoryWriter | None:
        return None if self.path is None else self.keep(try_file(self.path, number))

    def of_verifier(self) -> TrajectoryWriter | None:
        self.newest = None if self.path is None else self.keep(self.path)
        return self.newest

    def put_aside(self) -> None:
        """Make room for another verifier."""
        if self.newest is not None and self.path is not None:
            self.newest.close()
            self.path.rename(verifier_file(self.path))


async def run_several(
    plan: "Plan",
    several: Several,
    photos: Sequence[OpenedPhoto],
    atlas: Atlas,
    *,
    similar: ImageSearch | None = None,
    keep_in: Path | None = None,
    keep: Keep,
    sinks: Iterable[Sink] = (),
    say: Say | None = None,
) -> Finding:
    """Make the tries and let the verifier decide, or let a team work; the finding is not capped yet.

    Args:
        plan: what was asked for.
        several: how many tries, and who verifies them.
        photos: the photos.
        atlas: the world that tools ask.
        similar: where pictures like these are looked for.
        keep_in: the file of the verifier's trajectory; the tries have theirs beside it.
        keep: begins a trajectory's file.
        sinks: who gets the verifier's events as they happen, uncapped.
        say: gets a line for each try as it ends.

    Raises:
        NoAnswer: no try came to an answer, though the model did not fail.
    """
    if several.team is not None:
        store = None if keep_in is None else keep(keep_in)
        return await _run_team(plan, several.team, photos, atlas, similar, store, sinks, wire=several.wire, say=say)
    files = _Files(keep_in, keep)
    exact = plan.granularity == "exact"

    def done(one: Try) -> None:
        if say is not None:
            say(try_line(one, several.tries, exact=exact))

    def instead(failed: Trajectory) -> None:
        files.put_aside()
        if say is not None:
            why = failed.ended.trouble if failed.ended and exact else None
            say(_short(f"the verifier came to no answer ({why or 'it failed'}); claims are checked in code instead"))

    if say is not None and several.tries > 1:
        say(f"{several.tries} tries by {one_line(plan.policy.name)} begin")
    finding = await locate_in_parallel(
        photos,
        count=several.tries,
        policy=plan.policy,
        method=plan.method,
        toolset=plan.toolset,
        atlas=atlas,
        verifier=several.verifier,
        chains=several.chains,
        web=plan.web,
        similar=similar,
        visual=plan.visual,
        hint=plan.hint,
        area=plan.area,
        force_answer=plan.force_answer,
        budget=plan.budget,
        sampling=plan.sampling,
        wire=plan.wire,
        store=files.of_verifier,
        sinks=sinks,
        watch=lambda number: Watch(files.of_try(number)),
        done=done,
        instead=instead,
    )
    ended = finding.trajectory.ended
    if not any(map(answered, finding.team)) and (ended is None or ended.reason != "service"):
        raise NoAnswer(finding)
    return finding


async def _run_team(
    plan: "Plan",
    team: "Team",
    photos: Sequence[OpenedPhoto],
    atlas: Atlas,
    similar: ImageSearch | None,
    store: TrajectoryWriter | None,
    sinks: Iterable[Sink],
    *,
    wire: Wire | None,
    say: Say | None,
) -> Finding:
    from geosleuth.team.swarm import locate_with_team

    if say is not None:
        learned = "" if team.learned else "; it has learned nothing yet about whom to trust"
        say(_short(f"the team {team.name} begins: {plural(len(team.seats), 'agent', 'agents')}{learned}"))
    return await locate_with_team(
        photos,
        team=team,
        atlas=atlas,
        web=plan.web,
        similar=similar,
        visual=plan.visual,
        hint=plan.hint,
        area=plan.area,
        force_answer=plan.force_answer,
        budget=plan.budget,
        sampling=None if plan.sampling == Sampling() else plan.sampling,
        wire=wire,
        store=store,
        sinks=sinks,
    )


def try_line(one: Try, count: int, *, exact: bool) -> str:
    """What came of a try, on one line; no place in it unless everything may be told."""
    head = f"try {one.number} of {count}"
    trajectory = one.trajectory
    if not one.answered or trajectory is None:
        ended = trajectory.ended if trajectory else None
        why = (ended.trouble or f"no answer ({ended.reason})") if ended else str(one.error)
        return _short(f"{head} failed{f': {why}' if exact else ''}")
    spent, answer = trajectory.spent, trajectory.answer
    place = (envelope(answer.address) if answer else "") or (
        coordinates(answer.point, answer.radius_km) if answer and answer.point else "can't tell"
    )
    took = f"{plural(spent.turns, 'turn', 'turns')}, {spent.seconds:.1f} s"
    return _short(f"{head}{f': {place}' if exact else ' is done'} ({took})")


def _short(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _SHOWN_CHARACTERS else line[: _SHOWN_CHARACTERS - 1] + "…"


async def make_ready(plan: "Plan", held: AsyncExitStack) -> None:
    """Load whoever thinks and must be loaded, and have all of them and the services closed in the end."""
    everybody = thinkers(plan)
    for one in (*everybody, plan.maps, plan.web):
        if close := getattr(one, "aclose", None):
            held.push_async_callback(close)
    for one in everybody:
        if load := getattr(one, "load", None):
            await load()
