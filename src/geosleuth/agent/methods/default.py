"""Our own way: every tool, an open candidate pool, reasons before calls, checks on the map, honest odds."""

from functools import partial

from geosleuth.agent.events import Budget, Task
from geosleuth.agent.method import Context, Method
from geosleuth.answer import FORMAT, Answer
from geosleuth.photo import BoxScale

from .shared import EVIDENCE_ONLY, PLACES_NOT_PEOPLE, ask, boxes, paragraphs, read_words

RESULT_TOKENS = 1500
MAX_IMAGES = 8

# Tools that return more than towns, so that a photo can be checked against their results.
_CHECKING_TOOLS = frozenset({"poi_keyword_search", "nearby", "find_colocated", "find_crossing", "satellite_map_query"})

# A search forgives what poi_input_tips completes; request_map needs a person at the other end. Few photos show three
# mapped features, and each schema is read in every turn: resection is for runs that ask for it (--tools +resection).
_LEFT_OUT = ("poi_input_tips", "request_map", "resection")

_ROLE = """\
Find out where a photo was taken, show the evidence, and say honestly how sure you can be."""

_LOOK = """\
Look at everything first: scripts, languages, names, phone numbers, plates, road markings and signs, poles, kerbs,
buildings, plants, terrain, light. What is rare elsewhere tells most. The striking may be far from home: a foreign
restaurant, a tourist's shirt."""

_CALLS = """\
With your first call, write down your guess and its closest rivals. Then ask what in the photo would tell them apart,
and look there first: zoom in on lettering, plates, poles. A tool moves your guess only for a reason that you can
name: a word read, a name found, a thing that can't be there. Odds, averages and empty results alone don't.
Independent calls go together. A failed call fails again unless changed."""

_IMAGES = f"""\
At most {MAX_IMAGES} images of results are shown; then the oldest you have seen make way."""

_POOL = """\
Keep the candidates and what speaks for and against each with note_hypothesis; if the run ends early, the best is
your answer."""

_UNWRITTEN_POOL = """\
Weigh several candidates until evidence rules them out."""

_CHECK = """\
Before you answer, check the leading candidate on the map, and whether a rival fits as well."""

_WEIGH = """\
One thing that can't be so weighs more than three that can."""

_HONEST = """\
"probability" is the chance that the true spot lies within "radius_km" of your point: a street sign may mean 0.2 km, a
city's style 25, a landscape 500."""

_MAY_DECLINE = """\
Leave out what the evidence does not allow, lat and lon too; if it allows nothing at all, say in the explanation what
would be needed. Never make a place up."""

_MUST_GUESS = """\
In this run a point is wanted in any case: give your best guess, with the low probability or large radius that it
deserves."""

_ANSWER = f"""\
When done, reply without a call, with one JSON object; leave out what you can't tell:
{{"format": "{FORMAT}", "lat": 0.0, "lon": 0.0,
 "country": {{"conclusion": "...", "clues": ["..."]}},
 "region": {{"conclusion": "state or province"}}, "precise": {{"conclusion": "street or sight, town"}},
 "probability": 0.0, "radius_km": 1.0, "explanation": "the evidence that decided",
 "candidates": [{{"name": "a rival", "lat": 0.0, "lon": 0.0, "probability": 0.0, "evidence": "..."}}]}}
Every level may have clues, "reasoning" and "uncertainty" (low, moderate or high)."""


def _build_default_system(task: Task, tools: tuple[str, ...], *, box_scale: BoxScale) -> str:
    return paragraphs(
        _ROLE,
        _LOOK,
        _CALLS if tools else None,
        _POOL if "note_hypothesis" in tools else _UNWRITTEN_POOL,
        f"{_CHECK} {_WEIGH}" if _CHECKING_TOOLS.intersection(tools) else _WEIGH,
        boxes(tools, box_scale),
        _IMAGES if tools else None,
        EVIDENCE_ONLY,
        PLACES_NOT_PEOPLE,
        _HONEST,
        _MUST_GUESS if task.force_answer else _MAY_DECLINE,
        _ANSWER,
    )


def read_answer(text: str) -> Answer:
    """Our full form; where it is not quite right, as much of it as can be read."""
    answer = read_words(text)
    # An object that claims our format but breaks it is refused whole; without the claim its fields are read singly.
    return answer if answer != Answer() else read_words(text.replace(FORMAT, ""))


def default(box_scale: BoxScale = "pixels") -> Method:
    """Our own method."""
    # Every tool there is: what they need is imported only now.
    from geosleuth.tools.toolset import all_tools

    tools = tuple(name for name in all_tools().names if name not in _LEFT_OUT)
    return Method(
        name="default",
        summary="our own: all tools, an open candidate pool, checks on the map, honest probability and radius",
        paper=None,
        tools=tools,
        budget=Budget(turns=12),
        wire="native",
        context=Context("trimmed", result_tokens=RESULT_TOKENS, images=MAX_IMAGES),
        system=partial(_build_default_system, box_scale=box_scale),
        prompt=partial(ask, "Where was this photo taken?"),
        read_answer=read_answer,
        reminder=(
            f'That held no answer that could be read. Reply with one JSON object whose "format" is "{FORMAT}"; if no '
            "place can be told, its explanation says why."
        ),
        box_scale=box_scale,
        tells_options=True,
    )
