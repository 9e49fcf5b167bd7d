"""A subset of a data set, its fingerprint, and its description on disk."""

import hashlib
import heapq
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from geosleuth.geo import LatLon
from geosleuth.names import country_code, get_continent, same_country
from geosleuth.support.errors import BadInput

from .dataset import Card, DataSet, Entry, Fault, Item, Strict

_SHOWN = 20
_POINTS_AT_ONCE = 10_000
UNKNOWN = "(unknown)"


def subset(data: DataSet, *, limit: int | None = None, seed: int = 0, only: Sequence[str] = ()) -> DataSet:
    """Return a subset of a data set, in the set's own order; without options, the whole.

    Args:
        data: the set.
        limit: so many, drawn at random, see `draw`.
        seed: of the draw.
        only: ``FIELD=VALUE``: items whose field has that value. Several values of one field are alternatives; several
            fields must all match. ``country`` is the truth's, in any language; ``id`` is the item's own.

    Raises:
        BadInput: an option is invalid.
    """
    if limit is not None and limit < 1:
        raise BadInput("a subset needs at least one photo")
    wishes = _wishes(only)
    if limit is None and not wishes:
        return data
    return DataSet(data.card, data.root, _Part(data, limit, seed, wishes))


def draw(ids: Iterable[str], count: int, seed: int = 0) -> frozenset[str]:
    """Return so many ids at random, or all there are; no more than these are held in memory.

    Each id has its own random number, so neither the order nor the number of ids changes the draw, and a smaller draw
    of the same seed is part of a larger one.
    """
    return frozenset(id_ for _, id_ in heapq.nsmallest(count, ((_lot(seed, id_), id_) for id_ in ids)))


def build_selection(limit: int | None, seed: int = 0) -> dict[str, int]:
    """Return the size and seed of a draw, as manifests hold it; empty for a whole set."""
    return {} if limit is None else {"limit": limit, "sample_seed": seed}


@dataclass(frozen=True, slots=True)
class _Part:
    data: DataSet
    limit: int | None
    seed: int
    wishes: dict[str, tuple[str, ...]]

    def __call__(self) -> Iterator[Item]:
        chosen = None if self.limit is None else draw((item.id for item in self._select_items()), self.limit, self.seed)
        return (item for item in self._select_items() if chosen is None or item.id in chosen)

    def _select_items(self) -> Iterator[Item]:
        for item in self.data:
            if all(any(_has(item, name, value) for value in values) for name, values in self.wishes.items()):
                yield item


def _lot(seed: int, id_: str) -> bytes:
    return hashlib.sha256(f"{seed}\0{id_}".encode("utf-8", "surrogatepass")).digest()


def _wishes(only: Sequence[str]) -> dict[str, tuple[str, ...]]:
    wishes: dict[str, tuple[str, ...]] = {}
    for word in only:
        name, equals, value = word.partition("=")
        if not equals or not name.strip():
            raise BadInput(f"{word[:60]!r}: write FIELD=VALUE, such as country=France or split=test")
        key = name.strip()
        wishes[key] = (*wishes.get(key, ()), value.strip())
    return wishes


def _has(item: Item, name: str, value: str) -> bool:
    if name == "id":
        return item.id == value
    if name == "country" and item.truth.country is not None:
        return same_country(item.truth.country, value)
    return item.fields.get(name) == value


def fingerprint(data: DataSet, progress: Callable[[int], None] = lambda _items: None) -> tuple[int, str]:
    """Return the number of items, and a SHA-256 over ids, truths, fields, boxes and file sizes, in order.

    Photos are not read: one that was replaced by another of the same size goes unnoticed. ``progress`` receives the
    number of items.

    Raises:
        BadInput: the set can't be read to its end.
    """
    digest = hashlib.sha256(b"geosleuth data set 1\n")
    count = 0
    for item in data:
        truth = item.truth
        line = [
            item.id,
            [truth.point.lat, truth.point.lon, truth.country, truth.region, truth.city],
            sorted(item.fields.items()),
            [[box.kind, box.left, box.top, box.right, box.bottom] for box in item.boxes],
            item.picture.size_bytes(),
        ]
        digest.update(json.dumps(line).encode() + b"\n")
        count += 1
        progress(1)
    return count, digest.hexdigest()


