"""A trajectory as it may be told: what was done and how long it took, and no place finer than allowed.

Whatever is text goes: thoughts, replies, arguments, results, prompts and the user's hint can all name a street. Kept
are kinds and times of events, the names of tools, pictures by their handles, failures, what was spent, and the answer
and the candidates as `geosleuth.answer.granularity` caps them. Such a trajectory is stored and shown like any other;
it can't be replayed to the same end, nor trained on.
"""

from collections.abc import Iterable
from dataclasses import replace

from geosleuth.answer import Address, Answer
from geosleuth.answer.granularity import Gazetteer, Granularity, cap, cap_sources, cap_text, withheld
from geosleuth.names import country_code
from geosleuth.policies import Prompt, Step
from geosleuth.tools import Observation, ToolCall

from .events import Answered, Body, Ended, Event, Hypothesis, Noted, Prompted, Resumed, Said, Started, ToolObserved
from .trajectory import Trajectory

UNKNOWN_TOOL = "unknown"
"""What stands for the name of a tool that was never switched on: a policy may call for anything."""


async def cap_trajectory(
    trajectory: Trajectory, granularity: Granularity, gazetteer: Gazetteer | None = None
) -> Trajectory:
    """The trajectory with nothing in it finer than allowed; its id and time stay."""
    if granularity == "exact":
        return trajectory
    blank = EventBlanker(granularity)
    events = [await _told(event, blank(event), granularity, gazetteer) for event in trajectory.events]
    return replace(trajectory, events=tuple(events))


class EventBlanker:
    """Takes every place out of events as they happen, for logs and screens that can't wait for a gazetteer.

    Answers and candidates come out without any place at all; `cap_trajectory` has them as finely as is allowed. Give it
    the events of one run in their order: tool calls get ids of their own, since a policy writes those too.
    """

    def __init__(self, granularity: Granularity) -> None:
        self._granularity = granularity
        self._tools: set[str] = set()
        self._ids: dict[str, str] = {}
        self._candidates: dict[str, str] = {}

    def __call__(self, event: Event) -> Event:
        """The event as it may be told; at ``exact`` the event itself."""
        return event if self._granularity == "exact" else replace(event, body=self._body(event.body))

    def _body(self, body: Body) -> Body:  # noqa: PLR0911  (one return a kind of event)
        match body:
            case Started():
                self._tools.update(body.tools)
                task = replace(
                    body.task, hint=self._hidden(body.task.hint), area=self._hidden(body.task.area), views=()
                )
                return replace(body, task=task, system=self._text(body.system))
            case Resumed():
                self._tools.update(body.tools)
                return body
            case Prompted():
                return replace(body, prompt=Prompt(self._text(body.prompt.text), body.prompt.images))
            case Said():
                return replace(body, step=self._step(body.step))
            case ToolObserved():
                return replace(body, observation=self._observation(body.observation))
            case Noted():
                return Noted(self._hypothesis(body.hypothesis))
            case Answered():
                return Answered(Answer(explanation=withheld(self._granularity)), body.by)
            case Ended():
                return replace(body, trouble=self._hidden(body.trouble))

    def _step(self, step: Step) -> Step:
        calls = tuple(ToolCall(self._id(call.id), self._tool(call.name)) for call in step.calls)
        return replace(step, text=self._text(step.text), thinking=self._text(step.thinking), calls=calls, model="")

    def _observation(self, seen: Observation) -> Observation:
        return replace(
            seen,
            call_id=self._id(seen.call_id),
            name=self._tool(seen.name),
            text=self._text(seen.text),
            data=None,
            sources=cap_sources(seen.sources, self._granularity),
        )

    def _hypothesis(self, hypothesis: Hypothesis) -> Hypothesis:
        return Hypothesis(
            self._candidates.setdefault(hypothesis.id, f"h{len(self._candidates) + 1}"),
            withheld(self._granularity),
            confidence=hypothesis.confidence,
            evidence_for=self._lines(hypothesis.evidence_for),
            evidence_against=self._lines(hypothesis.evidence_against),
            checks=self._lines(hypothesis.checks),
            fate=hypothesis.fate,
        )

    def _tool(self, name: str) -> str:
        return name if name in self._tools else UNKNOWN_TOOL

    def _id(self, call_id: str) -> str:
        return self._ids.setdefault(call_id, f"call-{len(self._ids) + 1}")

    def _text(self, text: str) -> str:
        return cap_text(text, self._granularity)

    def _hidden(self, text: str | None) -> str | None:
        return None if text is None else self._text(text)

    def _lines(self, lines: Iterable[str]) -> tuple[str, ...]:
        """As many as there were, each left out: how much spoke for a candidate may be told."""
        return tuple(self._text(line) for line in lines)


async def _told(event: Event, blank: Event, granularity: Granularity, gazetteer: Gazetteer | None) -> Event:
    """The blanked event with the places that may be told."""
    match event.body, blank.body:
        case Answered() as full, Answered():
            return replace(blank, body=Answered(await cap(full.answer, granularity, gazetteer), full.by))
        case Noted(hypothesis=full), Noted(hypothesis=bare):
            address = Address.of(country=full.country, precise=full.place)
            capped = await cap(Answer(full.point, address, radius_km=full.radius_km), granularity, gazetteer)
            country = country_code(capped.address.country.conclusion or "")
            place = str(capped.address) or bare.place
            told = replace(bare, place=place, point=capped.point, radius_km=capped.radius_km, country=country)
            return replace(blank, body=Noted(told))
        case _:
            return blank
