"""GeoVista: magnify what may tell the place, search the web for it, and let the results confirm or overturn."""

import re
from dataclasses import replace
from functools import partial

from geosleuth.agent.events import Budget, Task
from geosleuth.agent.method import Context, Method
from geosleuth.answer import Answer
from geosleuth.photo import BoxScale

from .papers import GEOVISTA
from .shared import (
    FORCED_RADIUS_KM,
    add_usual_radius,
    ask,
    paper_system,
    read_words,
)

TOOLS = ("image_zoom_in_tool", "search_web")

_ROLE = """\
You find the places that photos show, as a person with a magnifying glass and a browser would. Pick the regions of the
picture that may give the place away, one after the other; turn what you make out there into questions; and let what
you learn confirm your idea or overturn it."""

_WAY = """\
In each reply, think between <think> and </think> about what you see and what it suggests. Then either call a tool, or
give your final answer between <answer> and </answer>."""

_WITHOUT_TOOLS = """\
Think between <think> and </think> about what you see and what it suggests. Then give your final answer between
<answer> and </answer>."""

_ANSWER = """\
The answer says in a few sentences where the photo was taken, as exactly as the evidence allows, and which evidence
decided. It ends with one object, in which you leave out what you can't tell:
{"country": "...", "province_or_state": "...", "city": "...", "address": "street or landmark"}"""

_FORCED = f"""\
In this run, fill in all of these with your best guess, and add to the object "lat" and "lon", the point in decimal
degrees, south and west negative, and "probability", your honest chance from 0 to 1 that it is within
{FORCED_RADIUS_KM} km."""

_ANSWER_TAG = re.compile(r"<answer>(.*?)(?:</answer>|\Z)", re.DOTALL | re.IGNORECASE)
_OBJECT = re.compile(r"(?:```(?:json)?\s*)?\{[^{}]*\}(?:\s*```)?\s*\Z")


def _build_geovista_system(task: Task, tools: tuple[str, ...], *, box_scale: BoxScale) -> str:
    parts = _ROLE, _WAY if tools else _WITHOUT_TOOLS, _ANSWER, _FORCED
    return paper_system(parts, task, tools, box_scale=box_scale)


def read_answer(text: str) -> Answer:
    """The place that the object at the end names; the sentences before it are the explanation."""
    answer = read_words(text)
    tagged = _ANSWER_TAG.findall(text)
    if answer.explanation or not tagged or not (answer.located or answer.address):
        return answer
    return replace(answer, explanation=_OBJECT.sub("", tagged[-1]).strip() or None)


def geovista(box_scale: BoxScale = "pixels") -> Method:
    """GeoVista's inference: sections 3.1, 4 and 5.1, figures 1 and 9."""
    return Method(
        name="geovista",
        summary="zoom and web search in six turns; answers in words, with country, state, city and address",
        paper=f"{GEOVISTA.paper}, sections 3.1, 4 and 5.1",
        tools=TOOLS,
        budget=Budget(turns=GEOVISTA.turns or 1),
        wire="tagged",
        context=Context("whole", tokens=GEOVISTA.context_tokens),
        system=partial(_build_geovista_system, box_scale=box_scale),
        prompt=partial(ask, "Find out where this photo was taken."),
        read_answer=add_usual_radius(read_answer),
        reminder=(
            "That named no place that could be read. Give your final answer between <answer> and </answer> now, ending "
            "with the object that holds country, province_or_state, city and address."
        ),
        first_view_pixels=GEOVISTA.first_view_pixels or 0,
        states_odds=False,
        box_scale=box_scale,
        panorama="planar",
    )
