"""GeoAgent: no tools and one reply, which reasons from the country through the region to the spot."""

import re
from dataclasses import replace
from functools import partial

from geosleuth.agent.events import Budget, Task
from geosleuth.agent.method import Context, Method
from geosleuth.answer import Address, Answer, Level, parse_lenient
from geosleuth.photo import BoxScale

from .papers import GEOAGENT
from .shared import (
    FORCED_RADIUS_KM,
    add_usual_radius,
    ask,
    paper_system,
    read_words,
)

_ROLE = """\
You know geography, maps, traffic, building and plants well enough to tell places from pictures, and you can set out
your reasoning in order. Reason at three levels, each narrowing down the one before:

Country: shape and colour of road signs, languages and scripts, the side people drive on, building styles, plants and
climate.
Region: companies and emblems, terrain, vegetation, local signs, dialect and spelling, plates, dialling codes and
postcodes, poles, kerbs and other infrastructure.
Precise place: road signs, street names and house numbers, landmarks, rivers and lakes, the kind of place, shops and
their fronts."""

_RULES = """\
For each level give the clues that you see, the reasoning that leads from them to a conclusion, the conclusion itself
(a name, nothing more) and how uncertain it is: low, moderate or high. A clue is something that is really there in the
picture; name nothing that is not. A level that can't be told has an empty conclusion and says why in its reasoning."""

_FORM = """\
Reply with one JSON object and nothing else:
{"ChainOfThought": {
  "CountryIdentification": {"Clues": ["..."], "Reasoning": "...", "Conclusion": "...", "Uncertainty": "..."},
  "RegionalGuess": {"Clues": ["..."], "Reasoning": "...", "Conclusion": "...", "Uncertainty": "..."},
  "PreciseLocalization": {"Clues": ["..."], "Reasoning": "...", "Conclusion": "...", "Uncertainty": "..."}},
 "FinalAnswer": "Country; Region; Specific location"}"""

_FORCED = f"""\
In this run, fill every level with your best guess, and add three keys beside FinalAnswer: "lat" and "lon", the point
in decimal degrees, south and west negative, and "probability", your honest chance from 0 to 1 that it is within
{FORCED_RADIUS_KM} km."""

_THOUGHT_TAGS = re.compile(r"</?think(?:ing)?>", re.IGNORECASE)
_THOUGHT_ENDS = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_FINAL = re.compile(r"<answer>(.*?)</answer>|\"FinalAnswer\"\s*:\s*\"((?:[^\"\\]|\\.)*)\"", re.DOTALL | re.IGNORECASE)


def _build_geoagent_system(task: Task, tools: tuple[str, ...], *, box_scale: BoxScale) -> str:
    parts = _ROLE, _RULES, _FORM, _FORCED
    return paper_system(parts, task, tools, box_scale=box_scale)


def read_answer(text: str) -> Answer:
    """The three levels with their clues; the names of the final answer stand above those of the levels.

    The reasoning may also stand between ``<think>`` tags with the final answer behind it, as trained models of this
    kind write it; thoughts in front of a reply that has levels of its own are only thoughts. There is a point only
    where the reply itself gives coordinates.
    """
    words = _THOUGHT_ENDS.split(text)[-1]
    spoken = read_words(words)
    if any(level.clues or level.reasoning for level in _levels(spoken)):
        text = words
    reasoning = re.split("<answer>", _THOUGHT_TAGS.sub(" ", text), maxsplit=1, flags=re.IGNORECASE)[0]
    answer = replace(
        read_words(reasoning), point=spoken.point, probability=spoken.probability, radius_km=spoken.radius_km
    )
    levels = answer.address
    finals = [first or second for first, second in _FINAL.findall(text)]
    named = parse_lenient(finals[-1]).address if finals else Address()
    return replace(
        answer,
        address=Address(
            _fill_conclusion(levels.country, named.country),
            _fill_conclusion(levels.region, named.region),
            _fill_conclusion(levels.precise, named.precise),
        ),
    )


def _levels(answer: Answer) -> tuple[Level, Level, Level]:
    return answer.address.country, answer.address.region, answer.address.precise


def _fill_conclusion(level: Level, final: Level) -> Level:
    return replace(level, conclusion=final.conclusion or level.conclusion)


def geoagent(box_scale: BoxScale = "pixels") -> Method:
    """GeoAgent's inference: section 4, appendix A.2."""
    return Method(
        name="geoagent",
        summary="no tools, one reply: clues, reasoning, conclusion and uncertainty for country, region and spot",
        paper=f"{GEOAGENT.paper}, appendix A.2, figure 7",
        tools=(),
        budget=Budget(turns=GEOAGENT.turns or 1, calls=GEOAGENT.calls),
        wire="native",
        context=Context("whole"),
        system=partial(_build_geoagent_system, box_scale=box_scale),
        prompt=partial(ask, "Where was this photo taken? Reason through the three levels."),
        read_answer=add_usual_radius(read_answer),
        reminder='That held no answer that could be read. Reply with the JSON object that ends in "FinalAnswer".',
        box_scale=box_scale,
        reads_thinking=True,
    )
