"""Locate photos with a team, and write the team's trajectory."""

import asyncio
import random
import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
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
from geosleuth.agent.policy_card import PolicyCard, card_of_model, card_of_server, scale_of_policy, with_folder
from geosleuth.agent.setup import NO_HINTS, UNWATCHED, PhotoQuestion, Resources, Watch
from geosleuth.agent.trajectory import new_id, now
from geosleuth.agent.turns import publish
from geosleuth.answer import Answer, Candidate
from geosleuth.atlas.placing import Placer, with_point
from geosleuth.models import EndpointSettings, Policy, Prompt, Sampling, Step, Wire, consent_line, make_policy
from geosleuth.models.box_scale import find_box_scale
from geosleuth.photo import BoxScale, OpenedPhoto
from geosleuth.support.errors import BadInput
from geosleuth.teams import Location, Request, Society, StrangersSociety, TeamOutcome, Turn, agree, find_location
from geosleuth.tools import Toolset, image_info
from geosleuth.tools.toolset import all_tools

from .members import LiveMember, Surroundings
from .spec import AgentSpec, SwarmSettings, TeamSpec
from .swarm import first_failure, run_swarm

METHOD = "swarm"
# Default method of an agent for which none is set.
_DEFAULT_METHOD = "smilegeo"

_STAGES = {"answer": "An answer of its own", "summary": "Its answer after the reviews", "judge": "A choice"}

_OF_A_REPLYS_TIME = 0.95
_SEED_BITS = 31


class TeamRecorder:
    """Records a team's run as it happens, and closes the record however it ends.

    A sink that fails gets no more events; its error is raised after the others have the event.
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
        """Record the start: the question, the team and the seed."""
        self._spending = Spending(budget)
        self._emit(Started(task, METHOD, f"team:{team}", (), budget, "", sampling=sampling))
        self._emit(Prompted(Prompt(question, tuple(image.handle for image in task.images))))

    def record_turn(self, turn: Turn) -> None:
        """Record one turn of a member."""
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

    def record_decision(self, why: str, voice: str | None) -> None:
        """Record how the answer was decided."""
        whose = "" if voice is None else f" The answer is that of {voice}."
        self._emit(Prompted(Prompt(f"The team is done: {why}.{whose}"), "loop"))

    def close(self, answer: Answer, by: Answerer, reason: EndReason, trouble: str | None = None) -> Trajectory:
        """Record the end; a second call has no effect."""
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
        publish(event, self._sinks)


def _label(turn: Turn) -> str:
    match turn.stage:
        case "review":
            return f"A review of the answer of {turn.about}"
        case "discussion":
            return f"The discussion, round {turn.round}"
        case stage:
            return _STAGES[stage]


@dataclass(frozen=True, slots=True)
class Seat:
    """An agent of a team, ready to run."""

    spec: AgentSpec
    policy: Policy
    method: Method
    toolset: Toolset
    budget: Budget
    sampling: Sampling
    card: PolicyCard | None = None


@dataclass(frozen=True, slots=True)
class Team:
    """A team that is ready to run. Agents with the same model at the same address share one policy.

    ``learned`` says whether the society was learned, or trusts all members equally.
    """

    name: str
    seats: tuple[Seat, ...]
    settings: SwarmSettings
    society: Society
    learned: bool = False

    @property
    def policies(self) -> tuple[Policy, ...]:
        """Return every policy once, in the agents' order."""
        return tuple({id(seat.policy): seat.policy for seat in self.seats}.values())

    @property
    def hosts(self) -> frozenset[str]:
        """Return the hosts that photos are sent to."""
        return frozenset(host for policy in self.policies for host in policy.hosts)

    @property
    def tools(self) -> frozenset[str]:
        """Return the names of all tools that any agent may use."""
        return frozenset(name for seat in self.seats for name in seat.toolset.names)

    @property
    def prompts_sha256(self) -> str | None:
        """Return the fingerprints of the user's own words, agent by agent; None where there are none."""
        words = [seat.method.prompts_sha256 or "" for seat in self.seats]
        return ",".join(words) if any(words) else None

    def consent_lines(self) -> tuple[str, ...]:
        """Return who receives the photos, one line per model."""
        return tuple(dict.fromkeys(consent_line(policy) for policy in self.policies))

    def members(
        self, around: Surroundings, *, sampling: Sampling | None = None, wire: Wire | None = None
    ) -> tuple[LiveMember, ...]:
        """Return the members with their resources; one whose model learned another wire is refused.

        Args:
            around: what their tools may use.
            sampling: defaults for what agents leave open.
            wire: replaces the methods' own.

        Raises:
            BadInput: a model learned another wire.
        """
        for seat in self.seats:
            if seat.card is not None:
                seat.card.check_wire(wire)
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
                sampling=_merge_sampling(seat, sampling),
                wire=wire,
                context_tokens=seat.spec.context_tokens,
            )
            for seat in self.seats
        )

    def _in_time(self, budget: Budget) -> Budget:
        """Limit the time to that of one reply, so that an agent ends with what it has instead of being cancelled."""
        limit = self.settings.seconds_per_reply
        if limit is None:
            return budget
        most = _OF_A_REPLYS_TIME * limit
        return replace(budget, seconds=most if budget.seconds is None else min(most, budget.seconds))

    async def load(self, say: Callable[[str], None] = lambda _line: None) -> "Team":
        """Load local models now, so that errors in them show early, and return the team as its models want it."""
        for policy in self.policies:
            if load := getattr(policy, "load", None):
                await load()
        return await self.resolve_model_details(say)

    async def resolve_model_details(self, say: Callable[[str], None] = lambda _line: None) -> "Team":
        """Return the team with what models without a card say themselves: a server's card, or their scale of boxes.

        Raises:
            BadInput: an agent's file asks for something that its model was not trained with.
        """
        seats = []
        for seat in self.seats:
            card, spec = seat.card, seat.spec
            if card is None and spec.policy_card is None:
                card = await card_of_server(seat.policy)
            usual = seat.method.box_scale
            scale = usual if card else await scale_of_policy(seat.policy, seat.toolset, usual, say)
            seats.append(seat if card is seat.card and scale == usual else _seat(spec, seat.policy, card, scale))
        return replace(self, seats=tuple(seats))

    async def aclose(self) -> None:
        """Close connections and free memory."""
        for policy in self.policies:
            await policy.aclose()


