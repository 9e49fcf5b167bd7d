"""The variants of an ablation: combinations of options, the papers' presets, and the plan on disk."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import isfinite
from pathlib import Path
from typing import Any, Literal, get_args

from geosleuth import __version__
from geosleuth.lab.bench.sets import BoxKind
from geosleuth.lab.score import PublishedRow, published_rows
from geosleuth.support.errors import BadInput
from geosleuth.support.files import read_json, write_text_atomically
from geosleuth.support.text.numbers import plural
from geosleuth.teams.swarm.strict_yaml import Value, read_yaml

Setting = str | int | float | bool | None
"""A value of an option; None leaves the option out, whatever the command says."""

Kind = Literal["text", "tools", "backend", "whole", "number", "flag", "mask"]

USUAL = "usual"
"""The word for an option that is left out: the method's own tools, the usual number of turns."""

OFFLINE = "offline"
MOST_VARIANTS = 256
_MOST_NAME = 80
_FLAGS = {"yes": True, "true": True, "on": True, "no": False, "false": False, "off": False}

SETTINGS: Mapping[str, Kind] = {
    "tools": "tools",
    "method": "text",
    "model": "text",
    "base-url": "text",
    "wire": "text",
    "boxes": "text",
    "maps": "backend",
    "web-search": "backend",
    "image-search": "backend",
    "prior": "text",
    "team": "text",
    "parallel": "whole",
    "verifier": "text",
    "chains": "text",
    "turns": "whole",
    "calls": "whole",
    "tokens": "whole",
    "reply-tokens": "whole",
    "thinking-tokens": "whole",
    "seconds": "number",
    "usd": "number",
    "temperature": "number",
    "seed": "whole",
    "force-answer": "flag",
    "mask": "mask",
}
"""What can be varied, by the names of the command's options."""

MASK = "mask"
NO_MASK = "none"
MASKS = tuple(kind for kind in get_args(BoxKind) if kind != "clue")
"""What can be hidden in a variant; ``clue`` needs a whole run without a mask first, see ``bench run --mask``."""

FILE = "ablation.json"
FORMAT = "geosleuth-ablation"
VERSION = 1
_ZOOM, _WEB, _GEOCODE = "image_zoom_in_tool", "search_web", "maps_geocode"
_MAP_TOOLS = ("poi_input_tips", "poi_keyword_search", "poi_detail_query", "static_map_query", "satellite_map_query")


@dataclass(frozen=True, slots=True)
class Variant:
    """A run that differs from the command in a few options; ``changes`` use our own names, see `SETTINGS`."""

    name: str
    changes: Mapping[str, Setting] = field(default_factory=dict, hash=False)

    @property
    def folder(self) -> str:
        """Return the name of its run's folder: its name, without characters that shells and file systems dislike.

        Of a name that is too long the end is kept, which says more of a path, and a few letters of a hash.
        """
        plain = re.sub(r"[^A-Za-z0-9._+=,-]+", "-", self.name).strip("-.") or "variant"
        if len(plain) <= _MOST_NAME:
            return plain
        mark = hashlib.sha256(plain.encode()).hexdigest()[:6]
        return f"{plain[-_MOST_NAME:].lstrip('-.')}-{mark}"

    @property
    def words(self) -> str:
        """Return the changes, on one line."""
        return (
            ", ".join(f"{name} {_shown(name, value)}" for name, value in self.changes.items()) or "as the command says"
        )


def _shown(name: str, value: Setting) -> str:
    if value is None:
        return {"mask": NO_MASK, "backend": OFFLINE}.get(SETTINGS[name], USUAL)
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value).replace(",", "+")


@dataclass(frozen=True, slots=True)
class Axis:
    """One option and its values; a value's word is what the user wrote."""

    setting: str
    values: tuple[tuple[str, Setting], ...]


def parse_vary(text: str) -> Axis:
    """Parse ``--vary SETTING=VALUE,VALUE``; tools that belong together are joined by ``+``.

    Raises:
        BadInput: the setting is unknown, or a value is invalid.
    """
    name, equals, listed = text.partition("=")
    setting = name.strip().lower().replace("_", "-")
    words = [word.strip() for word in listed.split(",")]
    if not equals or not all(words):
        raise BadInput(f"--vary takes SETTING=VALUE,VALUE,… such as tools=search_web+maps_geocode,none; not {text!r}")
    _check_setting(setting)
    if twice := sorted({word for word in words if words.count(word) > 1}):
        raise BadInput(f"--vary {setting}: {twice[0][:40]} appears twice")
    return Axis(setting, tuple((word, read_setting(setting, word)) for word in words))


