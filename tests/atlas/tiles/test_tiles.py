"""Tiles of the real atlas: what they show where, at every edge of the plane, and when they are made anew."""

import math
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import shapely

from geosleuth.answer import GRANULARITIES
from geosleuth.atlas.borders import Borders
from geosleuth.atlas.regions.region_file import pack_shapes, unpack_shapes
from geosleuth.atlas.tiles import LAYERS, MAX_ZOOM, TileMaker
from geosleuth.support.errors import BadInput

Read = Callable[[bytes], dict[str, list[dict[str, Any]]]]

MONTE_CARLO = (43.7396, 7.4275)


def at(lat: float, lon: float, zoom: int) -> tuple[int, int, int]:
    count = 1 << zoom
    down = 0.5 - math.asinh(math.tan(math.radians(lat))) / (2 * math.pi)
    return zoom, int((lon + 180) / 360 * count), int(down * count)


def named(features: list[dict[str, Any]]) -> set[str]:
    return {feature["properties"]["name"] for feature in features if "name" in feature["properties"]}


def land_of(found: dict[str, list[dict[str, Any]]]) -> Any:
    parts = [shapely.geometry.shape(f["geometry"]) for f in found.get("land", [])]
    whole = shapely.get_parts(shapely.union_all(shapely.make_valid(parts)))
    return shapely.MultiPolygon([part for part in whole if part.geom_type == "Polygon"])


@pytest.mark.parametrize("zoom", [0, 4, 9, *(pytest.param(zoom, marks=pytest.mark.slow) for zoom in (1, 2, 6, 7))])
def test_land_is_where_the_polygons_have_it(bare: TileMaker, read: Read, zoom: int) -> None:
    """Points all over each tile along the equator, in the north, and on both sides of the antimeridian."""
    borders = Borders.load()
    count = 1 << zoom
    wrong = asked = 0
    for lat, lon in (
        (48.0, 5.0),
        (-3.0, 25.0),
        (66.0, -179.9),
        (66.0, 179.9),
        (-17.0, 179.9),
        (-80.0, 10.0),
        (80.0, 60),
    ):
        z, x, y = at(lat, lon, zoom)
        land = land_of(read(bare.tile(z, x, y)))
        for column in range(20, 4096, 409):
            for row in range(20, 4096, 409):
                down = (y + row / 4096) / count
                there = math.degrees(math.atan(math.sinh(math.pi * (1 - 2 * down))))
                is_land = bool(borders.is_land(there, (x + column / 4096) / count * 360 - 180))
                asked += 1
                wrong += is_land != bool(shapely.contains_xy(land, column, row))
    # Coasts are thinned, so that a point by the shore may be on the other side.
    assert wrong / asked < (0.03 if zoom < 3 else 0.015)


@pytest.mark.parametrize("zoom", [1, 3, 5, 8])
def test_no_shore_runs_along_the_antimeridian(bare: TileMaker, read: Read, zoom: int) -> None:
    """Chukotka lies on both sides: on either of them the land goes on to the end of the buffer."""
    for lon, edge in ((179.999, 4096), (-179.999, 0)):
        land = land_of(read(bare.tile(*at(66.5, lon, zoom))))
        seam = shapely.LineString([(edge, -64), (edge, 4160)])
        on_shore = land.boundary.intersection(seam)
        assert land.intersects(seam)
        assert on_shore.length == 0


def test_land_runs_to_the_ends_of_the_plane(bare: TileMaker, read: Read) -> None:
    land = land_of(read(bare.tile(3, 4, 7)))
    assert shapely.contains_xy(land, 2048, 4095)
    assert land.bounds[3] > 4096


@pytest.mark.parametrize("where", [(-1, 0, 0), (17, 0, 0), (3, 8, 0), (3, 0, -1), (0, 1, 0)])
def test_tiles_that_do_not_exist_are_refused(tiles: TileMaker, where: tuple[int, int, int]) -> None:
    with pytest.raises(BadInput):
        tiles.tile(*where)


def test_the_world_has_its_countries_and_great_cities(bare: TileMaker, read: Read) -> None:
    names = named(read(bare.tile(*at(48.8, 2.3, 4)))["places"])
    assert {"France", "Paris"} <= names
    assert "Versailles" not in names
    assert "Versailles" in named(read(bare.tile(*at(48.8014, 2.1301, 10)))["places"])
    assert "Brazil" in named(read(bare.tile(1, 0, 1))["places"])
    assert {"India", "Algeria"} <= named(read(bare.tile(2, 2, 1))["places"])


