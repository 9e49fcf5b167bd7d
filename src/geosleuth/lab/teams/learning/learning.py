"""``geosleuth team learn``: from photos with a known place to a state that teams use."""

import asyncio
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np

from geosleuth.atlas.borders import Borders
from geosleuth.atlas.placing import Placer
from geosleuth.geo import LatLon
from geosleuth.lab.bench.sets.dataset import Item
from geosleuth.lab.score import Truth
from geosleuth.lab.teams.replies import ReplyStore, open_store
from geosleuth.photo import Claims, OpenedPhoto, first_view, open_photo
from geosleuth.photo.image_encoder import ImageEncoder, lasting_spec
from geosleuth.support.errors import BadInput
from geosleuth.teams import Member, Request, Turn
from geosleuth.teams.network import Weights, load_picture_encoder, read_weights
from geosleuth.teams.swarm import SwarmSettings
from geosleuth.tools.similar.index_file import pixel_digest

from .learning_db import LESSON_SETTINGS_KEY, Lesson, Notebook
from .rounds import (
    QUICK_TRAINING,
    LearnSettings,
    Observation,
    RememberingMember,
    TrainSettings,
    learn_picture,
    swarm_stages,
)
from .training import Examples, train

Progress = Callable[[str, int, int], None]
# Reason recorded for leaving out a photo if no member named a place.
NOBODY_ANSWERED = "nobody answered"


def without_claims(opened: OpenedPhoto) -> OpenedPhoto:
    """Return the photo with only its format and size: other metadata may contain the truth."""
    claims = opened.claims
    return OpenedPhoto(opened.photo, Claims(claims.format, claims.file_bytes, claims.sha256, claims.size_px))


@dataclass(frozen=True, slots=True)
class LearningBudget:
    """Limits after which no more members are asked; training uses what was learned until then. None for no limit."""

    photos: int | None = None
    tokens: int | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class LearnSummary:
    """The summary of a run.

    Attributes:
        learned: photos newly learned from.
        again: photos learned from before with other settings, and now again from the stored replies.
        known: photos that had been learned from before with these settings.
        left_out: how many were left out for which reason.
        replies: how often members were really asked.
        tokens: their cost, by the team's own count.
        stopped: the limit that ended the run, if one did.
        version: of the weights; None if there was nothing to learn from. Without new photos, the old version
            stays.
        weights: what was learned.
        failure: which member failed first, and why; None if none did.
    """

    learned: int
    again: int
    known: int
    left_out: Mapping[str, int]
    replies: int
    tokens: int
    stopped: str | None
    version: int | None
    weights: Weights | None = field(repr=False)
    failure: str | None = None

    @property
    def nobody_answered(self) -> bool:
        """Return whether members were asked and none ever named a place."""
        return not self.learned and not self.again and NOBODY_ANSWERED in self.left_out


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnPlan:
    """Plan for learning whom to trust.

    Attributes:
        settings: how to find out who is right.
        swarm: the team's own settings; they supply what the others leave open, such as limits.
        training: how the network is trained.
        budget: the limits.
        identities: what each member's replies depend on besides the request; empty for their names.
        prompts: the fingerprint of the user's own words, if there are some.
    """

    settings: LearnSettings = field(default_factory=LearnSettings)
    swarm: SwarmSettings | None = None
    training: TrainSettings = QUICK_TRAINING
    budget: LearningBudget = field(default_factory=LearningBudget)
    identities: tuple[str, ...] = ()
    prompts: str | None = None


_USUAL = LearnPlan()


async def learn(
    photos: Sequence[Item],
    members: Sequence[Member],
    state: Path,
    *,
    placer: Placer,
    encoder: str = "bundled",
    plan: LearnPlan = _USUAL,
    at_once: int = 1,
    progress: Progress = lambda _what, _done, _total: None,
) -> LearnSummary:
    """Ask the members about photos with a known place, record who was right, and train the network.

    Photos that the state knows are skipped under any file name. Each photo is recorded as soon as it is
    learned from. Several runs may share a state: each takes what the others have not.

    Replies are stored beside the state (`replies_beside`). A photo that was learned from with other settings is
    learned from again out of these; members are asked only what no run asked before. Weights are learned from lessons
    of these settings alone.

    Args:
        photos: photos with their places, of any data set.
        members: the team, in the order of its file; they are not closed.
        state: the team's state, created if it does not exist.
        placer: resolves the places that answers name.
        encoder: the image encoder, see `load_picture_encoder`.
        plan: how they learn.
        at_once: how many photos are processed at once.
        progress: called with the activity, how many photos are done, and how many there are.

    Raises:
        BadInput: the team, the state or the encoder can't be used, or there is nothing to learn from.
    """
    names = [member.name for member in members]
    if len(names) < 2 or len(set(names)) < len(names):
        raise BadInput("learning trust needs at least two members with different names; add agents to the team's file")
    training = plan.training
    look = load_picture_encoder(encoder, training.side_px)
    with (
        Notebook.open(state, names, look, lasting_spec(encoder)) as notebook,
        open_store(replies_beside(state)) as store,
    ):
        run = _Run(members, placer, look, plan, notebook, store)
        # Runs that share a state start at different photos, so that they seldom process the same one at once.
        order = random.sample(list(photos), len(photos))
        waiting = iter(order)
        done = 0

        async def worker() -> None:
            nonlocal done
            for item in waiting:
                if run.stop_reason is not None:
                    return
                progress("asking about photos", done, len(order))
                await run.take(item)
                done += 1

        async with asyncio.TaskGroup() as group:
            for _ in range(max(1, at_once)):
                group.create_task(worker())
        progress("asking about photos", done, len(order))
        lessons = notebook.lessons(run.told)
        if others := len(notebook.lessons()) - len(lessons):
            run.left_out["learned from before with other settings, and not now"] = others
        weights, version = None, None
        if lessons:
            weights = read_weights(notebook.connection, state)
            settings = {**asdict(training), LESSON_SETTINGS_KEY: run.told}
            if weights is not None and (weights.lessons, weights.settings) == (len(lessons), settings):
                version = weights.version
            else:
                seen = np.stack([lesson.features for lesson in lessons])
                examples = Examples.from_observations(seen, [lesson.observation for lesson in lessons])
                weights = await _train_weights(examples, training, partial(progress, "teaching the network"))
                weights = replace(weights, settings=settings)
                version = notebook.keep(weights)
    return LearnSummary(
        run.learned, run.again, run.known, dict(run.left_out), run.replies, run.tokens, run.stop_reason, version,
        weights,
        run.failure,
    )  # fmt: skip


