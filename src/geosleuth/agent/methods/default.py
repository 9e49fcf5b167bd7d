"""Our own way: every tool, an open candidate pool, reasons before calls, checks on the map, honest odds."""

from functools import partial

from geosleuth.agent.events import Budget, Task
from geosleuth.agent.method import Context, Method
from geosleuth.answer import FORMAT, Answer
from geosleuth.photo import BoxScale

from .shared import EVIDENCE_ONLY, PLACES_NOT_PEOPLE, boxes, paragraphs, question, read_words, tool_list

RESULT_TOKENS = 1500
NEWEST_IMAGES = 4

_CHECKING = frozenset(
    {
        "maps_geocode",
        "reverse_geocode",
        "poi_keyword_search",
        "nearby",
        "find_colocated",
        "find_crossing",
        "static_map_query",
        "satellite_map_query",
    }
)

_ROLE = """\
You are a careful detective of places. Somebody shows you a photo; you find out where it was taken, show the evidence,
and say honestly how sure you can be."""

_LOOK = """\
Look first, at everything: scripts and languages, names of shops and streets, phone numbers, plates, road markings and
signs, poles, kerbs, building style, plants, terrain, light and shadows. What is rare elsewhere tells more than what is
common everywhere. Beware of the striking: a foreign restaurant, a tourist's shirt or an airline's colours may be far
from home."""

_CALLS = """\
Before a call, say in one line what you have seen, what is missing and why this tool may bring it. Calls that do not
depend on each other go together. If a call fails, change it; the same call gives the same result."""

_POOL = """\
Keep the pool of candidates with note_hypothesis: enter a place as soon as it is worth checking, with what speaks for it
and against it, and come back to it when that changes. Keep rivals until evidence rules them out. Should the run end
early, the best candidate of the pool is your answer."""

_UNWRITTEN_POOL = """\
Keep several candidates in mind, each with what speaks for it and against it, until evidence rules them out."""

_CHECK = """\
Check the leading candidate before you answer: does it exist under this name, does what stands around it fit the photo,
and would a rival fit as well? One thing that can't be so weighs more than three that can."""

_HONEST = """\
Odds: "probability" is the chance that the true spot lies within "radius_km" of your point. Choose the radius that the
evidence allows: a read street sign may mean 0.2, a city's style 25, a landscape 500. Of your answers with 0.7, seven
in ten should be right. Where there are rivals, list them under candidates with their own odds."""

_MAY_DECLINE = """\
If the evidence does not allow a point, leave out lat and lon and give only the levels that it does allow. If it allows
nothing at all, leave these out too and say in the explanation what would be needed. That is a good answer; a made-up
place is not."""

_MUST_GUESS = """\
In this run a point is wanted in any case: give your best guess, with the low probability or the large radius that it
deserves."""

_ANSWER = f"""\
When you are done, reply without a call, with one JSON object in this form; leave out what you can't tell:
{{"format": "{FORMAT}", "lat": 0.0, "lon": 0.0,
 "country": {{"conclusion": "...", "clues": ["..."], "reasoning": "...", "uncertainty": "low, moderate or high"}},
 "region": {{"conclusion": "..."}}, "precise": {{"conclusion": "street or sight, town"}},
 "probability": 0.0, "radius_km": 1.0, "explanation": "the evidence that decided, in a few sentences",
 "candidates": [{{"name": "...", "lat": 0.0, "lon": 0.0, "probability": 0.0, "evidence": "..."}}]}}
Region and precise may have clues, reasoning and uncertainty too. Region is the state or province. Latitude and
longitude are decimal degrees, south and west negative."""


def _system(task: Task, tools: tuple[str, ...], *, box_scale: BoxScale) -> str:
    return paragraphs(
        _ROLE,
        _LOOK,
        _CALLS if tools else None,
        _POOL if "note_hypothesis" in tools else _UNWRITTEN_POOL,
        _CHECK if _CHECKING.intersection(tools) else None,
        tool_list(tools),
        boxes(tools, box_scale),
        EVIDENCE_ONLY,
        PLACES_NOT_PEOPLE,
        _HONEST,
        _MUST_GUESS if task.force_answer else _MAY_DECLINE,
        _ANSWER,
    )


def _prompt(task: Task, _tools: tuple[str, ...]) -> str:
    return question(task, "Where was this photo taken?")


def read_answer(text: str) -> Answer:
    """Our full form; where it is not quite right, as much of it as can be read."""
    answer = read_words(text)
    # An object that claims our format but breaks it is refused whole; without the claim its fields are read singly.
    return answer if answer != Answer() else read_words(text.replace(FORMAT, ""))


def default(box_scale: BoxScale = "pixels") -> Method:
    """Our own method."""
    # Every tool there is: what they need is imported only now.
    from geosleuth.tools.toolset import all_tools

    return Method(
        name="default",
        summary="our own: all tools, an open candidate pool, checks on the map, honest probability and radius",
        paper=None,
        tools=all_tools().names,
        budget=Budget(turns=12),
        wire="native",
        context=Context("trimmed", result_tokens=RESULT_TOKENS, images=NEWEST_IMAGES),
        system=partial(_system, box_scale=box_scale),
        prompt=_prompt,
        read_answer=read_answer,
        reminder=(
            f'That held no answer that could be read. Reply with one JSON object whose "format" is "{FORMAT}"; if no '
            "place can be told, its explanation says why."
        ),
        box_scale=box_scale,
        tells_options=True,
    )
