"""From a team's description and opened photos to a finding, and the team's trajectory."""

import asyncio
import random
import secrets
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from geosleuth.agent import (
    Answered,
    Answerer,
    Body,
    Budget,
    Ended,
    EndReason,
    Event,
    Method,
    Prompted,
    Said,
    Sink,
    Spending,
    Started,
    Task,
    Trajectory,
    TrajectoryWriter,
)
from geosleuth.agent.locate import Finding, open_case
from geosleuth.agent.methods import method as method_of
from geosleuth.agent.setup import NO_HINTS, UNWATCHED, Question, Resources, Watch
from geosleuth.agent.trajectory import new_id, now
from geosleuth.answer import Answer, Candidate
from geosleuth.errors import BadInput
from geosleuth.geo import Disc, Extent, LatLon, distance_km
from geosleuth.photo import OpenedPhoto
from geosleuth.policies import EndpointSettings, Policy, Prompt, Sampling, Step, Wire, consent_line, make_policy
from geosleuth.team import Outcome, Placer, Request, Society, StrangersSociety, Turn, agree
from geosleuth.tools import Toolset, image_info
from geosleuth.tools.toolset import all_tools

from .members import LiveMember, Surroundings
from .spec import AgentSpec, SwarmSettings, TeamSpec
from .swarm import first_failure, run_swarm

METHOD = "swarm"
"""What the trajectory of a team says it was made by; it is told, and can't be gone through again by the loop."""

_STAGES = {"answer": "An answer of its own", "summary": "Its answer after the reviews", "judge": "A choice"}


class Scribe:
    """Writes down a team's work as it happens, and closes it however it ends.

    A sink that fails gets no more events; its trouble comes out after the others have the event.
    """

    def __init__(self, store: TrajectoryWriter | None, sinks: Iterable[Sink]) -> None:
        self._sinks: list[Sink] = [*([store.write] if store else []), *sinks]
        self._id, self._created = (store.id, store.created) if store else (new_id(), now())
        self._events: list[Event] = []
        self._spending = Spending(Budget())
        self._began = time.perf_counter()
        self._turns = 0
        self._closed = False

    def begin(self, task: Task, question: str, team: str, budget: Budget, sampling: Sampling) -> None:
        """The start: what was asked, of whom, and what chance depends on."""
        self._spending = Spending(budget)
        self._emit(Started(task, METHOD, f"team:{team}", (), budget, "", sampling=sampling))
        self._emit(Prompted(Prompt(question, tuple(image.handle for image in task.images))))

    def hear(self, turn: Turn) -> None:
        """One turn of a member."""
        self._turns += 1
        reply = turn.reply
        said = f"[failed: {reply.failure}]" if reply.failure is not None else reply.text
        step = Step(
            f"[{_label(turn)}]\n{said}",
            usage=reply.usage,
            finish="stop" if reply.failure is None else "error",
            model=turn.member,
        )
        self._emit(Said(self._turns, step))

    def decided(self, why: str, voice: str | None) -> None:
        """How the answer was come by."""
        whose = "" if voice is None else f" The answer is that of {voice}."
        self._emit(Prompted(Prompt(f"The team is done: {why}.{whose}"), "loop"))

    def close(self, answer: Answer, by: Answerer, reason: EndReason, trouble: str | None = None) -> Trajectory:
        """The end; closing twice keeps the first."""
        if not self._closed:
            self._closed = True
            self._emit(Answered(answer, by))
            self._emit(Ended(reason, self._spending.spent(round(self._seconds, 6)), trouble))
        return Trajectory(tuple(self._events), self._id, self._created)

    @property
    def _seconds(self) -> float:
        return time.perf_counter() - self._began

    def _emit(self, body: Body) -> None:
        event = Event(len(self._events), round(self._seconds, 6), body)
        self._events.append(event)
        self._spending.see(body)
        trouble: Exception | None = None
        for sink in tuple(self._sinks):
            try:
                sink(event)
            except Exception as error:  # noqa: BLE001  (raised below, once the other sinks have the event)
                self._sinks.remove(sink)
                trouble = trouble or error
        if trouble is not None:
            raise trouble


def _label(turn: Turn) -> str:
    match turn.stage:
        case "review":
            return f"A review of the answer of {turn.about}"
        case "discussion":
            return f"The discussion, round {turn.round}"
        case stage:
            return _STAGES[stage]


_OF_A_REPLYS_TIME = 0.95


@dataclass(frozen=True, slots=True)
class Seat:
    """An agent of a team that is ready to work, wherever its photos come from."""

    spec: AgentSpec
    policy: Policy
    method: Method
    toolset: Toolset
    budget: Budget
    sampling: Sampling


