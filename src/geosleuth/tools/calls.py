"""Input and output of tools: calls, outputs, observations, the case, and what a tool needs."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from geosleuth.atlas import Atlas, Document
from geosleuth.geo import LatLon
from geosleuth.photo import Album, BoxScale, Photo, View
from geosleuth.support.service_use import ServiceUse

if TYPE_CHECKING:
    from geosleuth.evidence.visual import VisualPrior
    from geosleuth.photo.text import TextLine

FailureKind = Literal[
    "unknown_tool", "bad_arguments", "refused", "service", "timeout", "no_room", "over_budget", "repeated"
]
"""Why a call gave nothing: no such tool; arguments unreadable or of the wrong shape; the tool can't do what was asked;
an online service failed; it took too long; it brought more pictures than one turn can show; the budget forbids it; the
very same call was made before."""


Mended = Literal["json", "box"]
"""What had to be fixed before a call could be carried out: almost-JSON, or a box with its corners the wrong way round.
The papers' own code answers both with an error, so a count that is held against theirs takes them for failures."""

TextReader = Callable[[View], "Sequence[TextLine]"]
"""Reads what is written in a view; boxes are in pixels of the view. It is asked in a thread.

Lines without text are writing that it noticed and can't read.
"""
Need = Literal["atlas", "documents", "web", "features", "region", "tiles", "prior", "index", "network"]
"""A part of a run: places of the world; documents of the atlas; a web search; features beside towns, from a region or a
gazetteer; a detailed map of some area; tiles of pictures from above; a visual prior; an index of pictures or an image
search; the network, for tools that ask beyond this machine themselves."""
# Description of each missing part of a run.
MISSING: Mapping[Need, str] = {
    "atlas": "no atlas",
    "documents": "no documents",
    "web": "no web search",
    "features": "no region and no gazetteer on the map",
    "region": "no region on the map",
    "tiles": "no tiles",
    "prior": "no visual prior",
    "index": "no index of pictures",
    "network": "no network",
}
# Command or option that provides each part which a run can lack.
PROVIDED_BY: Mapping[Need, str] = {
    "web": "--web-search SERVICE",
    "features": "geosleuth atlas get PLACE, or --maps SERVICE",
    "region": "geosleuth atlas get PLACE, or --maps SERVICE",
    "tiles": "--maps google, or GEOSLEUTH_SATELLITE_TILES with --maps xyz",
    "prior": "geosleuth prior learn FOLDER, or --prior FILE",
    "index": "--image-search SERVICE or FILE",
    "network": "leave out --offline",
}
# Parts that the offline atlas alone can provide.
OFFLINE: frozenset[Need] = frozenset({"atlas", "documents", "features", "region"})
_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as a policy made it.

    ``arguments`` is text where what the policy wrote is no JSON object: the call is then answered with an error, and
    the text is kept as it was. ``mended`` says that it was almost JSON, and read all the same.
    """

    id: str
    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict, hash=False)
    mended: Mended | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Output:
    """Result of a tool.

    ``text`` is for the policy to read; it is data, never an order. ``data`` says the same for programs, in JSON types.
    ``images`` get their handles only once the call is done: a view is a cut of a photo of the case, a photo is a new
    picture (a map). ``sources`` say where it came from: "photo", an atlas source, a host.
    """

    text: str
    data: Any = None
    images: tuple[View | Photo, ...] = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ImageInfo:
    """A picture of the case by its handle: its size, and the part of which photo it shows.

    ``photo`` counts the photos of the case from 1 in the order they came in; maps and satellite pictures count too.
    """

    handle: str
    size: tuple[int, int]
    photo: int
    box_in_original: tuple[int, int, int, int]

    @property
    def caption(self) -> str:
        """Return the line before the picture wherever it is shown, so that a later call can name it."""
        return f"{self.handle} ({self.size[0]} x {self.size[1]} pixels):"


@dataclass(frozen=True, slots=True)
class Observation:
    """The outcome of one call; ``failure`` is None where the tool did its work, ``mended`` says what it forgave.

    ``services`` are those that it asked, with those that failed it.
    """

    call_id: str
    name: str
    text: str
    data: Any = field(default=None, hash=False)
    images: tuple[ImageInfo, ...] = ()
    sources: tuple[str, ...] = ()
    failure: FailureKind | None = None
    seconds: float = 0.0
    mended: Mended | None = field(default=None, compare=False)
    services: tuple[ServiceUse, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Similar:
    """A picture that looks like the one asked about, and where it is from, as far as its keeper says."""

    title: str
    score: float | None
    source: str
    url: str | None = None
    point: LatLon | None = None
    place: str | None = None


class WebSearch(Protocol):
    """Finds documents; the host it asks is part of what the user allowed."""

    @property
    def name(self) -> str:
        """Return the name that results are credited to."""
        ...

    async def search(self, query: str, *, limit: int = 10) -> list[Document]:
        """Up to ``limit`` documents, best first."""
        ...


class ImageSearch(Protocol):
    """Finds pictures like a given one."""

    @property
    def name(self) -> str:
        """Return the name that results are credited to."""
        ...

    async def search(self, view: View, *, limit: int = 10) -> list[Similar]:
        """Up to ``limit`` pictures, most alike first."""
        ...


@dataclass(slots=True)
class Case:
    """Everything a tool may touch. What is not here can't be reached: no files, no truth, no metadata.

    Attributes:
        album: the photos and views, by handle.
        atlas: the world, offline or online as the user decided.
        box_scale: how the policy gives boxes.
        web: where ``search_web`` looks; None is the atlas's own documents, which stand in for the web in drawn worlds.
        similar: where ``search_image`` looks; None where there is neither an index nor a service.
        visual: what ``visual_prior`` asks; None where none was learned.
        reader: what ``read_text`` reads with; None is the text reading that comes with the package.
    """

    album: Album
    atlas: Atlas
    box_scale: BoxScale = "pixels"
    web: WebSearch | None = None
    similar: ImageSearch | None = None
    visual: "VisualPrior | None" = None
    reader: TextReader | None = None


@dataclass(frozen=True, slots=True)
class MissingTool:
    """A tool of a method's own choice that a run goes without: its name, what it lacks, and what brings that."""

    name: str
    lacks: str
    brought_by: str


def list_supplies(
    atlas: Atlas,
    *,
    visual: "VisualPrior | None" = None,
    similar: "ImageSearch | bool | None" = None,
    web: WebSearch | None = None,
    offline: bool = False,
) -> frozenset[Need]:
    """Return what a run has, by the parts that its tools are given.

    Args:
        atlas: the world; one that does not say what it has is taken to have everything.
        visual: the visual prior.
        similar: an image search, or whether there will be one.
        web: a web search, or a recording of one.
        offline: nothing beyond this machine may be asked.
    """
    there: set[Need] = {"atlas", "documents"}
    if getattr(atlas, "has_features", True):
        there.add("features")
    if getattr(atlas, "has_regions", True):
        there.add("region")
    if getattr(atlas, "has_tiles", True):
        there.add("tiles")
    if visual is not None:
        there.add("prior")
    if similar:
        there.add("index")
    if web is not None:
        there.add("web")
    if not offline:
        there.add("network")
    return frozenset(there)


async def in_order(*work: Awaitable[_Found]) -> list[_Found]:
    """Await several questions at once and return their answers in order.

    Of several failures, raise the first of the list.

    Which is the quickest differs from time to time; the same call must end with the same words.
    """
    found = []
    for item in await asyncio.gather(*work, return_exceptions=True):
        if isinstance(item, BaseException):
            raise item
        found.append(item)
    return found
