"""Search in a Kiwix ZIM file that the user has: Wikipedia, Wikivoyage and the like, offline."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from geosleuth.atlas.model import Document
from geosleuth.errors import BadInput, require

MAX_QUERY_CHARS = 1000
MAX_QUERY_WORDS = 16
MAX_ARTICLE_BYTES = 1 << 20
MAX_ARTICLE_CHARS = 100_000
SNIPPET_CHARS = 400

_WORD = re.compile(r"\w+")
_UNSEEN = frozenset({"script", "style", "head", "template", "noscript", "svg", "math"})
_BREAKS = frozenset({"p", "div", "li", "br", "tr", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6", "section", "table"})


class ZimDocuments:
    """One ZIM file, searched with the index that it carries: full text where it has one, else its titles."""

    def __init__(self, path: Path) -> None:
        """Open the file.

        Raises:
            BadInput: it is missing or no ZIM file.
            MissingExtra: libzim is not installed.
        """
        reader = require("libzim.reader", extra="zim")
        if not path.is_file():
            raise BadInput(f"{path}: there is no such file; download a .zim file from https://library.kiwix.org")
        try:
            self._archive: Any = reader.Archive(path)
        except (RuntimeError, ValueError, OSError) as error:
            raise BadInput(f"{path}: not a whole ZIM file; download it again") from error
        self.path = path
        self.title = self._metadata("Title") or path.stem
        self.language = self._metadata("Language")

    def search(self, query: str, limit: int = 10) -> list[Document]:
        """Articles that fit a query, best first, with the part of each that has most of its words.

        Raises:
            BadInput: the file is damaged where the answer lies.
        """
        words = [word for word in _WORD.findall(query[:MAX_QUERY_CHARS].lower()) if len(word) <= 60][:MAX_QUERY_WORDS]
        if not words or limit < 1:
            return []
        try:
            paths = self._paths(" ".join(words), limit)
            return [self._document(path, words, place) for place, path in enumerate(paths)]
        except (RuntimeError, KeyError, ValueError) as error:
            raise BadInput(f"{self.path}: damaged, or its index can't be read; download it again") from error

    def _paths(self, query: str, limit: int) -> list[str]:
        if self._archive.has_fulltext_index:
            search = require("libzim.search", extra="zim")
            found = search.Searcher(self._archive).search(search.Query().set_query(query))
        else:
            suggestion = require("libzim.suggestion", extra="zim")
            found = suggestion.SuggestionSearcher(self._archive).suggest(query)
        return list(found.getResults(0, limit))

    def _document(self, path: str, words: list[str], place: int) -> Document:
        entry = self._archive.get_entry_by_path(path)
        item = entry.get_item()
        text = ""
        if item.mimetype.startswith("text/html"):
            text = plain_text(bytes(item.content[:MAX_ARTICLE_BYTES]).decode("utf-8", errors="replace"))
        return Document(
            id=f"zim:{self.path.stem}:{path}",
            title=item.title or entry.title or path,
            snippet=best_part(text, words),
            score=round(1 / (1 + 0.1 * place), 4),
            source=self.title,
        )

    def _metadata(self, name: str) -> str | None:
        try:
            return bytes(self._archive.get_metadata(name)).decode("utf-8", errors="replace")
        except (RuntimeError, KeyError):
            return None


class _Text(HTMLParser):
    """Gathers what a reader would see, up to a limit."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self.length = 0
        self._unseen_depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        if tag in _UNSEEN:
            self._unseen_depth += 1
        elif tag in _BREAKS:
            self.pieces.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in _UNSEEN and self._unseen_depth:
            self._unseen_depth -= 1
        elif tag in _BREAKS:
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._unseen_depth and self.length < MAX_ARTICLE_CHARS:
            self.pieces.append(data[: MAX_ARTICLE_CHARS - self.length])
            self.length += len(data)


def plain_text(markup: str) -> str:
    """The visible text of an HTML page, one line a paragraph, at most `MAX_ARTICLE_CHARS` long."""
    parser = _Text()
    parser.feed(markup)
    parser.close()
    lines = (" ".join(line.split()) for line in "".join(parser.pieces).splitlines())
    return "\n".join(line for line in lines if line)


def best_part(text: str, words: list[str]) -> str:
    """The stretch of a text with most of the words, about `SNIPPET_CHARS` long."""
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = text
    starts = [0] + [found for word in words if (found := lowered.find(word)) >= 0]
    starts = [max(0, start - SNIPPET_CHARS // 4) for start in starts]
    best = max(
        starts, key=lambda start: (sum(word in lowered[start : start + SNIPPET_CHARS] for word in words), -start)
    )
    if best > 0:
        best = text.find(" ", best) + 1 or best
    part = text[best : best + SNIPPET_CHARS]
    cut = best + SNIPPET_CHARS < len(text)
    part = part.rsplit(" ", 1)[0] if cut and " " in part else part
    return ("…" if best > 0 else "") + " ".join(part.split()) + ("…" if cut else "")
