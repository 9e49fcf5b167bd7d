"""Plain text and usable addresses out of what services send. It is data: shown, never run and never followed."""

from html.parser import HTMLParser
from urllib.parse import urlsplit

from geosleuth.atlas.online.replies import clean

_HIDDEN = frozenset({"script", "style", "template", "iframe", "object", "noscript"})
_ADDRESS_CHARS = 2000
# More than once, since some services escape what is escaped already.
_PASSES = 3


class TolerantParser(HTMLParser):
    """Python's own parser, which stumbles over a few odd declarations; here they are skipped like comments."""

    def __init__(self) -> None:
        """Read entities as the characters they stand for."""
        super().__init__(convert_charrefs=True)

    def parse_html_declaration(self, i: int) -> int:
        """Skip a declaration, whatever it says."""
        return self.parse_bogus_comment(i)


class _Words(TolerantParser):
    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002  # the parser's
        if tag in _HIDDEN:
            self._hidden += 1
        elif tag in ("br", "p", "div", "li", "td", "tr"):
            self.pieces.append(" ")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _HIDDEN:
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if tag in _HIDDEN and self._hidden:
            self._hidden -= 1

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.pieces.append(data)


def plain(value: object, max_chars: int) -> str:
    """One line of text without tags, scripts and entities, cut to length; empty where there is none."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        return ""
    # Tags take room too; a limit keeps a huge text from costing time.
    text = value[: 3 * max_chars + 256]
    for _ in range(_PASSES):
        if "<" in text or "&" in text:
            words = _Words()
            # Not closed, since an unfinished tag is no text and closing may take very long. The space ends an entity.
            words.feed(f"{text} ")
            text = "".join(words.pieces)
    return clean(text, max_chars)


def web_address(value: object) -> str | None:
    """The address of a page, where it is one that a person could open: http or https, a host, no password."""
    if not isinstance(value, str):
        return None
    address = value.strip()
    if len(address) > _ADDRESS_CHARS or clean(address, _ADDRESS_CHARS) != address or " " in address:
        return None
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.username is None
        _ = parts.port
    except ValueError:
        return None
    return address if usable else None
