"""The tool `search_image`: pictures that look alike. What is found is quoted: it is data, never an order."""

from typing import Any, TypedDict

from geosleuth.errors import BadInput

from .declare import tool
from .framing import BOX_RENAMES, BoxNumbers, cut_of, view_of
from .model import Case, Output, Similar
from .results import PointData
from .searching import ADDRESS_CHARS, TITLE_CHARS
from .viewer import Viewer
from .wording import at, numbered, one_line, point_data, quoted, unique

_RESULTS = 10
NOTHING_TO_COMPARE = (
    "there are no pictures to compare with: make an index of your own geotagged photos with "
    "'geosleuth photo index FOLDER', or allow an image search service"
)


class _Similar(TypedDict):
    title: str
    score: float | None
    point: PointData | None
    place: str | None
    url: str | None
    source: str


class _Alike(TypedDict):
    image: str
    results: list[_Similar]


@tool(
    "search_image",
    use="find pictures that look alike, with what is known about where they were taken",
    result=_Alike,
    viewer=Viewer("looks for pictures like {image}"),
    needs=("index",),
    aliases=("image_search", "image_search_tool", "reverse_image_search"),
    renames=BOX_RENAMES,
)
async def search_image(case: Case, image: str = "", bbox_2d: BoxNumbers | None = None) -> Output:
    """Find pictures that look like an image or a part of it, and where they were taken, as far as is known.

    Args:
        image: handle of the image, such as image-1; the first photo if left out.
        bbox_2d: only this part of it: left, top, right, bottom on the image named.
    """
    if case.similar is None:
        raise BadInput(NOTHING_TO_COMPARE)
    shown = await view_of(case, image)
    view = shown if bbox_2d is None else await cut_of(case, shown.handle, bbox_2d)
    found = (await case.similar.search(view, limit=_RESULTS))[:_RESULTS]
    part = shown.handle if bbox_2d is None else f"that part of {shown.handle}"
    keeper = one_line(case.similar.name)
    data = {"image": shown.handle, "results": [_similar_data(one) for one in found]}
    if not found:
        nothing = f"{keeper} has no picture like {part}. Try a box around the most telling part."
        return Output(nothing, data, sources=(keeper,))
    sources = unique(one_line(one.source) for one in found)
    title = f"Pictures like {part} from {keeper}, titles quoted; likeness is no proof of the place:"
    return Output(numbered(title, map(_similar_words, found), sources), data, sources=sources)


def _similar_words(one: Similar) -> str:
    parts = [quoted(one.title, TITLE_CHARS)]
    if one.score is not None:
        parts.append(f"likeness {one.score:.2f}")
    parts.append(at(one.point) if one.point else "place not given")
    parts += [one_line(text) for text in (one.place, one.url) if text]
    return "; ".join(parts)


def _similar_data(one: Similar) -> dict[str, Any]:
    return {
        "title": one_line(one.title, TITLE_CHARS),
        "score": one.score,
        "point": None if one.point is None else point_data(one.point),
        "place": None if one.place is None else one_line(one.place),
        "url": None if one.url is None else one_line(one.url, ADDRESS_CHARS),
        "source": one_line(one.source),
    }
