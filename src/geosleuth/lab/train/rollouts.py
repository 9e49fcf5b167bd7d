"""Rollouts: how they are set up, environments in processes of their own, rewards and figures.

TRL resets one environment after the other, and makes one call after the other. Both are known beforehand: the rows of a
batch, and the calls of all replies of a turn. So all of them are sent out at once, and TRL picks up what is ready.
"""

import os
from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial, wraps
from hashlib import blake2b
from itertools import count
from math import isfinite
from multiprocessing import get_context
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from geosleuth.agent.methods import method as method_of
from geosleuth.agent.policy_card import with_folder
from geosleuth.agent.setup import Resources
from geosleuth.answer import Answer
from geosleuth.atlas import OfflineAtlas
from geosleuth.lab.bench.placed import create_placer
from geosleuth.lab.scenes import open_world
from geosleuth.lab.scenes.consistency import PolicyJudge, RuleReader
from geosleuth.lab.scenes.environment import (
    GeoEnvironment,
    Posed,
    Poser,
    Setting,
    build_environment_class,
    offline_setting,
    pose_photo,
    scene_poser,
)
from geosleuth.lab.scenes.environment.episode import BROKE, refuse_call
from geosleuth.lab.scenes.environment.for_trl import last_words
from geosleuth.lab.scenes.world import world_atlas
from geosleuth.lab.score import Truth
from geosleuth.lab.score.rewards import Geocoder, Helpers, Judge, NamedEncoder, Reward, read_reward
from geosleuth.lab.score.rewards.reward import Wanted, work_out
from geosleuth.models import Policy, Step
from geosleuth.models.endpoints import EndpointSettings
from geosleuth.models.registry import make_policy
from geosleuth.models.weights import WeightsPolicy
from geosleuth.photo.runtime import usable_cores
from geosleuth.support.errors import BadInput, NotRecorded
from geosleuth.support.processes import end_with_parent
from geosleuth.tools import Observation, ToolCall

from .architectures import find_box_scale
from .papers import ENCODER, JUDGE
from .recipe import Recipe, RolloutPart
from .services import ATLAS, ServiceGeocoder, check_services, open_resources
from .training_log import part_name, within_name

RULES = "rules"
WITHIN_KM = (0.5, 25.0, 200.0, 750.0)
# Share of replies with at least one tool call.
CALL_RATE = "tools/call_rate"
# Tool calls per reply.
CALLS = "tools/calls"
# Share of calls without a result: invalid, refused or repeated calls, and those that can't be parsed.
FAILURE_RATE = "tools/failure_rate"
# As ``FAILURE_RATE``, but also counting calls that had to be repaired, as papers do.
STRICT_FAILURE_RATE = "tools/strict_failure_rate"
# Part of a reward that counts failed calls, if they have a cost.
FAILED_CALLS = "failed_calls"
# The shares of a judge's verdicts that could not be read, and that never came.
JUDGE_UNREAD, JUDGE_FAILED = "judge/unread", "judge/failed"
# Share of distinct answers that the service of ``rollout.geocoder`` failed to place.
GEOCODER_FAILED = "geocoder/failed"
# Share of replies with an answer of the policy's own.
ANSWER_RATE = "answered"

_CALL_TAG = "<tool_call>"
_DIGEST = "_geosleuth_digest"
_POSED = 8  # the replies of a group come one after the other, so that few are enough

MAX_WORKERS = 12
_FEWEST_CORES = 4
WrapEnvironment = Callable[[Any], Any]
"""Changes the class of environments; likewise."""
_sent: set[str] = set()
_batch = 0
_kind: "type[RolloutEnvironment] | None" = None
_held: dict[int, "RolloutEnvironment"] = {}


