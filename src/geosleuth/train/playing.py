"""Many scenes at once, played by one model: hands hold the scenes, and replies are drawn for all that wait together.

    from geosleuth.train.playing import Stage, play
    from geosleuth.train.replying import Replier

    replier = Replier(model, processor, name="nano", max_new_tokens=256)
    stage = Stage(setting={"method": "default", "reward": "ours", "turns": 6}, seed=7, split="held-out")
    for scene in play(range(1000), stage, replier, workers=15, at_once=256):
        print(scene.number, scene.tries[0].distance_km)

The loop, the tools, the prompts and the reading of replies are those of every run; only the drawing of replies is
done in batches. With ``workers`` the hands are processes, started afresh: a script that plays needs the usual
``if __name__ == "__main__":``.
"""

import queue
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from multiprocessing import connection
from typing import Any, Protocol

from geosleuth.policies.weights_engine import Generated

from .playing_hands import Hand, end_hands, start_hands
from .playing_scenes import PlayedScene, PlayedTry, Stage
from .prompts import scene_id
from .replying import Asked, ChatWords, Refused, Replier

__all__ = ["PlayedScene", "PlayedTry", "Replier", "Replies", "Stage", "play", "tries_of_policy"]

AT_ONCE = 64
_LISTEN_S = 0.2
_ALIVE_S = 5.0