def test_a_place_is_in_one_tile_and_stays_on_closer_ones(bare: TileMaker, read: Read) -> None:
    """Nobody wants a name twice at the edge of tiles, or one that comes and goes while zooming in."""
    zoom, x, y = at(51.0, 6.9, 5)
    children = [
        one["properties"]["name"]
        for right in (0, 1)
        for down in (0, 1)
        for one in read(bare.tile(zoom + 1, 2 * x + right, 2 * y + down))["places"]
        if one["properties"]["class"] != "country"
    ]
    cities = {
        one["properties"]["name"]
        for one in read(bare.tile(zoom, x, y))["places"]
        if one["properties"]["class"] != "country"
    }
    assert cities
    assert all(children.count(name) == 1 for name in cities)


def test_a_place_that_both_sources_know_is_named_once(tiles: TileMaker, read: Read) -> None:
    """GeoNames and OpenStreetMap put Monte-Carlo some way apart, perhaps in different tiles."""
    for zoom in (12, 13, 14):
        _, x, y = at(*MONTE_CARLO, zoom)
        around = [(zoom, x + right, y + down) for right in (-1, 0, 1) for down in (-1, 0, 1)]
        places = [one for where in around for one in read(tiles.tile(*where)).get("places", [])]
        assert [one["properties"]["name"] for one in places].count("Monaco") == 1


def test_street_level(tiles: TileMaker, read: Read) -> None:
    found = read(tiles.tile(*at(*MONTE_CARLO, 16)))
    assert set(found) <= set(LAYERS)
    assert {"land", "buildings", "roads", "pois"} <= set(found)
    streets = named(found["roads"])
    assert len(streets) > 3
    assert all(one["properties"]["rank"] in range(1, 9) for one in found["roads"])
    assert {one["properties"]["class"] for one in found["pois"]} <= {
        "food",
        "shop",
        "sight",
        "health",
        "travel",
        "other",
    }


def test_what_the_tile_shows_lies_where_the_region_has_it(tiles: TileMaker, monaco: Path, read: Read) -> None:
    conn = sqlite3.connect(monaco / "monaco.region.sqlite")
    lat, lon, name = conn.execute(
        "SELECT lat / 1e7, lon / 1e7, name FROM feature JOIN kind ON kind.id = feature.kind "
        "WHERE kind.kind = 'tourism=museum' AND name <> '' ORDER BY rank DESC"
    ).fetchone()
    conn.close()
    zoom, x, y = at(lat, lon, MAX_ZOOM)
    (spot,) = [one for one in read(tiles.tile(zoom, x, y))["pois"] if one["properties"]["name"] == name]
    column, row = spot["geometry"]["coordinates"]
    assert (x + column / 4096) / (1 << zoom) * 360 - 180 == pytest.approx(lon, abs=1e-5)
    down = (y + row / 4096) / (1 << zoom)
    assert math.degrees(math.atan(math.sinh(math.pi * (1 - 2 * down)))) == pytest.approx(lat, abs=1e-5)


@pytest.mark.parametrize("zoom", range(10, MAX_ZOOM + 1))
def test_land_and_sea_of_a_region_are_told_apart_at_every_zoom(tiles: TileMaker, read: Read, zoom: int) -> None:
    """A harbour, the open sea where no coast is in sight, and the middle of the town."""
    for (lat, lon), wanted in (
        ((43.7345, 7.4262), "local-sea"),
        ((43.7290, 7.4330), "local-sea"),
        (MONTE_CARLO, "local-land"),
    ):
        _, x, y = at(lat, lon, zoom)
        down = 0.5 - math.asinh(math.tan(math.radians(lat))) / (2 * math.pi)
        column, row = ((lon + 180) / 360 * (1 << zoom) - x) * 4096, (down * (1 << zoom) - y) * 4096
        told = [
            one["properties"]["class"]
            for one in read(tiles.tile(zoom, x, y))["land"]
            if shapely.contains_xy(shapely.make_valid(shapely.geometry.shape(one["geometry"])), column, row)
        ]
        # What is painted last is what one sees.
        assert told[-1] == wanted


def test_everything_stays_inside_the_buffer(tiles: TileMaker, read: Read) -> None:
    for zoom in (0, 5, 8, 12, 14, 16):
        for name, features in read(tiles.tile(*at(*MONTE_CARLO, zoom))).items():
            for feature in features:
                west, north, east, south = shapely.geometry.shape(feature["geometry"]).bounds
                slack = 400 if zoom == 0 else 64  # land runs on below the plane's end
                assert west >= -64, name
                assert east <= 4096 + 64, name
                assert north >= -64, name
                assert south <= 4096 + slack, name


@pytest.mark.parametrize("finest", GRANULARITIES)
def test_a_cap_leaves_no_streets_where_it_forbids_them(tiles: TileMaker, read: Read, finest: Any) -> None:
    style = tiles.style("light", finest)
    closest = style["sources"]["atlas"]["maxzoom"]
    found = read(tiles.tile(*at(*MONTE_CARLO, closest), finest))
    drawn = {layer["source-layer"] for layer in style["layers"] if "source-layer" in layer}
    assert set(found) <= drawn
    assert ("roads" in found) == ("roads" in drawn) == (finest in ("street", "exact"))
    assert ("pois" in found) == ("pois" in drawn) == (finest == "exact")
    assert ("OpenStreetMap" in style["sources"]["atlas"]["attribution"]) == (finest not in ("country", "region"))
    if closest < MAX_ZOOM:
        with pytest.raises(BadInput, match=finest):
            tiles.tile(*at(*MONTE_CARLO, closest + 1), finest)