def read_setting(setting: str, word: str) -> Setting:
    """Parse a value as written on a command line.

    Raises:
        BadInput: it is not a value of that setting.
    """
    kind = SETTINGS[setting]
    if word == USUAL or (kind == "backend" and word == OFFLINE):
        return None
    match kind:
        case "tools":
            names = [name.strip() for name in re.split(r"[+,]", word)]
            if not all(names):
                raise BadInput(f"tools {word!r}: join the names of tools by +; write none for no tool at all")
            return ",".join(names)
        case "flag":
            if word.lower() not in _FLAGS:
                raise BadInput(f"{setting} must be yes or no, not {word[:40]!r}")
            return _FLAGS[word.lower()]
        case "mask":
            if word not in (NO_MASK, *MASKS):
                raise BadInput(
                    f"mask must be {NO_MASK}, {', '.join(MASKS)}, not {word[:40]!r}; for clue see bench run --mask"
                )
            return None if word == NO_MASK else word
        case "whole" | "number":
            return _number(setting, word, whole=kind == "whole")
        case _:
            return word


def _number(setting: str, word: str, *, whole: bool) -> int | float:
    try:
        value = int(word) if whole else float(word)
    except ValueError:
        value = -1
    if not isfinite(value) or value < 0:
        raise BadInput(f"{setting} takes {'whole numbers' if whole else 'numbers'}, not {word[:40]!r}")
    return value


def _check_setting(setting: str) -> None:
    if setting not in SETTINGS:
        raise BadInput(f"{setting[:40]!r} can't be varied; choose from {', '.join(SETTINGS)}")


def variants_of(axes: Sequence[Axis], *, one_at_a_time: bool = False) -> tuple[Variant, ...]:
    """Return every combination of the values; or the first values of all, and then each other value alone.

    Raises:
        BadInput: a setting is varied twice, or there are too many combinations.
    """
    names = [axis.setting for axis in axes]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise BadInput(f"--vary {twice[0]} is given twice; write all its values after one of them")
    rows: Iterable[tuple[tuple[str, Setting], ...]]
    if one_at_a_time:
        first = tuple(axis.values[0] for axis in axes)
        rows = [first]
        rows += [(*first[:at], value, *first[at + 1 :]) for at, axis in enumerate(axes) for value in axis.values[1:]]
    else:
        count = 1
        for axis in axes:
            count *= len(axis.values)
        if count > MOST_VARIANTS:
            raise BadInput(f"{count:,} combinations are too many; vary one at a time, or fewer values")
        rows = product(*(axis.values for axis in axes))
    found = []
    for row in rows:
        pairs = list(zip(axes, row, strict=True))
        named = ",".join(f"{axis.setting}={word}" for axis, (word, _) in pairs)
        name = row[0][0] if len(axes) == 1 else named
        found.append(Variant(name, {axis.setting: value for axis, (_, value) in pairs}))
    return checked(found)


def checked(variants: Sequence[Variant]) -> tuple[Variant, ...]:
    """Return the variants, if each has a name and a folder of its own.

    Raises:
        BadInput: there are too few or too many, or two would share a folder.
    """
    if len(variants) < 2:
        raise BadInput("an ablation needs at least two variants: --vary SETTING=A,B, --variants FILE or --preset NAME")
    if len(variants) > MOST_VARIANTS:
        raise BadInput(f"{plural(len(variants), 'variant', 'variants')} are too many; at most {MOST_VARIANTS}")
    seen: dict[str, str] = {}
    for variant in variants:
        before = seen.setdefault(variant.folder.casefold(), variant.name)
        if before != variant.name or sum(one.name == variant.name for one in variants) > 1:
            raise BadInput(
                f"the variants {before[:60]!r} and {variant.name[:60]!r} would share the folder {variant.folder}; "
                "give them names in a file with --variants"
            )
    return tuple(variants)


