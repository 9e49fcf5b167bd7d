"""The card of a folder of scenes: what people must know of it before they use it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from geosleuth.names import country_name

from .model import Scene

_COUNTRIES_SHOWN = 20


def card_of(manifest: Mapping[str, Any], scenes: Sequence[Scene]) -> str:
    """The card as Markdown; every figure is counted from the scenes."""
    total = len(scenes)
    world = manifest["world"]
    countries = Counter(scene.spot.country for scene in scenes)
    largest = _largest(countries, _COUNTRIES_SHOWN)
    shown = ", ".join(f"{country_name(code) or code} {number}" for code, number in largest)
    more = len(countries) - _COUNTRIES_SHOWN
    rows = [
        ("tell the precise place", _count(scenes, lambda scene: scene.finest == "precise")),
        ("tell the region at finest", _count(scenes, lambda scene: scene.finest == "region")),
        ("tell the country at finest", _count(scenes, lambda scene: scene.finest == "country")),
        ("tell nothing", _count(scenes, lambda scene: scene.finest is None)),
        ("need zoom", _count(scenes, lambda scene: scene.needs_zoom)),
        ("mislead", _count(scenes, lambda scene: any(clue.misleading for clue in scene.clues))),
        ("hide something", _count(scenes, lambda scene: any(clue.visibility == "hidden" for clue in scene.clues))),
    ]
    table = "\n".join(f"| {what} | {number} | {number / total:.1%} |" for what, number in rows) if total else ""
    kinds = ", ".join(f"{kind} {number}" for kind, number in _largest(Counter(one.kind for one in scenes), 3))
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


def _count(scenes: Sequence[Scene], is_so: Any) -> int:
    return sum(1 for scene in scenes if is_so(scene))


def _largest(counted: "Counter[Any]", count: int) -> list[tuple[Any, int]]:
    """Those met most often, by name where they are level."""
    return sorted(counted.items(), key=lambda item: (-item[1], item[0]))[:count]