class Replies(Protocol):
    """Whoever draws replies for a batch of conversations."""

    @property
    def words(self) -> ChatWords:
        """What hands must know to write conversations."""
        ...

    def prepared(self, asked: Asked) -> Asked:
        """The same with what can be done beforehand; called from another thread, also while replies are drawn."""
        ...

    def replies(self, asked: Sequence[Asked]) -> list[Generated | Refused]:
        """A reply to each, in their order."""
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
    """Play scenes, each as it gets done. Close it, or go through it: its hands end with it.

    Replies are drawn when ``batch`` conversations wait, when all that are under way do, or when nothing has come for
    ``patience_s``.

    Args:
        numbers: which scenes of the stage's seed.
        stage: which world, and how it is played.
        model: who replies, see `Replier`; None lets the detective play, which needs nobody's reply.
        workers: so many processes hold the scenes; 0 is a thread of this one.
        at_once: how many tries are under way at the same time. Twice the batch keeps both sides busy.
        batch: how many replies are drawn together at most; all that wait if left out.
        patience_s: None waits for a full batch, or for all.

    Raises:
        BadInput: a word of the stage can't be used.
        RuntimeError: a worker was ended.
    """
    # What is made once, such as the map of the world, is not made by every hand.
    stage.opened()
    if stage.keep is not None:
        stage.keep.mkdir(parents=True, exist_ok=True)
    conductor = _Conductor(start_hands(stage, model.words if model else None, workers), stage, model, batch, patience_s)
    try:
        yield from conductor.through(iter(numbers), max(1, at_once // max(1, stage.tries)))
    finally:
        conductor.end()


def tries_of_policy(
    numbers: Iterable[int], stage: Stage, model: Replies, **how: Any
) -> Iterator[tuple[str, list[float | None]]]:
    """The id of every scene, and how far off each try at it was, in kilometres; None is a try without a point.

    Ids are those of `geosleuth.train.prompts`. Written as ``{"id": ..., "distances_km": [...]}``, a line a scene,
    `geosleuth.data.filtering_sources` reads it.

    Args:
        numbers: which scenes of the stage's seed; take the split "train" for dynamic filtering.
        stage: with ``tries`` and a temperature above 0.
        model: who replies.
        how: as for `play`.
    """
    for scene in play(numbers, stage, model, **how):
        yield scene_id(scene.number), [one.distance_km for one in scene.tries]


class _Conductor:
    """Takes in what hands ask, has it answered in batches, and hands out scenes."""

    def __init__(
        self, hands: list[Hand], stage: Stage, model: Replies | None, batch: int | None, patience_s: float | None
    ) -> None:
        self._hands, self._stage, self._model = hands, stage, model
        self._batch, self._patience_s = batch, patience_s
        self._came: queue.Queue[tuple[Hand, Any]] = queue.Queue()
        self._waiting: list[tuple[Hand, int, Asked]] = []
        # Tries that are under way and ask for nothing at the moment.
        self._busy = 0
        self._ended = threading.Event()
        # Hands must never wait with what they send while replies are drawn, so somebody always listens.
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
                hand = min(self._hands, key=lambda one: one.scenes)
                hand.scenes += 1
                under_way += 1
                self._busy += self._stage.tries
                _send(hand, ("scene", number))
            if not under_way:
                return
            played = self._next()
            if played is not None:
                under_way -= 1
                yield played

    def end(self) -> None:
        self._ended.set()
        self._listening.join()
        end_hands(self._hands)

    def _next(self) -> PlayedScene | None:
        """Take in one message, or have replies drawn where it is time."""
        try:
            if self._is_time():
                hand, came = self._came.get_nowait()
            else:
                until = self._patience_s if self._waiting and self._patience_s is not None else _ALIVE_S
                hand, came = self._came.get(timeout=until)
        except queue.Empty:
            if self._is_time() or (self._waiting and self._patience_s is not None):
                self._draw()
            else:
                self._check_alive()
            return None
        match came:
            case ("asked", ticket, Asked() as asked):
                self._waiting.append((hand, ticket, asked))
                self._busy -= 1
            case ("over",):
                self._busy -= 1
            case ("played", PlayedScene() as scene):
                hand.scenes -= 1
                return scene
            case ("broke", Exception() as error):
                raise error
            case ("left",):
                raise RuntimeError("a process that held scenes was ended; run it again to go on")
        return None

    def _is_time(self) -> bool:
        waiting = len(self._waiting)
        return waiting > 0 and (self._busy <= 0 or (self._batch is not None and waiting >= self._batch))

    def _draw(self) -> None:
        # Those that wait longest come first.
        now, self._waiting = self._waiting[: self._batch], self._waiting[self._batch :] if self._batch else []
        if self._model is None:
            raise AssertionError("the detective asks for no replies")
        for (hand, ticket, _), reply in zip(now, self._model.replies([one for *_, one in now]), strict=True):
            self._busy += 1
            _send(hand, ("reply", ticket, reply))

    def _listen(self) -> None:
        by_pipe: dict[Any, Hand] = {hand.pipe: hand for hand in self._hands}
        while not self._ended.is_set() and by_pipe:
            for pipe in connection.wait(list(by_pipe), _LISTEN_S):
                try:
                    hand = by_pipe[pipe]
                    self._came.put((hand, self._taken_in(hand, hand.pipe.recv())))
                except (EOFError, OSError):
                    self._came.put((by_pipe.pop(pipe), ("left",)))
                except Exception as error:  # noqa: BLE001  (raised by whoever takes it in)
                    self._came.put((by_pipe[pipe], ("broke", error)))

    def _taken_in(self, hand: Hand, came: Any) -> Any:
        """What came, with the hand's pictures put into its place; the one place that adds and removes any."""
        match came:
            case ("asked", ticket, messages, tools, pictures, sampling) if self._model is not None:
                hand.pictures.update(pictures)
                return "asked", ticket, self._model.prepared(Asked(messages, tools, hand.pictures, sampling))
            case ("played", PlayedScene(number=number)):
                for key in [key for key in hand.pictures if key.partition("/")[0] == str(number)]:
                    del hand.pictures[key]
        return came

    def _check_alive(self) -> None:
        if any(not hand.runs.is_alive() for hand in self._hands) and self._came.empty():
            raise RuntimeError("a process that held scenes was ended; run it again to go on")


def _send(hand: Hand, what: tuple[Any, ...]) -> None:
    # A hand that is gone has said why, or is found to be gone, among what came.
    with suppress(OSError):
        hand.pipe.send(what)
