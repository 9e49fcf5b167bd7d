"""Many scenes at once in the agent's own loop: worker processes hold the scenes, one model replies to all.

A worker is a process, or a thread of this one, at the end of a pipe. It receives ("scene", number) and
("reply", ticket, reply); it sends ("asked", ticket, messages, tools, new pictures, sampling), ("over",) for every try
that ends, ("played", scene) and, where something breaks, ("broke", error).

    from geosleuth.lab.train.play import Stage, play
    from geosleuth.lab.train.generator import Replier

    replier = Replier(model, processor, name="nano", max_new_tokens=256)
    stage = Stage(setting={"method": "default", "reward": "ours", "turns": 6}, seed=7, split="held-out")
    for scene in play(range(1000), stage, replier, workers=15, at_once=256):
        print(scene.number, scene.tries[0].distance_km)

The loop, the tools, the prompts and the reading of replies are those of every run; only the drawing of replies is
done in batches. With ``workers`` the workers are processes, started afresh: a script that plays needs the usual
``if __name__ == "__main__":``.
"""

import asyncio
import os
import pickle
import queue
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from multiprocessing import connection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from geosleuth.agent import Trajectory, run
from geosleuth.agent.locate import open_case
from geosleuth.agent.setup import AgentSetup, PhotoQuestion
from geosleuth.agent.trajectory import write_trajectory
from geosleuth.answer import Answer
from geosleuth.geo import distance_km
from geosleuth.lab.bench.placed import find_measured_point, place_nothing
from geosleuth.lab.scenes import Split, World, build_truth, design_scene, open_world
from geosleuth.lab.scenes.environment import (
    Control,
    Reading,
    Setting,
    build_setting,
    pose_control,
    pose_photo,
    pose_scene,
)
from geosleuth.lab.scenes.environment.episode import truth_of_row
from geosleuth.lab.score import Truth
from geosleuth.models import Conversation, Policy, Sampling, Step, Usage, Wire
from geosleuth.models.detective import Detective
from geosleuth.models.tagged import next_call_number, read_reply
from geosleuth.models.weights_engine import ChatMessage, ChatTemplate, Generated
from geosleuth.support.errors import NotRecorded, ServiceFault, UserError
from geosleuth.teams.parallel import EmbeddedVerifier, Try, build_embedded_method, draw_tries
from geosleuth.tools import Case, Toolset

from .generator import Asked, ChatWords, Refused

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

    from PIL.Image import Image

    from geosleuth.models.protocol import Finish

MakeSetting = Callable[[], Setting]

_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_PATIENCE_S = 2.0
AT_ONCE = 64
_LISTEN_S = 0.2
_ALIVE_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayRules:
    """Scenes to play, and the rules.

    Attributes:
        seed: of the scenes; training must have used another one, or the other split.
        split: which places and designs may occur.
        world: the seed of the world where the scenes stand.
        reading: what read_text reads with.
        control: what is taken from the policy, to see what it needs; see `geosleuth.lab.scenes.environment.controls`.
            Another scene is the one with the next number.
        tries: how many tries at each scene.
        verified: whether the rule-based verifier decides among several of them; what only filters scenes needs none.
        with_tools: False switches all tools off; the policy is offered none.
        strict: count only an answer's own point; otherwise an answer in words is measured from the place it names.
    """

    seed: int = 7
    split: Split = "held-out"
    world: int = 1
    reading: Reading = "clue boxes"
    control: Control = "none"
    tries: int = 1
    verified: bool = True
    with_tools: bool = True
    strict: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage(PlayRules):
    """Stage for playing scenes: plain data, for this process and for others.

    Attributes:
        setting: the words of `lab.scenes.environment.setting_of`, or a function of a module that makes a setting.
            Its method, tools, atlas, budget and reward count; answers are always replies, as in any run.
        sampling: how replies are drawn; greedily if left out.
        wire: in place of the method's own.
        keep: a folder that gets every trajectory, as ``scene-N.tryM.jsonl``.
        kept: a folder of pictures that were drawn before; those that are not there yet are drawn and put there.
        photos: rows of `geosleuth.lab.train.prompts` that are played in place of scenes; their numbers count from 0.
    """

    setting: Mapping[str, Any] | MakeSetting = field(hash=False)
    sampling: Sampling = field(default_factory=lambda: Sampling(temperature=0.0))
    wire: Wire | None = None
    keep: Path | None = None
    kept: Path | None = None
    photos: tuple[Mapping[str, Any], ...] = field(default=(), hash=False, repr=False)

    def open_stage(self) -> tuple[World | None, Setting]:
        """Return the world, and the setting with its map; what is not there yet is made, which takes up to a minute.

        Photos stand in no drawn world.

        Raises:
            BadInput: a word can't be used.
        """
        if callable(self.setting):
            setting = self.setting()
        else:
            seed = None if self.photos else self.world
            setting = build_setting({**self.setting, "world": seed, "answer_by": "reply"})
        if not self.with_tools:
            setting = replace(setting, toolset=Toolset([]))
        return None if self.photos else open_world(self.world), setting


