"""Choose the settlements and countries that a tile labels, and prepare their names for MapLibre.

MapLibre draws letter by letter with the fonts of the user's machine, which works for most scripts. But it neither
reorders right-to-left text nor joins letters nor places combining marks. So Arabic and Hebrew are put in visual order
here, with letters in their joined forms, and names with combining marks are transliterated to Latin.
"""

import io
import json
import math
import sqlite3
import threading
import unicodedata
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import groupby
from pathlib import Path

import numpy as np
import numpy.typing as npt
import shapely

from geosleuth.atlas.base import open_base
from geosleuth.atlas.base.build import CITY
from geosleuth.atlas.folders import KeptFiles
from geosleuth.atlas.maps.labels import MAX_LETTERS, clean, wrap_name
from geosleuth.geo import FloatArray
from geosleuth.names import fold

from .mvt import EXTENT, MAX_ZOOM, TILE_PX, Feature, TileFrame, Value, to_plane
from .world_tiles import country_shapes

_ISOLATED, _FINAL, _INITIAL, _MEDIAL = "<isolated>", "<final>", "<initial>", "<medial>"
_PRESENTATION_BLOCKS = (range(0xFB50, 0xFDD0), range(0xFE80, 0xFEFD))
_OTHER_JOINING_BLOCKS = (range(0x0700, 0x0750), range(0x07C0, 0x0800), range(0x1800, 0x18B0))
_TATWEEL = "\u0640"
_RIGHT_TO_LEFT = frozenset({"R", "AL"})
_LEFT_TO_RIGHT = frozenset({"L", "EN", "AN"})

COUNTRIES_TO_ZOOM = 7
_CELLS_PER_TILE = 4  # in each direction; the most populous place of a cell is labelled
# Minimum zoom at which a cell has room for more than one name.
SHARED_CELLS_FROM_ZOOM = 13
_CAPITAL_WEIGHT = 6  # a capital ranks like another city with this many times its population
_MIN_POPULATION = {1: 8e6, 2: 3e6, 3: 1e6, 4: 3e5, 5: 8e4, 6: 3e4, 7: 1e4, 8: 4e3, 9: 1.5e3, 10: 5e2}
_RANK_POPULATIONS = (5e6, 1e6, 3e5, 1e5, 3e4, 1e4, 2e3)
_CAPITALS_FROM_ZOOM = 4
_CAPITAL_CANDIDATES = 100
_LOCK = threading.Lock()
_ROOM_PX = 11.0
_COUNTRY_SPOTS: list[tuple[tuple[float, float], float, str]] = []


def name_properties(name: str, *, in_lines: bool = True) -> dict[str, str]:
    """Return the properties of a feature's name: ``name``, and ``label`` if it must be drawn differently.

    Control and direction characters are removed and long names cut. Returns {} if nothing is left.
    """
    text, label = _name_and_label(name[: 8 * MAX_LETTERS], in_lines)
    if not text:
        return {}
    return {"name": text} if label == text else {"name": text, "label": label}


@lru_cache(maxsize=8192)
def _name_and_label(name: str, in_lines: bool) -> tuple[str, str]:  # noqa: FBT001
    text = clean(name)
    return text, _label(text, in_lines=in_lines)


def _label(text: str, *, in_lines: bool) -> str:
    if text.isascii():
        return text
    sides = {unicodedata.bidirectional(char) for char in text}
    if sides & _RIGHT_TO_LEFT:
        unmarked = "".join(char for char in text if unicodedata.category(char) != "Mn")
        lines = wrap_name(unmarked) if in_lines else [unmarked]
        return "\n".join(_visual_order(_join_arabic(line)) for line in lines)
    if any(unicodedata.category(char)[0] == "M" or _needs_joining(char) for char in text):
        from anyascii import anyascii

        return clean(anyascii(text)) or text
    return text


def _needs_joining(char: str) -> bool:
    return any(ord(char) in block for block in _OTHER_JOINING_BLOCKS)