def make_team(
    spec: TeamSpec,
    *,
    offline: bool = False,
    society: Society | None = None,
    endpoints: EndpointSettings | None = None,
    prompts: Path | None = None,
) -> Team:
    """Return a team that is ready to run; nothing is sent before its first reply.

    Args:
        spec: the team's description.
        offline: refuse what is not on this machine's disk.
        society: replaces the learned state that the description names. A missing file means that the team has
            learned nothing; so does one beside a description that names none, if it belongs to other agents.
        endpoints: the settings of the models' servers.
        prompts: a folder with words of the user's own, for agents that name none.

    Raises:
        UserError: a model, a key, an extra, the words or the learned state is missing or invalid.
    """
    made: dict[tuple[str, str | None], Policy] = {}
    agents = tuple(replace(agent, prompts=agent.prompts or prompts) for agent in spec.agents)
    for agent in agents:
        key = (agent.model, agent.base_url)
        if key not in made:
            made[key] = make_policy(agent.model, base_url=agent.base_url, settings=endpoints, offline=offline)
    seats = tuple(_seat(agent, made[agent.model, agent.base_url]) for agent in agents)
    society = society or _society(spec) or StrangersSociety(len(seats))
    learned = not isinstance(society, StrangersSociety) and getattr(society, "version", 1) > 0
    return Team(spec.name, seats, spec.settings, society, learned)


def _society(spec: TeamSpec) -> Society | None:
    from geosleuth.teams.network import TrainedSociety, is_state_file

    if spec.society is not None and spec.society.exists():
        return TrainedSociety.open(spec.society, spec.names)
    if spec.beside is not None and is_state_file(spec.beside, spec.names):
        return TrainedSociety.open(spec.beside, spec.names)
    return None


def _merge_sampling(seat: Seat, others: Sampling | None) -> Sampling:
    """Merge sampling settings: the agent's own first, then the common ones, then its method's."""
    common = {name: value for name, value in asdict(others or Sampling()).items() if value is not None}
    return replace(seat.sampling, **{**common, **seat.spec.sampling})


def _seat(agent: AgentSpec, policy: Policy, card: PolicyCard | None = None, scale: BoxScale | None = None) -> Seat:
    card = card or card_of_model(agent.model, agent.policy_card)
    if card is not None:
        method = card.build_method(method=agent.method, tools=agent.tools, prompts=agent.prompts)
    else:
        method = method_of(agent.method or _DEFAULT_METHOD, box_scale=scale or find_box_scale(agent.model))
        method = with_folder(method, agent.prompts)
    limits: dict[str, Any] = {**agent.limits}
    drawn: dict[str, Any] = {**agent.sampling}
    budget, sampling = replace(method.budget, **limits), replace(method.sampling, **drawn)
    tools = agent.tools if card is None else card.tools
    return Seat(agent, policy, method, method.toolset(all_tools(), tools), budget, sampling, card)


