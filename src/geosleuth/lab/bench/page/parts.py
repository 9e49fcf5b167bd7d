"""Building blocks of report pages, as data; ``page.html.j2`` and terminals render them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import unescape
from importlib.resources import files
from re import sub
from typing import ClassVar

from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from geosleuth import __version__
from geosleuth.report.charts import series
from geosleuth.report.jinja import render
from geosleuth.report.markup import Html, el, join, name
from geosleuth.report.worldmap import render_shared_symbols

# Content security policy of a page: it may load only images embedded in it. Bars need a style attribute for their
# length.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"

# Rows and columns of a table that a terminal shows as on the page.
MAX_SHOWN, MAX_COLUMNS = 12, 6

MAX_NAME = 24


@dataclass(frozen=True, slots=True)
class TableCell:
    """A figure, with a qualification in small print, and a fuller account where a pointer rests."""

    words: object
    below: object = ""
    title: str | None = None
    kind: str = "num"


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table, its head first; ``kind`` is its class."""

    cells: Sequence[TableCell | object]
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table; ``more`` are rows of another kind beneath the others."""

    type: ClassVar[str] = "table"
    label: str
    heads: Sequence[TableCell | object]
    rows: Sequence[TableRow]
    caption: object = ""
    kind: str = ""
    more: Sequence[TableRow] = ()


@dataclass(frozen=True, slots=True)
class Para:
    """A paragraph of a class."""

    type: ClassVar[str] = "para"
    words: object
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Items:
    """A list of lines."""

    type: ClassVar[str] = "items"
    lines: Sequence[object]
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """Terms and what is said of each; a third value is the class of what is said."""

    type: ClassVar[str] = "facts"
    pairs: Sequence[tuple[object, object, str]]
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Parts under a heading of their own: one below the other, or side by side."""

    type: ClassVar[str] = "group"
    parts: Sequence[object]
    heading: object = ""
    kind: str = "field"


@dataclass(frozen=True, slots=True)
class Fold:
    """Parts that can be folded away."""

    type: ClassVar[str] = "fold"
    summary: object
    parts: Sequence[object]
    open: bool = False
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing under its heading, and what it shows."""

    type: ClassVar[str] = "figure"
    heading: str
    drawing: Html
    caption: object = ""


@dataclass(frozen=True, slots=True)
class PageSection:
    """A part of a page with a heading that links can lead to."""

    id: str
    title: str
    parts: Sequence[object]
    lead: object = ""


def key(index: int) -> Html:
    """Return the spot that marks a file by its colour."""
    return el("span", {"class": f"key {series(index)}"})


def render_keyed_label(index: int, label: str, limit: int = 80) -> Html:
    """Return a file's name behind its spot."""
    return join((key(index), name(label, limit)))


def bar(index: int, part: float) -> Html:
    """Return a bar as long as a share, in a file's colour."""
    return el("span", {"class": f"mix-bar {series(index)}", "style": f"--value:{100 * part:.1f}%"})


def whole_page(title: str, body: Html, style: str = "") -> str:
    """Return a whole page in the shared style, as text to be written as UTF-8."""
    css = files("geosleuth.report").joinpath("page.css").read_text(encoding="utf-8") + style
    return render(
        "document", policy=Html(POLICY), generator="geosleuth", title=title, css=Html(css), body=body, line_end="\n"
    )


def render_sections(
    title: str,
    sections: Sequence[PageSection],
    *,
    command: str,
    generated: str,
    headlines: Sequence[object] = (),
    intro: Sequence[object] = (),
    alarms: Sequence[object] = (),
    style: str = "",
) -> str:
    """Return a whole page of sections.

    Args:
        title: the page's heading.
        sections: what is on it; those without parts are left out.
        command: the kind of report, such as "geosleuth bench".
        generated: the time when the page was made, as displayed.
        headlines: the results in a sentence each.
        intro: paragraphs on how to read it.
        alarms: what a reader must know before all figures.
        style: further CSS rules.
    """
    body = render(
        f"{__package__}:page",
        title=title,
        sections=[section for section in sections if section.parts],
        command=command,
        generated=generated,
        headlines=headlines,
        intro=intro,
        alarms=alarms,
        world=render_shared_symbols(),
        version=__version__,
    )
    return whole_page(title, body, style)


def sections_view(sections: Iterable[PageSection]) -> Iterator[RenderableType]:
    """Yield the words and tables of sections for a terminal; drawings and what is folded away are on the page alone."""
    for section in sections:
        if section.parts:
            yield Text(f"\n{section.title}", style="bold")
            yield from _render_parts(section.parts)


def _render_parts(parts: Iterable[object]) -> Iterator[RenderableType]:
    for part in parts:
        if isinstance(part, Table):
            yield _rich_table(part)
        elif isinstance(part, Group):
            if part.heading:
                yield Text(f"\n{_strip_markup(part.heading)}", style="italic")
            yield from _render_parts(part.parts)
        elif isinstance(part, Fold):
            yield Text(f"\n{_strip_markup(part.summary)}{'' if part.open else ': on the page'}", style="dim")
            yield from _render_parts(part.parts if part.open else ())
        elif isinstance(part, Para):
            yield Text(_strip_markup(part.words), style="red" if part.kind == "odd" else "")


def _rich_table(table: Table) -> RichTable:
    """Return a table for a terminal; tables with many columns and few rows are transposed."""
    rows = [[_render_cell(cell) for cell in row.cells] for row in (*table.rows, *table.more)]
    lines = [[_render_cell(head) for head in table.heads], *rows[:MAX_SHOWN]]
    if len(table.heads) > MAX_COLUMNS and len(lines) <= MAX_COLUMNS:
        lines = [list(line) for line in zip(*lines, strict=True)]
    made = RichTable(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for number, head in enumerate(lines[0]):
        # Short names are told apart by their whole; headings can be broken.
        whole = number == 0 and max(len(line[0]) for line in lines) <= MAX_NAME
        made.add_column(head, justify="right" if number else "left", overflow="fold", no_wrap=whole)
    for line in lines[1:]:
        made.add_row(*line)
    if len(rows) > MAX_SHOWN:
        made.add_row(f"… and {len(rows) - MAX_SHOWN:,} more")
    return made


def _render_cell(cell: TableCell | object) -> Text:
    if not isinstance(cell, TableCell):
        return Text(_strip_markup(cell))
    below = _strip_markup(cell.below)
    return Text.assemble(_strip_markup(cell.words), (f"\n{below}" if below else "", "dim"))


def _strip_markup(words: object) -> str:
    return unescape(sub(r"<[^<>]*>", "", words)) if isinstance(words, Html) else str(words)
