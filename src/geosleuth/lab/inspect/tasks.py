"""Tasks that Inspect AI finds through this package's entry point, with their solver and scorer."""

import asyncio
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from math import isfinite
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import transcript
from inspect_ai.model import get_model
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver

from geosleuth.agent import Answered, Ended, Event, ToolObserved
from geosleuth.answer import FORMAT, Answer, answer_from_dict, answer_to_dict
from geosleuth.atlas import OfflineAtlas
from geosleuth.geo import coordinates, threshold_text
from geosleuth.lab.bench.placed import create_placer
from geosleuth.lab.bench.run.attempt import open_atlas, strip_photo
from geosleuth.lab.bench.run.journal import compute_photo_name
from geosleuth.lab.bench.scored import ScoredAnswer, score_answer, summarise_answers, truth_to_dict
from geosleuth.lab.bench.sets import DataSet, DatasetPicture, open_set, subset
from geosleuth.pipeline.model_choice import DETECTIVE
from geosleuth.pipeline.plan import Plan, make_plan
from geosleuth.pipeline.request import LocateRequest
from geosleuth.pipeline.run import run_plan
from geosleuth.support.errors import BadInput, UserError
from geosleuth.support.text.numbers import distance

from .policy import InspectPolicy, NobodyYet

ANSWER_KEY = "geosleuth_answer"
ENDED_KEY = "geosleuth_ended"
_SOURCE = "geosleuth"
_TEXT_SHOWN = 2000

TRUTH_KEY = "truth"
# Input of a sample as the log shows it. The model gets the method's own prompt.
QUESTION = "Where was this photo taken?"


@dataclass(frozen=True, slots=True, repr=False)
class Photos:
    """The pictures of a data set by the names that samples have, and how each is worked on.

    Inspect writes the arguments of a solver into its log: of this one it writes ``name``.
    """

    pictures: Mapping[str, DatasetPicture]
    plan: Plan
    atlas: OfflineAtlas
    name: str = "photos"