class Remembered:
    """A poser that makes what a row is about once for all replies of its group."""

    def __init__(self, pose: Poser) -> None:
        """Keep the newest few."""
        self._pose = pose
        self._posed: OrderedDict[str, Posed] = OrderedDict()

    def __call__(self, row: Mapping[str, Any]) -> Posed:
        """Return the episode of a row.

        Raises:
            BadInput: the row can't be used.
        """
        item = str(row["id"])
        if item in self._posed:
            self._posed.move_to_end(item)
        else:
            self._posed[item] = self._pose(row)
            while len(self._posed) > _POSED:
                self._posed.popitem(last=False)
        return self._posed[item]


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutEnd:
    """How a rollout ended: its answer, whether that is the policy's own, which of its calls worked, and the truth.

    ``mended`` of the calls that worked were not right as they were written, see `geosleuth.tools.calls.Mended`.
    """

    answer: Answer
    own: bool
    worked: tuple[bool, ...]
    mended: int
    truth: Truth


class RolloutEnvironment(GeoEnvironment):
    """An environment whose answer is scored elsewhere, and in which the calls of one reply are one turn, as in any run.

    TRL makes calls one by one. Where the reply is known that they came in (``_talk``, or `_hear`), all of them are
    carried out when the first is made, and the others find their results ready.
    """

    _truth: Truth | None = None
    _talk: Sequence[Mapping[str, Any]] = ()
    _ready: tuple[tuple[ToolCall, Observation], ...] = ()

    def reset(self, **columns: Any) -> list[dict[str, Any]]:
        """Begin a new rollout; see `GeoEnvironment.reset`."""
        self._truth = self._pose(columns).truth
        self._talk, self._ready = (), ()
        return super().reset(**columns)

    def _carry_out(self, call: ToolCall) -> Observation:
        if not self._ready and self._talk:
            self._hear(parse_calls(self._talk[-1], self._setting.toolset.names))
        for at, (item, seen) in enumerate(self._ready):
            if (item.name, item.arguments) == (call.name, call.arguments):
                self._ready = self._ready[at + 1 :]
                return seen
        return super()._carry_out(call)

    def _hear(self, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        """Run the calls of one reply; a single call is run when it is made."""
        if len(calls) < 2:
            return
        first = len(self.observations) + 1
        made = tuple(ToolCall(f"call-{first + at}", name, arguments) for at, (name, arguments) in enumerate(calls))
        try:
            result = self._say(Step(calls=made))
        except ImportError:  # a library is missing: no model does that
            raise
        except Exception as error:  # noqa: BLE001  (a model must not be able to stop a training run; kept in `trouble`)
            self._running().trouble = error
            self._ready = tuple((item, refuse_call(item, BROKE)) for item in made)
            return
        *seen, last = result.observations
        seen.append(replace(last, text="\n\n".join((last.text, *self._besides(result)))))
        self._ready = tuple(zip(made, seen, strict=True))

    def _end(self, step: Step | None) -> RolloutEnd:
        """Pass on the last reply, and close a rollout that is still open."""
        if step is not None and not self.over:
            self._say(step)
        episode = self._running()
        self._background.run(episode.close())
        if isinstance(episode.trouble, NotRecorded):
            # A rerun that goes on without an answer would be another run.
            raise episode.trouble
        if self._truth is None:
            raise BadInput("a row has no truth, so there is nothing to reward")
        worked = tuple(observation.failure is None for observation in self.observations)
        mended = sum(observation.mended is not None for observation in self.observations)
        answered = episode.trajectory.answered if episode.trouble is None else None
        answer = Answer() if answered is None else answered.answer
        own = answered is not None and answered.by == "policy"
        return RolloutEnd(answer=answer, own=own, worked=worked, mended=mended, truth=self._truth)

    def _ending(self, step: Step | None) -> Callable[[], RolloutEnd]:
        """Return the ending as a callable, so that remote environments all begin before any is waited for."""
        return partial(self._end, step)


@dataclass(frozen=True, slots=True)
class RolloutSetup:
    """How episodes are played, and what turns rows into episodes."""

    setting: Setting
    pose: Poser

    def environment(self) -> type[RolloutEnvironment]:
        """The class for TRL's ``environment_factory``. It has no reward of its own: groups are scored as a whole."""
        # TRL looks for a function of this name.
        bases = (RolloutEnvironment, build_environment_class(self.setting, self.pose))
        return type("Rollout", bases, {"get_reward": None})


def rollout_setup(recipe: Recipe, judging: Helpers | None = None) -> RolloutSetup:
    """Return the setup that a recipe asks for: its method, tools, turns and reward; scenes with their map, or photos.

    Answers are plain replies, as in any later run with the trained policy. ``judging`` stands in for the recipe's own
    encoder and judge where nothing is scored.

    Raises:
        BadInput: something in it is unknown or can't be used, or the reward needs an encoder or a judge.
    """
    rollout, data = recipe.rollout, recipe.data
    method = with_folder(method_of(rollout.method, box_scale=find_box_scale(recipe.model)), rollout.prompts)
    # TRL shows tools and hears calls by the chat template, even if the method has another wire elsewhere.
    method = replace(method, wire="native")
    budget = method.budget if rollout.turns is None else replace(method.budget, turns=rollout.turns)
    world = None if data.photos else open_world(data.world)
    reward = load_reward(rollout)
    judged = judging or build_helpers(rollout, reward)
    check_services(recipe)
    asks = open_resources(recipe) if world is None else Resources(world_atlas(world))
    geocoder: Geocoder | None = None
    if rollout.geocoder != ATLAS:
        if not reward.needs_geocoder:
            raise BadInput(
                f"rollout.geocoder: the reward {rollout.reward} takes points that replies give; leave it out, or say "
                "rollout.reward_options={point: text}"
            )
        geocoder = ServiceGeocoder(rollout)
    elif reward.needs_geocoder:
        # The atlas alone places answers, even if tools ask other services.
        geocoder = create_placer(OfflineAtlas if world is None else lambda: asks.atlas)
    setting = offline_setting(
        method,
        reward=reward,
        helpers=replace(judged, geocoder=geocoder),
        atlas=asks,
        tools=rollout.tools,
        budget=budget,
        answer_by="reply",
    )
    pose = pose_photo if world is None else scene_poser(world, seed=data.seed, reading=rollout.reading, kept=data.kept)
    return RolloutSetup(setting, pose)


def build_helpers(rollout: RolloutPart, reward: Reward) -> Helpers:
    """Return the encoder and the judge that a recipe names; neither is loaded or asked yet.

    Raises:
        BadInput: the reward needs one that the recipe does not name, or it can't be used.
        MissingExtra: what it needs is not installed.
    """
    if reward.needs_encoder and rollout.encoder is None:
        raise BadInput(
            f"rollout.encoder: the reward {rollout.reward} compares names by a sentence encoder; give the folder of "
            f"one (the paper's is {ENCODER}), or packaged for the weak one that comes with the extra train"
        )
    if reward.needs_judge and rollout.judge is None:
        raise BadInput(
            f"rollout.judge: the reward {rollout.reward} needs a judge of reasonings; give a model (server:MODEL, "
            f"hf:FOLDER; the paper's is {JUDGE}), or rules for the rule reader"
        )
    encoder = NamedEncoder(rollout.encoder) if rollout.encoder is not None else None
    return Helpers(encoder=encoder, judge=build_judge(rollout) if reward.needs_judge else None)


def build_judge(rollout: RolloutPart) -> Judge:
    """Return the judge that a recipe names.

    Raises:
        BadInput: there is no such model, or no address of it.
    """
    spec = rollout.judge or RULES
    if spec == RULES:
        return RuleReader()
    if rollout.judge_tokens < 1 or rollout.judge_at_once < 1 or not 0 <= rollout.judge_limit <= 1:
        raise BadInput("rollout: judge_tokens and judge_at_once must be 1 or more, judge_limit between 0 and 1")
    prefix, _, folder = spec.partition(":")
    if prefix == "hf":
        if rollout.judge_extra_body:
            raise BadInput("rollout.judge_extra_body goes to a judge that is served (server:MODEL), not to hf:FOLDER")
        policy: Policy = WeightsPolicy(folder, text_only=True)
    else:
        settings = EndpointSettings(concurrency=rollout.judge_at_once, extra_body=rollout.judge_extra_body)
        policy = make_policy(spec, base_url=rollout.judge_url, settings=settings)
    return PolicyJudge(policy, at_once=rollout.judge_at_once, max_tokens=rollout.judge_tokens)


def load_reward(rollout: RolloutPart) -> Reward:
    """Return the reward of a recipe: a preset or a file, with the recipe's changes.

    A change names a setting of a part: ``beta``, or ``spatial.tau_km`` where several parts have one of that name;
    ``spatial: 0.5`` is a part's weight, ``point`` where points come from.

    Raises:
        BadInput: there is no such reward, part or setting.
    """
    reward = read_reward(rollout.reward)
    if not rollout.reward_options:
        return reward
    data = reward.to_dict()
    parts: dict[str, dict[str, Any]] = data["parts"]
    for name, value in rollout.reward_options.items():
        part, _, setting = str(name).rpartition(".")
        if name == "point":
            data["point"] = value
            continue
        if name in parts:
            part, setting = str(name), "weight"
        having = [item for item in parts if setting in parts[item] and part in ("", item)]
        if not having or (len(having) > 1 and setting == "weight"):
            known = ", ".join(f"{one}.{key}" for one, settings in parts.items() for key in settings)
            raise BadInput(f"rollout.reward_options: {name!r} is no setting of {rollout.reward}; those are {known}")
        for item in having:
            parts[item][setting] = value
    return Reward.from_dict(data)


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """Results of a batch of replies, an entry each.

    ``distances_km`` is not a number where there is no point. ``parts`` are before their weights. ``answered`` says
    whether the answer is the policy's own, ``called`` whether it called a tool, ``worked`` which of its calls did;
    ``mended`` of all these calls papers count as failed.
    """

    ids: tuple[str, ...]
    distances_km: NDArray[np.float64]
    total: NDArray[np.float64]
    parts: Mapping[str, NDArray[np.float64]]
    answered: NDArray[np.bool_]
    called: NDArray[np.bool_]
    worked: tuple[tuple[bool, ...], ...] = field(repr=False)
    mended: int = 0


class Rollouts:
    """The reward function of the trainer: takes the last replies, scores whole groups at once, and logs metrics.

    Attributes:
        unheard: calls of the batch that reached no environment, such as those of a tool that there is not; the trainer
            says so before rewards are asked for.
        newest: what the newest batch came to.
    """

    __name__ = "answer"

    def __init__(self, setting: Setting, failed_call_cost: float = 0.0, judge_limit: float = 1.0) -> None:
        """Score by the setting's reward, less what every call that fails costs.

        A judge that loses a larger share of its verdicts than ``judge_limit`` ends the run with a `ServiceFault`; so
        does a `ServiceGeocoder` that fails too often.

        Raises:
            BadInput: calls can't cost that much.
        """
        if not (isfinite(failed_call_cost) and failed_call_cost >= 0):
            raise BadInput(f"rollout.failed_call_cost must be a number from 0 on, not {failed_call_cost!r}")
        self._setting, self._cost, self._judge_limit = setting, failed_call_cost, judge_limit
        self.unheard = 0
        self.newest: Outcome | None = None

    def __call__(
        self,
        completions: Sequence[Any],
        environments: Sequence[RolloutEnvironment],
        id: Sequence[str],  # noqa: A002  (the column's name)
        log_metric: Callable[[str, float], None] | None = None,
        **_: Any,
    ) -> list[float]:
        """Return the reward of each reply."""
        messages = [
            [{"content": completion}] if isinstance(completion, str) else completion for completion in completions
        ]
        endings = [one._ending(last_words(said)) for one, said in zip(environments, completions, strict=True)]  # noqa: SLF001
        ended = [ending() for ending in endings]
        truths = [item.truth for item in ended]
        answers = [item.answer for item in ended]
        setting = self._setting
        rewards = setting.reward.score(answers, truths, setting.helpers, groups=list(id))
        wanted = Wanted(frozenset({"distance_km"}), setting.reward.point)
        placing = replace(setting.helpers, geocoder=setting.helpers.geocoder or setting.place)
        distances = work_out(answers, truths, wanted, placing).distance_km
        if distances is None:
            raise AssertionError("distances were asked for")
        worked = tuple(
            (*one.worked, False) if _is_broken(said[-1]) else one.worked
            for one, said in zip(ended, messages, strict=True)
        )
        parts = {name: np.asarray(values, dtype=np.float64) for name, values in rewards.parts.items()}
        total = np.asarray(rewards.total, dtype=np.float64)
        if self._cost:
            failed = [
                one.count(False) + self._count_unknown_calls(said) for one, said in zip(worked, messages, strict=True)
            ]
            parts[FAILED_CALLS] = np.array(failed, dtype=np.float64)
            total = total - self._cost * parts[FAILED_CALLS]
        self.newest = Outcome(
            ids=tuple(id),
            distances_km=distances,
            total=total,
            parts=parts,
            answered=np.array([item.own for item in ended], dtype=np.bool_),
            called=np.array([any(map(_has_calls, said)) or _is_broken(said[-1]) for said in messages], dtype=np.bool_),
            worked=worked,
            mended=sum(item.mended for item in ended),
        )
        if log_metric is not None:
            self._log_metrics(self.newest, log_metric)
        if isinstance(setting.helpers.judge, PolicyJudge):
            setting.helpers.judge.check_recent(self._judge_limit)
        if isinstance(setting.helpers.geocoder, ServiceGeocoder):
            setting.helpers.geocoder.end_batch()
        return [float(value) for value in self.newest.total]

    def close(self) -> None:
        """Let go of the judge, where a model judges."""
        if isinstance(self._setting.helpers.judge, PolicyJudge):
            self._setting.helpers.judge.close()

    def _count_unknown_calls(self, said: Sequence[Mapping[str, Any]]) -> int:
        """Return the number of calls to unknown tools in a conversation: they reach no environment."""
        calls = [call for message in said for call in message.get("tool_calls") or ()]
        return sum((call.get("function") or {}).get("name") not in self._setting.toolset.names for call in calls)

    def _log_metrics(self, outcome: Outcome, log_metric: Callable[[str, float], None]) -> None:
        """Log one number per reply or call: TRL averages over all processes, so no share is skewed."""
        columns = {
            **{part_name(name): values for name, values in outcome.parts.items()},
            **{within_name(km): outcome.distances_km <= km for km in WITHIN_KM},
            ANSWER_RATE: outcome.answered,
        }
        if len(self._setting.toolset):
            made = np.array([float(len(item)) for item in outcome.worked])
            made[:1] += self.unheard
            failed = [not worked for item in outcome.worked for worked in item] + [True] * self.unheard
            strictly = [True] * (sum(failed) + outcome.mended) + [False] * (len(failed) - sum(failed) - outcome.mended)
            columns |= {CALL_RATE: outcome.called, CALLS: made, FAILURE_RATE: np.array(failed)}
            columns |= {STRICT_FAILURE_RATE: np.array(strictly)}
        if isinstance(self._setting.helpers.judge, PolicyJudge):
            # Every process logs the same names in every step, also where nothing was to be judged.
            verdicts = np.array(self._setting.helpers.judge.newest or ("read",))
            columns |= {JUDGE_UNREAD: verdicts == "unread", JUDGE_FAILED: verdicts == "failed"}
        if isinstance(geocoder := self._setting.helpers.geocoder, ServiceGeocoder):
            columns |= {GEOCODER_FAILED: np.array([*geocoder.newest.values()] or [False])}
        for name, values in columns.items():
            for value in values.tolist():
                log_metric(name, float(value))


def parse_calls(message: Mapping[str, Any], tools: Collection[str]) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the calls of a message that TRL carries out: names of tools, with arguments."""
    made = [call.get("function") or {} for call in message.get("tool_calls") or () if call.get("type") == "function"]
    return [
        (item["name"], item["arguments"])
        for item in made
        if item.get("name") in tools and isinstance(item.get("arguments"), Mapping)
    ]


def _has_calls(message: Mapping[str, Any]) -> bool:
    return bool(message.get("tool_calls"))


def _is_broken(message: Mapping[str, Any]) -> bool:
    """Return whether a message contains an unreadable call; TRL takes it for the final reply."""
    written = message.get("role", "assistant") == "assistant" and not _has_calls(message)
    return written and _CALL_TAG in str(message.get("content") or "")


MakeSetup = Callable[[], RolloutSetup]
"""Called again in every process, so it must be a module's function, or a partial of one."""


def usual_workers() -> int:
    """Return how many processes serve environments by default: one per core but the first; 0 if cores are few."""
    # Processes that train together share a machine's cores.
    cores = usable_cores() // max(1, int(os.environ.get("LOCAL_WORLD_SIZE") or 1))
    return 0 if cores < _FEWEST_CORES else min(MAX_WORKERS, cores - 1)


class WorkerPool:
    """Processes that hold environments; each works off what it is given in order.

    Attributes:
        ahead: knows the calls of the turn that is under way.
        batch: the number of the batch that is played.
        pictures: those of the batch that the processes have sent, by digest; each process sends a picture once.
    """

    def __init__(self, make: MakeSetup, workers: int, wrap: WrapEnvironment | None = None) -> None:
        """Start nothing before the first task."""
        self.ahead: Ahead | None = None
        self.batch = 0
        self.pictures: dict[str, Any] = {}
        context = get_context("spawn")
        given = (make, wrap)
        self._workers = [
            ProcessPoolExecutor(1, mp_context=context, initializer=_open_worker, initargs=given) for _ in range(workers)
        ]

    def worker(self, number: int, of: int) -> ProcessPoolExecutor:
        """Return who serves a reply of a batch of so many: neighbours, which are about one photo, share a process."""
        return self._workers[number * len(self._workers) // of]

    def close(self) -> None:
        """Shut all workers down."""
        for worker in self._workers:
            worker.shutdown(wait=False, cancel_futures=True)


class RemoteEnvironment:
    """Stands for an environment in another process; `remote_environment` gives it the tools."""

    _pool: ClassVar[WorkerPool]
    _numbers: ClassVar[Iterator[int]]
    _tools: ClassVar[frozenset[str]]

    def __init__(self) -> None:
        self._number = next(self._numbers)
        self._worker = self._pool.worker(0, 1)
        self._waiting: deque[Future[Any]] = deque()

    def reset(self, **columns: Any) -> list[dict[str, Any]]:
        """Begin a new rollout."""
        if not self._waiting:
            self._begin(columns, self._worker)
        parts: list[dict[str, Any]] = self._receive()
        return parts

    def _receive(self) -> Any:
        result, pictures = self._waiting.popleft().result()
        for digest, picture in pictures.items():
            setattr(picture, _DIGEST, digest)
        self._pool.pictures.update(pictures)
        return with_pictures(result, lambda digest: self._pool.pictures[digest])

    def _begin(self, columns: Mapping[str, Any], worker: ProcessPoolExecutor) -> None:
        self._worker = worker
        # What a stopped batch left behind.
        self._waiting.clear()
        self._waiting.append(worker.submit(_reset, self._number, dict(columns), self._pool.batch))

    def _send_all(self, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        if len(calls) > 1:
            self._worker.submit(_hear, self._number, [(name, dict(arguments)) for name, arguments in calls])
        for name, arguments in calls:
            self._send(name, arguments)

    def _send(self, name: str, arguments: Mapping[str, Any]) -> None:
        self._waiting.append(self._worker.submit(_call, self._number, name, dict(arguments)))

    def _call_tool(self, name: str, arguments: Mapping[str, Any]) -> Any:
        if not self._waiting and self._pool.ahead is not None:
            self._pool.ahead.send()
        if not self._waiting:
            self._send(name, arguments)
        return self._receive()

    def _ending(self, step: Step | None) -> Callable[[], RolloutEnd]:
        return self._worker.submit(_end, self._number, step).result


def remote_environment(environment: type[RolloutEnvironment], tools: Sequence[str], pool: WorkerPool) -> type:
    """Return a class for TRL's ``environment_factory`` with the same tools, carried out by the pool."""

    def remote(name: str) -> Callable[..., Any]:
        @wraps(getattr(environment, name))
        def method(self: RemoteEnvironment, /, **arguments: Any) -> Any:
            return self._call_tool(name, arguments)

        return method

    members: dict[str, Any] = {name: remote(name) for name in tools}
    own = {"_pool": pool, "_numbers": count(), "_tools": frozenset(tools)}
    return type("Rollout", (RemoteEnvironment,), members | own)


def send_resets(environments: Sequence[RemoteEnvironment], rows: Sequence[Mapping[str, Any]], pool: WorkerPool) -> None:
    """Begin all rollouts of a batch at once."""
    pool.batch += 1
    pool.pictures.clear()
    for number, (environment, row) in enumerate(zip(environments, rows, strict=True)):
        environment._begin(row, pool.worker(number, len(rows)))  # noqa: SLF001


class Ahead:
    """Sends out all calls of a turn when the first of them is made.

    ``talks`` are TRL's own lists of messages, one a reply, to which it adds as the turns go by: where the last message
    has calls, these are the ones of this turn. Those that TRL would not carry out are left to it.
    """

    def __init__(self, environments: Sequence[RemoteEnvironment], talks: Sequence[Sequence[Mapping[str, Any]]]) -> None:
        """Nothing is sent yet."""
        self._environments, self._talks = environments, talks
        self._sent: dict[int, Mapping[str, Any]] = {}

    def send(self) -> None:
        """Send what is new."""
        for environment, talk in zip(self._environments, self._talks, strict=True):
            last = talk[-1]
            if id(last) in self._sent:
                continue
            self._sent[id(last)] = last
            environment._send_all(parse_calls(last, environment._tools))  # noqa: SLF001


def _open_worker(make: MakeSetup, wrap: WrapEnvironment | None) -> None:
    global _kind  # noqa: PLW0603  (what this process is for)
    end_with_parent()
    setup = make()
    kind = RolloutSetup(setup.setting, Remembered(setup.pose)).environment()
    _kind = kind if wrap is None else wrap(kind)


def _reset(number: int, columns: dict[str, Any], batch: int) -> tuple[Any, dict[str, Any]]:
    global _batch  # noqa: PLW0603  (what this process is for)
    if _kind is None:
        raise RuntimeError("this process was not opened")
    if batch != _batch:
        _sent.clear()
        _batch = batch
    if number not in _held:
        _held[number] = _kind()
    return _pack_result(_held[number].reset(**columns))


def _pack_result(result: Any) -> tuple[Any, dict[str, Any]]:
    """Return a result with digests in place of pictures, and the pictures not yet sent by this process."""
    new: dict[str, Any] = {}

    def name_picture(picture: Any) -> str:
        digest = picture_digest(picture)
        if digest not in _sent:
            _sent.add(digest)
            new[digest] = picture
        return digest

    return with_pictures(result, name_picture), new


def with_pictures(result: Any, change: Callable[[Any], Any]) -> Any:
    """Return a tool's result with every picture changed."""
    if not isinstance(result, list):
        return result
    return [{**part, "image": change(part["image"])} if part["type"] == "image" else part for part in result]


def picture_digest(picture: Any) -> str:
    """Return a digest of a picture's pixels; it is worked out once, so the picture must not change."""
    found: str | None = getattr(picture, _DIGEST, None)
    if found is None:
        found = blake2b(picture.tobytes(), key=repr((picture.size, picture.mode)).encode()).hexdigest()
        setattr(picture, _DIGEST, found)
    return found


def _hear(number: int, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
    _held[number]._hear(calls)  # noqa: SLF001


def _call(number: int, name: str, arguments: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    return _pack_result(getattr(_held[number], name)(**arguments))


def _end(number: int, step: Step | None) -> RolloutEnd:
    return _held[number]._end(step)  # noqa: SLF001