@dataclass(frozen=True, slots=True)
class Team:
    """A team that can begin. Agents with the same model at the same address share one policy.

    ``learned`` says whether the society knows something that the team learned, or all stand alike.
    """

    name: str
    seats: tuple[Seat, ...]
    settings: SwarmSettings
    society: Society
    learned: bool = False

    @property
    def policies(self) -> tuple[Policy, ...]:
        """Every policy once, in the agents' order."""
        return tuple({id(seat.policy): seat.policy for seat in self.seats}.values())

    @property
    def hosts(self) -> frozenset[str]:
        """The hosts that photos are sent to."""
        return frozenset(host for policy in self.policies for host in policy.hosts)

    @property
    def tools(self) -> frozenset[str]:
        """The names of all tools that some agent may use."""
        return frozenset(name for seat in self.seats for name in seat.toolset.names)

    def consent_lines(self) -> tuple[str, ...]:
        """Who gets to see the photos, a line for each model."""
        return tuple(dict.fromkeys(consent_line(policy) for policy in self.policies))

    def members(
        self, around: Surroundings, *, sampling: Sampling | None = None, wire: Wire | None = None
    ) -> tuple[LiveMember, ...]:
        """The agents in their surroundings.

        Args:
            around: what their tools may touch.
            sampling: for whatever agents leave open.
            wire: in place of the methods' own.
        """
        return tuple(
            LiveMember(
                name=seat.spec.name,
                policy=seat.policy,
                method=seat.method,
                toolset=seat.toolset,
                around=around,
                persona=seat.spec.persona,
                prompt=seat.spec.prompt,
                budget=self._in_time(seat.budget),
                sampling=_merged(seat, sampling),
                wire=wire,
            )
            for seat in self.seats
        )

    def _in_time(self, budget: Budget) -> Budget:
        """Within the time of one reply, so that an agent ends with what it has instead of being called off."""
        limit = self.settings.seconds_per_reply
        if limit is None:
            return budget
        most = _OF_A_REPLYS_TIME * limit
        return replace(budget, seconds=most if budget.seconds is None else min(most, budget.seconds))

    async def load(self) -> None:
        """Let models on this machine load now: what is wrong with them shows only then."""
        for policy in self.policies:
            if load := getattr(policy, "load", None):
                await load()

    async def aclose(self) -> None:
        """Let go of connections and memory."""
        for policy in self.policies:
            await policy.aclose()


def make_team(
    spec: TeamSpec,
    *,
    offline: bool = False,
    society: Society | None = None,
    endpoints: EndpointSettings | None = None,
) -> Team:
    """A team that can begin; nothing is sent before its first reply.

    Args:
        spec: the team's description.
        offline: refuse whatever is not on this machine's own disk.
        society: whom to trust, in place of what the description names. A file that is not there yet means that the
            team has learned nothing; so does one beside a description that names none, if it is of other agents.
        endpoints: how the models' servers are asked.

    Raises:
        UserError: a model, a key, an extra or the learned state must be mended first.
    """
    made: dict[tuple[str, str | None], Policy] = {}
    for agent in spec.agents:
        key = (agent.model, agent.base_url)
        if key not in made:
            made[key] = make_policy(agent.model, base_url=agent.base_url, settings=endpoints, offline=offline)
    seats = tuple(_seat(agent, made[agent.model, agent.base_url]) for agent in spec.agents)
    society = society or _society(spec) or StrangersSociety(len(seats))
    learned = not isinstance(society, StrangersSociety) and getattr(society, "version", 1) > 0
    return Team(spec.name, seats, spec.settings, society, learned)


def _society(spec: TeamSpec) -> Society | None:
    from geosleuth.team.network import TrainedSociety, is_state_of

    if spec.society is not None and spec.society.exists():
        return TrainedSociety.open(spec.society, spec.names)
    if spec.beside is not None and is_state_of(spec.beside, spec.names):
        return TrainedSociety.open(spec.beside, spec.names)
    return None


def _merged(seat: Seat, others: Sampling | None) -> Sampling:
    """The agent's own words first, then those for everybody, then its method's."""
    told = {name: value for name, value in asdict(others or Sampling()).items() if value is not None}
    return replace(seat.sampling, **{**told, **seat.spec.sampling})


def _seat(agent: AgentSpec, policy: Policy) -> Seat:
    method = method_of(agent.method)
    limits: dict[str, Any] = {**agent.limits}
    drawn: dict[str, Any] = {**agent.sampling}
    budget, sampling = replace(method.budget, **limits), replace(method.sampling, **drawn)
    return Seat(agent, policy, method, method.toolset(all_tools(), agent.tools), budget, sampling)


_SEED_BITS = 31