def read_variants(path: Path) -> tuple[Variant, ...]:
    """Read the variants of a YAML file: a list ``variants`` of entries with a ``name`` and the options that differ.

    Raises:
        BadInput: it can't be read, or has an unknown option; the message gives the line.
    """
    document = Value(read_yaml(path).node, path, "the file").fields(("variants",), ("variants",))
    found = []
    for entry in document["variants"].items(MOST_VARIANTS):
        fields = entry.fields(("name", *SETTINGS), ("name",))
        changes = {name: _told(name, value) for name, value in fields.items() if name != "name"}
        found.append(Variant(fields["name"].text(_MOST_NAME), changes))
    return checked(found)


def _told(setting: str, value: Value) -> Setting:
    if SETTINGS[setting] == "tools" and value.node.id == "sequence":
        return ",".join(one.text() for one in value.items(100)) or "none"
    try:
        return read_setting(setting, value.text(1000))
    except BadInput as error:
        raise value.complain(f"can't be read: {error}") from error


@dataclass(frozen=True, slots=True)
class AblationPlan:
    """The variants of an ablation, the first of which is the baseline, and their preset."""

    variants: tuple[Variant, ...]
    preset: str | None = None


def begin_plan(folder: Path, wanted: AblationPlan) -> AblationPlan:
    """Write the plan of an ablation, or continue the one that is there; new variants are added to it.

    A variant that is in the folder and not wanted now stays in its tables, but is not run.

    Raises:
        BadInput: the folder holds something else, or a variant of the same name with other options.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / FILE).exists() and (other := next(folder.iterdir(), None)) is not None:
            raise BadInput(f"{folder}: holds {other.name[:60]!r} and is not an ablation; choose an empty folder")
    except OSError as error:
        raise BadInput(f"{folder}: can't be created: {error.strerror or error}") from error
    plan = wanted
    if (folder / FILE).exists():
        plan = _joined(folder, read_plan(folder), wanted)
    write_text_atomically(folder / FILE, f"{json.dumps(_to_dict(plan), indent=1, ensure_ascii=False)}\n")
    return plan


def _joined(folder: Path, stored: AblationPlan, wanted: AblationPlan) -> AblationPlan:
    before = {one.name: one for one in stored.variants}
    for one in wanted.variants:
        if one.name in before and dict(before[one.name].changes) != dict(one.changes):
            raise BadInput(
                f"{folder}: the variant {one.name[:60]!r} was begun with {before[one.name].words}, now it is "
                f"{one.words}; give it another name, or choose another folder"
            )
    if wanted.variants[0].name != stored.variants[0].name:
        raise BadInput(
            f"{folder}: the variants are compared with {stored.variants[0].name[:60]!r}, which comes first; now "
            f"{wanted.variants[0].name[:60]!r} does; give the same first, or choose another folder"
        )
    added = tuple(one for one in wanted.variants if one.name not in before)
    return AblationPlan((*stored.variants, *added), stored.preset or wanted.preset)


def read_plan(folder: Path) -> AblationPlan:
    """Read the plan of an ablation's folder.

    Raises:
        BadInput: it is not an ablation's folder, or its file can't be read.
    """
    path = folder / FILE
    try:
        plain = read_json(path)
    except FileNotFoundError as error:
        raise BadInput(f"{folder}: has no {FILE}; give the folder of an ablation") from error
    except OSError as error:
        raise BadInput(f"{path}: can't be read: {error.strerror or error}") from error
    except ValueError as error:
        raise BadInput(f"{path}: not JSON; restore it from a copy, or choose another folder") from error
    if not isinstance(plain, dict) or plain.get("format") != FORMAT or plain.get("version") != VERSION:
        raise BadInput(f"{path}: not an ablation of version {VERSION}")
    try:
        variants = tuple(Variant(str(one["name"]), _changes(one["changes"])) for one in plain["variants"])
        preset = plain.get("preset")
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(f"{path}: can't be read: {type(error).__name__}: {str(error)[:100]}") from error
    if len(variants) < 2:
        raise BadInput(f"{path}: names fewer than two variants")
    return AblationPlan(variants, None if preset is None else str(preset))


def _changes(plain: Mapping[str, Any]) -> dict[str, Setting]:
    changes = dict(plain)
    for name, value in changes.items():
        if name not in SETTINGS or not (value is None or isinstance(value, str | int | float | bool)):
            raise ValueError(f"{name!r} is not a setting, or its value is invalid")
    return changes


def _to_dict(plan: AblationPlan) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "geosleuth": __version__,
        "preset": plan.preset,
        "baseline": plan.variants[0].name,
        "variants": _plain(plan.variants),
    }


def _plain(variants: Sequence[Variant]) -> list[dict[str, Any]]:
    return [{"name": one.name, "folder": one.folder, "changes": dict(one.changes)} for one in variants]


@dataclass(frozen=True, slots=True)
class Preset:
    """A table of a paper: its variants, the first of which is the baseline.

    ``mapping`` has the paper's names for tools and ours. ``systems`` has each variant's row as the paper names it.
    ``notes`` say what to know before comparing with the paper's figures.
    """

    name: str
    title: str
    paper: str
    table: int
    method: str
    mapping: Mapping[str, tuple[str, ...]] = field(hash=False)
    systems: Mapping[str, str] = field(hash=False)
    variants: tuple[Variant, ...]
    thresholds_km: tuple[float, ...]
    notes: tuple[str, ...] = ()

    def row(self, variant: str) -> PublishedRow | None:
        """Return the paper's row of a variant."""
        rows = published_rows(paper=self.paper, table=self.table)
        return next((row for row in rows if row.system == self.systems.get(variant)), None)

    @property
    def lines(self) -> list[str]:
        """Return which of our tools correspond to the paper's, a line each, and the notes."""
        named = [f"{theirs}: {', '.join(ours) or 'none'}" for theirs, ours in self.mapping.items()]
        return [*named, *self.notes]