@dataclass(frozen=True, slots=True)
class PlayedTry:
    """Result of one try.

    ``distance_km`` is None if there is no point. ``answered`` says whether the policy answered itself: the best
    candidate of the pool may stand in for it. ``calls`` were carried out; ``tools`` counts all that were made, and
    ``failures`` those that gave nothing, by why; ``mended`` those that worked because something was forgiven.
    ``placed`` is the level of the place from which the distance is measured, where an answer has words and no point.
    """

    distance_km: float | None
    reward: float
    answered: bool
    reason: str
    turns: int = 0
    calls: int = 0
    failures: Mapping[str, int] = field(default_factory=dict)
    tools: Mapping[str, int] = field(default_factory=dict)
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    trouble: str | None = None
    mended: int = 0
    placed: str | None = None


@dataclass(frozen=True, slots=True)
class PlayedScene:
    """A scene, what there is to know of it, and its tries; ``verified`` is the verifier's answer, where one was asked.

    Of a photo in a scene's place only the country is known.

    Attributes:
        number: which scene of its seed.
        id: the scene's own.
        needs_zoom: a telling clue is too small for a first view.
        misleading: some writing points elsewhere.
        locatability: on the scale of `geosleuth.lab.bench.makers`.
        finest: the finest level that an honest, legible clue reaches.
    """

    number: int
    id: str
    needs_zoom: bool
    misleading: bool
    locatability: float
    finest: str | None
    country: str
    tries: tuple[PlayedTry, ...] = ()
    verified: PlayedTry | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the try as a JSON object."""
        return asdict(self)

    @classmethod
    def from_dict(cls, line: Mapping[str, Any]) -> "PlayedScene":
        """Return the scene of a line.

        Raises:
            TypeError: the line holds something else.
            KeyError: it lacks something.
        """
        verified = line.get("verified")
        tries = tuple(PlayedTry(**item) for item in line["tries"])
        return cls(**{**line, "tries": tries, "verified": None if verified is None else PlayedTry(**verified)})


class SceneTable:
    """World and setting of a stage, opened once, in which scenes are played."""

    def __init__(self, stage: Stage) -> None:
        """Open the world.

        Raises:
            BadInput: a word of the stage can't be used.
        """
        self.stage = stage
        self.world, self.setting = stage.open_stage()
        self._drawing = asyncio.Lock()

    async def play(self, number: int, policy: Policy, over: Callable[[], None] = lambda: None) -> PlayedScene:
        """Design, draw and play one scene; ``over`` is called as each of its tries ends."""
        stage, setting = self.stage, self.setting
        async with self._drawing:
            scene, truth, case, views = await asyncio.to_thread(self._pose_scene, number)
        tries = await draw_tries(
            case,
            stage.tries,
            AgentSetup(
                method=setting.method,
                policy=policy,
                toolset=setting.toolset,
                budget=setting.budget,
                sampling=stage.sampling,
                wire=stage.wire,
            ),
            done=lambda _try: over(),
            question=PhotoQuestion(views=views, force_answer=setting.force_answer),
        )
        for attempt in tries:
            if isinstance(attempt.error, NotRecorded):
                # What goes on without an answer would be no repetition.
                raise attempt.error
        trajectories = [attempt.trajectory for attempt in tries if attempt.trajectory is not None]
        asked = stage.verified and stage.tries > 1 and trajectories
        verified = await self._verify_tries(case, views, trajectories) if asked else None
        self._save_trajectories(number, tries, verified)
        return replace(
            scene,
            tries=tuple(self._score_try(attempt.trajectory, truth, attempt.error) for attempt in tries),
            verified=None if verified is None else self._score_try(verified, truth),
        )

    def _pose_scene(self, number: int) -> tuple[PlayedScene, Truth, Case, tuple[str, ...]]:
        """Return a scene or photo without tries, its truth, its case, and its views."""
        stage = self.stage
        if self.world is None:
            row = stage.photos[number]
            posed, truth = pose_photo(row), truth_of_row(row)
            played = PlayedScene(number, str(row["id"]), False, False, 0.0, None, truth.country or "")  # noqa: FBT003
        else:
            scene = design_scene(self.world, stage.seed, number, split=stage.split)
            if stage.control == "none":
                posed = pose_scene(scene, reading=stage.reading, kept=stage.kept)
            else:
                other = design_scene(self.world, stage.seed, number + 1, split=stage.split)
                posed = pose_control(scene, other, stage.control, stage.kept)
            truth = build_truth(scene)
            misleading = any(clue.misleading and clue.lines for clue in scene.clues)
            played = PlayedScene(
                number, scene.id, scene.needs_zoom, misleading, scene.locatability, scene.finest, scene.spot.country
            )
        return played, truth, *open_case(posed.photos, self.setting.method, self.setting.resources(posed.reader))

    async def _verify_tries(self, case: Case, views: tuple[str, ...], tries: Sequence[Trajectory]) -> Trajectory:
        """Return the rule-based verifier's result, as in `geosleuth.teams.parallel.locate_in_parallel`."""
        from geosleuth.tools.toolset import all_tools

        how = build_embedded_method(len(tries))
        return await run(
            replace(case, album=case.album.copy()),
            AgentSetup(method=how, policy=EmbeddedVerifier(tries), toolset=how.toolset(all_tools()), budget=how.budget),
            question=PhotoQuestion(views=views, force_answer=self.setting.force_answer),
        )

    def _score_try(self, trajectory: Trajectory | None, truth: Truth, error: Exception | None = None) -> PlayedTry:
        trouble = None if error is None else f"{type(error).__name__}: {error}"[:300]
        if trajectory is None:
            return PlayedTry(None, self.setting.reward.least, answered=False, reason="error", trouble=trouble)
        answer, ended, spent = trajectory.answer or Answer(), trajectory.ended, trajectory.spent
        seen = trajectory.observations
        point, placed = find_measured_point(answer, place_nothing if self.stage.strict else self.setting.place)
        return PlayedTry(
            None if point is None else distance_km(point, truth.point),
            self.setting.score_answer(answer, truth),
            trajectory.answered is not None and trajectory.answered.by == "policy",
            ended.reason if ended else "error",
            spent.turns,
            spent.calls,
            dict(Counter(item.failure for item in seen if item.failure is not None)),
            dict(Counter(item.name for item in seen)),
            spent.usage.input_tokens,
            spent.usage.output_tokens,
            round(spent.seconds, 3),
            trouble or (ended.trouble if ended else None),
            sum(item.mended is not None for item in seen),
            placed,
        )

    def _save_trajectories(self, number: int, tries: Sequence[Try], verified: Trajectory | None) -> None:
        if self.stage.keep is None:
            return
        named = [(f"try{attempt.number}", attempt.trajectory) for attempt in tries]
        for name, trajectory in (*named, ("verifier", verified)):
            path = self.stage.keep / f"scene-{number}.{name}.jsonl"
            if trajectory is not None:
                path.unlink(missing_ok=True)
                write_trajectory(path, trajectory)


