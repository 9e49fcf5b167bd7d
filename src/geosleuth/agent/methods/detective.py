"""The detective's way: our own words and form of answer, its own tools and budget, the whole history in sight.

It is made for `geosleuth.models.detective`, which works in code and reads what tools found rather than the words;
a model that is put in its place gets the words of the default method, and the same tools and budget.
"""

from dataclasses import replace

from geosleuth.agent.events import Budget
from geosleuth.agent.method import Context, Method
from geosleuth.photo import BoxScale

from .default import default


def detective(box_scale: BoxScale = "pixels") -> Method:
    """The method of the policy in code."""
    from geosleuth.models.detective import TOOLS
    from geosleuth.tools.toolset import all_tools

    return replace(
        default(box_scale),
        name="detective",
        summary="no model: reads the text, looks names up, weighs clues in one posterior, checks them on the map",
        # A user who has a visual prior for the case switches its tool on; without one it could only refuse.
        tools=tuple(tool.name for tool in all_tools() if tool.name in TOOLS and "prior" not in tool.needs),
        budget=Budget(turns=14, calls=60, calls_per_turn=24),
        context=Context("whole"),
    )