def _tools(*names: str) -> dict[str, str]:
    return {"tools": ",".join(names) or "none"}


SPOTAGENT_TOOLS = Preset(
    name="spotagent-tools",
    title="SpotAgent, table 3: seven tool sets",
    paper="spotagent",
    table=3,
    method="spotagent",
    mapping={"Web Search (WS)": (_WEB,), "Visual Zoom (VZ)": (_ZOOM,), "Geo Coding (GC)": (_GEOCODE,)},
    systems={
        "full": "Full Toolset",
        "web": "Web Search Only",
        "zoom": "Visual Zoom Only",
        "geocode": "Geo Coding Only",
        "web+zoom": "WS & VZ",
        "geocode+zoom": "GC & VZ",
        "web+geocode": "WS & GC",
    },
    variants=(
        Variant("full", _tools(_ZOOM, _WEB, _GEOCODE)),
        Variant("web", _tools(_WEB)),
        Variant("zoom", _tools(_ZOOM)),
        Variant("geocode", _tools(_GEOCODE)),
        Variant("web+zoom", _tools(_WEB, _ZOOM)),
        Variant("geocode+zoom", _tools(_GEOCODE, _ZOOM)),
        Variant("web+geocode", _tools(_WEB, _GEOCODE)),
    ),
    thresholds_km=(1.0, 25.0, 200.0, 750.0, 2500.0),
    notes=("the paper's rows are of its own trained model on Im2GPS3k, with Tavily behind its web search",),
)

TWM_TOOLS = Preset(
    name="twm-tools",
    title="Thinking with Map, table 5: tool types",
    paper="twm",
    table=5,
    method="twm",
    mapping={"no tool": (), "image_zoom_tool": (_ZOOM,), "web_search_tool": (_WEB,), "map_tool": _MAP_TOOLS},
    systems={
        "none": "Qwen3-VL-30B-A3B",
        "zoom": "+ image_zoom_tool",
        "web": "+ web_search_tool",
        "map": "+ map_tool",
    },
    variants=(
        Variant("none", _tools()),
        Variant("zoom", _tools(_ZOOM)),
        Variant("web", _tools(_WEB)),
        Variant("map", _tools(*_MAP_TOOLS)),
    ),
    thresholds_km=(0.5, 2.0, 10.0, 25.0, 200.0, 750.0),
    notes=(
        "the paper adds each type of tool alone, but its map_tool figures are those of its whole system, which can "
        "zoom too; here map is the five map tools without zoom",
    ),
)

PRESETS: Mapping[str, Preset] = {one.name: one for one in (SPOTAGENT_TOOLS, TWM_TOOLS)}


def preset(name: str) -> Preset:
    """Return the preset of that name.

    Raises:
        BadInput: the name is unknown; the message lists the known ones.
    """
    found = PRESETS.get(name.strip().lower())
    if found is None:
        raise BadInput(f"unknown preset {name[:40]!r}; choose from {', '.join(PRESETS)}")
    return found
