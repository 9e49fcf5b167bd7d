"""The method `moonlit`: the default method, with the moon among its tools and a word about nights."""

from dataclasses import replace

from geosleuth.agent import Method
from geosleuth.agent.methods import method
from geosleuth.photo import BoxScale

NIGHTS = "If the photo shows the moon and its date is known, check the two against each other with moon_phase."


def moonlit(box_scale: BoxScale) -> Method:
    """Return the method; boxes are asked for in this scale."""
    base = method("default", box_scale=box_scale)
    return replace(
        base,
        summary="the default method, with the moon among its tools",
        tools=(*base.tools, "moon_phase"),
        system=lambda task, tools: f"{base.system(task, tools)}\n\n{NIGHTS}",
    )
