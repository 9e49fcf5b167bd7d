"""The visible text of HTML that anyone may have written."""

from collections.abc import Collection
from html.parser import HTMLParser
from math import inf

_HIDDEN = frozenset({"script", "style", "head", "template", "iframe", "object", "noscript", "svg", "math"})
_BLOCKS = frozenset({"p", "div", "li", "br", "tr", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6", "section", "table"})


class TolerantParser(HTMLParser):
    """Python's own parser, which stumbles over a few odd declarations; here they are skipped like comments."""

    def __init__(self) -> None:
        """Read entities as the characters they stand for."""
        super().__init__(convert_charrefs=True)

    def parse_html_declaration(self, i: int) -> int:
        """Skip a declaration, with any content."""
        return self.parse_bogus_comment(i)


class VisibleText(TolerantParser):
    """Collects the visible text, up to a number of characters, with a separator at each end of a block."""

    def __init__(self, separator: str = " ", max_chars: float = inf) -> None:
        super().__init__()
        self.pieces: list[str] = []
        self._separator, self._left = separator, max_chars
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: Collection[tuple[str, str | None]]) -> None:  # noqa: ARG002
        """Enter an element."""
        if tag in _HIDDEN:
            self._hidden += 1
        elif tag in _BLOCKS:
            self.pieces.append(self._separator)

    def handle_startendtag(self, tag: str, attrs: Collection[tuple[str, str | None]]) -> None:
        """Pass an element without content."""
        if tag not in _HIDDEN:
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        """Leave an element."""
        if tag in _HIDDEN and self._hidden:
            self._hidden -= 1
        elif tag in _BLOCKS:
            self.pieces.append(self._separator)

    def handle_data(self, data: str) -> None:
        """Take a piece of text."""
        if not self._hidden and self._left > 0:
            self.pieces.append(data if len(data) <= self._left else data[: int(self._left)])
            self._left -= len(data)
