"""What the land is like at a point, from the tables that ship and from an added gazetteer."""

import asyncio
import json
from datetime import date
from pathlib import Path

import pytest

from geosleuth.atlas import OfflineAtlas, gazetteers_dir, regions_dir
from geosleuth.atlas.facts.altitude import find_terrain
from geosleuth.atlas.gazetteers import import_natural_earth
from geosleuth.atlas.place_facts import PlaceFacts, read_day
from geosleuth.geo import LatLon
from geosleuth.support.errors import BadInput
from in_process import whole_command


def facts(lat: float, lon: float, day: date | None = None, regions: Path | None = None) -> PlaceFacts:
    return asyncio.run(OfflineAtlas(regions).place_facts(LatLon(lat, lon), day))


@pytest.mark.parametrize(
    ("where", "point", "lowest_m", "highest_m", "roughness"),
    [
        ("Everest", (27.99, 86.93), 4500, 7000, "mountainous"),
        ("Amsterdam", (52.37, 4.90), -40, 30, "flat"),
        ("La Paz", (-16.50, -68.15), 3300, 4400, "mountainous"),
        ("Dead Sea", (31.5, 35.47), -450, -300, "hilly"),
        ("Kansas", (38.5, -98.5), 450, 650, "flat"),
    ],
)
def test_the_height_of_known_places(
    where: str, point: tuple[float, float], lowest_m: int, highest_m: int, roughness: str
) -> None:
    terrain = find_terrain(LatLon(*point))
    assert terrain is not None, where
    assert lowest_m <= terrain.altitude_m <= highest_m
    assert terrain.roughness == roughness


def test_the_open_sea_and_the_edges_of_the_grid() -> None:
    assert find_terrain(LatLon(0.0, -30.0)) is None
    assert find_terrain(LatLon(90.0, 180.0)) is None
    assert find_terrain(LatLon(-90.0, -180.0)) == find_terrain(LatLon(-90.0, 180.0))


def test_facts_of_a_desert_town() -> None:
    found = facts(-23.7, 133.87)
    assert found.country == "Northern Territory, Australia"
    assert found.altitude_m is not None
    assert 500 < found.altitude_m < 700
    assert (found.climate or "").startswith("BWh")
    assert found.vegetation == "hot desert"
    assert 850 < found.coast_km < 950
    assert any(town.startswith("Alice Springs (") for town in found.towns)
    assert found.driving_side == "left"
    assert found.languages[0] == "English"
    assert [day.split(",")[0] for day in found.daylight] == ["21 June 10.7 h", "21 December 13.6 h"]
    assert "geosleuth atlas add" in (found.missing or "")


@pytest.mark.parametrize(
    ("point", "near_km", "far_km"),
    [((43.7384, 7.4246), 0, 3), ((51.5, -0.12), 30, 75), ((46.0, 86.0), 2000, 2800), ((0.0, 0.0), 450, 650)],
)
def test_the_distance_to_the_coast(point: tuple[float, float], near_km: float, far_km: float) -> None:
    assert near_km <= facts(*point).coast_km <= far_km


def test_daylight_on_a_day() -> None:
    assert facts(69.65, 18.95, date(2026, 6, 21)).daylight[0].startswith("2026-06-21 polar day")
    assert read_day(" ") is None
    with pytest.raises(BadInput):
        read_day("midsummer")


def test_an_added_gazetteer_names_ranges_and_waters(tmp_path: Path) -> None:
    lake = {"type": "Polygon", "coordinates": [[[130, -24], [132, -24], [132, -23], [130, -23], [130, -24]]]}
    named = [("Made Lake", "Lake", lake), ("Mount Made", "mountain", {"type": "Point", "coordinates": [133.9, -23.7]})]
    features = [
        {"type": "Feature", "properties": {"name": name, "featurecla": kind, "elevation": 900}, "geometry": shape}
        for name, kind, shape in named
    ]
    path = tmp_path / "made.geojson"
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}), encoding="utf-8")
    import_natural_earth(path, folder=gazetteers_dir(tmp_path / "regions"))
    inside = facts(-23.5, 131.0, regions=tmp_path / "regions")
    assert inside.features == ("Made Lake (lake, 900 m), here",)
    assert inside.missing is None
    assert facts(-23.7, 133.87, regions=tmp_path / "regions").features == ("Mount Made (peak, 900 m), 3 km",)


def test_the_command_adds_lists_shows_and_removes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, base_file: Path
) -> None:
    from homes import home_with_base

    monkeypatch.setenv("GEOSLEUTH_HOME", str(home_with_base(tmp_path / "home", base_file)))
    dump = tmp_path / "HU.txt"
    dump.write_text(
        "7\tMade Peak\t\tMachberg\t47.9\t20.0\tT\tMT\tHU\t\t\t\t\t\t0\t999\t\tUTC\t2026-01-01\nnot a row\n",
        encoding="utf-8",
    )
    assert whole_command("atlas", "add", str(dump), "--country", "Hungary", "--json").returncode == 0
    assert [item["name"] for item in json.loads(whole_command("atlas", "list", "--json").stdout)] == ["hu"]
    hits = json.loads(whole_command("atlas", "search", "machberg", "--json").stdout)
    assert hits[0]["id"] == "geonames:7"
    told = json.loads(whole_command("atlas", "facts", "47.9,20.0", "--date", "2026-03-20", "--json").stdout)
    assert told["features"] == ["Made Peak (peak, 999 m), here"]
    assert told["daylight"][0].startswith("2026-03-20 12.")
    assert whole_command("atlas", "add", "x.osm.pbf", "--country", "HU").returncode == 2
    assert whole_command("atlas", "facts", "47.9,20.0", "--date", "soon").returncode == 2
    assert whole_command("atlas", "remove", "hu").returncode == 0
    assert list(gazetteers_dir().glob("*.sqlite")) == []
    assert regions_dir() != gazetteers_dir()