async def locate_with_team(
    photos: Sequence[OpenedPhoto],
    team: Team,
    resources: Resources,
    *,
    question: Question = NO_HINTS,
    budget: Budget | None = None,
    sampling: Sampling | None = None,
    wire: Wire | None = None,
    watch: Watch = UNWATCHED,
) -> Finding:
    """Find out where photos of one place were taken, by a team that reviews and discusses.

    The finding's trajectory has one step for each turn of a member; its team are the members' own runs. An answer that
    names a place and no point gets the middle of the place, as the atlas has it, and its radius. Where other answer
    agents ended elsewhere are the answer's candidates.

    Args:
        photos: opened by `geosleuth.photo.open_photo`.
        team: who works; it is not closed here.
        resources: what tools may ask; places that answers name are looked up in its atlas too.
        question: what is asked and known beside the photos; what is known about views is found out here.
        budget: seconds, tokens and money of the whole team, in place of its settings; turns and calls are each agent's.
        sampling: for whatever agents leave open; its seed makes the team's draws repeat. Without one, chance chooses:
            the trajectory says which, and models get none.
        wire: in place of the methods' own.
        watch: who follows the team.

    Raises:
        BadInput: there is no photo, or the file can't be written.
    """
    asking = method_of("smilegeo")
    case, views = await asyncio.to_thread(open_case, photos, asking, Resources(resources.atlas))
    images = tuple(image_info(case, case.album[handle]) for handle in case.album.handles)
    if not images:
        raise BadInput("there is no photo to look at; give at least one")
    task = replace(question, views=views).task(images)
    settings = _limited(team.settings, budget)
    seed = sampling.seed if sampling is not None else None
    lot = secrets.randbits(_SEED_BITS) if seed is None else seed
    placer = Placer(resources.atlas)
    scribe = Scribe(watch.store, watch.sinks)
    try:
        told = replace(sampling or Sampling(), seed=lot)
        scribe.begin(task, asking.prompt(task, ()), team.name, _budget(settings), told)
        outcome = await run_swarm(
            team.members(Surroundings(resources), sampling=sampling, wire=wire),
            Request(
                tuple(photos),
                hint=question.hint,
                area=question.area,
                seed=seed,
                force_answer=question.force_answer,
            ),
            society=team.society,
            placer=placer,
            settings=settings,
            rng=random.Random(lot),  # noqa: S311
            heard=scribe.hear,
        )
        answer = _with_point(outcome.answer, await placer.extent(outcome.answer))
        others = await _others(outcome, placer, settings.within_km)
        scribe.decided(outcome.decided, outcome.voice)
    except asyncio.CancelledError:
        scribe.close(Answer(explanation="No answer: the run was called off."), "nobody", "cancelled")
        raise
    except Exception as error:
        trouble = str(error) if isinstance(error, BadInput) else f"a bug: {type(error).__name__}"
        scribe.close(Answer(explanation="No answer: the run broke."), "nobody", "error", trouble)
        raise
    answered = any(turn.reply.failure is None for turn in outcome.turns)
    trajectory = scribe.close(
        replace(answer, candidates=others),
        "policy" if answered else "nobody",
        "answered" if answered else "service",
        None if answered else first_failure(outcome),
    )
    runs = tuple(turn.reply.trajectory for turn in outcome.turns if turn.reply.trajectory is not None)
    return Finding(trajectory, tuple(opened.claims for opened in photos), case.album, team=runs)


async def _others(outcome: Outcome, placer: Placer, within_km: float) -> tuple[Candidate, ...]:
    """Where other answer agents ended who do not agree with the answer, in the order in which they came up."""
    last = {turn.member: turn.reply.answer for turn in outcome.turns if turn.stage != "review" and turn.reply.stands}
    chosen = await placer.extent(outcome.answer)
    return tuple(
        [
            Candidate(str(answer.address) or None, answer.point, answer.probability, answer.explanation)
            for member, answer in last.items()
            if member != outcome.voice and not agree(await placer.extent(answer), chosen, within_km)
        ]
    )


def _limited(settings: SwarmSettings, budget: Budget | None) -> SwarmSettings:
    if budget is None:
        return settings
    return replace(
        settings,
        seconds=settings.seconds if budget.seconds is None else budget.seconds,
        tokens=settings.tokens if budget.tokens is None else budget.tokens,
        usd=settings.usd if budget.usd is None else budget.usd,
    )


def _budget(settings: SwarmSettings) -> Budget:
    """What the team may use, as a trajectory says it: every answer agent answers, sums up and has its rounds."""
    turns = settings.answerers * (2 + settings.reviewers + settings.rounds)
    return Budget(turns, tokens=settings.tokens, seconds=settings.seconds, usd=settings.usd)


def _with_point(answer: Answer, extent: Extent | None) -> Answer:
    if answer.point is not None or extent is None:
        return answer
    if isinstance(extent, Disc):
        middle, radius_km = extent.centre, extent.radius_km
    else:
        middle = extent.centre
        corners = [LatLon(lat, lon) for lat in (extent.south, extent.north) for lon in (extent.west, extent.east)]
        radius_km = max(distance_km(middle, corner) for corner in corners)
    return replace(answer, point=middle, radius_km=radius_km or answer.radius_km)
