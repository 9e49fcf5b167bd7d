"""What a tool can't work without, and whether a run has it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from geosleuth.atlas import Atlas

if TYPE_CHECKING:
    from geosleuth.clues.visual import VisualPrior

    from .model import ImageSearch

Need = Literal["atlas", "documents", "region", "tiles", "prior", "index", "network"]
"""A part of a run: places of the world; documents, from the atlas or a web search; a detailed map of the area; tiles
of pictures from above; a visual prior; an index of pictures or an image search; the network, for tools that ask beyond
this machine themselves."""

MISSING: Mapping[Need, str] = {
    "atlas": "no atlas",
    "documents": "no documents",
    "region": "no region on the map",
    "tiles": "no tiles",
    "prior": "no visual prior",
    "index": "no index of pictures",
    "network": "no network",
}
"""What a run without it has, in words."""

OFFLINE: frozenset[Need] = frozenset({"atlas", "documents", "region"})
"""What the offline atlas alone can give."""


def supplied(
    atlas: Atlas,
    *,
    visual: "VisualPrior | None" = None,
    similar: "ImageSearch | bool | None" = None,
    offline: bool = False,
) -> frozenset[Need]:
    """Return what a run has, by the parts that its tools are given.

    Args:
        atlas: the world; one that does not say what it has is taken to have everything.
        visual: the visual prior.
        similar: an image search, or whether there will be one.
        offline: nothing beyond this machine may be asked.
    """
    there: set[Need] = {"atlas", "documents"}
    if getattr(atlas, "has_regions", True):
        there.add("region")
    if getattr(atlas, "has_tiles", True):
        there.add("tiles")
    if visual is not None:
        there.add("prior")
    if similar:
        there.add("index")
    if not offline:
        there.add("network")
    return frozenset(there)