@dataclass(eq=False, slots=True)
class SceneWorker:
    """One worker, as seen from the other end of its pipe; ``pictures`` are those that it has sent and still needs."""

    pipe: "Connection[Any, Any]"
    runs: "BaseProcess | threading.Thread"
    scenes: int = 0
    pictures: dict[str, "Image"] = field(default_factory=dict)


def end_workers(workers: Iterable[SceneWorker]) -> None:
    """End them all; what they were at is lost."""
    for worker in workers:
        with suppress(OSError):
            worker.pipe.send(None)
    until = time.monotonic() + _PATIENCE_S
    for worker in workers:
        worker.runs.join(max(0.0, until - time.monotonic()))
        if not isinstance(worker.runs, threading.Thread) and worker.runs.is_alive():
            worker.runs.terminate()
            worker.runs.join(_PATIENCE_S)
        worker.pipe.close()


def start_workers(stage: Stage, words: ChatWords | None, workers: int) -> list[SceneWorker]:
    """Start so many processes, or one thread of this process if there are none.

    Without words of a model the detective plays, and nothing is asked.
    """
    import multiprocessing

    context = multiprocessing.get_context("spawn")
    if workers < 1:
        ours, theirs = context.Pipe()
        thread = threading.Thread(target=serve, args=(theirs, stage, words), daemon=True, name="worker")
        thread.start()
        return [SceneWorker(ours, thread)]
    started = []
    with _one_thread_each():
        for _ in range(workers):
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve_apart, args=(theirs, stage, words), daemon=True)
            process.start()
            theirs.close()
            started.append(SceneWorker(ours, process))
    return started


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Limit processes started in the block to one core each; numpy reads this on import."""
    before = {name: os.environ.get(name) for name in _ONE_THREAD}
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _serve_apart(pipe: "Connection[Any, Any]", stage: Stage, words: ChatWords | None) -> None:
    # The parent handles Ctrl-C.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    serve(pipe, stage, words)


def serve(pipe: "Connection[Any, Any]", stage: Stage, words: ChatWords | None) -> None:
    """Play the scenes that are requested until the pipe is closed."""
    try:
        asyncio.run(_Serving(pipe, SceneTable(stage), words).work())
    except Exception as error:  # noqa: BLE001  (the parent raises it)
        with suppress(OSError):
            pipe.send(("broke", _portable(error)))


def _portable(error: Exception) -> Exception:
    """Return an error that survives the pipe; some can't be restored from their pickle."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301  (made here, a moment ago)
    except Exception:  # noqa: BLE001  (for any error, its words are what counts)
        return (
            UserError(str(error)) if isinstance(error, UserError) else RuntimeError(f"{type(error).__name__}: {error}")
        )
    return error