@dataclass(slots=True)
class Description:
    """A data set as found on this disk.

    ``photos`` counts the items, ``missing`` those without a photo. ``bad`` are rows that give no item and would end a
    run, ``left_out`` those that a run skips; of each, the first few are kept beside the count. ``repeated`` counts ids
    that occur more than once, ``boxed`` items with boxes.
    """

    card: Card
    photos: int = 0
    missing: int = 0
    bad: int = 0
    left_out: int = 0
    repeated: int = 0
    boxed: int = 0
    bytes_known: int = 0
    countries: Counter[str] = field(default_factory=Counter)
    continents: Counter[str] = field(default_factory=Counter)
    fields: Counter[str] = field(default_factory=Counter)
    missing_shown: list[str] = field(default_factory=list)
    bad_shown: list[Fault] = field(default_factory=list)
    left_out_shown: list[Fault] = field(default_factory=list)

    @property
    def is_whole(self) -> bool | None:
        """Return whether as many photos are there as the card says; None if the card does not say."""
        return None if self.card.photos is None else self.photos - self.missing == self.card.photos

    @property
    def is_usable(self) -> bool:
        """Return whether a run could use it and has at least one photo."""
        return self.bad == 0 and self.photos > self.missing


def describe(data: DataSet, progress: Callable[[int], None] = lambda _items: None) -> Description:
    """Read a set once and describe it; photos are looked for, not opened.

    Rows that give no item are counted, not fatal. Countries come from the truths' names, or from borders if they have
    none.

    Raises:
        BadInput: the files are too damaged to separate rows.
    """
    found = Description(data.card)
    ids: Counter[str] = Counter()
    nameless: list[LatLon] = []
    stream = data.stream
    entries: Iterable[Entry] = stream.entries() if isinstance(stream, Strict) else stream()
    for entry in entries:
        if isinstance(entry, Fault):
            _count_fault(found, entry)
        else:
            ids[entry.id] += 1
            _count_item(found, entry, nameless)
        progress(1)
    _add_countries(found, nameless)
    found.repeated = sum(1 for count in ids.values() if count > 1)
    for code, count in found.countries.items():
        found.continents[get_continent(code) or UNKNOWN] += count
    for name in ("countries", "continents", "fields"):
        setattr(found, name, Counter(dict(getattr(found, name).most_common())))
    return found


def _count_fault(found: Description, fault: Fault) -> None:
    if fault.expected:
        found.left_out += 1
        shown = found.left_out_shown
    else:
        found.bad += 1
        shown = found.bad_shown
    if len(shown) < _SHOWN:
        shown.append(fault)


def _count_item(found: Description, item: Item, nameless: list[LatLon]) -> None:
    found.photos += 1
    found.boxed += bool(item.boxes)
    found.fields.update(item.fields.keys())
    size = item.picture.size_bytes()
    if size is not None:
        found.bytes_known += size
    elif is_missing(item):
        found.missing += 1
        if len(found.missing_shown) < _SHOWN:
            found.missing_shown.append(item.picture.where)
    code = country_code(item.truth.country) if item.truth.country else None
    if code is not None:
        found.countries[code] += 1
    else:
        nameless.append(item.truth.point)
        if len(nameless) >= _POINTS_AT_ONCE:
            _add_countries(found, nameless)


def is_missing(item: Item) -> bool:
    """Return whether there is no photo: the size of one in a row of Parquet is not known before it is read."""
    from .hugging_face import ParquetPicture

    return item.picture.size_bytes() is None and not isinstance(item.picture, ParquetPicture)


def _add_countries(found: Description, nameless: list[LatLon]) -> None:
    if not nameless:
        return
    from geosleuth.atlas.borders import Borders

    codes = Borders.load().countries([point.lat for point in nameless], [point.lon for point in nameless])
    found.countries.update(str(code) or UNKNOWN for code in codes)
    nameless.clear()
