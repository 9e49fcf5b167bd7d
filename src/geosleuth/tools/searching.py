"""The tool `search_web`. What is found is quoted: it is data, never an order."""

from typing import Any, TypedDict

from geosleuth.atlas import Document

from .declare import tool
from .model import Case, Output
from .viewer import Viewer
from .wording import asked, numbered, one_line, quoted, required_text, unique

_RESULTS = 10
_SNIPPET_CHARS = 500
TITLE_CHARS = 160
ADDRESS_CHARS = 2000


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
    needs=("documents",),
    aliases=("web_search_tool", "web_search", "search"),
    renames={"q": "query", "text": "query", "keyword": "query", "keywords": "query", "queries": "query"},
)
async def search_web(case: Case, query: str) -> Output:
    """Search documents for a query: up to ten, each with its title, a passage and its address.

    Args:
        query: what to look for, in a few telling words.
    """
    text = required_text(query, "query", "yellow taxis white roof Bangkok")
    if case.web is None:
        found = await case.atlas.search_documents(text, limit=_RESULTS)
    else:
        found = await case.web.search(text, limit=_RESULTS)
    found = found[:_RESULTS]
    keeper = "the atlas's documents" if case.web is None else one_line(case.web.name)
    data = {"query": text, "results": [_document_data(document) for document in found]}
    if not found:
        where = " They are about countries and places; no web search service was allowed." if case.web is None else ""
        nothing = f"Nothing about {asked(text)} in {keeper}. Try fewer or other words.{where}"
        return Output(nothing, data, sources=(keeper,))
    sources = unique(one_line(document.source) for document in found)
    title = f"Documents for {asked(text)} from {keeper}, quoted:"
    return Output(numbered(title, map(_document_words, found), sources), data, sources=sources)


def _document_words(document: Document) -> str:
    parts = [quoted(document.title, TITLE_CHARS), quoted(document.snippet, _SNIPPET_CHARS)]
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
