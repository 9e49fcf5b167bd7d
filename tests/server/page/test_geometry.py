"""What the page reckons, run by Node as the browser would: shapes of the map, typed degrees, percentages, numbers."""

import json
import math
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from geosleuth.answer.answer import whole_percent
from geosleuth.geo import LatLon, distance_km

PAGE = Path(__file__).resolve().parents[3] / "page"
ASK = """
import { rolldown } from "%(page)s/node_modules/rolldown/dist/index.mjs";
const bundle = await rolldown({ input: "%(page)s/src/%(module)s.ts" });
const { output } = await bundle.generate({ format: "esm" });
const module = await import("data:text/javascript," + encodeURIComponent(output[0].code));
const asked = JSON.parse(process.argv[1]);
console.log(JSON.stringify(asked.map(([name, ...values]) => module[name](...values))));
"""


def ask(module: str, *calls: tuple[object, ...]) -> list[Any]:
    node = shutil.which("node")
    if node is None or not (PAGE / "node_modules" / "rolldown").is_dir():
        pytest.skip("needs Node and page/node_modules (make page)")
    script = ASK % {"page": PAGE, "module": module}
    command = [node, "--input-type=module", "--eval", script, json.dumps(calls)]
    found: list[Any] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return found


def test_a_disc_keeps_its_radius_anywhere() -> None:
    centres = [(43.7, 7.4, 2.0), (0.0, 179.9, 500.0), (80.0, 10.0, 500.0), (-33.9, 151.2, 2500.0)]
    discs = ask("map/geometry", *(("disc", {"lat": lat, "lon": lon}, km) for lat, lon, km in centres))
    for (lat, lon, km), disc in zip(centres, discs, strict=True):
        ring = disc["coordinates"][0]
        assert ring[0] == ring[-1]
        assert max(abs(one[0] - other[0]) for one, other in pairwise(ring)) < 90
        for edge_lon, edge_lat in ring:
            edge = LatLon(edge_lat, math.remainder(edge_lon, 360))
            assert distance_km(LatLon(lat, lon), edge) == pytest.approx(km, rel=0.01)


def test_a_disc_over_a_pole_holds_it() -> None:
    (disc,) = ask("map/geometry", ("disc", {"lat": 88, "lon": 0}, 500))
    ring = disc["coordinates"][0]
    assert max(lat for _, lat in ring) == 90
    assert max(lon for lon, _ in ring) - min(lon for lon, _ in ring) == pytest.approx(360)


def test_the_narrowest_box_may_cross_the_date_line() -> None:
    def spot(lat: float, lon: float) -> dict[str, float]:
        return {"lat": lat, "lon": lon, "radiusKm": 0}

    pacific, atlantic, nothing = ask(
        "map/geometry",
        ("around", [spot(35, 139), spot(37, -122), spot(21, -158)]),
        ("around", [spot(40, -74), spot(51, 0), spot(35, 20)]),
        ("around", []),
    )
    assert (pacific["west"], pacific["east"]) == (139, 238)
    assert (atlantic["west"], atlantic["east"]) == (-74, 20)
    assert nothing is None


def test_shapes_that_are_no_area_are_refused() -> None:
    def corners(*spots: tuple[float, float]) -> list[dict[str, float]]:
        return [{"lat": lat, "lon": lon} for lat, lon in spots]

    bow_tie, two, fine = ask(
        "map/geometry",
        ("polygon", corners((0, 0), (1, 1), (0, 1), (1, 0))),
        ("polygon", corners((0, 0), (1, 1))),
        ("polygon", corners((0, 190), (1, 191), (0, 192))),
    )
    assert bow_tie is two is None
    assert fine["coordinates"] == [[[-170, 0], [-169, 1], [-168, 0], [-170, 0]]]
    (world,) = ask("map/geometry", ("rectangle", {"south": -60, "west": -200, "north": 70, "east": 190}))
    ring = world["coordinates"][0]
    assert max(abs(one[0] - other[0]) for one, other in pairwise(ring)) <= 90


def test_degrees_are_read_as_people_type_them() -> None:
    typed = {
        ("43.73", 90): 43.73,
        ("43,73 N", 90): 43.73,
        ("43° 44' 24\" S", 90): -43.74,
        ("−7.5", 180): -7.5,
        ("7.42 W", 180): -7.42,
        ("91", 90): None,
        ("7 N", 180): None,
        ("far", 90): None,
        ("", 90): None,
    }
    found = ask("map/typed", *(("degrees", text, most) for text, most in typed))
    assert found == [value if value is None else pytest.approx(value) for value in typed.values()]


def test_points_are_written_as_their_standards_have_it() -> None:
    # The codes are from the test data of Open Location Code.
    calls = [
        ("plusCode", 47.0000625, 8.0000625), ("plusCode", 20.3701125, 2.782234375),
        ("plusCode", -41.2730625, 174.7859375), ("plusCode", 90, 1), ("plusCode", 0.5, -179.5, 4),
        ("mgrs", 78.22, 15.65, 0), ("mgrs", 60.0, 5.0, 0), ("mgrs", 88, 0),
        ("dms", 43.738389, 7.424611), ("dms", -33.99999, -0.5, 0),
    ]  # fmt: skip
    assert ask("map/coordinates", *calls) == [
        "8FVC2222+22", "7FG49QCJ+2V", "4VCPPQGP+Q9", "CFX3X2X2+X2", "62G20000+",
        "33XWG", "32VKM", "",
        "43°44′18.2″N 7°25′28.6″E", "34°00′00″S 0°30′00″W",
    ]  # fmt: skip


def test_grid_references_are_those_of_proj() -> None:
    warp = pytest.importorskip("rasterio.warp", reason="rasterio is not installed")
    places = [
        (48.8584, 2.2945),
        (38.8977, -77.0365),
        (-33.8568, 151.2153),
        (-0.18, -78.47),
        (64.15, -21.94),
        (1.3, 103.8),
    ]
    columns, rows = "ABCDEFGHJKLMNPQRSTUVWXYZ", "ABCDEFGHJKLMNPQRSTUV"
    for (lat, lon), found in zip(places, ask("map/coordinates", *(("mgrs", *one) for one in places)), strict=True):
        zone = int((lon + 180) // 6) + 1
        (east,), (north,) = warp.transform(
            "EPSG:4326", f"EPSG:{32600 + zone if lat >= 0 else 32700 + zone}", [lon], [lat]
        )
        square, easting, northing = found.split()
        assert square[:2] == str(zone)
        assert square[3] == columns[8 * ((zone - 1) % 3) + int(east // 100_000) - 1]
        assert square[4] == rows[(int(north // 100_000) + (0 if zone % 2 else 5)) % 20]
        assert abs(int(easting) - east % 100_000) <= 1
        assert abs(int(northing) - north % 100_000) <= 1


def test_percentages_are_those_of_the_server() -> None:
    shares = [number / 2000 for number in range(2001)]
    assert ask("format", *(("wholePercent", share) for share in shares)) == [whole_percent(share) for share in shares]


def test_numbers_ascend_in_a_list_and_rows_without_one_stay() -> None:
    assert ask("photo/numbering", ("inOrder", [3, None, 1, 2]), ("inOrder", [None, None]), ("inOrder", [])) == [
        [2, 1, 3, 0],
        [0, 1],
        [],
    ]
