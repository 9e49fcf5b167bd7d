"""The card of a folder of scenes: what people must know of it before they use it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from geosleuth.names import country_name

from .model import Scene

_COUNTRIES_SHOWN = 20


@dataclass(slots=True)
class Tally:
    """What is counted of scenes as they pass."""

    total: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    tells: Counter[str] = field(default_factory=Counter)
    countries: Counter[str] = field(default_factory=Counter)
    odd: Counter[str] = field(default_factory=Counter)

    def add(self, scene: Scene) -> None:
        """Count one more."""
        self.total += 1
        self.kinds[scene.kind] += 1
        self.tells[scene.finest or "nothing"] += 1
        self.countries[scene.spot.country] += 1
        self.odd["zoom"] += scene.needs_zoom
        self.odd["misleading"] += any(clue.misleading for clue in scene.clues)
        self.odd["hidden"] += any(clue.visibility == "hidden" for clue in scene.clues)


def card_of(manifest: Mapping[str, Any], tally: Tally) -> str:
    """The card as Markdown; every figure is counted from the scenes."""
    total, countries = tally.total, tally.countries
    world = manifest["world"]
    largest = _largest(countries, _COUNTRIES_SHOWN)
    shown = ", ".join(f"{country_name(code) or code} {number}" for code, number in largest)
    more = len(countries) - _COUNTRIES_SHOWN
    rows = [
        ("tell the precise place", tally.tells["precise"]),
        ("tell the region at finest", tally.tells["region"]),
        ("tell the country at finest", tally.tells["country"]),
        ("tell nothing", tally.tells["nothing"]),
        ("need zoom", tally.odd["zoom"]),
        ("mislead", tally.odd["misleading"]),
        ("hide something", tally.odd["hidden"]),
    ]
    table = "\n".join(f"| {what} | {number} | {number / total:.1%} |" for what, number in rows) if total else ""
    kinds = ", ".join(f"{kind} {number}" for kind, number in _largest(tally.kinds, 3))
    return f"""# {total} drawn scenes, {manifest["split"]}

Pictures that geosleuth drew; no photos. Towns, coordinates, countries, climate and the sun are real. Streets,
businesses, telephone numbers and addresses are made up (seed {world["seed"]}), unless an added region brought them
({", ".join(world["regions"]) or "none did"}). They stand in the world's map layer, not in any real map.

Made with seed {manifest["seed"]}, kinds "{manifest["kinds"]}", names that repeat: {world["noise"]}.
The same words give the same bytes.

Kinds: {kinds}.

| scenes that | number | share |
| --- | --- | --- |
{table}

{len(countries)} countries: {shown}{f" and {more} more" if more > 0 else ""}.

Train and held-out scenes share no square of one degree and no design of a board, and use different halves of the lists
of words and of misleading things. Train on the one, measure on the other.

What drawn scenes can't show: how real photos look. A figure on these says how well clues are read, searched and
weighed, and nothing about photos.
"""


def _largest(counted: Counter[str], count: int) -> list[tuple[str, int]]:
    """Those met most often, by name where they are level."""
    return sorted(counted.items(), key=lambda item: (-item[1], item[0]))[:count]
