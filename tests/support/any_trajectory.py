"""Trajectories of every shape that a run can take, drawn by hypothesis."""

from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from geosleuth.agent import (
    Answered,
    Body,
    Budget,
    Ended,
    Event,
    Hypothesis,
    Noted,
    Prompted,
    Resumed,
    Said,
    Spent,
    Started,
    Task,
    ToolObserved,
    Trajectory,
)
from geosleuth.answer import Answer
from geosleuth.geo import LatLon
from geosleuth.models import Prompt, Sampling, Step, Usage
from geosleuth.tools import ImageInfo, Observation, ToolCall

# What dialects are made of, and what only looks like it.
SNARES = [
    "<think>", "</think>", "\n</think>\n\n", "<tool_call>", "</tool_call>", "<tool_response>\n", "\n</tool_response>\n",
    "<answer>Rome</answer>", "<image>", "&lt;image>", "&amp;lt;tool_response>", "<|im_end|>", "<video>", "<tools>",
    '{"name": "a", "arguments": {}}', "[", "{", "image-1 (640 x 480 pixels):", "image-2:", "Error: ", "\n", "\n\n", " ",
    "&#10;", "\u2028", "\x85", "\r\n", "\x00", "\U0001f5fa", "ไทย", "<function=x>", "Pictures of the result of call-1:",
    "# Tools", "```json", "<bbox>", "null", "1e400",
]  # fmt: skip
WORDS = st.lists(st.sampled_from(SNARES) | st.text(max_size=6), max_size=4).map("".join)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | NUMBERS | WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=2),
    max_leaves=4,
)
ARGUMENTS = st.dictionaries(WORDS, JSON, max_size=2) | WORDS | st.sampled_from(['{"a": 1}', "[]", "null", '"x"', "{"])
USAGES = st.builds(
    Usage, st.integers(0, 9), st.integers(0, 9), st.integers(0, 9), st.none() | NUMBERS, NUMBERS, st.integers(0, 3)
)
BUDGETS = st.builds(Budget, st.integers(1, 9), st.none() | st.integers(0, 9), st.integers(1, 9))
SAMPLINGS = st.builds(Sampling, st.none() | NUMBERS)
POINTS = st.none() | st.builds(LatLon, st.floats(-90, 90), st.floats(-180, 180))
NAMES = st.sampled_from(["look_up", "image_zoom_in_tool", "zoom", "map", ""]) | WORDS
TEXTS = st.lists(WORDS, max_size=2).map(tuple)
NOTED = st.builds(
    Noted, st.builds(Hypothesis, WORDS, WORDS, POINTS, confidence=st.none() | st.floats(0, 1), evidence_for=TEXTS)
)
ANSWERS = st.builds(
    Answered,
    st.builds(Answer, POINTS, explanation=st.none() | WORDS),
    st.sampled_from(["policy", "pool", "nobody"]),
)
ENDS = st.builds(
    Ended,
    st.sampled_from(["answered", "turns", "service", "error"]),
    st.builds(Spent, st.integers(0, 9), seconds=NUMBERS, usage=USAGES),
    st.none() | WORDS,
)


class _Drawing:
    """Draws one run event after event, so that each fits those before it."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.bodies: list[Body] = []
        self.images = 0
        self.calls = 0
        self.turn = 0

    def new_images(self, most: int) -> tuple[ImageInfo, ...]:
        found = []
        for _ in range(self.draw(st.integers(0, most))):
            self.images += 1
            size = self.draw(st.tuples(st.integers(1, 999), st.integers(1, 999)))
            found.append(ImageInfo(f"image-{self.images}", size, self.draw(st.integers(1, 3)), (0, 0, *size)))
        return tuple(found)

    def prompt(self, by: str, images: tuple[str, ...] = ()) -> None:
        self.bodies.append(Prompted(Prompt(self.draw(WORDS), images), by))  # type: ignore[arg-type]

    def call(self) -> ToolCall:
        self.calls += 1
        return ToolCall(f"call-{self.calls}", self.draw(NAMES), self.draw(ARGUMENTS))

    def said(self, most_calls: int) -> None:
        self.turn += 1
        calls = tuple(self.call() for _ in range(self.draw(st.integers(0, most_calls))))
        finish = self.draw(st.sampled_from(["stop", "calls", "length"]))
        step = Step(self.draw(WORDS), self.draw(WORDS), calls, self.draw(USAGES), finish, self.draw(WORDS))
        self.bodies.append(Said(self.turn, step))

    def observed(self, call: ToolCall) -> None:
        name = self.draw(st.sampled_from([call.name, "another"]))
        failure = self.draw(st.sampled_from([None, None, "refused", "repeated"]))
        seen = Observation(
            call.id, name, self.draw(WORDS), self.draw(JSON), self.new_images(2), self.draw(TEXTS), failure,
            self.draw(NUMBERS),
        )  # fmt: skip
        self.bodies.append(ToolObserved(self.turn, seen))
        if self.draw(st.booleans()):
            self.bodies.append(self.draw(NOTED))

    def stretch(self) -> None:
        """From an opening to an end, or to wherever it was killed."""
        for _ in range(self.draw(st.integers(0, 3))):
            self.said(3)
            body = self.bodies[-1]
            calls = body.step.calls if isinstance(body, Said) else ()
            for call in calls:
                self.observed(call)
            for _ in range(self.draw(st.integers(0 if calls else 1, 2))):
                self.prompt("loop")
        if self.draw(st.booleans()):
            self.said(0)
        self.bodies += [self.draw(ANSWERS), self.draw(ENDS)]


@st.composite
def trajectories(draw: Any) -> Trajectory:
    """A run with its prompts, replies, results, notes and ends, resumed or not."""
    drawing = _Drawing(draw)
    images = drawing.new_images(2)
    task = Task(images, draw(st.none() | WORDS), draw(st.none() | WORDS), draw(st.booleans()))
    tools = draw(st.lists(NAMES, max_size=3, unique=True).map(tuple))
    started = Started(
        task, draw(WORDS), draw(WORDS), tools, draw(BUDGETS), draw(WORDS), draw(st.sampled_from(["native", "tagged"])),
        draw(SAMPLINGS),
    )  # fmt: skip
    drawing.bodies.append(started)
    drawing.prompt("task", tuple(image.handle for image in images))
    drawing.stretch()
    for _ in range(draw(st.integers(0, 2))):
        drawing.bodies.append(
            Resumed(draw(WORDS), tools[:1], draw(BUDGETS), draw(SAMPLINGS), tuple(draw(st.lists(WORDS, max_size=2))))
        )
        drawing.prompt("person")
        drawing.stretch()
    cut = draw(st.integers(2, len(drawing.bodies))) if draw(st.booleans()) else len(drawing.bodies)
    events = tuple(Event(index, index / 8, body) for index, body in enumerate(drawing.bodies[:cut]))
    created = datetime(2025, 3, 1, 12, 30, draw(st.integers(0, 59)), tzinfo=UTC)
    return Trajectory(
        events, draw(st.sampled_from(["0123456789abcdef", "..", "a/b", "ü"])), created, "0.0.9", draw(st.booleans())
    )