class _Serving:
    """Work of one worker process."""

    def __init__(self, pipe: "Connection[Any, Any]", table: SceneTable, words: ChatWords | None) -> None:
        self._pipe, self._table, self._words = pipe, table, words
        self._waiting: dict[int, asyncio.Future[Generated | Refused]] = {}
        self._tickets = 0

    async def work(self) -> None:
        loop = asyncio.get_running_loop()
        heard: asyncio.Queue[Any] = asyncio.Queue()

        def listen() -> None:
            with suppress(EOFError, OSError, RuntimeError):
                while (came := self._pipe.recv()) is not None:
                    loop.call_soon_threadsafe(heard.put_nowait, came)
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(heard.put_nowait, None)

        threading.Thread(target=listen, daemon=True, name="worker-listens").start()
        tasks: set[asyncio.Task[None]] = set()
        while (came := await heard.get()) is not None:
            if came[0] == "reply":
                # A try whose time ran out meanwhile waits no more.
                if not (future := self._waiting.pop(came[1])).done():
                    future.set_result(came[2])
                continue
            task = asyncio.create_task(self._scene(came[1]))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _scene(self, number: int) -> None:
        try:
            policy = Detective() if self._words is None else _Afar(self, self._words, number)
            played = await self._table.play(number, policy, lambda: self.send("over"))
            self.send("played", played)
        except Exception as error:  # noqa: BLE001  (the parent raises it)
            self.send("broke", _portable(error))

    def send(self, *what: Any) -> None:
        # The pipe is closed at the other end: the work is being called off, and this worker will hear of it.
        with suppress(OSError):
            self._pipe.send(what)

    async def ask(
        self,
        messages: list[ChatMessage],
        tools: list[dict[str, Any]] | None,
        pictures: dict[str, "Image"],
        conversation: Conversation,
    ) -> Generated | Refused:
        self._tickets += 1
        ticket = self._tickets
        future: asyncio.Future[Generated | Refused] = asyncio.get_running_loop().create_future()
        self._waiting[ticket] = future
        self.send("asked", ticket, messages, tools, pictures, conversation.sampling)
        return await future


