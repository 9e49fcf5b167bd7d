"""SpotAgent: thought, call, result, with a reason written down before every call."""

from functools import partial

from geosleuth.agent.events import Budget, Task
from geosleuth.agent.method import Context, Method
from geosleuth.models import Sampling
from geosleuth.photo import BoxScale

from .papers import SPOTAGENT
from .shared import FORCED_RADIUS_KM, add_usual_radius, ask, paper_system

TOOLS = ("image_zoom_in_tool", "search_web", "maps_geocode")

_ROLE = """\
You work out where photos were taken: first by looking closely, then by checking what you think against the world.
Go from the large to the small: land, climate and building style, then roads, vehicles and street furniture, then
lettering and other fine detail."""

_BEFORE_A_CALL = """\
No call without a reason. Before each one, write between <think> and </think>:
1. Seen: the evidence that you have by now, from the photo and from results.
2. Missing: what you still need to know to tell the place.
3. Tool: which tool can bring just that, and why this one.
Then make the call, wait for its result, and think again. A call costs; make none that could not change your mind."""

_WITHOUT_TOOLS = """\
You have no tools in this run. Between <think> and </think>, go through the evidence that the photo holds and say what
place it speaks for."""

_ANSWER = """\
Once you know enough, or can't get further, close with four lines and nothing else inside the tags:
<answer>
Country: name of the country
City: name of the city or town
Latitude: degrees as a decimal number, below zero south of the equator
Longitude: degrees as a decimal number, below zero west of Greenwich
</answer>
Latitude and longitude are numbers in every case. They are never empty, never null and never a word: where you are
unsure, give the likeliest point."""

_PROBABILITY = (
    f"Add one more line before </answer>, Probability: your honest chance in percent that the point is within "
    f"{FORCED_RADIUS_KM} km."
)


def _build_spotagent_system(task: Task, tools: tuple[str, ...], *, box_scale: BoxScale) -> str:
    parts = _ROLE, _BEFORE_A_CALL if tools else _WITHOUT_TOOLS, _ANSWER, _PROBABILITY
    return paper_system(parts, task, tools, box_scale=box_scale)


def spotagent(box_scale: BoxScale = "pixels") -> Method:
    """SpotAgent's inference: sections 3.1 and 3.2.1, appendix A."""
    return Method(
        name="spotagent",
        summary="ReAct with zoom, web search and geocoding; says seen, missing and why before each of six calls",
        paper=f"{SPOTAGENT.paper}, sections 3.1 and 3.2.1, appendix A",
        tools=TOOLS,
        # Two replies more than calls: where they are made one by one, one is left to answer in and one to be reminded.
        budget=Budget(turns=(SPOTAGENT.calls or 0) + 2, calls=SPOTAGENT.calls),
        wire="tagged",
        context=Context("whole"),
        system=partial(_build_spotagent_system, box_scale=box_scale),
        prompt=partial(ask, "Where was this photo taken?"),
        read_answer=add_usual_radius(),
        reminder=(
            "That held no answer that could be read. Close now with <answer> and the lines Country, City, Latitude and "
            "Longitude; both coordinates must be numbers."
        ),
        sampling=Sampling(max_tokens=SPOTAGENT.reply_tokens),
        states_odds=False,
        box_scale=box_scale,
    )
