"""HTML and SVG as text that is safe from injection: anything that is not ``Html`` already is escaped."""

from collections.abc import Iterable, Mapping
from html import escape

from geosleuth.support.text import legible

_VOID = frozenset({"br", "col", "hr", "input", "link", "meta"})


class Html(str):
    """Text that is markup already."""

    __slots__ = ()

    def __html__(self) -> str:
        """Return the markup for template engines, which ask for it before they escape."""
        return self


def el(name: str, attributes: Mapping[str, object] | None = None, *children: object) -> Html:
    """Return one element. Attributes that are None or False are left out, True has no value; children are escaped."""
    head = "".join(
        f" {key}" if value is True else f' {key}="{text(value)}"'
        for key, value in (attributes or {}).items()
        if value is not None and value is not False
    )
    if name in _VOID:
        return Html(f"<{name}{head}>")
    return Html(f"<{name}{head}>{join(children)}</{name}>")


def join(parts: Iterable[object], between: str = "") -> Html:
    """Join several pieces; what is not markup is escaped."""
    return Html(escape(between).join(part if isinstance(part, Html) else text(part) for part in parts))


def text(value: object) -> Html:
    """Return a value as escaped text, also safe inside an attribute."""
    return Html(escape(clean(str(value))))


def clean(value: str, limit: int | None = None) -> str:
    """Remove control and direction characters and unpaired surrogates; cut at ``limit`` characters."""
    if limit is not None and len(value) > limit:
        value = value[: limit - 1] + "…"
    return legible(value).encode("utf-8", "replace").decode("utf-8")


def name(value: str, limit: int = 80) -> Html:
    """Return a name from a file (label, id, field value), isolated so that right-to-left text stays contained."""
    return el("bdi", {"title": value if len(value) > limit else None}, clean(value, limit))


def caption(*children: object) -> Html:
    """Return a table's caption, in a span that stays visible while the table scrolls sideways."""
    return el("caption", None, el("span", None, *children))