def test_low_zooms_are_kept_on_disk_and_used_again(tmp_path: Path) -> None:
    first = TileMaker(tmp_path / "none", cache=tmp_path / "cache").tile(2, 2, 1)
    (kept,) = (tmp_path / "cache").rglob("*.mvt")
    assert kept.read_bytes() == first
    kept.write_bytes(b"kept")
    assert TileMaker(tmp_path / "none", cache=tmp_path / "cache").tile(2, 2, 1) == b"kept"
    assert TileMaker(tmp_path / "none", cache=tmp_path / "cache").tile(2, 2, 1, "country") != b"kept"


def test_tiles_of_another_version_are_cleared_away(tmp_path: Path) -> None:
    old = tmp_path / "cache" / "world-of-old" / "exact-0-0-0.mvt"
    old.parent.mkdir(parents=True)
    old.write_bytes(b"old")
    assert TileMaker(tmp_path / "none", cache=tmp_path / "cache").tile(0, 0, 0) != b"old"
    assert not old.exists()


def test_a_folder_that_takes_nothing_is_no_trouble(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file, not a folder")
    assert TileMaker(tmp_path / "none", cache=tmp_path / "cache").tile(1, 0, 0)


def test_an_added_region_shows_at_once_and_a_removed_one_is_gone(monaco: Path, tmp_path: Path, read: Read) -> None:
    tiles = TileMaker(tmp_path / "regions", cache=tmp_path / "cache")
    where, elsewhere = at(*MONTE_CARLO, 14), at(35.7, 139.7, 14)
    before, version, far = tiles.tile(*where), tiles.version, tiles.tile(*elsewhere)
    assert "roads" not in read(before)
    assert "OpenStreetMap" not in tiles.style()["sources"]["atlas"]["attribution"]
    shutil.copytree(monaco, tmp_path / "regions")
    assert "roads" in read(tiles.tile(*where))
    assert tiles.version != version
    assert tiles.tile(*elsewhere) is far
    assert "OpenStreetMap" in tiles.style()["sources"]["atlas"]["attribution"]
    shutil.rmtree(tmp_path / "regions")
    assert tiles.tile(*where) == before
    assert tiles.version == version


def test_a_damaged_region_leaves_the_rest_of_the_map(monaco: Path, tmp_path: Path, read: Read) -> None:
    folder = tmp_path / "regions"
    shutil.copytree(monaco, folder)
    whole = TileMaker(folder, cache=tmp_path / "cache").tile(*at(*MONTE_CARLO, 14))
    conn = sqlite3.connect(folder / "monaco.region.sqlite")
    with conn:
        conn.execute("UPDATE shape SET shapes = x'0102' WHERE layer = 'road'")
    conn.close()
    found = read(TileMaker(folder, cache=tmp_path / "cache").tile(*at(*MONTE_CARLO, 14)))
    assert "roads" in read(whole)
    assert "roads" not in found
    assert "buildings" in found
    (folder / "monaco.region.sqlite").write_bytes(b"SQLite format 3\0 and then nothing")
    assert "land" in read(TileMaker(folder, cache=tmp_path / "cache").tile(*at(*MONTE_CARLO, 14)))


def test_hostile_names_and_credits_do_no_harm(monaco: Path, tmp_path: Path, read: Read) -> None:
    folder = tmp_path / "regions"
    shutil.copytree(monaco, folder)
    conn = sqlite3.connect(folder / "monaco.region.sqlite")
    bad = "<script>alert(1)</script>\x00\n\u202e" + "x" * 5000
    with conn:
        rows = conn.execute("SELECT id, shapes FROM shape WHERE layer IN ('road', 'place', 'green')").fetchall()
        for number, shapes in rows:
            _, geoms = unpack_shapes(shapes)
            conn.execute("UPDATE shape SET shapes = ? WHERE id = ?", (pack_shapes([bad] * len(geoms), geoms), number))
        conn.execute("UPDATE feature SET name = ?", (bad,))
        conn.execute("UPDATE meta SET value = '<img src=x onerror=alert(1)>' WHERE key = 'attribution'")
    conn.close()
    tiles = TileMaker(folder, cache=tmp_path / "cache")
    found = read(tiles.tile(*at(*MONTE_CARLO, 16)))
    names = named(found["roads"]) | named(found["pois"])
    assert names
    assert all(len(name) <= 60 and name.isprintable() for name in names)
    assert "<img" not in tiles.style()["sources"]["atlas"]["attribution"]
