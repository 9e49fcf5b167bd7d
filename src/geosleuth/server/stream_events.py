"""Translate a run's events for its readers, one at a time; `shapes` defines each kind."""

from collections.abc import Mapping, Sequence
from typing import Any, cast, get_args

from geosleuth.agent import (
    Answered,
    Ended,
    Event,
    Hypothesis,
    Noted,
    Prompted,
    Resumed,
    Said,
    Started,
    ToolObserved,
    Trajectory,
)
from geosleuth.agent.display import convert_box, extract_lines, first_views
from geosleuth.agent.events import Budget, Spent
from geosleuth.agent.locate import EventBlanker, Finding
from geosleuth.agent.trajectory import Spending
from geosleuth.agent.turns import Quotes, find_quotes
from geosleuth.answer.granularity import Granularity
from geosleuth.models.detective import Detective
from geosleuth.names import fold
from geosleuth.photo import BoxScale, Claims, full_box
from geosleuth.report.chain import call_words, magnifies, outcome_words, part_words, points_found, spoken
from geosleuth.tools import ImageInfo, Observation, ToolCall

from .finding_view import (
    answer_view,
    budget_view,
    build_ended_view,
    candidate_view,
    extract_radii,
    for_the_wire,
    hide_withheld,
    spent_view,
    views_of_clues,
)
from .shapes import (
    AnswerView,
    CandidateView,
    CluesView,
    EndedView,
    EventKind,
    LineView,
    ObservedView,
    PictureView,
    PointView,
    ResumedView,
    SaidView,
    SpentView,
    StartedView,
)

_THOUGHT_CHARS = 4000

View = (
    StartedView | ResumedView | SaidView | ObservedView | CandidateView | CluesView | SpentView | AnswerView | EndedView
)
StreamItem = tuple[EventKind, dict[str, Any]]
"""A stream event's kind, and its view as plain JSON."""


