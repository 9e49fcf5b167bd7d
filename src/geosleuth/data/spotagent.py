"""SpotAgent's synthesis: an Observer and a text-only Tool-call agent go through the normal loop with real tools.

Section 3.2.1 and appendix A.4 of the paper. Trajectories are kept or not by `geosleuth.data.rejection`.
"""

from collections.abc import Iterable

from geosleuth.agent import Budget
from geosleuth.agent.locating import Finding, locate
from geosleuth.agent.methods import method
from geosleuth.agent.setup import AgentSetup, Resources
from geosleuth.atlas import Atlas
from geosleuth.photo import OpenedPhoto
from geosleuth.policies import Policy
from geosleuth.tools import Toolset
from geosleuth.tools.catalogue import all_tools

from .toolcaller import TwoMinds

METHOD = "spotagent"
TOOLS = (
    "image_zoom_in_tool", "search_web", "maps_geocode", "reverse_geocode", "poi_keyword_search", "poi_detail_query",
    "find_crossing", "range_fix", "country_facts",
)  # fmt: skip
"""The paper's three, and those of ours that ask the map for what signs say."""


def toolset_of(names: Iterable[str] = TOOLS) -> Toolset:
    """The tools of a synthesis, named as the method names them.

    Raises:
        BadInput: there is no such tool.
    """
    return method(METHOD).toolset(all_tools(), names)


async def synthesise(
    photo: OpenedPhoto,
    observer: Policy,
    caller: Policy,
    *,
    atlas: Atlas,
    tools: Iterable[str] = TOOLS,
    budget: Budget | None = None,
) -> Finding:
    """One trajectory, good or bad: what the two make of a photo.

    Args:
        photo: what is looked at.
        observer: who describes the photo and every crop of it.
        caller: who reads the descriptions, calls tools and answers; it sees no picture.
        atlas: the world that tools ask.
        tools: those that are switched on.
        budget: in place of the method's own.

    Raises:
        UserError: a policy or a tool can't work as it is set up.
    """
    return await locate(
        [photo],
        AgentSetup(method=method(METHOD), policy=TwoMinds(observer, caller), toolset=toolset_of(tools), budget=budget),
        Resources(atlas),
    )
