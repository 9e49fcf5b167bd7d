"""Thinking with Map: propose candidates, look them up on the map, cross-check, settle on one."""

from functools import partial

from geosleuth.agent.events import Budget, Task
from geosleuth.agent.method import Context, Method
from geosleuth.models import Sampling
from geosleuth.photo import BoxScale

from .papers import TWM
from .shared import (
    FORCED_RADIUS_KM,
    add_usual_radius,
    ask,
    paper_system,
)

TOOLS = (
    "image_zoom_in_tool",
    "poi_input_tips",
    "poi_keyword_search",
    "poi_detail_query",
    "static_map_query",
    "satellite_map_query",
)
# Tool names as the paper prints them, in tables 1 and 5.
PAPER_TOOL_NAMES = {"image_zoom_in_tool": "image_zoom_tool", "search_web": "web_search_tool"}

_MAP_TOOLS = frozenset(TOOLS[1:])

_ROLE = """\
You are shown a photo and want the coordinates of the spot that it shows, as exactly as they can be had. Go over it for
everything that ties it to a place: names of shops and streets, landmarks, lettering, plants, terrain, the way things
are built."""

_WITH_MAP = """\
Work with the map as people do who look for a place:
- Keep a pool of candidates, places that it could be. Every new clue may add one, strengthen one or strike one out.
- Look candidates up on the map. A place that the map does not know, or has somewhere else, is a reason to doubt.
- Compare what stands around a candidate with what stands around it in the photo. One match may be chance; several
  that fit together are evidence. Names repeat: make sure that it is the right one of them.
- Stop when one candidate is clearly ahead of the others, or when no more can be found out, and pick from the pool."""

_WITH_TOOLS = """\
Keep a pool of candidates, places that it could be. Every new clue may add one, strengthen one or strike one out. Use
the tools where you lack a fact, check candidates against each other, and pick from the pool when one is ahead."""

_WITHOUT_TOOLS = """\
Weigh the places that it could be against each other before you settle on one."""

_ANSWER = """\
End with one JSON object in this form:
{"lat": 0.0, "lon": 0.0, "city": "...", "country": "..."}
South and west are negative. Where the evidence does not narrow it down, the object holds your best guess all the
same."""

_PROBABILITY = (
    f'Add to the object "probability", your honest chance from 0 to 1 that the point is within {FORCED_RADIUS_KM} km.'
)


def _way(tools: tuple[str, ...]) -> str:
    if _MAP_TOOLS.intersection(tools):
        return _WITH_MAP
    return _WITH_TOOLS if tools else _WITHOUT_TOOLS


def _build_twm_system(task: Task, tools: tuple[str, ...], *, box_scale: BoxScale) -> str:
    parts = _ROLE, _way(tools), _ANSWER, _PROBABILITY
    return paper_system(parts, task, tools, box_scale=box_scale, shown_as=PAPER_TOOL_NAMES)


def twm(box_scale: BoxScale = "pixels") -> Method:
    """Thinking with Map's inference: section 3.1, table 1, appendix B.1."""
    return Method(
        name="twm",
        summary="map tools and a candidate pool in eight turns; always gives its best guess",
        paper=f"{TWM.paper}, section 3.1, appendix B.1",
        tools=TOOLS,
        budget=Budget(turns=TWM.turns or 1, reply_tokens=TWM.run_tokens),
        wire="native",
        context=Context("trimmed", result_characters=TWM.result_characters),
        system=partial(_build_twm_system, box_scale=box_scale),
        prompt=partial(ask, "What are the coordinates of the place in this photo?"),
        read_answer=add_usual_radius(),
        reminder=(
            "That held no coordinates that could be read. Give your best guess now, as one JSON object with the keys "
            "lat, lon, city and country."
        ),
        sampling=Sampling(max_tokens=TWM.run_tokens),
        box_scale=box_scale,
        shown_as=PAPER_TOOL_NAMES,
        wants_guess=True,
        states_odds=False,
    )