def _join_arabic(text: str) -> str:
    """Replace Arabic letters by the presentation forms that their neighbours require, lam-alef by its ligature."""
    forms = _presentation_forms()
    out = []
    at = 0
    joins_before = False
    while at < len(text):
        unit = text[at : at + 2] if text[at : at + 2] in forms else text[at]
        unit_forms = forms.get(unit, {})
        after = text[at + len(unit)] if at + len(unit) < len(text) else ""
        can_join_after = unit == _TATWEEL or _INITIAL in unit_forms
        joins_after = can_join_after and (after == _TATWEEL or _FINAL in forms.get(after, {}))
        form = (_ISOLATED, _INITIAL, _FINAL, _MEDIAL)[2 * joins_before + joins_after]
        out.append(unit_forms.get(form, unit))
        joins_before = joins_after
        at += len(unit)
    return "".join(out)


def _visual_order(text: str) -> str:
    """Return the letters in visual order, from left to right; the first strong letter sets the base direction."""
    sides = [unicodedata.bidirectional(char) for char in text]
    base = next((side in _RIGHT_TO_LEFT for side in sides if side in _RIGHT_TO_LEFT or side == "L"), False)
    # Whether each letter runs from right to left; neutral ones follow their neighbours, or else the base direction.
    is_rtl = [True if side in _RIGHT_TO_LEFT else False if side in _LEFT_TO_RIGHT else None for side in sides]
    for at, known in enumerate(is_rtl):
        if known is None:
            previous = is_rtl[at - 1] if at else base
            following = next((later for later in is_rtl[at + 1 :] if later is not None), base)
            is_rtl[at] = previous if previous == following else base
    runs = [
        [_mirror_char(char) for char, _ in reversed(list(run))] if rtl else [char for char, _ in run]
        for rtl, run in groupby(zip(text, is_rtl, strict=True), key=lambda pair: pair[1])
    ]
    return "".join(char for run in (reversed(runs) if base else runs) for char in run)


def _mirror_char(char: str) -> str:
    return {"(": ")", ")": "(", "[": "]", "]": "[", "«": "»", "»": "«"}.get(char, char)


@cache
def _presentation_forms() -> dict[str, dict[str, str]]:
    """Return Unicode's presentation forms of each Arabic letter and of lam-alef."""
    forms: dict[str, dict[str, str]] = {}
    for code in (code for block in _PRESENTATION_BLOCKS for code in block):
        form, _, rest = unicodedata.decomposition(chr(code)).partition(" ")
        base = "".join(chr(int(part, 16)) for part in rest.split())
        if form in (_ISOLATED, _FINAL, _INITIAL, _MEDIAL) and (len(base) == 1 or base.startswith("\u0644")):
            if len(base) == 2 and base[1] not in "\u0622\u0623\u0625\u0627":
                continue
            forms.setdefault(base, {}).setdefault(form, chr(code))
    return forms


