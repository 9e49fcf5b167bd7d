"""The variants of an ablation: combinations of a run's options, and the tool sets of the papers' tables."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import isfinite
from typing import get_args

from geosleuth.lab.bench.sets import BoxKind
from geosleuth.lab.score import PublishedRow, list_published_rows
from geosleuth.support.errors import BadInput

MAX_VARIANTS = 256
MAX_NAME = 80
# Value that stands for a default setting: the method's own tools, the usual number of turns.
DEFAULT_VALUE = "usual"

OFFLINE = "offline"
MASK = "mask"
NO_MASK = "none"
# Kinds of content that a variant can hide; ``clue`` needs a complete run without a mask first, see ``bench run
# --mask``.
MASKS = tuple(kind for kind in get_args(BoxKind) if kind != "clue")

TEXTS = ("tools", "method", "model", "base-url", "wire", "boxes", "prior", "team", "verifier", "chains")
BACKENDS = ("maps", "web-search", "image-search")
WHOLES = ("parallel", "turns", "calls", "tokens", "reply-tokens", "thinking-tokens", "seed")
NUMBERS = ("seconds", "usd", "temperature")
FLAG = "force-answer"
# Settings that variants can change, named after the command's options.
SETTINGS = (*TEXTS, *BACKENDS, *WHOLES, *NUMBERS, FLAG, MASK)

_FLAGS = {"yes": True, "no": False}
_ZOOM, _WEB, _GEOCODE = "image_zoom_in_tool", "search_web", "maps_geocode"
_MAP_TOOLS = ("poi_input_tips", "poi_keyword_search", "poi_detail_query", "static_map_query", "satellite_map_query")

Setting = str | int | float | bool | None
"""A value of an option; None leaves the option out, even if the command gives it."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A run that differs from the command in a few options; ``changes`` use our own names, see `SETTINGS`."""

    name: str
    changes: Mapping[str, Setting] = field(default_factory=dict, hash=False)

    @property
    def folder(self) -> str:
        """Return the name of its run's folder: its name, without characters that shells and file systems dislike."""
        # Of a path the end says more.
        return re.sub(r"[^A-Za-z0-9._+=,-]+", "-", self.name)[-MAX_NAME:].strip("-.") or "variant"


def expand_variants(words: Sequence[str]) -> tuple[Variant, ...]:
    """Return every combination of the values of several ``SETTING=VALUE,VALUE``.

    Raises:
        BadInput: a setting or a value can't be meant, or two variants would share a folder.
    """
    axes = dict(_axis(text) for text in words)
    if len(axes) < len(words):
        raise BadInput("--vary: a setting is given twice; write all its values after one --vary")
    rows = list(product(*axes.values()))
    if not 2 <= len(rows) <= MAX_VARIANTS:
        raise BadInput(f"an ablation takes 2 to {MAX_VARIANTS} variants, not {len(rows)}; give --vary SETTING=A,B")
    found = []
    for row in rows:
        name = ",".join(f"{setting}={word}" for setting, word in zip(axes, row, strict=True))
        changes = {setting: read_setting(setting, word) for setting, word in zip(axes, row, strict=True)}
        found.append(Variant(row[0] if len(axes) == 1 else name, changes))
    folders = [variant.folder.casefold() for variant in found]
    if twice := [variant.folder for variant in found if folders.count(variant.folder.casefold()) > 1]:
        raise BadInput(f"two variants would share the folder {twice[0]}; run them by bench run, with an --out each")
    return tuple(found)


def _axis(text: str) -> tuple[str, list[str]]:
    name, _, listed = text.partition("=")
    setting, values = name.strip().lower().replace("_", "-"), [value.strip() for value in listed.split(",")]
    if not all(values):
        raise BadInput(f"--vary takes SETTING=VALUE,VALUE,… such as tools=search_web+maps_geocode,none; not {text!r}")
    if setting not in SETTINGS:
        raise BadInput(f"{setting[:40]!r} can't be varied; choose from {', '.join(SETTINGS)}")
    return setting, values


