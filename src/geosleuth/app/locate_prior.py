"""Which visual prior a run has, and that its tool is on where there is one."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from geosleuth.agent import Method
from geosleuth.errors import BadInput
from geosleuth.policies.detective import Detective
from geosleuth.tools import Tool
from geosleuth.tools.catalogue import all_tools

if TYPE_CHECKING:
    from geosleuth.clues.visual import VisualPrior

_NO_PRIOR = "none"


def prior_of(asked: str | None) -> "VisualPrior | None":
    """The prior that is asked for; where nobody asks, the user's own if one was learned.

    Raises:
        BadInput: there is none of that name, or it can't be read.
    """
    from geosleuth.clues.visual import load_prior, prior_at_hand

    if asked is None:
        return prior_at_hand()
    return None if asked == _NO_PRIOR else load_prior(asked)


def prior_file(asked: str | None, tools: Collection[str]) -> Path | None:
    """The file of the prior that a run with these tools may ask; None where there is none, or GeoCLIP."""
    from geosleuth.clues.visual.choosing import GEOCLIP, default_prior_path

    if not _asks_prior(tools) or asked == _NO_PRIOR or (asked or "").startswith(GEOCLIP):
        return None
    path = default_prior_path() if asked is None else Path(asked).expanduser()
    return path if path.is_file() else None


def tools_with_prior(
    names: Sequence[str | Tool] | None, method: Method, prior: "VisualPrior | None", asked: str | None
) -> Sequence[str | Tool] | None:
    """The tools to switch on; None is the method's own choice.

    Whoever asks for a prior has its tool on, whatever the method. One that merely lies at hand is for the detective,
    and for methods that have the tool anyway: it does not change what a paper's method consists of.
    """
    chosen = any(isinstance(one, str) and not one.startswith("+") for one in names or ())
    if prior is None or chosen or (names is not None and not names):
        return names
    if asked is None and method.name != Detective.name:
        return names
    return [*(names or ()), *(f"+{name}" for name in _prior_tools())]


def check_prior_is_asked(tools: Sequence[str], asked: str | None) -> None:
    """Complain about a prior that nobody can ask.

    Raises:
        BadInput: the tools were chosen by hand, and the one that asks the prior is not among them.
    """
    if asked not in (None, _NO_PRIOR) and not _asks_prior(tools):
        named = " or ".join(_prior_tools())
        raise BadInput(f"--prior is asked with the tool {named}; add it to --tools, or leave --prior out")


def _prior_tools() -> list[str]:
    return [one.name for one in all_tools() if "prior" in one.needs]


def _asks_prior(tools: Collection[str]) -> bool:
    return any("prior" in found.needs for name in tools if (found := all_tools().get(name)) is not None)