async def locate_with_team(
    photos: Sequence[OpenedPhoto],
    team: Team,
    resources: Resources,
    *,
    question: PhotoQuestion = NO_HINTS,
    budget: Budget | None = None,
    sampling: Sampling | None = None,
    wire: Wire | None = None,
    watch: Watch = UNWATCHED,
) -> Finding:
    """Locate photos of one place with a team that reviews and discusses.

    The finding's trajectory has one step per turn of a member; its team are the members' own runs. An answer that
    names a place without a point gets that of the place, as in a single run. Differing final answers of other answer
    agents become the candidates.

    Args:
        photos: opened by `geosleuth.photo.open_photo`.
        team: the team; it is not closed here.
        resources: what tools may query; its atlas also resolves the places that answers name.
        question: the question and known facts beside the photos; facts about views are computed here.
        budget: seconds, tokens and money of the whole team, replacing its settings; turns and calls are per agent.
        sampling: defaults for what agents leave open; its seed makes the team's draws repeatable. Without one, a random
            seed is drawn and recorded, and models get none.
        wire: replaces the methods' own.
        watch: receives the team's events.

    Raises:
        BadInput: there is no photo, or the file can't be written.
    """
    asking = method_of("smilegeo")
    case, views = await asyncio.to_thread(open_case, photos, asking, Resources(resources.atlas))
    images = tuple(image_info(case, case.album[handle]) for handle in case.album.handles)
    if not images:
        raise BadInput("no photo given; give at least one")
    task = replace(question, views=views).task(images)
    settings = _limit_settings(team.settings, budget)
    seed = sampling.seed if sampling is not None else None
    lot = secrets.randbits(_SEED_BITS) if seed is None else seed
    placer = Placer(resources.atlas)
    recorder = TeamRecorder(watch.store, watch.sinks)
    try:
        recorded_sampling = replace(sampling or Sampling(), seed=lot)
        recorder.begin(task, asking.prompt(task, ()), team.name, _budget(settings), recorded_sampling)
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
            heard=recorder.record_turn,
        )
        chosen = await find_location(outcome.answer, placer)
        answer = with_point(outcome.answer, chosen.placement if chosen else None)
        others = await _others(outcome, chosen, placer, settings.within_km)
        recorder.record_decision(outcome.decided, outcome.voice)
    except asyncio.CancelledError:
        recorder.close(Answer(explanation="No answer: the run was called off."), "nobody", "cancelled")
        raise
    except Exception as error:
        trouble = str(error) if isinstance(error, BadInput) else f"a bug: {type(error).__name__}"
        recorder.close(Answer(explanation="No answer: the run broke."), "nobody", "error", trouble)
        raise
    answered = any(turn.reply.failure is None for turn in outcome.turns)
    trajectory = recorder.close(
        replace(answer, candidates=others),
        "policy" if answered else "nobody",
        "answered" if answered else "service",
        None if answered else first_failure(outcome),
    )
    runs = tuple(turn.reply.trajectory for turn in outcome.turns if turn.reply.trajectory is not None)
    return Finding(trajectory, tuple(opened.claims for opened in photos), case.album, team=runs)


async def _others(
    outcome: TeamOutcome, chosen: Location | None, placer: Placer, within_km: float
) -> tuple[Candidate, ...]:
    """Return the places of other answer agents that do not agree with the answer, in order of appearance."""
    last = {
        turn.member: turn.reply.answer for turn in outcome.turns if turn.stage != "review" and turn.reply.names_place
    }
    return tuple(
        [
            Candidate(str(answer.address) or None, answer.point, answer.probability, answer.explanation)
            for member, answer in last.items()
            if member != outcome.voice and not agree(await find_location(answer, placer), chosen, within_km)
        ]
    )


def _limit_settings(settings: SwarmSettings, budget: Budget | None) -> SwarmSettings:
    if budget is None:
        return settings
    return replace(
        settings,
        seconds=settings.seconds if budget.seconds is None else budget.seconds,
        tokens=settings.tokens if budget.tokens is None else budget.tokens,
        usd=settings.usd if budget.usd is None else budget.usd,
    )


def _budget(settings: SwarmSettings) -> Budget:
    """Return the team's budget for the trajectory: every answer agent answers, sums up and has its rounds."""
    turns = settings.answerers * (2 + settings.reviewers + settings.rounds)
    return Budget(turns, tokens=settings.tokens, seconds=settings.seconds, usd=settings.usd)