class EventTranslator:
    """Translates one run; call it with every event in order, also those of the run that it continues.

    It blanks events itself: a capped run shows nothing that could name a place. Its answer is known only once the whole
    run is capped; `closing` returns it then.
    """

    def __init__(
        self,
        *,
        granularity: Granularity = "exact",
        detective: Detective | None = None,
        claims: Sequence[Claims] = (),
    ) -> None:
        """Start a run.

        Args:
            granularity: nothing finer is shown.
            detective: the policy, if it is the detective: its clues are shown as they change.
            claims: what the photos' files claim, shown with the answer.
        """
        self._exact = granularity == "exact"
        self._blank = EventBlanker(granularity)
        self._detective = detective
        if detective is not None:
            detective.watch()
        self._claims = tuple(claims)
        self._events: list[Event] = []
        self._images: dict[str, ImageInfo] = {}
        self._quotes: Quotes | None = None
        self._firsts: dict[int, ImageInfo] = {}
        self._pending: set[str] = set()
        self._spending = Spending(Budget())
        self._began_s = 0.0
        self._scale: BoxScale | None = None
        self._resumed: Resumed | None = None
        self._radii_km: dict[str, float] = {}
        self._candidates: dict[str, CandidateView] = {}
        self._clues: CluesView | None = None
        self._weighed = 0

    def __call__(self, event: Event) -> list[StreamItem]:
        """Return the stream items of an event; none if it has nothing new for readers."""
        event = self._blank(event)
        self._events.append(event)
        self._spending.see(event.body)
        return [(kind, cast("dict[str, Any]", for_the_wire(view))) for kind, view in self._views(event)]

    def whole(self, trajectory: Trajectory) -> list[StreamItem]:
        """Return the stream items of a stored run."""
        return [item for event in trajectory.events for item in self(event)]

    def closing(self, finding: Finding) -> list[StreamItem]:
        """Return the items left once the run is over: the answer of a capped run, no finer than its cap."""
        if self._exact:
            return []
        return [("answer", cast("dict[str, Any]", for_the_wire(answer_view(finding))))]

    def _views(self, event: Event) -> list[tuple[EventKind, View]]:  # noqa: PLR0911  (one return a kind of event)
        match event.body:
            case Started() as started:
                self._begin(started.budget, event)
                return [("started", self._translate_start(started))]
            case Resumed() as resumed:
                self._begin(resumed.budget, event)
                self._resumed = resumed
                return []
            case Prompted(prompt=prompt, by="person") if self._resumed is not None:
                resumed, self._resumed = self._resumed, None
                return [("resumed", _build_resumed_view(resumed, hide_withheld(prompt.text) or ""))]
            case Said() as said:
                return self._translate_step(said, event)
            case ToolObserved() as observed:
                return self._translate_observation(observed, event)
            case Noted(hypothesis=hypothesis):
                return self._translate_hypothesis(hypothesis)
            case Ended() as ended:
                return self._translate_end(ended)
            case Answered() | Prompted():
                return []

    def _translate_hypothesis(self, hypothesis: Hypothesis) -> list[tuple[EventKind, View]]:
        view = candidate_view(hypothesis, self._radii_km.get(fold(hypothesis.place)))
        if self._candidates.get(view["id"]) == view:
            return []
        self._candidates[view["id"]] = view
        return [("candidate", view)]

    def _translate_end(self, ended: Ended) -> list[tuple[EventKind, View]]:
        views: list[tuple[EventKind, View]] = [("spent", spent_view(ended.spent, self._spending.budget))]
        if self._exact:
            views.append(("answer", self._build_answer_view()))
        return [*views, ("ended", build_ended_view(ended.reason, ended.trouble))]

    def _begin(self, budget: Budget, event: Event) -> None:
        self._spending, self._began_s = Spending(budget), event.at_s

    def _translate_start(self, started: Started) -> StartedView:
        task = started.task
        self._images = {image.handle: image for image in task.images}
        self._quotes = find_quotes(started.method)
        self._firsts = first_views(task.images)
        return {
            "policy": started.policy,
            "method": started.method,
            "tools": list(started.tools),
            "budget": budget_view(started.budget),
            "photos": [
                {"handle": item.handle, "photo": item.photo, "width": item.size[0], "height": item.size[1]}
                for item in task.images
            ],
            "hint": hide_withheld(task.hint),
            "area": hide_withheld(task.area),
        }

    def _translate_step(self, said: Said, event: Event) -> list[tuple[EventKind, View]]:
        step = said.step
        self._pending = {call.id for call in step.calls}
        pictures = self._picture_words()
        view: SaidView = {
            "turn": said.turn,
            "thought": (hide_withheld(step.thinking) or "")[:_THOUGHT_CHARS],
            "text": spoken(step)[:_THOUGHT_CHARS],
            "calls": [
                {"id": call.id, "tool": call.name, "words": call_words(call, pictures, self._find_call_part(call))}
                for call in (map(self._quotes.fill_quotes, step.calls) if self._quotes else step.calls)
            ],
        }
        views: list[tuple[EventKind, View]] = [("said", view), *self._update_clues()]
        return views if self._pending else [*views, self._spent(event)]

    def _find_call_part(self, call: ToolCall) -> Sequence[float] | None:
        """Return the part of a photo that a call is about, in shares of it; None if none or unknown.

        The scale of boxes is known from the first outcome that states it.
        """
        given = call.arguments if isinstance(call.arguments, Mapping) else {}
        sides, image = given.get("bbox_2d"), self._images.get(str(given.get("image")))
        first = None if image is None else self._firsts.get(image.photo)
        if image is None or first is None or self._scale is None:
            return None
        if not isinstance(sides, list) or len(sides) != 4 or not all(isinstance(side, int | float) for side in sides):
            return None
        width, height = full_box(image.size, self._scale)
        across, down = image.size[0] / width, image.size[1] / height
        return convert_box((sides[0] * across, sides[1] * down, sides[2] * across, sides[3] * down), image, first)

    def _translate_observation(self, observed: ToolObserved, event: Event) -> list[tuple[EventKind, View]]:
        seen = observed.observation
        self._images.update((image.handle, image) for image in seen.images)
        if self._quotes is not None:
            self._quotes.hear(seen)
        self._pending.discard(seen.call_id)
        if isinstance(seen.data, dict) and seen.data.get("scale") in get_args(BoxScale):
            self._scale = seen.data["scale"]
        lines: list[LineView] = [
            {"text": line.text, "photo": line.photo, "box": list(line.box), "confidence": line.confidence}
            for line in extract_lines(seen, self._images, self._firsts)
        ]
        points: list[PointView] = [
            {"name": name, "lat": point.lat, "lon": point.lon} for name, point in points_found(seen)
        ]
        picture = self._build_picture_view(seen)
        view: ObservedView = {
            "turn": observed.turn,
            "call": seen.call_id,
            "tool": seen.name,
            "ok": seen.failure is None,
            "words": _outcome(seen, picture),
            "picture": picture,
            "lines": lines,
            "points": points,
            "seconds": round(seen.seconds, 3),
        }
        views: list[tuple[EventKind, View]] = [("observed", view)]
        return views if self._pending else [*views, self._spent(event)]

    def _spent(self, event: Event) -> tuple[EventKind, View]:
        spent: Spent = self._spending.spent(event.at_s - self._began_s)
        return "spent", spent_view(spent, self._spending.budget)

    def _build_picture_view(self, seen: Observation) -> PictureView | None:
        if not seen.images:
            return None
        image = seen.images[0]
        first = self._firsts.get(image.photo)
        box = convert_box((0, 0, *image.size), image, first) if first else None
        return {
            "handle": image.handle,
            "photo": image.photo,
            "box": list(box) if box else None,
            "width": image.size[0],
            "height": image.size[1],
        }

    def _picture_words(self) -> Mapping[str, str]:
        """Return handles as words: a reader sees photos, and knows no handles."""
        several = len(self._firsts) > 1
        words = {}
        for handle, image in self._images.items():
            first = self._firsts.get(image.photo)
            photo = f"photo {image.photo}" if several else "the photo"
            words[handle] = "a map" if first is None else photo if first is image else f"a part of {photo}"
        return words

    def _update_clues(self) -> list[tuple[EventKind, View]]:
        """Return the clues if the detective has new ones; its step has weighed them already."""
        reasoning = self._detective.newest if self._detective and self._exact else None
        # Before the first outcome there are only people's hints, and without new outcomes nothing changes.
        if reasoning is None or reasoning.notebook.call_count == self._weighed:
            return []
        self._weighed = reasoning.notebook.call_count
        self._radii_km = extract_radii(reasoning) if reasoning.is_decided else self._radii_km
        view: CluesView = {"clues": views_of_clues(reasoning, self._images, self._firsts)}
        if view == self._clues:
            return []
        self._clues = view
        return [("clues", view)]

    def _build_answer_view(self) -> AnswerView:
        return answer_view(Finding(Trajectory(tuple(self._events)), self._claims), self._radii_km)


def _outcome(seen: Observation, picture: PictureView | None) -> str:
    cut = picture["box"] if picture else None
    if seen.failure is None and cut and magnifies(seen.name):
        return f"magnified the part {part_words(cut)}"
    return outcome_words(seen)


def _build_resumed_view(resumed: Resumed, words: str) -> ResumedView:
    return {
        "policy": resumed.policy,
        "tools": list(resumed.tools),
        "budget": budget_view(resumed.budget),
        "words": words,
    }