def replies_beside(state: Path) -> Path:
    """Return the file with the replies that a state was learned from; ``team compare`` stores its own there, too."""
    return state.with_suffix(".replies.sqlite")


async def _train_weights(examples: Examples, settings: TrainSettings, progress: Callable[[int, int], None]) -> Weights:
    """Train in a thread; cancelling stops the thread."""
    stop = threading.Event()

    def watch(done: int, total: int) -> None:
        if stop.is_set():
            raise asyncio.CancelledError
        progress(done, total)

    try:
        return await asyncio.to_thread(train, examples, settings, watch)
    finally:
        stop.set()


class _Run:
    def __init__(
        self,
        members: Sequence[Member],
        placer: Placer,
        encoder: ImageEncoder,
        plan: LearnPlan,
        notebook: Notebook,
        store: ReplyStore,
    ) -> None:
        self._members, self._placer, self._encoder = members, placer, encoder
        self._settings, self._swarm, self._budget, self._notebook = plan.settings, plan.swarm, plan.budget, notebook
        self._store = store
        self._identities = plan.identities or tuple(member.name for member in members)
        self.told = {**asdict(plan.settings), "walk": (plan.swarm or SwarmSettings()).walk}
        if plan.prompts is not None:
            self.told["prompts"] = plan.prompts
        self._begin = time.monotonic()
        # A photo reserves its slot until it is known whether it counts, so that no more are asked about than wanted.
        photos = plan.budget.photos
        self._places = None if photos is None else asyncio.Semaphore(photos)
        self.learned = self.again = self.known = self.replies = self.tokens = 0
        self.failure: str | None = None
        self.left_out: Counter[str] = Counter()

    @property
    def stop_reason(self) -> str | None:
        """Return which limit is reached."""
        budget = self._budget
        if budget.photos is not None and self.learned >= budget.photos:
            return "1 photo was learned from" if budget.photos == 1 else f"{budget.photos} photos were learned from"
        if budget.tokens is not None and self.tokens >= budget.tokens:
            return f"{budget.tokens} tokens were spent"
        if budget.seconds is not None and time.monotonic() - self._begin >= budget.seconds:
            return f"{budget.seconds:g} seconds were over"
        return None

    async def take(self, item: Item) -> None:
        """Learn from one photo, or record why not; nothing starts once a limit is reached."""
        if self._places is None:
            await self._take(item)
            return
        await self._places.acquire()
        counts = False
        try:
            if self.stop_reason is None:
                counts = await self._take(item)
        finally:
            # Once a limit is reached, waiting photos continue in order to see it.
            if not counts or self.stop_reason is not None:
                self._places.release()

    async def _take(self, item: Item) -> bool:
        try:
            opened = await asyncio.to_thread(lambda: open_photo(item.picture.read()))
        except BadInput as error:
            self.left_out[str(error).removeprefix(f"{item.picture.where}: ")] += 1
            return False
        image = first_view(opened.photo).image
        key = pixel_digest(image)
        before = self._notebook.get_settings(key)
        if before == self.told:
            self.known += 1
            return False
        seen = await self._ask_members(opened, key, item.truth)
        if seen.empty:
            self.left_out[NOBODY_ANSWERED] += 1
            return False
        (features,) = await asyncio.to_thread(self._encoder.features, [image])
        lesson = Lesson(key, features, seen, _find_country_code(item.truth.point))
        added = self._notebook.add(lesson, self.told)
        self.known += not added
        if before is not None:
            self.again += added
            return False
        self.learned += added
        return added

    async def _ask_members(self, opened: OpenedPhoto, key: bytes, truth: Truth) -> Observation:
        asked = [
            RememberingMember(member, ask_anew=self._settings.ask_anew, store=self._store, identity=identity)
            for member, identity in zip(self._members, self._identities, strict=True)
        ]
        stages = swarm_stages(
            asked,
            Request((without_claims(opened),)),
            truth,
            placer=self._placer,
            settings=self._settings,
            swarm=self._swarm,
            heard=self._hear,
        )
        rng = random.Random(f"{self._settings.seed} {key.hex()}")  # noqa: S311
        try:
            return await learn_picture(len(asked), stages, self._settings, rng)
        finally:
            for member in asked:
                await member.aclose()
            self.replies += sum(member.replies for member in asked)
            self.tokens += sum(member.tokens for member in asked)

    def _hear(self, turn: Turn) -> None:
        if self.failure is None and turn.reply.failure is not None:
            self.failure = f"{turn.member}: {turn.reply.failure}"


def _find_country_code(point: LatLon) -> str:
    return str(Borders.load().countries(np.array([point.lat]), np.array([point.lon]))[0])
