"""Which names of the world a tile shows, and how a browser's map can draw them.

MapLibre draws letter by letter from the fonts of the reader's machine, which is right for most scripts. It neither
turns round what is written from right to left nor joins letters nor sets marks on them. So Arabic and Hebrew are laid
out here, letters in their joined forms, and names with marks that must sit on a letter are spelled in Latin letters.
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
from geosleuth.atlas.maps.labels import MAX_LETTERS, clean, wrapped
from geosleuth.geo import FloatArray
from geosleuth.names import fold

from .mvt import EXTENT, MAX_ZOOM, TILE_PX, Feature, Frame, Value, on_plane
from .world_tiles import country_shapes

_ISOLATED, _FINAL, _INITIAL, _MEDIAL = "<isolated>", "<final>", "<initial>", "<medial>"
_FORMS_BLOCKS = (range(0xFB50, 0xFDD0), range(0xFE80, 0xFEFD))
_JOINED_ELSEWHERE = (range(0x0700, 0x0750), range(0x07C0, 0x0800), range(0x1800, 0x18B0))
_TATWEEL = "\u0640"
_RIGHT = frozenset({"R", "AL"})
_LEFT = frozenset({"L", "EN", "AN"})


def written(name: str, *, in_lines: bool = True) -> dict[str, str]:
    """Properties of a feature with that name: ``name`` as it is, and ``label`` where it must be drawn otherwise.

    Nothing in either can break a line, turn the text round it or go on without end. Empty where nothing is left.
    """
    text, label = _written(name[: 8 * MAX_LETTERS], in_lines)
    if not text:
        return {}
    return {"name": text} if label == text else {"name": text, "label": label}


@lru_cache(maxsize=8192)
def _written(name: str, in_lines: bool) -> tuple[str, str]:  # noqa: FBT001
    text = clean(name)
    return text, _label(text, in_lines=in_lines)


def _label(text: str, *, in_lines: bool) -> str:
    if text.isascii():
        return text
    sides = {unicodedata.bidirectional(char) for char in text}
    if sides & _RIGHT:
        bare = "".join(char for char in text if unicodedata.category(char) != "Mn")
        lines = wrapped(bare) if in_lines else [bare]
        return "\n".join(_visual(_joined(line)) for line in lines)
    if any(unicodedata.category(char)[0] == "M" or _is_joined(char) for char in text):
        from anyascii import anyascii

        return clean(anyascii(text)) or text
    return text


def _is_joined(char: str) -> bool:
    return any(ord(char) in block for block in _JOINED_ELSEWHERE)


def _joined(text: str) -> str:
    """Arabic letters in the form that their neighbours ask for, lam and alef as one."""
    forms = _forms()
    out = []
    at = 0
    before = False  # whether the letter before reaches out to this one
    while at < len(text):
        unit = text[at : at + 2] if text[at : at + 2] in forms else text[at]
        own = forms.get(unit, {})
        after = text[at + len(unit)] if at + len(unit) < len(text) else ""
        reaches = unit == _TATWEEL or _INITIAL in own
        joins_after = reaches and (after == _TATWEEL or _FINAL in forms.get(after, {}))
        wanted = (_ISOLATED, _INITIAL, _FINAL, _MEDIAL)[2 * before + joins_after]
        out.append(own.get(wanted, unit))
        before = joins_after
        at += len(unit)
    return "".join(out)


def _visual(text: str) -> str:
    """Letters in the order in which they stand from left to right, for a text that begins either way."""
    sides = [unicodedata.bidirectional(char) for char in text]
    base = next((side in _RIGHT for side in sides if side in _RIGHT or side == "L"), False)
    turned = [True if side in _RIGHT else False if side in _LEFT else None for side in sides]
    for at, own in enumerate(turned):
        if own is None:
            previous = turned[at - 1] if at else base
            following = next((one for one in turned[at + 1 :] if one is not None), base)
            turned[at] = previous if previous == following else base
    runs = [[char for char, _ in run] for _, run in groupby(zip(text, turned, strict=True), key=lambda pair: pair[1])]
    order = [own for own, _ in groupby(turned)]
    laid = [[_mirrored(char) for char in reversed(run)] if own else run for run, own in zip(runs, order, strict=True)]
    return "".join(char for run in (reversed(laid) if base else laid) for char in run)


def _mirrored(char: str) -> str:
    return {"(": ")", ")": "(", "[": "]", "]": "[", "«": "»", "»": "«"}.get(char, char)


@cache
def _forms() -> dict[str, dict[str, str]]:
    """By letter, or by lam and alef together, the forms that Unicode keeps of it."""
    forms: dict[str, dict[str, str]] = {}
    for code in (code for block in _FORMS_BLOCKS for code in block):
        form, _, rest = unicodedata.decomposition(chr(code)).partition(" ")
        base = "".join(chr(int(part, 16)) for part in rest.split())
        if form in (_ISOLATED, _FINAL, _INITIAL, _MEDIAL) and (len(base) == 1 or base.startswith("\u0644")):
            if len(base) == 2 and base[1] not in "\u0622\u0623\u0625\u0627":
                continue
            forms.setdefault(base, {}).setdefault(form, chr(code))
    return forms


COUNTRIES_TO_ZOOM = 7
_CELLS_PER_TILE = 4  # each way; the most populous place of a cell is named
ROOM_FROM = 13
"""From this zoom on there is room for more than one name in a cell."""

_CAPITAL_COUNTS = 6  # times as much as another city of its size
_LEAST_PEOPLE = {1: 8e6, 2: 3e6, 3: 1e6, 4: 3e5, 5: 8e4, 6: 3e4, 7: 1e4, 8: 4e3, 9: 1.5e3, 10: 5e2}
_RANKS = (5e6, 1e6, 3e5, 1e5, 3e4, 1e4, 2e3)
_CAPITALS_FROM = 4
_LOOKED_AT = 100
_BUILDING = threading.Lock()
_ROOM_PX = 11.0


@dataclass(frozen=True, slots=True)
class Settlements:
    """All settlements of the base atlas in columns, from north to south, with the zoom from which each is named."""

    ids: npt.NDArray[np.int64]
    plane: FloatArray
    people: npt.NDArray[np.int64]
    capital: npt.NDArray[np.bool_]
    from_zoom: npt.NDArray[np.int64]
    name_of: Callable[[int], str]

    @classmethod
    def read(cls, path: Path, folder: KeptFiles) -> "Settlements":
        """From the base atlas's file, which is read once, and what is reckoned from it is kept."""
        path = path.resolve()
        with _BUILDING:
            if path not in _READ:
                _READ.clear()
                _READ[path] = folder.load("settlements.npz", lambda: _reckoned(path), lambda kept: _loaded(kept, path))
            return _READ[path]

    def within(self, frame: Frame, least_people: int = 0) -> list[Feature]:
        """Those that a tile names, the greatest first."""
        count = 1 << frame.z
        low, high = np.searchsorted(self.plane[:, 1], [frame.y / count, (frame.y + 1) / count])
        spots, inside = frame.spots(self.plane[low:high])
        inside &= self.from_zoom[low:high] <= frame.z
        inside &= (self.people[low:high] >= least_people) | self.capital[low:high]
        mine = np.flatnonzero(inside)
        mine = mine[np.argsort(-self.people[low:high][mine], kind="stable")]
        features = []
        for at in mine.tolist():
            name = written(self.name_of(int(self.ids[low + at])))
            if name:
                features.append(Feature(shapely.points(spots[at : at + 1]), self._properties(int(low + at), name)))
        return features

    def names_around(self, frame: Frame) -> set[str]:
        """What is named in a tile and up to half a tile around it."""
        count = 1 << frame.z
        low, high = np.searchsorted(self.plane[:, 1], [(frame.y - 0.5) / count, (frame.y + 1.5) / count])
        spots, _ = frame.spots(self.plane[low:high])
        near = ((spots >= -EXTENT / 2) & (spots < 1.5 * EXTENT)).all(axis=1) & (self.from_zoom[low:high] <= frame.z)
        found = (written(self.name_of(int(number))) for number in self.ids[low:high][near])
        return {name["name"] for name in found if name}

    def _properties(self, at: int, name: dict[str, str]) -> dict[str, Value]:
        people, capital = int(self.people[at]), bool(self.capital[at])
        rank = sum(people < limit for limit in _RANKS) + 1
        # What was named on a coarser map goes before what came later, so that names don't jump.
        order = int(self.from_zoom[at]) * 100 + rank
        out: dict[str, Value] = {**name, "class": "capital" if capital else "city", "rank": rank, "order": order}
        return out if people == 0 else {**out, "population": people}