@solver
def locating(photos: Photos) -> Solver:
    """Let Inspect's model find out where the sample's photo was taken, by our method, tools and budget."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001  (Inspect's own signature)
        picture = photos.pictures[str(state.sample_id)]
        photo = await asyncio.to_thread(lambda: strip_photo(picture.read()))
        policy = InspectPolicy(get_model())
        plan = replace(photos.plan, policy=policy)
        try:
            await run_plan(
                plan,
                [photo],
                photos.atlas,
                similar=plan.searches.find_similar([photo]),
                sinks=[_Watch(state)],
            )
        finally:
            # Also where one of Inspect's limits ends the run: what was found until then is scored.
            if policy.output is not None:
                state.messages, state.output = list(policy.messages), policy.output
        return state

    return solve


class _Watch:
    """Observer that keeps the answer for the scorer and shows tool results and the end of the run in the transcript."""

    def __init__(self, state: TaskState) -> None:
        self._state = state

    def __call__(self, event: Event) -> None:
        body = event.body
        told: dict[str, Any]
        if isinstance(body, ToolObserved):
            item = body.observation
            told = {
                "tool": item.name,
                "text": item.text[:_TEXT_SHOWN],
                "failure": item.failure,
                "seconds": item.seconds,
            }
            transcript().info(told, source=_SOURCE)
        elif isinstance(body, Answered):
            self._state.store.set(ANSWER_KEY, {**answer_to_dict(body.answer), "by": body.by})
        elif isinstance(body, Ended):
            told = {"reason": body.reason, "turns": body.spent.turns, "calls": body.spent.calls}
            self._state.store.set(ENDED_KEY, told)
            transcript().info(told, source=_SOURCE)


@metric(scores="unreduced")
def figures() -> Metric:
    """Accuracy within distances in percent, median error, mean GeoScore, names by level; every epoch counts."""

    def compute_figures(scores: list[SampleScore]) -> Value:
        summary = summarise_answers([_build_scored_answer(score.score.metadata or {}) for score in scores])
        found: dict[str, float] = {
            f"within_{threshold_text(km)}_km": share.percent.value for km, share in summary.within.items()
        }
        found |= {"median_km": summary.median_km.value, "geoscore": summary.geoscore.value}
        found |= {f"{name}_named_right": share.percent.value for name, share in summary.levels.items()}
        found |= {"located": float(summary.located), "unlocated": float(summary.unlocated)}
        # The median of answers that are mostly unlocated is infinite, which a log can't hold.
        return {name: value for name, value in found.items() if isfinite(value)}

    return compute_figures


@scorer(metrics=[figures()])
def place() -> Scorer:
    """Hold the answer, in words or a point, against the sample's true place. The score is the GeoScore, 0 to 5000."""
    in_words = create_placer()

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001  (Inspect's own signature)
        answer = _restore_answer(state.store.get(ANSWER_KEY))
        scored = await asyncio.to_thread(score_answer, state.metadata[TRUTH_KEY], answer, in_words)
        off = "no place was given" if scored.distance_km is None else f"{distance(scored.distance_km)} off"
        return Score(
            value=scored.geoscore,
            answer=_format_answer(answer),
            explanation=off,
            metadata={"distance_km": scored.distance_km, "geoscore": scored.geoscore, "levels": dict(scored.levels)},
        )

    return score


def _restore_answer(kept: Mapping[str, Any] | None) -> Answer:
    return Answer() if kept is None else answer_from_dict({"format": FORMAT, **kept})


def _format_answer(answer: Answer) -> str:
    point = "" if answer.point is None else coordinates(answer.point, answer.radius_km)
    return "; ".join(part for part in (point, str(answer.address)) if part)


def _build_scored_answer(metadata: Mapping[str, Any]) -> ScoredAnswer:
    return ScoredAnswer(metadata["distance_km"], metadata["geoscore"], metadata["levels"])


def _kind_without_traceback() -> type[Exception]:
    """Return the exception class that Inspect prints as a plain message; a fallback if Inspect no longer has it."""
    try:
        found: Any = import_module("inspect_ai._util.error").PrerequisiteError
    except (ImportError, AttributeError):
        return Exception
    return found if isinstance(found, type) and issubclass(found, Exception) else Exception


@contextmanager
def in_one_line() -> Iterator[None]:
    """Let Inspect print a `UserError` as the message it is; it stays a `BadInput` for callers from Python."""
    try:
        yield
    except UserError as error:
        plain = _kind_without_traceback()
        refused = type("Refused", (BadInput, plain), {"message": str(error)})
        raise refused(str(error)) from None


@task
def locate(
    data: str = "",
    method: str = "default",
    tools: str | Sequence[str] | None = None,
    turns: int | None = None,
    calls: int | None = None,
    seconds: float | None = None,
    limit: int | None = None,
    seed: int = 0,
    wire: str | None = None,
    boxes: str = "pixels",
    prior: str | None = None,
    force_answer: bool = False,  # noqa: FBT001, FBT002  (Inspect gives arguments by name)
) -> Task:
    """Locate the photos of a data set with our loop, our tools and our scorer.

    Args:
        data: a data set, as for ``geosleuth bench run --data``.
        method: how to go about it: default, geovista, spotagent, geoagent, twm or smilegeo.
        tools: only these tools, separated by commas; "none" for no tool at all.
        turns: replies of the model per photo, at most.
        calls: tool calls per photo, at most.
        seconds: time per photo, at most.
        limit: so many photos, drawn at random by ``seed``.
        seed: which photos are drawn.
        wire: how calls travel, native or tagged; by default as the method has it.
        boxes: how the model gives boxes, pixels or thousandths.
        prior: what places look like, see ``geosleuth locate --prior``.
        force_answer: ask for a best guess in any case.
    """
    with in_one_line():
        if not data:
            raise BadInput("no data set is named; add -T data=NAME:PATH, or -T data=FOLDER")
        if method == DETECTIVE:
            raise BadInput("the detective asks no model; use geosleuth bench run")
        request = LocateRequest(
            method=method,
            tools=tools if tools is None or isinstance(tools, str) else ",".join(tools),
            turns=turns,
            calls=calls,
            seconds=seconds,
            wire=wire,
            boxes=boxes,
            prior=prior,
            force_answer=force_answer,
        )
        plan = replace(make_plan(request, (), batch=True, thinker=NobodyYet()), completes=False)
        chosen = subset(open_set(data), limit=limit, seed=seed)
        samples, pictures = _samples(chosen)
        photos = Photos(pictures, plan, open_atlas(needed=plan.needs_atlas))
    return Task(
        dataset=MemoryDataset(samples, name=chosen.card.name),
        solver=locating(photos),
        scorer=place(),
        metadata={"data": chosen.card.title, "method": plan.method.name, "tools": list(plan.toolset.names)},
    )


def _samples(data: DataSet) -> tuple[list[Sample], dict[str, DatasetPicture]]:
    """Samples that tell nothing, and the pictures by their names; what is known of a photo is for the scorer alone.

    Names are the same each time, so that Inspect can take up an evaluation that broke off.
    """
    key = hashlib.sha256(f"geosleuth/locate {data.card.name}".encode()).hexdigest()
    samples, pictures = [], {}
    for item in data:
        name = compute_photo_name(key, item.id)
        known = {TRUTH_KEY: truth_to_dict(item.truth), "id": item.id, "fields": dict(item.fields)}
        point = item.truth.point
        samples.append(Sample(input=QUESTION, target=f"{point.lat}, {point.lon}", id=name, metadata=known))
        pictures[name] = item.picture
    if not samples:
        raise BadInput(f"{data.root}: no photo of the data set is left to locate")
    return samples, pictures
