"""The detective: a policy in code. It has the tools, the budget and the trajectory that any model has."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Self

from geosleuth.answer import render
from geosleuth.geo import Extent
from geosleuth.models.feedback import Rejected
from geosleuth.models.protocol import Conversation, Step
from geosleuth.tools import ToolCall

from .answering import build_answer, on_added_map
from .checking import checks, notes
from .looking import ReadingWindow, at_parts, at_small_text
from .map_questions import Call, name_questions, questions_in_country, range_questions, telling_words, whole_lines
from .notebook import Notebook
from .reasoning import Reasoning
from .ruled_out import countries_left, subtract_extents
from .stated import DrivingSide, StatedFacts

# Tools that the detective can use, by our own names; it works with any subset of them.
TOOLS = (
    "image_zoom_in_tool",
    "read_text",
    "maps_geocode",
    "reverse_geocode",
    "poi_keyword_search",
    "find_colocated",
    "sun_position",
    "range_fix",
    "note_hypothesis",
    "visual_prior",
)

# Minimum probability at which a country counts as the one that the text supports.
LEADING_PROBABILITY = 0.5

WEAK_LEVELS = ("none", "country")

_Plan = tuple[str, Iterable[Call]]


class Detective:
    """Reads the text, looks closer, looks names up, weighs, checks, answers; thinks by rules and tables alone.

    Each step is a function of the conversation, so that runs can be replayed and resumed. What the caller knows about
    the place is given here and not read from the prompt, whose words are for models.
    """

    name = "detective"
    hosts: frozenset[str] = frozenset()

    def __init__(
        self,
        *,
        within: Extent | None = None,
        countries: Sequence[str] | None = None,
        hint: str | None = None,
        taken: datetime | None = None,
        drives_on: DrivingSide | None = None,
        seen: str | None = None,
        force_answer: bool = False,
        rejected: Rejected | None = None,
    ) -> None:
        """Take in what is known beforehand.

        Args:
            within: the place lies in there; nothing outside is considered.
            countries: ISO codes; the place lies in one of them.
            hint: the user's words; names of countries and places in them count, and are checked against the rest.
            taken: when the photo was taken; tells something of the place where it has its zone.
            drives_on: the side of the road that traffic keeps to, where the user has seen it.
            seen: what the user sees in the photo, see `geosleuth.evidence.guide.read_sightings`.
            force_answer: a best guess is wanted in any case.
            rejected: what a person has ruled out of an earlier run: texts and clues that carry no weight and are not
                looked up, ground and countries that hold no candidate. Where it is given, a person's later words are
                not searched for hints.
        """
        ruled_out = rejected or Rejected()
        self._known = StatedFacts(
            within=subtract_extents(within, ruled_out.extents_ruled_out),
            countries=countries_left(countries, ruled_out.countries_ruled_out),
            hint=hint,
            taken=taken,
            drives_on=drives_on,
            seen=seen,
            force_answer=force_answer,
            area=within,
            area_countries=None if countries is None else tuple(countries),
            left_out=ruled_out.left_out,
            not_at=ruled_out.extents_ruled_out,
            not_in=ruled_out.countries_ruled_out,
            readings=ruled_out.readings,
            has_feedback=rejected is not None,
        )
        self._newest: Reasoning | None = None
        self._watched = False

    @property
    def newest(self) -> Reasoning | None:
        """The reasoning behind the latest step, for observers; None before the first."""
        return self._newest

    def naming_area(self, words: str | None) -> Self:
        """Return the same detective, who calls the area that was given by these words."""
        self._known = replace(self._known, area_name=words)
        return self

    def watch(self) -> None:
        """From now on weigh all clues in every step: who looks on asks for them at once, and must not wait."""
        self._watched = True

    async def step(self, conversation: Conversation) -> Step:
        """The next step."""
        # Reading pixels and weighing hundreds of candidates takes a while; other runs go on meanwhile.
        return await asyncio.to_thread(self._next, conversation)

    async def aclose(self) -> None:
        """Nothing to let go of."""

    def review(self, conversation: Conversation) -> Reasoning:
        """Return the reasoning on a run so far: its clues, the posterior and the decision, for reports."""
        return Reasoning(Notebook(conversation, TOOLS), self._known)

    def _next(self, conversation: Conversation) -> Step:
        reasoning = self.review(conversation)
        step = self._thought_out(reasoning, wants_guess=conversation.wants_guess)
        if self._watched and reasoning.notebook.done:
            reasoning.full_posterior  # noqa: B018  (worked out here, beside the loop, and kept)
        self._newest = reasoning
        return step

    def _thought_out(self, reasoning: Reasoning, *, wants_guess: bool) -> Step:
        notebook = reasoning.notebook
        if notebook.may_call:
            for stage in _STAGES:
                for thinking, wanted in stage(reasoning):
                    calls = [item for item in wanted if not notebook.has_call(item.name, item.arguments)]
                    if calls:
                        return _calling(thinking, calls, notebook)
        pressed = bool(notebook.answer_count) and wants_guess
        answer = build_answer(reasoning, forced=self._known.force_answer or pressed)
        return Step(text=render(answer), model=self.name)


def _calling(thinking: str, calls: Sequence[Call], notebook: Notebook) -> Step:
    # The loop gives each call an id of its own.
    made = tuple(ToolCall("", notebook.tools.shown(call.name), dict(call.arguments)) for call in calls)
    return Step(thinking=thinking, calls=made, finish="calls", model=Detective.name)


def _plan_reading(reasoning: Reasoning) -> Iterator[_Plan]:
    notebook = reasoning.notebook
    calls: list[Call] = []
    if "read_text" in notebook.tools:
        calls += [Call("read_text", {"image": handle}) for handle in notebook.photos]
    if "visual_prior" in notebook.tools and not notebook.has_refused("visual_prior"):
        calls += [Call("visual_prior", {"image": handle}) for handle in notebook.photos]
    yield "I read all text that the photo shows.", calls


def _look_closer(reasoning: Reasoning) -> Iterator[_Plan]:
    looks = at_small_text(reasoning.notebook)
    yield "Some lettering is small or doubtful: I magnify it and read it again.", _looking(reasoning.notebook, looks)


def _plan_questions(reasoning: Reasoning) -> Iterator[_Plan]:
    notebook = reasoning.notebook
    calls = list(name_questions(reasoning.lookups, notebook.tools))
    if "maps_geocode" in notebook.tools:
        calls += [Call("maps_geocode", {"address": name}) for name in reasoning.hint_names]
    yield "I look the names up on the map.", calls
    if "range_fix" in notebook.tools:
        questions = range_questions(reasoning.towns, reasoning.at_first.countries, notebook.done)
        yield "The distances on the sign are circles: I see where they meet.", list(questions)
    country, share = next(iter(reasoning.at_first.countries.items()), ("", 0.0))
    if share >= LEADING_PROBABILITY:
        again = questions_in_country(reasoning.lookups, notebook.done, country, notebook.tools)
        yield f"Most speaks for {country} so far: I ask for these names there.", list(again)


def _ask_more(reasoning: Reasoning) -> Iterator[_Plan]:
    if reasoning.decision.level not in WEAK_LEVELS:
        return
    notebook = reasoning.notebook
    country, share = next(iter(reasoning.at_first.countries.items()), (None, 0.0))
    calls = list(whole_lines(reasoning.askable, notebook.done, notebook.tools))
    calls += telling_words(
        reasoning.askable, notebook.done, country if share >= LEADING_PROBABILITY else None, notebook.tools
    )
    yield "That is little: I ask for every line, and for words that may name a town.", calls


def _look_everywhere(reasoning: Reasoning) -> Iterator[_Plan]:
    if reasoning.decision.level in WEAK_LEVELS:
        looks = at_parts(reasoning.notebook)
        yield (
            "That is little. The photo has more pixels than I saw: I read its parts.",
            _looking(reasoning.notebook, looks),
        )


def _plan_checks(reasoning: Reasoning) -> Iterator[_Plan]:
    noted = list(notes(reasoning))
    checked = [check for check in checks(reasoning) if not reasoning.notebook.has_call(check.name, check.arguments)]
    if checked:
        yield "I note the candidates and check them on the map.", [*noted, *checked]
    yield "I bring the candidates up to date.", noted


def _ask_around(reasoning: Reasoning) -> Iterator[_Plan]:
    decision, notebook = reasoning.decision, reasoning.notebook
    if decision.level not in ("none", "spot") and decision.point is not None and on_added_map(reasoning):
        calls = whole_lines(reasoning.askable, notebook.done, notebook.tools, decision.point)
        yield "There is a map of this place: I look for every name on it.", list(calls)


def _looking(notebook: Notebook, looks: Iterable[ReadingWindow]) -> list[Call]:
    calls: list[Call] = []
    for look in looks:
        view = notebook.view(look.image)
        if view is None:
            continue
        arguments = look.arguments(view, thousandths=notebook.thousandths)
        if "read_text" in notebook.tools:
            if "image_zoom_in_tool" in notebook.tools:
                calls.append(Call("image_zoom_in_tool", arguments))
            calls.append(Call("read_text", arguments))
    return calls


# Stages in order of priority: each step runs the first one that has a new call to make.
_STAGES: tuple[Callable[[Reasoning], Iterator[_Plan]], ...] = (
    _plan_reading,
    _look_closer,
    _plan_questions,
    _ask_more,
    _look_everywhere,
    _plan_checks,
    _ask_around,
)