@dataclass(frozen=True, slots=True)
class Settlements:
    """All settlements of the base atlas as columns, sorted from north to south.

    Attributes:
        ids: ids in the base atlas.
        plane: positions as shares of the Web Mercator plane.
        people: populations; 0 if unknown.
        capital: which are national capitals.
        from_zoom: the zoom from which each is labelled.
        name_of: returns the name of an id.
    """

    ids: npt.NDArray[np.int64]
    plane: FloatArray
    people: npt.NDArray[np.int64]
    capital: npt.NDArray[np.bool_]
    from_zoom: npt.NDArray[np.int64]
    name_of: Callable[[int], str]

    @classmethod
    def read(cls, path: Path, folder: KeptFiles) -> "Settlements":
        """Load the settlements of a base atlas; the computed columns are cached in ``folder`` and in memory."""
        path = path.resolve()
        with _LOCK:
            if path not in _LOADED:
                _LOADED.clear()
                _LOADED[path] = folder.load(
                    "settlements.npz", lambda: _compute_columns(path), lambda kept: _load_columns(kept, path)
                )
            return _LOADED[path]

    def within(self, frame: TileFrame, min_population: int = 0) -> list[Feature]:
        """Return the settlements that a tile labels, the most populous first."""
        count = 1 << frame.z
        low, high = np.searchsorted(self.plane[:, 1], [frame.y / count, (frame.y + 1) / count])
        spots, inside = frame.points_from_plane(self.plane[low:high])
        inside &= self.from_zoom[low:high] <= frame.z
        inside &= (self.people[low:high] >= min_population) | self.capital[low:high]
        chosen = np.flatnonzero(inside)
        chosen = chosen[np.argsort(-self.people[low:high][chosen], kind="stable")]
        features = []
        for at in chosen.tolist():
            name = name_properties(self.name_of(int(self.ids[low + at])))
            if name:
                features.append(Feature(shapely.points(spots[at : at + 1]), self._properties(int(low + at), name)))
        return features

    def names_around(self, frame: TileFrame) -> set[str]:
        """Return the names that are labelled in a tile and up to half a tile around it."""
        count = 1 << frame.z
        low, high = np.searchsorted(self.plane[:, 1], [(frame.y - 0.5) / count, (frame.y + 1.5) / count])
        spots, _ = frame.points_from_plane(self.plane[low:high])
        near = ((spots >= -EXTENT / 2) & (spots < 1.5 * EXTENT)).all(axis=1) & (self.from_zoom[low:high] <= frame.z)
        found = (name_properties(self.name_of(int(number))) for number in self.ids[low:high][near])
        return {name["name"] for name in found if name}

    def _properties(self, at: int, name: dict[str, str]) -> dict[str, Value]:
        people, capital = int(self.people[at]), bool(self.capital[at])
        rank = sum(people < limit for limit in _RANK_POPULATIONS) + 1
        # Names of coarser zooms keep precedence at finer ones, so that labels don't change while zooming in.
        order = int(self.from_zoom[at]) * 100 + rank
        out: dict[str, Value] = {**name, "class": "capital" if capital else "city", "rank": rank, "order": order}
        return out if people == 0 else {**out, "population": people}


_LOADED: dict[Path, Settlements] = {}


def _compute_columns(path: Path) -> bytes:
    with closing(open_base(path)) as conn:
        rows = conn.execute(
            "SELECT id, name, country, lat_e5, lon_e5, population FROM place WHERE kind = ? ORDER BY lat_e5 DESC, id",
            (CITY,),
        ).fetchall()
    plane = to_plane(np.array([(row[4], row[3]) for row in rows], dtype=np.float64).reshape(-1, 2) / 1e5)
    people = np.array([row[5] for row in rows], dtype=np.int64)
    capital = _find_capitals(rows)
    ids = np.array([row[0] for row in rows], dtype=np.int64)
    out = io.BytesIO()
    np.savez(out, ids=ids, plane=plane, people=people, capital=capital, from_zoom=_first_zooms(plane, people, capital))
    return out.getvalue()


def _load_columns(columns_npz: bytes, path: Path) -> Settlements:
    conn, lock = open_base(path), threading.Lock()

    def get_name(number: int) -> str:
        with lock:
            return _name(conn, number)

    with np.load(io.BytesIO(columns_npz), allow_pickle=False) as columns:
        return Settlements(
            ids=columns["ids"],
            plane=columns["plane"],
            people=columns["people"],
            capital=columns["capital"],
            from_zoom=columns["from_zoom"],
            name_of=get_name,
        )


def _name(conn: sqlite3.Connection, number: int) -> str:
    row = conn.execute("SELECT name FROM place WHERE id = ?", (number,)).fetchone()
    return str(row[0]) if row else ""


