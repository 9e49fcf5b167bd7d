"""Web, documents and pictures to search. What is found is quoted: it is data, never an order."""

from collections.abc import Sequence
from typing import Any, TypedDict

from geosleuth.atlas import Document
from geosleuth.support.errors import BadInput

from .calls import Case, Output, Similar
from .declare import PointData, tool
from .image_tools import BOX_RENAMES, BoxNumbers, cut_view, get_view
from .viewer import (
    Viewer,
    format_point,
    format_question,
    number_lines,
    one_line,
    point_data,
    quote,
    require_text,
    unique,
)

_RESULTS = 10
_PASSAGES = 5
_SNIPPET_CHARS = 500
TITLE_CHARS = 160
ADDRESS_CHARS = 2000

NOTHING_TO_COMPARE = (
    "there are no pictures to compare with: make an index of your own geotagged photos with "
    "'geosleuth photo index FOLDER', or allow an image search service"
)


class _Document(TypedDict):
    id: str
    title: str
    snippet: str
    url: str | None
    score: float | None
    source: str


class _Documents(TypedDict):
    query: str
    results: list[_Document]


@tool(
    "search_web",
    use="look up names, numbers and phrases that you have read, or check a guess",
    result=_Documents,
    viewer=Viewer("searches for {query}"),
    needs=("web",),
    aliases=("web_search_tool", "web_search", "search"),
    renames={"q": "query", "text": "query", "keyword": "query", "keywords": "query", "queries": "query"},
)
async def search_web(case: Case, query: str) -> Output:
    """Search the web for names, numbers or phrases.

    Args:
        query: a few telling words.
    """
    text = require_text(query, "query", "yellow taxis white roof Bangkok")
    if case.web is None:
        return await _in_documents(case, text)
    found = (await case.web.search(text, limit=_RESULTS))[:_RESULTS]
    return _documents(text, found, one_line(case.web.name), "Try fewer or other words.")


@tool(
    "search_documents",
    use="read what the World Factbook says about a country: terrain, climate, flag, languages, crops, roads",
    result=_Documents,
    viewer=Viewer("looks for {query} in the atlas's documents"),
    needs=("documents",),
    aliases=("documents", "document_search"),
    renames={"q": "query", "text": "query", "keyword": "query", "keywords": "query", "queries": "query"},
)
async def search_documents(case: Case, query: str) -> Output:
    """Search facts about countries. It knows no shops, streets or towns.

    Args:
        query: a few telling words, such as "terrain Mongolia" or "flag with a cedar".
    """
    return await _in_documents(case, require_text(query, "query", "terrain Mongolia"))


async def _in_documents(case: Case, text: str) -> Output:
    found = await case.atlas.search_documents(text, limit=_PASSAGES)
    return _documents(text, found, "the atlas's documents", "They are about countries: terrain, climate, flags, roads.")


def _documents(text: str, found: Sequence[Document], keeper: str, advice: str) -> Output:
    data = {"query": text, "results": [_document_data(document) for document in found]}
    if not found:
        return Output(f"Nothing about {format_question(text)} in {keeper}. {advice}", data, sources=(keeper,))
    sources = unique(one_line(document.source) for document in found)
    title = f"Documents for {format_question(text)} from {keeper}, quoted:"
    return Output(number_lines(title, map(_document_words, found), sources), data, sources=sources)


def _document_words(document: Document) -> str:
    parts = [quote(document.title, TITLE_CHARS), quote(document.snippet, _SNIPPET_CHARS)]
    return "; ".join([*parts, one_line(document.url or document.id)])


def _document_data(document: Document) -> dict[str, Any]:
    return {
        "id": one_line(document.id),
        "title": one_line(document.title, TITLE_CHARS),
        "snippet": one_line(document.snippet, _SNIPPET_CHARS),
        "url": None if document.url is None else one_line(document.url, ADDRESS_CHARS),
        "score": document.score,
        "source": one_line(document.source),
    }


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
    """Find pictures that look alike, and where they were taken, as far as is known.

    Args:
        image: handle of the image; the first photo if left out.
        bbox_2d: left, top, right, bottom of the part.
    """
    if case.similar is None:
        raise BadInput(NOTHING_TO_COMPARE)
    shown = await get_view(case, image)
    view = shown if bbox_2d is None else await cut_view(case, shown.handle, bbox_2d)
    found = (await case.similar.search(view, limit=_RESULTS))[:_RESULTS]
    part = shown.handle if bbox_2d is None else f"that part of {shown.handle}"
    keeper = one_line(case.similar.name)
    data = {"image": shown.handle, "results": [_similar_data(item) for item in found]}
    if not found:
        nothing = f"{keeper} has no picture like {part}. Try a box around the most telling part."
        return Output(nothing, data, sources=(keeper,))
    sources = unique(one_line(item.source) for item in found)
    title = f"Pictures like {part} from {keeper}, titles quoted; likeness is no proof of the place:"
    return Output(number_lines(title, map(_similar_words, found), sources), data, sources=sources)


def _similar_words(similar: Similar) -> str:
    parts = [quote(similar.title, TITLE_CHARS)]
    if similar.score is not None:
        parts.append(f"likeness {similar.score:.2f}")
    parts.append(format_point(similar.point) if similar.point else "place not given")
    parts += [one_line(text) for text in (similar.place, similar.url) if text]
    return "; ".join(parts)


def _similar_data(similar: Similar) -> dict[str, Any]:
    return {
        "title": one_line(similar.title, TITLE_CHARS),
        "score": similar.score,
        "point": None if similar.point is None else point_data(similar.point),
        "place": None if similar.place is None else one_line(similar.place),
        "url": None if similar.url is None else one_line(similar.url, ADDRESS_CHARS),
        "source": one_line(similar.source),
    }
