"""GeoGlobe of smileGeo: ``location.csv``, one attraction a row with all its photos, and ``pic/``.

The table names cities and gives no points: the truth's point is the city's centre, where GeoNames has the city.
"""

from collections.abc import Iterator
from pathlib import Path

from geosleuth.errors import BadInput
from geosleuth.score import Truth

from .cards import CARDS
from .faults import Entry, Fault, Strict
from .flickr_sets import find_table
from .model import DataSet, Item
from .reading import Columns, cells_of, clean_text, fields_of, pick, text_of, truth_of
from .shelf import BadName, Shelf
from .tables import Row, header_of, read_rows
from .town_centres import town_centre

_COLUMNS = Columns(image=("images",), id=("index",), left_out=("index",))


def open_geoglobe(path: Path, photos: Path | None = None) -> DataSet:
    """All photos of all attractions.

    Raises:
        BadInput: there is no ``location.csv``, or it lacks the columns city, country or images.
    """
    table = find_table(path, ("location.csv",), ("", "data"))
    header = {name.lower() for name in header_of(table)}
    if missing := [name for name in ("city", "country", "images") if name not in header]:
        raise BadInput(f"{table}: no column {missing[0]}: looked for index; city; country; category; images …")
    shelf = Shelf(photos or table.parent, ("pic", "images", ""))
    return DataSet(CARDS["geoglobe"], table.parent, Strict(lambda: _entries(table, shelf)))


def _entries(table: Path, shelf: Shelf) -> Iterator[Entry]:
    known = _COLUMNS.known()
    for number, row in read_rows(table):
        where = f"{table}:{number}"
        if isinstance(row, Fault):
            yield row
            continue
        truth = _truth(row)
        names = str(row.get("images") or "").split()
        if isinstance(truth, str):
            yield Fault(where, truth, expected=True)
            continue
        fields = fields_of(cells_of(row, _COLUMNS), known)
        for name in names:
            try:
                yield Item(clean_text(name), shelf.picture(name), truth, fields)
            except BadName as error:
                yield Fault(where, str(error))


def _truth(row: Row) -> Truth | str:
    """The truth, or why there is none."""
    cells = cells_of(row, _COLUMNS)
    if pick(cells, _COLUMNS.lat) is not None:
        try:
            return truth_of(cells, _COLUMNS)
        except ValueError as error:
            return str(error)
    city, country = text_of(pick(cells, _COLUMNS.city)), text_of(pick(cells, _COLUMNS.country))
    point = town_centre(city, country) if city and country else None
    if point is None:
        return f"no point: GeoNames' cities of 15,000 people have no {city!r} in {country!r}"[:200]
    return Truth(point, country=clean_text(country or ""), city=clean_text(city or ""))
