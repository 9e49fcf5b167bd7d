"""Options of a run as tests give them, one by one, put into the parts that a run takes."""

from collections.abc import Mapping
from typing import Any

from geosleuth.agent.setup import PhotoQuestion

_OF_SETUP = ("budget", "sampling", "wire")
_OF_QUESTION = ("hint", "area", "force_answer", "views")


def parted(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What goes into an `AgentSetup`; and the rest, with a question."""
    own = {name: value for name, value in options.items() if name in _OF_SETUP}
    asked = {name: value for name, value in options.items() if name in _OF_QUESTION}
    rest = {name: value for name, value in options.items() if name not in (*_OF_SETUP, *_OF_QUESTION)}
    return own, rest | ({"question": PhotoQuestion(**asked)} if asked else {})
