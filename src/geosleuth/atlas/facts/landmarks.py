"""Read the landmarks that ship with the package: airports, railway stations, ports and famous sights.

These are the world's airports with an IATA code (outside the USA also those with an ICAO code), seaports by UN/LOCODE,
railway stations of Germany and of much of Europe, and about a hundred world-famous sights, museums and mountains.
Missing, as no package has them with positions under clear terms: stations outside Europe, universities, World Heritage
sites, and peaks, museums, stadiums, castles and lighthouses other than the most famous. An OpenStreetMap extract has
all of these for its region.
"""

import csv
import gzip
import io
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from geosleuth.atlas.protocol import Place
from geosleuth.geo import Disc, LatLon
from geosleuth.support.errors import DataFault

from .countries import read_bytes

# Approximate radius of a place by its kind; for other kinds see ``_OTHER_RADIUS_KM``.
RADIUS_KM = {"airport": 2.5, "port": 2.5, "station": 0.3, "nature": 5.0, "peak": 2.0, "volcano": 5.0}

_OTHER_RADIUS_KM = 0.5
_SOURCES = {"airport": "airportsdata", "port": "searoute", "station": "Deutsche Bahn"}


@dataclass(frozen=True, slots=True)
class Landmark:
    """A place, all its names (the main one first, codes such as NCE among them), and its rank from 0 to 1."""

    place: Place
    names: tuple[str, ...]
    rank: float


def landmarks() -> Iterator[Landmark]:
    """Yield every landmark that ships with the package; the tables are read anew each time, for building indexes.

    Raises:
        DataFault: a table is missing or damaged.
    """
    yield from _read_landmarks("landmarks.tsv.gz", None)
    yield from _read_landmarks("stations_odbl.tsv.gz", "trainline stations (ODbL)")


def _read_landmarks(name: str, source: str | None) -> Iterator[Landmark]:
    try:
        text = gzip.decompress(read_bytes(name)).decode()
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise DataFault(f"a table of the atlas is damaged: {name}") from error
    for row in csv.reader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE):
        yield _landmark(row, source)


def _landmark(row: list[str], source: str | None) -> Landmark:
    kind, key, name, others, lat, lon, country, town, rank = row
    point = LatLon(float(lat), float(lon))
    code = key.removeprefix("airport:") if kind == "airport" else ""
    place = Place(
        id=key,
        name=name,
        kind=kind,
        point=point,
        extent=Disc(point, RADIUS_KM.get(kind, _OTHER_RADIUS_KM)),
        source=source or _SOURCES.get(kind, "geosleuth"),
        country=country or None,
        address=town or None,
        details={"IATA" if len(code) == 3 else "ICAO": code} if code else {},
    )
    return Landmark(place, (name, *filter(None, others.split("|"))), float(rank))
