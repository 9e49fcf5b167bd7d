"""HTML and SVG as text that can't be injected into: whatever is not already ``Html`` is escaped on its way in."""

import json
from collections.abc import Iterable, Mapping
from html import escape

from geosleuth.text import legible

_VOID = frozenset({"br", "col", "hr", "input", "link", "meta"})


class Html(str):
    """Text that is markup already."""

    __slots__ = ()

    def __html__(self) -> str:
        """What template engines ask for before they escape."""
        return self


def el(name: str, attributes: Mapping[str, object] | None = None, *children: object) -> Html:
    """One element. Attributes that are None or False are left out, True stands alone; other children are escaped."""
    head = "".join(
        f" {key}" if value is True else f' {key}="{text(value)}"'
        for key, value in (attributes or {}).items()
        if value is not None and value is not False
    )
    if name in _VOID:
        return Html(f"<{name}{head}>")
    return Html(f"<{name}{head}>{join(children)}</{name}>")


def join(parts: Iterable[object], between: str = "") -> Html:
    """Several pieces in a row; what is not markup is escaped."""
    return Html(escape(between).join(part if isinstance(part, Html) else text(part) for part in parts))


def text(value: object) -> Html:
    """A value as harmless text, also inside an attribute."""
    return Html(escape(clean(str(value))))


def clean(value: str, limit: int | None = None) -> str:
    """Without control and direction characters and half surrogates; cut at ``limit`` characters."""
    if limit is not None and len(value) > limit:
        value = value[: limit - 1] + "…"
    return legible(value).encode("utf-8", "replace").decode("utf-8")


def name(value: str, limit: int = 80) -> Html:
    """A name from a file (label, id, field value): isolated, so that right-to-left text leaves its surroundings be."""
    return el("bdi", {"title": value if len(value) > limit else None}, clean(value, limit))


def caption(*children: object) -> Html:
    """A table's caption, in a span that stays in sight while the table scrolls sideways."""
    return el("caption", None, el("span", None, *children))


def data_block(identifier: str, data: object) -> Html:
    """Data for the page's script; nothing in it can end the element early."""
    packed = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        packed = packed.replace(character, f"\\u{ord(character):04x}")
    return el("script", {"type": "application/json", "id": identifier}, Html(clean(packed)))
