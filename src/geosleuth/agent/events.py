"""Events of a run. A trajectory is a list of them and nothing else.

Everything else is derived: the conversation that the policy sees, the candidate pool, what was spent, the exports.

    started    the task, the method, the policy, the tools, the budget
    prompted   words to the policy: the task itself, a nudge of the loop, a person's feedback
    said       a step of the policy
    observed   the outcome of one call
    noted      a change in the candidate pool
    answered   the answer, and who gave it
    ended      why the run ended and what it spent
    resumed    the caller went on from there: with which policy, tools and budget

A run begins with ``started`` and the task's ``prompted``, and closes with ``answered`` and ``ended``, however it went.
A person's feedback may follow: ``resumed``, ``prompted`` by the person, and so on to another ``ended``. Every call of a
``said`` has its ``observed``, also where it was never carried out.
"""

from dataclasses import dataclass, field
from typing import Literal

from geosleuth.answer import Answer
from geosleuth.geo import LatLon
from geosleuth.models import Prompt, Sampling, Step, Usage, Wire
from geosleuth.support.service_use import ServiceUse, merge_uses
from geosleuth.tools import ImageInfo, Observation
from geosleuth.tools.calls import MissingTool

EndReason = Literal[
    "answered", "turns", "calls", "tokens", "seconds", "money", "stuck", "service", "cancelled", "error"
]
"""Why a run ended: the policy answered; a budget was spent; it kept saying nothing of use; its model failed; it was
called off; something broke, and the caller that started the run got the exception."""

Answerer = Literal["policy", "pool", "nobody"]
"""Who gave the answer: the policy; the best candidate of the pool where the policy gave none; neither."""

Prompter = Literal["task", "loop", "person"]
Fate = Literal["open", "dropped", "answered"]


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of a run; None is no limit.

    ``turns`` counts replies of the policy, ``calls`` tool calls, ``calls_per_turn`` how many of one reply are
    carried out, ``tokens`` input and output of all replies together, ``usd`` money. What a reply costs, the loop never
    knows beforehand: the one that passes ``tokens`` or ``usd`` is the last. ``seconds`` also cuts off what is under
    way. ``reply_tokens`` is how long all replies may be together with the words of the results between them, as
    trainers count a reply of several turns; the length of each reply is cut to what is left. What a model thinks is not
    among them, see `geosleuth.models.Sampling`.
    """

    turns: int = 12
    calls: int | None = None
    calls_per_turn: int = 8
    tokens: int | None = None
    seconds: float | None = None
    usd: float | None = None
    reply_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Spent:
    """Usage of a run.

    ``calls`` were carried out, ``failed_calls`` of them without success; ``withheld_calls`` come on top: they were
    beyond the budget, or repeated, and never ran. ``mended_calls`` worked because something was forgiven, see
    `geosleuth.tools.calls.Mended`: papers count them as failed. ``services`` says how often each service was asked,
    failed, and was stood in for.
    """

    turns: int = 0
    calls: int = 0
    failed_calls: int = 0
    withheld_calls: int = 0
    seconds: float = 0.0
    usage: Usage = field(default_factory=lambda: Usage(tries=0))
    mended_calls: int = 0
    services: tuple[ServiceUse, ...] = ()

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(
            self.turns + other.turns,
            self.calls + other.calls,
            self.failed_calls + other.failed_calls,
            self.withheld_calls + other.withheld_calls,
            self.seconds + other.seconds,
            self.usage + other.usage,
            self.mended_calls + other.mended_calls,
            merge_uses((*self.services, *other.services)),
        )


@dataclass(frozen=True, slots=True)
class Task:
    """Task of a run.

    ``hint`` and ``area`` are the user's words. ``views`` says what is known about the pictures themselves, such as the
    headings of the cuts of a panorama, a line each. ``force_answer`` wants a best guess with its honest probability in
    any case.
    """

    images: tuple[ImageInfo, ...]
    hint: str | None = None
    area: str | None = None
    force_answer: bool = False
    views: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A candidate of the pool: a place, what speaks for it and against it, what was checked, and its fate.

    ``country`` is an ISO code; ``confidence`` the policy's own probability that this is the place.
    """

    id: str
    place: str
    point: LatLon | None = None
    radius_km: float | None = None
    country: str | None = None
    confidence: float | None = None
    evidence_for: tuple[str, ...] = ()
    evidence_against: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    fate: Fate = "open"


@dataclass(frozen=True, slots=True)
class Started:
    """The beginning: all that decides how the run goes.

    With ``completes``, what the answer's form leaves out is filled in, see `geosleuth.agent.completion`. ``prompts`` is
    the fingerprint of a user's own words, see `geosleuth.agent.prompt_files`; None where they are ours. ``missing`` are
    the tools of the method's own choice that the run goes without.
    """

    task: Task
    method: str
    policy: str
    tools: tuple[str, ...]
    budget: Budget
    system: str
    wire: Wire = "native"
    sampling: Sampling = field(default_factory=Sampling)
    completes: bool = False
    prompts: str | None = None
    missing: tuple[MissingTool, ...] = ()


@dataclass(frozen=True, slots=True)
class Prompted:
    """Words to the policy."""

    prompt: Prompt
    by: Prompter = "task"


@dataclass(frozen=True, slots=True)
class Said:
    """A step of the policy; turns count from 1."""

    turn: int
    step: Step


@dataclass(frozen=True, slots=True)
class ToolObserved:
    """The outcome of one call of a turn."""

    turn: int
    observation: Observation


@dataclass(frozen=True, slots=True)
class Noted:
    """A candidate as it now stands."""

    hypothesis: Hypothesis


@dataclass(frozen=True, slots=True)
class Doubt:
    """Inconsistency of an answer, in a few words; empty where these may not be shown.

    "name": the place named lies far from the point. "pool": the run's own notes speak for another place. "tries": the
    answer lies far from that of every try. "not_a_photo": a picture is a screenshot, a document or a drawing.
    """

    kind: Literal["name", "pool", "tries", "not_a_photo"]
    detail: str = ""

    def __str__(self) -> str:
        head = {
            "name": "The place named is not where the point is",
            "pool": "The run's own notes speak against this answer",
            "tries": "The answer lies far from that of every try",
            "not_a_photo": "What it shows may lie elsewhere, or nowhere",
        }[self.kind]
        return f"{head}{f': {self.detail}' if self.detail else ''}."


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer.

    ``derived`` is the place whose point on the map stands in for one that the answer did not give; empty where its name
    may not be told, None where the point is the answerer's own. ``services`` are those that were asked to complete it.
    """

    answer: Answer
    by: Answerer = "policy"
    derived: str | None = None
    doubts: tuple[Doubt, ...] = ()
    services: tuple[ServiceUse, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Ended:
    """The end; ``trouble`` says in one line what went wrong, where something did.

    ``spent`` is what was used since the start, or since the caller went on from an ended run.
    """

    reason: EndReason
    spent: Spent
    trouble: str | None = None


@dataclass(frozen=True, slots=True)
class Resumed:
    """The caller goes on from an ended run; the budget counts anew.

    ``rejected`` are the clues and texts that a person has ruled out, as they were seen: no evidence from now on.
    """

    policy: str
    tools: tuple[str, ...]
    budget: Budget
    sampling: Sampling = field(default_factory=Sampling)
    rejected: tuple[str, ...] = ()


Body = Started | Prompted | Said | ToolObserved | Noted | Answered | Ended | Resumed


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened: its number in the trajectory, counted from 0, and when, in seconds since the start.

    The time between an end and a resumption does not count.
    """

    index: int
    at_s: float
    body: Body