_READ: dict[Path, Settlements] = {}


def _reckoned(path: Path) -> bytes:
    with closing(open_base(path)) as conn:
        rows = conn.execute(
            "SELECT id, name, country, lat_e5, lon_e5, population FROM place WHERE kind = ? ORDER BY lat_e5 DESC, id",
            (CITY,),
        ).fetchall()
    plane = on_plane(np.array([(row[4], row[3]) for row in rows], dtype=np.float64).reshape(-1, 2) / 1e5)
    people = np.array([row[5] for row in rows], dtype=np.int64)
    capital = _capitals(rows)
    ids = np.array([row[0] for row in rows], dtype=np.int64)
    out = io.BytesIO()
    np.savez(out, ids=ids, plane=plane, people=people, capital=capital, from_zoom=_from_zooms(plane, people, capital))
    return out.getvalue()


def _loaded(kept: bytes, path: Path) -> Settlements:
    conn, lock = open_base(path), threading.Lock()

    def name_of(number: int) -> str:
        with lock:
            return _name(conn, number)

    with np.load(io.BytesIO(kept), allow_pickle=False) as columns:
        return Settlements(
            ids=columns["ids"],
            plane=columns["plane"],
            people=columns["people"],
            capital=columns["capital"],
            from_zoom=columns["from_zoom"],
            name_of=name_of,
        )


