"""What is really on this disk, against what the set's card says."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from geosleuth.geo import LatLon
from geosleuth.names import continent_of, country_code

from .faults import Entry, Fault, Strict
from .model import Card, DataSet, Item

_SHOWN = 20
_POINTS_AT_ONCE = 10_000
UNKNOWN = "(unknown)"


@dataclass(frozen=True, slots=True)
class Description:
    """A data set as it lies on this disk.

    ``photos`` counts the items, ``missing`` those whose photo is not there. ``bad`` are rows that give no item and
    would end a run, ``left_out`` those that a run goes on without; of each, the first few are kept beside the count.
    ``repeated`` counts ids that occur more than once, ``boxed`` items with boxes.
    """

    card: Card
    photos: int
    missing: int
    bad: int
    left_out: int
    repeated: int
    boxed: int
    bytes_known: int
    countries: dict[str, int]
    continents: dict[str, int]
    fields: dict[str, int]
    missing_shown: tuple[str, ...] = ()
    bad_shown: tuple[Fault, ...] = ()
    left_out_shown: tuple[Fault, ...] = ()

    @property
    def is_whole(self) -> bool | None:
        """Whether as many photos are there as the card says; None where the card does not say."""
        return None if self.card.photos is None else self.photos - self.missing == self.card.photos

    @property
    def is_usable(self) -> bool:
        """Whether a run could go through it and has a photo to look at."""
        return self.bad == 0 and self.photos > self.missing


@dataclass(slots=True)
class _Tally:
    photos: int = 0
    missing: int = 0
    bad: int = 0
    left_out: int = 0
    boxed: int = 0
    bytes_known: int = 0
    ids: Counter[str] = field(default_factory=Counter)
    countries: Counter[str] = field(default_factory=Counter)
    fields: Counter[str] = field(default_factory=Counter)
    missing_shown: list[str] = field(default_factory=list)
    bad_shown: list[Fault] = field(default_factory=list)
    left_out_shown: list[Fault] = field(default_factory=list)
    waiting: list[LatLon] = field(default_factory=list)


def describe(data: DataSet, progress: Callable[[int], None] = lambda _items: None) -> Description:
    """Go through a set once and say what it holds; photos are looked for, not opened.

    Rows that give no item are counted, not fatal. Countries come from the truths' names, and from borders where they
    have none.

    Raises:
        BadInput: the files are so damaged that no further row can be told apart.
    """
    tally = _Tally()
    stream = data.stream
    entries: Iterable[Entry] = stream.entries() if isinstance(stream, Strict) else stream()
    for entry in entries:
        if isinstance(entry, Fault):
            _count_fault(tally, entry)
        else:
            _count_item(tally, entry)
        progress(1)
    _place(tally)
    continents: Counter[str] = Counter()
    for code, count in tally.countries.items():
        continents[continent_of(code) or UNKNOWN] += count
    return Description(
        card=data.card,
        photos=tally.photos,
        missing=tally.missing,
        bad=tally.bad,
        left_out=tally.left_out,
        repeated=sum(1 for count in tally.ids.values() if count > 1),
        boxed=tally.boxed,
        bytes_known=tally.bytes_known,
        countries=dict(tally.countries.most_common()),
        continents=dict(continents.most_common()),
        fields=dict(tally.fields.most_common()),
        missing_shown=tuple(tally.missing_shown),
        bad_shown=tuple(tally.bad_shown),
        left_out_shown=tuple(tally.left_out_shown),
    )


def _count_fault(tally: _Tally, fault: Fault) -> None:
    if fault.expected:
        tally.left_out += 1
        shown = tally.left_out_shown
    else:
        tally.bad += 1
        shown = tally.bad_shown
    if len(shown) < _SHOWN:
        shown.append(fault)


def _count_item(tally: _Tally, item: Item) -> None:
    tally.photos += 1
    tally.ids[item.id] += 1
    tally.boxed += bool(item.boxes)
    tally.fields.update(item.fields.keys())
    size = item.picture.size_bytes()
    if size is not None:
        tally.bytes_known += size
    elif not _is_packed(item):
        tally.missing += 1
        if len(tally.missing_shown) < _SHOWN:
            tally.missing_shown.append(item.picture.where)
    code = country_code(item.truth.country) if item.truth.country else None
    if code is not None:
        tally.countries[code] += 1
    else:
        tally.waiting.append(item.truth.point)
        if len(tally.waiting) >= _POINTS_AT_ONCE:
            _place(tally)


def _is_packed(item: Item) -> bool:
    """Whether the photo is in a row of Parquet, whose size nobody knows without reading it."""
    from .parquet import ParquetPicture

    return isinstance(item.picture, ParquetPicture)


def _place(tally: _Tally) -> None:
    """Countries of the points whose truth names none."""
    if not tally.waiting:
        return
    from geosleuth.atlas.borders import Borders

    lats, lons = [point.lat for point in tally.waiting], [point.lon for point in tally.waiting]
    tally.countries.update(str(code) or UNKNOWN for code in Borders.load().countries(lats, lons))
    tally.waiting.clear()