def read_setting(setting: str, word: str) -> Setting:
    """Parse a value as written on a command line.

    Raises:
        BadInput: it is not a value of that setting.
    """
    if word == DEFAULT_VALUE or (word == OFFLINE and setting in BACKENDS) or (word == NO_MASK and setting == MASK):
        return None
    if setting == "tools":
        names = [name.strip() for name in word.split("+")]
        if not all(names):
            raise BadInput(f"tools {word!r}: join the names of tools by +; write none for no tool at all")
        return ",".join(names)
    if setting == FLAG and word not in _FLAGS:
        raise BadInput(f"{setting} must be yes or no, not {word[:40]!r}")
    if setting == MASK and word not in MASKS:
        raise BadInput(f"mask must be {NO_MASK}, {', '.join(MASKS)}, not {word[:40]!r}; for clue see bench run --mask")
    if setting in (*WHOLES, *NUMBERS):
        return _read_number(setting, word)
    return _FLAGS[word] if setting == FLAG else word


def _read_number(setting: str, word: str) -> int | float:
    try:
        value = int(word) if setting in WHOLES else float(word)
    except ValueError:
        value = -1
    if not isfinite(value) or value < 0:
        raise BadInput(f"{setting} takes {'whole numbers' if setting in WHOLES else 'numbers'}, not {word[:40]!r}")
    return value


@dataclass(frozen=True, slots=True)
class AblationPreset:
    """A table of a paper: its variants, the first of which is the baseline.

    ``tools`` has our names of a variant's tools, ``systems`` the paper's names of their rows, in the same order.
    ``notes`` say which of our tools stand for the paper's, and what to know before comparing with its figures.
    """

    title: str
    paper: str
    table: int
    method: str
    tools: Mapping[str, Sequence[str]] = field(hash=False)
    systems: Sequence[str]
    within: str
    notes: tuple[str, ...]

    @property
    def variants(self) -> tuple[Variant, ...]:
        """Return a variant for each of its tool sets."""
        return tuple(Variant(name, {"tools": ",".join(tools) or "none"}) for name, tools in self.tools.items())

    @property
    def rows(self) -> tuple[PublishedRow, ...]:
        """Return the paper's rows of its variants, in their order."""
        found = {row.system: row for row in list_published_rows(paper=self.paper, table=self.table)}
        return tuple(found[system] for system in self.systems)


PRESETS: Mapping[str, AblationPreset] = {
    "spotagent-tools": AblationPreset(
        title="SpotAgent, table 3: seven tool sets",
        paper="spotagent",
        table=3,
        method="spotagent",
        tools={
            "full": (_ZOOM, _WEB, _GEOCODE),
            "web": (_WEB,),
            "zoom": (_ZOOM,),
            "geocode": (_GEOCODE,),
            "web+zoom": (_WEB, _ZOOM),
            "geocode+zoom": (_GEOCODE, _ZOOM),
            "web+geocode": (_WEB, _GEOCODE),
        },
        systems=(
            "Full Toolset",
            "Web Search Only",
            "Visual Zoom Only",
            "Geo Coding Only",
            "WS & VZ",
            "GC & VZ",
            "WS & GC",
        ),
        within="1,25,200,750,2500",
        notes=(
            f"Web Search (WS): {_WEB}; Visual Zoom (VZ): {_ZOOM}; Geo Coding (GC): {_GEOCODE}",
            "the paper's rows are of its own trained model on Im2GPS3k, with Tavily behind its web search",
        ),
    ),
    "twm-tools": AblationPreset(
        title="Thinking with Map, table 5: tool types",
        paper="twm",
        table=5,
        method="twm",
        tools={"none": (), "zoom": (_ZOOM,), "web": (_WEB,), "map": _MAP_TOOLS},
        systems=("Qwen3-VL-30B-A3B", "+ image_zoom_tool", "+ web_search_tool", "+ map_tool"),
        within="0.5,2,10,25,200,750",
        notes=(
            f"image_zoom_tool: {_ZOOM}; web_search_tool: {_WEB}; map_tool: {', '.join(_MAP_TOOLS)}",
            "the paper adds each type of tool alone, but its map_tool figures are those of its whole system, which can "
            "zoom too; here map is the five map tools without zoom",
        ),
    ),
}