def _find_capitals(rows: list[tuple[int, str, str, int, int, int]]) -> npt.NDArray[np.bool_]:
    """Return which places are capitals: in each country the largest one of the capital's name, if among its largest."""
    from geosleuth.atlas.facts.countries import all_countries

    names = {code: fold(facts.capital) for code, facts in all_countries().items() if facts.capital}
    seen: Counter[str] = Counter()
    capital = np.zeros(len(rows), dtype=bool)
    for at in sorted(range(len(rows)), key=lambda at: -rows[at][5]):
        country = rows[at][2]
        seen[country] += 1
        if seen[country] <= _CAPITAL_CANDIDATES and country in names and fold(rows[at][1]) == names[country]:
            capital[at] = True
            del names[country]
    return capital


def _first_zooms(
    plane: FloatArray, people: npt.NDArray[np.int64], capital: npt.NDArray[np.bool_]
) -> npt.NDArray[np.int64]:
    """Return the first zoom at which each place is the largest of its cell.

    Cells are divided from zoom to zoom, so a place stays the largest of its cell at closer zooms.
    """
    weight = np.where(capital, people * _CAPITAL_WEIGHT, people)
    found = np.full(len(plane), MAX_ZOOM, dtype=np.int64)
    order = np.argsort(-weight, kind="stable")
    for zoom in range(MAX_ZOOM - 1, 0, -1):
        side = _CELLS_PER_TILE << zoom
        cells = np.minimum((plane[order] * side).astype(np.int64), side - 1) @ np.array([side, 1])
        _, first = np.unique(cells, return_index=True)
        found[order[first]] = zoom
    for zoom, least in _MIN_POPULATION.items():
        too_small = (people < least) & ~(capital & (zoom >= _CAPITALS_FROM_ZOOM))
        found[too_small] = np.maximum(found[too_small], zoom + 1)
    return found


def find_cell(feature: Feature) -> tuple[int, int]:
    """Return column and row of the cell of the tile that a point feature lies in."""
    x, y = (shapely.get_coordinates(feature.geometries)[0] * _CELLS_PER_TILE // EXTENT).tolist()
    return int(x), int(y)


def countries(frame: TileFrame, folder: KeptFiles) -> list[Feature]:
    """Return the countries that a tile labels, each in its largest inscribed circle, from the zoom where it fits."""
    if frame.z > COUNTRIES_TO_ZOOM:
        return []
    table = _country_spots(folder)
    spots, inside = frame.points_from_plane(np.array([spot for spot, _, _ in table]))
    features = []
    for at in np.flatnonzero(inside).tolist():
        _, radius, name = table[at]
        from_zoom = max(0, math.ceil(math.log2(_ROOM_PX / (radius * TILE_PX))))
        if from_zoom <= frame.z:
            rank = min(5, from_zoom + 1)
            properties: dict[str, Value] = {**name_properties(name), "class": "country", "rank": rank, "order": at}
            features.append(Feature(shapely.points(spots[at : at + 1]), properties))
    return features


def _country_spots(folder: KeptFiles) -> list[tuple[tuple[float, float], float, str]]:
    """Return centre and radius of each country's largest inscribed circle, in shares of the plane, and its name.

    The largest circle comes first.
    """
    with _LOCK:
        if not _COUNTRY_SPOTS:
            _COUNTRY_SPOTS.extend(folder.load("countries.json", _compute_country_spots, _load_country_spots))
        return _COUNTRY_SPOTS


def _load_country_spots(spots_json: bytes) -> list[tuple[tuple[float, float], float, str]]:
    return [((float(x), float(y)), float(radius), str(name)) for x, y, radius, name in json.loads(spots_json)]


def _compute_country_spots() -> bytes:
    found = []
    for name, parts in country_shapes():
        if not len(parts) or not name:
            continue
        widest = parts[int(np.argmax(shapely.area(parts)))]
        radius = math.sqrt(widest.area / math.pi)
        line = shapely.maximum_inscribed_circle(shapely.simplify(widest, radius / 50), tolerance=radius / 20)
        (x, y), _ = shapely.get_coordinates(line).tolist()
        found.append((x, y, float(line.length), name))
    return json.dumps(sorted(found, key=lambda country: -country[2])).encode()
