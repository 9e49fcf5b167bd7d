"""The presets: each paper's own way of working, and ours, runnable with any model."""

from collections.abc import Callable, Mapping

from geosleuth.agent.method import Method
from geosleuth.errors import BadInput
from geosleuth.photo import BoxScale

from .default import default
from .detective import detective
from .geoagent import geoagent
from .geovista import geovista
from .nano import nano
from .smilegeo import Comment, anonymous, discussion_prompt, read_comment, review_prompt, smilegeo, summary_prompt
from .spotagent import spotagent
from .twm import twm

__all__ = [
    "METHODS",
    "Comment",
    "anonymous",
    "discussion_prompt",
    "method",
    "read_comment",
    "review_prompt",
    "summary_prompt",
]

METHODS: Mapping[str, Callable[[BoxScale], Method]] = {
    "default": default,
    "geovista": geovista,
    "spotagent": spotagent,
    "geoagent": geoagent,
    "twm": twm,
    "smilegeo": smilegeo,
    "detective": detective,
    "nano": nano,
}


def method(name: str, *, box_scale: BoxScale = "pixels") -> Method:
    """The preset of that name, its words asking for boxes in that scale.

    Raises:
        BadInput: there is no such method; the message lists those there are.
    """
    make = METHODS.get(name.strip().casefold())
    if make is None:
        raise BadInput(f"there is no method {name.strip()[:40]!r}; there are: {', '.join(METHODS)}")
    return make(box_scale)
