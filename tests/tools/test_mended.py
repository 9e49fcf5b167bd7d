"""Calls that are carried out although they were not right as written: the papers count them as failures."""

import asyncio

import pytest
from PIL import Image

from geosleuth.agent import Budget
from geosleuth.agent.codec import event_from_dict, event_to_dict
from geosleuth.agent.events import Event, Said, ToolObserved
from geosleuth.agent.trajectory import Spending
from geosleuth.models import Step
from geosleuth.models.tagged import read_reply
from geosleuth.tools import Toolset
from geosleuth.tools.calls import Mended
from geosleuth.tools.image_tools import image_zoom_in_tool
from tool_cases import case_of

ZOOM = '"name": "image_zoom_in_tool", "arguments": {"bbox_2d": %s}'
STRAIGHT, SWAPPED, UPSIDE_DOWN = "[10, 20, 60, 70]", "[60, 20, 10, 70]", "[10, 70, 60, 20]"


@pytest.mark.parametrize(
    ("written", "mended"),
    [
        ("<tool_call>\n{%s}\n</tool_call>" % (ZOOM % STRAIGHT), None),
        ("<tool_call>{%s}" % (ZOOM % STRAIGHT), None),
        ("<function=image_zoom_in_tool>\n<parameter=bbox_2d>\n[10, 20, 60, 70]\n</parameter>\n</function>", None),
        ("<tool_call>\n{%s}\n</tool_call>" % (ZOOM % SWAPPED), "box"),
        ("<tool_call>\n{%s}\n</tool_call>" % (ZOOM % UPSIDE_DOWN), "box"),
        ("<tool_call>{%s</tool_call>" % (ZOOM % STRAIGHT), "json"),
        ("<tool_call>```json\n{%s}\n```</tool_call>" % (ZOOM % STRAIGHT), "json"),
        (f"<tool_call>{{{ZOOM % STRAIGHT}}}</tool_call>".replace('"', "'"), "json"),
        ("<tool_call>{%s,}</tool_call>" % (ZOOM % SWAPPED), "json"),
        ('<tool_call>{"tool": "image_zoom_in_tool", "parameters": {"bbox_2d": [10, 20, 60, 70]}}</tool_call>', "json"),
    ],
)
def test_a_call_that_was_mended_works_and_says_so(written: str, mended: Mended | None) -> None:
    calls = read_reply(f"I look closer. {written}", first_id=1).calls
    (seen,) = asyncio.run(Toolset([image_zoom_in_tool]).run(calls, case_of(Image.new("RGB", (100, 100), "green"))))
    assert seen.failure is None
    assert seen.mended == mended
    event = Event(1, 0.5, ToolObserved(1, seen))
    stored = event_from_dict(event_to_dict(event)).body
    assert isinstance(stored, ToolObserved)
    assert stored.observation.mended == mended
    said = event_from_dict(event_to_dict(Event(0, 0.0, Said(1, Step(calls=calls))))).body
    assert isinstance(said, Said)
    assert said.step.calls[0].mended == (None if mended == "box" else mended)
    spending = Spending(Budget())
    spending.see(stored)
    spent = spending.spent(1.0)
    assert (spent.calls, spent.failed_calls, spent.mended_calls) == (1, 0, int(mended is not None))


@pytest.mark.parametrize("box", ["[10, 20, 10, 70]", "[500, 500, 400, 400]", "[1, 2]"])
def test_a_call_that_fails_is_counted_once(box: str) -> None:
    calls = read_reply("<tool_call>{%s,}</tool_call>" % (ZOOM % box), first_id=1).calls
    (seen,) = asyncio.run(Toolset([image_zoom_in_tool]).run(calls, case_of(Image.new("RGB", (100, 100), "green"))))
    assert seen.failure is not None
    assert seen.mended is None