class _Afar:
    """Policy whose replies are drawn at the other end of the pipe; parsed as in `policies.weights`."""

    hosts: frozenset[str] = frozenset()

    def __init__(self, serving: _Serving, words: ChatWords, number: int) -> None:
        self._serving, self._words, self._number = serving, words, number
        self._chat = ChatTemplate(words.abilities, words.forbidden)
        # Pictures by their identity, which holds while they are kept here: each of them travels once.
        self._sent: dict[int, tuple[str, Image]] = {}

    @property
    def name(self) -> str:
        return f"hf:{self._words.name}"

    async def step(self, conversation: Conversation) -> Step:
        begun = time.perf_counter()
        messages, tools = self._chat.write(conversation)
        reply = await self._serving.ask(*self._pack_messages(messages, tools), conversation)
        if isinstance(reply, Refused):
            raise ServiceFault(self._words.name, reply.trouble)
        read = read_reply(reply.text, first_id=next_call_number(conversation))
        finish: Finish = "length" if reply.cut else "calls" if read.calls else "stop"
        usage = Usage(reply.input_tokens, reply.output_tokens, cost_usd=0.0, seconds=time.perf_counter() - begun)
        return Step(read.text, read.thinking, read.calls, usage, finish, self._words.name)

    async def aclose(self) -> None:
        """Do nothing: nothing is open."""

    def _pack_messages(
        self, messages: list[ChatMessage], tools: list[dict[str, Any]] | None
    ) -> tuple[list[ChatMessage], list[dict[str, Any]] | None, dict[str, "Image"]]:
        """Return the messages with keys in place of pictures, and the pictures that were not sent before."""
        new: dict[str, Image] = {}
        for message in messages:
            if isinstance(message["content"], str):
                continue
            for part in message["content"]:
                if part["type"] != "image":
                    continue
                picture = part["image"]
                if id(picture) not in self._sent:
                    key = f"{self._number}/{len(self._sent)}"
                    self._sent[id(picture)] = (key, picture)
                    new[key] = self._words.shrink(picture) if self._words.shrink else picture
                part["image"] = self._sent[id(picture)][0]
        return messages, tools, new


class Replies(Protocol):
    """Source of replies for a batch of conversations."""

    @property
    def words(self) -> ChatWords:
        """Data that workers need to write conversations."""
        ...

    def prepare(self, asked: Asked) -> Asked:
        """Return the same with all preparation done; called from another thread, also while replies are drawn."""
        ...

    def replies(self, asked: Sequence[Asked]) -> list[Generated | Refused]:
        """Return a reply to each, in their order."""
        ...