def _name(conn: sqlite3.Connection, number: int) -> str:
    row = conn.execute("SELECT name FROM place WHERE id = ?", (number,)).fetchone()
    return str(row[0]) if row else ""


def _capitals(rows: list[tuple[int, str, str, int, int, int]]) -> npt.NDArray[np.bool_]:
    """The greatest place of the capital's name in each country, looked for among its greatest places."""
    from geosleuth.atlas.facts.countries import all_countries

    wanted = {code: fold(facts.capital) for code, facts in all_countries().items() if facts.capital}
    looked: Counter[str] = Counter()
    capital = np.zeros(len(rows), dtype=bool)
    for at in sorted(range(len(rows)), key=lambda at: -rows[at][5]):
        country = rows[at][2]
        looked[country] += 1
        if looked[country] <= _LOOKED_AT and country in wanted and fold(rows[at][1]) == wanted[country]:
            capital[at] = True
            del wanted[country]
    return capital


def _from_zooms(
    plane: FloatArray, people: npt.NDArray[np.int64], capital: npt.NDArray[np.bool_]
) -> npt.NDArray[np.int64]:
    """The first zoom at which each place outshines its cell; cells divide, so that it then stays on the map."""
    weight = np.where(capital, people * _CAPITAL_COUNTS, people)
    found = np.full(len(plane), MAX_ZOOM, dtype=np.int64)
    order = np.argsort(-weight, kind="stable")
    for zoom in range(MAX_ZOOM - 1, 0, -1):
        side = _CELLS_PER_TILE << zoom
        cells = np.minimum((plane[order] * side).astype(np.int64), side - 1) @ np.array([side, 1])
        _, first = np.unique(cells, return_index=True)
        found[order[first]] = zoom
    for zoom, least in _LEAST_PEOPLE.items():
        few = (people < least) & ~(capital & (zoom >= _CAPITALS_FROM))
        found[few] = np.maximum(found[few], zoom + 1)
    return found


def cell_of(feature: Feature) -> tuple[int, int]:
    """The cell of its tile that a name stands in."""
    x, y = (shapely.get_coordinates(feature.geometries)[0] * _CELLS_PER_TILE // EXTENT).tolist()
    return int(x), int(y)


def countries(frame: Frame, folder: KeptFiles) -> list[Feature]:
    """Countries whose name a tile carries: each in the middle of its widest room, while it fits there."""
    if frame.z > COUNTRIES_TO_ZOOM:
        return []
    table = _countries(folder)
    spots, inside = frame.spots(np.array([spot for spot, _, _ in table]))
    features = []
    for at in np.flatnonzero(inside).tolist():
        _, room, name = table[at]
        from_zoom = max(0, math.ceil(math.log2(_ROOM_PX / (room * TILE_PX))))
        if from_zoom <= frame.z:
            rank = min(5, from_zoom + 1)
            properties: dict[str, Value] = {**written(name), "class": "country", "rank": rank, "order": at}
            features.append(Feature(shapely.points(spots[at : at + 1]), properties))
    return features


def _countries(folder: KeptFiles) -> list[tuple[tuple[float, float], float, str]]:
    """Spot and radius of the widest room of each country, as shares of the plane, and its name; the widest first."""
    with _BUILDING:
        if not _COUNTRIES:
            _COUNTRIES.extend(folder.load("countries.json", _found_countries, _read_countries))
        return _COUNTRIES


_COUNTRIES: list[tuple[tuple[float, float], float, str]] = []


def _read_countries(kept: bytes) -> list[tuple[tuple[float, float], float, str]]:
    return [((float(x), float(y)), float(room), str(name)) for x, y, room, name in json.loads(kept)]


def _found_countries() -> bytes:
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