def play(
    numbers: Iterable[int],
    stage: Stage,
    model: Replies | None,
    *,
    workers: int = 0,
    at_once: int = AT_ONCE,
    batch: int | None = None,
    patience_s: float | None = None,
) -> Iterator[PlayedScene]:
    """Play scenes, each as it gets done. Close it, or go through it: its workers end with it.

    Replies are drawn when ``batch`` conversations wait, when all that are under way do, or when nothing has come for
    ``patience_s``.

    Args:
        numbers: which scenes of the stage's seed.
        stage: which world, and how it is played.
        model: draws the replies, see `Replier`; None plays the detective, which needs no model.
        workers: so many processes hold the scenes; 0 is a thread of this one.
        at_once: how many tries are under way at the same time. Twice the batch keeps both sides busy.
        batch: how many replies are drawn together at most; all that wait if left out.
        patience_s: None waits for a full batch, or for all.

    Raises:
        BadInput: a word of the stage can't be used.
        RuntimeError: a worker was ended.
    """
    # What is made once, such as the map of the world, is not made by every worker.
    stage.open_stage()
    if stage.keep is not None:
        stage.keep.mkdir(parents=True, exist_ok=True)
    conductor = _Conductor(
        start_workers(stage, model.words if model else None, workers), stage, model, batch, patience_s
    )
    try:
        yield from conductor.through(iter(numbers), max(1, at_once // max(1, stage.tries)))
    finally:
        conductor.end()


class _Conductor:
    """Dispatcher that collects worker requests, has them answered in batches, and hands out scenes."""

    def __init__(
        self,
        workers: list[SceneWorker],
        stage: Stage,
        model: Replies | None,
        batch: int | None,
        patience_s: float | None,
    ) -> None:
        self._workers, self._stage, self._model = workers, stage, model
        self._batch, self._patience_s = batch, patience_s
        self._came: queue.Queue[tuple[SceneWorker, Any]] = queue.Queue()
        self._waiting: list[tuple[SceneWorker, int, Asked]] = []
        # Tries that are under way and ask for nothing at the moment.
        self._busy = 0
        self._ended = threading.Event()
        # Workers must never block on sending while replies are drawn, so a thread always listens.
        self._listening = threading.Thread(target=self._listen, daemon=True, name="conductor-listens")
        self._listening.start()

    def through(self, numbers: Iterator[int], at_once: int) -> Iterator[PlayedScene]:
        under_way, left = 0, True
        while True:
            while left and under_way < at_once:
                number = next(numbers, None)
                if number is None:
                    left = False
                    break
                worker = min(self._workers, key=lambda item: item.scenes)
                worker.scenes += 1
                under_way += 1
                self._busy += self._stage.tries
                _send(worker, ("scene", number))
            if not under_way:
                return
            played = self._next()
            if played is not None:
                under_way -= 1
                yield played

    def end(self) -> None:
        self._ended.set()
        self._listening.join()
        end_workers(self._workers)

    def _next(self) -> PlayedScene | None:
        """Receive one message, or draw replies when it is time."""
        try:
            if self._is_time():
                worker, came = self._came.get_nowait()
            else:
                until = self._patience_s if self._waiting and self._patience_s is not None else _ALIVE_S
                worker, came = self._came.get(timeout=until)
        except queue.Empty:
            if self._is_time() or (self._waiting and self._patience_s is not None):
                self._draw()
            else:
                self._check_alive()
            return None
        match came:
            case ("asked", ticket, Asked() as asked):
                self._waiting.append((worker, ticket, asked))
                self._busy -= 1
            case ("over",):
                self._busy -= 1
            case ("played", PlayedScene() as scene):
                worker.scenes -= 1
                return scene
            case ("broke", Exception() as error):
                raise error
            case ("left",):
                raise RuntimeError("a worker process was killed; run the command again to resume")
        return None

    def _is_time(self) -> bool:
        waiting = len(self._waiting)
        return waiting > 0 and (self._busy <= 0 or (self._batch is not None and waiting >= self._batch))

    def _draw(self) -> None:
        # Those that wait longest come first.
        now, self._waiting = self._waiting[: self._batch], self._waiting[self._batch :] if self._batch else []
        if self._model is None:
            raise AssertionError("the detective asks for no replies")
        for (worker, ticket, _), reply in zip(now, self._model.replies([one for *_, one in now]), strict=True):
            self._busy += 1
            _send(worker, ("reply", ticket, reply))

    def _listen(self) -> None:
        by_pipe: dict[Any, SceneWorker] = {worker.pipe: worker for worker in self._workers}
        while not self._ended.is_set() and by_pipe:
            for pipe in connection.wait(list(by_pipe), _LISTEN_S):
                try:
                    worker = by_pipe[pipe]
                    self._came.put((worker, self._insert_pictures(worker, worker.pipe.recv())))
                except (EOFError, OSError):
                    self._came.put((by_pipe.pop(pipe), ("left",)))
                except Exception as error:  # noqa: BLE001  (raised by the consumer)
                    self._came.put((by_pipe[pipe], ("broke", error)))

    def _insert_pictures(self, worker: SceneWorker, came: Any) -> Any:
        """Return a message with the worker's pictures inserted; the only place that adds and removes pictures."""
        match came:
            case ("asked", ticket, messages, tools, pictures, sampling) if self._model is not None:
                worker.pictures.update(pictures)
                return "asked", ticket, self._model.prepare(Asked(messages, tools, worker.pictures, sampling))
            case ("played", PlayedScene(number=number)):
                for key in [key for key in worker.pictures if key.partition("/")[0] == str(number)]:
                    del worker.pictures[key]
        return came

    def _check_alive(self) -> None:
        if any(not worker.runs.is_alive() for worker in self._workers) and self._came.empty():
            raise RuntimeError("a worker process was killed; run the command again to resume")


def _send(worker: SceneWorker, what: tuple[Any, ...]) -> None:
    # A worker that is gone has said why, or is found to be gone, among what came.
    with suppress(OSError):
        worker.pipe.send(what)
