"""What a person sees on a drawn map."""

import io
import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import shapely
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image, ImageChops, ImageColor

from geosleuth.atlas import Marker, Picture
from geosleuth.atlas.maps import MapSources, draw_map
from geosleuth.geo import Box, LatLon
from geosleuth.support.errors import BadInput

ORIGIN = LatLon(0.0, 0.0)
LAND, SEA, GREEN, BUILDING = "#f3f0e8", "#a8cfe3", "#cce1b8", "#dbd2c6"
STREET = shapely.LineString([(-0.01, 0.0), (0.01, 0.0)])
Decode = Callable[[Picture], Image.Image]
MakeRegion = Callable[..., Path]


def rgb(image: Image.Image, spot: tuple[int, int]) -> tuple[int, ...]:
    pixel = image.getpixel(spot)
    assert isinstance(pixel, tuple)
    return tuple(round(value) for value in pixel)


def near(image: Image.Image, spot: tuple[int, int], colour: str, within: int = 6) -> bool:
    return all(abs(a - b) <= within for a, b in zip(rgb(image, spot), ImageColor.getrgb(colour), strict=True))


def changed(before: Image.Image, after: Image.Image) -> tuple[int, int, int, int] | None:
    return ImageChops.difference(before, after).getbbox()


def world(box: Box, _zoom: float) -> Iterable[tuple[shapely.Geometry, str, str]]:
    """Two countries: one round the origin, one on both sides of the antimeridian."""
    countries = [
        ("Nullia", shapely.box(-20, -20, 20, 20)),
        ("Datelia", shapely.MultiPolygon([shapely.box(170, -10, 180, 10), shapely.box(-180, -10, -170, 10)])),
    ]
    frame = shapely.box(box.west, box.south, box.east, box.north)
    return [(geometry, "country", name) for name, geometry in countries if geometry.intersects(frame)]


def test_png_has_the_size_asked_for(opened: Decode) -> None:
    picture = draw_map(MapSources(), ORIGIN, 10, (321, 123))
    assert opened(picture).size == (321, 123)
    assert isinstance(picture.extent, Box)
    assert picture.extent.contains(ORIGIN)


def test_layers_lie_where_they_are(make_region: MakeRegion, opened: Decode) -> None:
    region = make_region(
        [
            ("green", 1, None, shapely.box(-0.004, 0.001, -0.002, 0.003)),
            ("water", 1, None, shapely.box(0.002, 0.001, 0.004, 0.003)),
            ("building", 1, None, shapely.box(-0.004, -0.003, -0.002, -0.001)),
            ("road", 3, None, STREET),
        ]
    )
    image = opened(draw_map(MapSources([region]), ORIGIN, 16))
    per_degree = 256 * 2**16 / 360

    def at(lon: float, lat: float) -> tuple[int, int]:
        return round(320 + lon * per_degree), round(320 - lat * per_degree)

    assert near(image, at(-0.003, 0.002), GREEN)
    assert near(image, at(0.003, 0.002), SEA)
    assert near(image, at(-0.003, -0.002), BUILDING)
    assert near(image, at(0.003, -0.002), LAND)
    assert near(image, (320, 320), "#fad98d")
    for side in (-1, 1):  # the road's edge is darker than the road and the ground
        assert (
            min(sum(rgb(image, (100, 320 + side * dy))) for dy in range(3, 9)) < sum(ImageColor.getrgb("#fad98d")) - 30
        )


@pytest.mark.parametrize("northwards", [True, False])
def test_land_is_on_the_left_of_a_coast(make_region: MakeRegion, opened: Decode, northwards: bool) -> None:
    coast = shapely.LineString([(0, -1), (0.0005, 0), (0, 1)])
    region = make_region([("coast", 1, None, coast if northwards else coast.reverse())])
    image = opened(draw_map(MapSources([region]), ORIGIN, 14))
    west, east = (LAND, SEA) if northwards else (SEA, LAND)
    assert near(image, (100, 320), west)
    assert near(image, (540, 320), east)


def test_an_island_and_a_coast_that_stops_in_view(make_region: MakeRegion, opened: Decode) -> None:
    island = shapely.box(0.004, -0.002, 0.008, 0.002, ccw=True).exterior
    shore = shapely.LineString([(-0.005, -0.02), (-0.005, 0.011)])
    region = make_region([("coast", 1, None, island), ("coast", 1, None, shore)])
    image = opened(draw_map(MapSources([region]), ORIGIN, 14))
    per_degree = 256 * 2**14 / 360
    assert near(image, (320 + round(0.006 * per_degree), 320), LAND)
    assert near(image, (320, 320), SEA)
    assert near(image, (20, 320), LAND)


def test_outlines_give_land_and_sea_where_no_region_is(opened: Decode) -> None:
    image = opened(draw_map(MapSources(outlines=world), ORIGIN, 2))
    assert near(image, (330, 330), LAND)
    assert near(image, (320, 60), SEA)


def test_across_the_antimeridian(opened: Decode) -> None:
    picture = draw_map(MapSources(outlines=world), LatLon(0, 180), 4, markers=[Marker(LatLon(0, -179.99))])
    image = opened(picture)
    assert isinstance(picture.extent, Box)
    assert picture.extent.west > picture.extent.east
    for x in (260, 300, 345, 400):
        assert near(image, (x, 350), LAND)
    assert near(image, (20, 320), SEA)
    assert near(image, (320, 300), "#c4002f", 60) or near(image, (320, 302), "#ffffff", 60)


@pytest.mark.parametrize("lat", [90.0, 86.0, -90.0])
def test_at_a_pole(opened: Decode, lat: float) -> None:
    picture = draw_map(MapSources(outlines=world), LatLon(lat, 0), 5, markers=[Marker(LatLon(lat, 0), "Pole")])
    image = opened(picture)
    beyond, sea = ((320, 100), (320, 500)) if lat > 0 else ((320, 500), (320, 100))
    assert near(image, beyond, "#dfe3e6")
    assert near(image, sea, SEA)


def test_marker_tip_is_on_the_point(opened: Decode) -> None:
    plain = opened(draw_map(MapSources(), ORIGIN, 12))
    marked = opened(draw_map(MapSources(), ORIGIN, 12, markers=[Marker(ORIGIN, colour="#0000ff")]))
    box = changed(plain, marked)
    assert box is not None
    left, top, right, bottom = box
    assert abs((left + right) / 2 - 320) <= 1
    assert abs(bottom - 321) <= 2
    assert 20 <= bottom - top <= 32
    assert near(marked, (320, 306), "#0000ff", 30)


def test_street_name_is_written_along_the_street(make_region: MakeRegion, opened: Decode) -> None:
    slope = shapely.LineString([(-0.006, -0.006), (0.006, 0.006)])
    bare = opened(draw_map(MapSources([make_region([("road", 6, None, slope)], name="bare")]), ORIGIN, 16))
    named = opened(draw_map(MapSources([make_region([("road", 6, "Rue Grimaldi", slope)], name="named")]), ORIGIN, 16))
    box = changed(bare, named)
    assert box is not None
    width, height = box[2] - box[0], box[3] - box[1]
    assert width > 40
    assert 0.7 < width / height < 1.4  # it climbs at 45 degrees, as the street does


def test_names_do_not_lie_on_each_other(make_region: MakeRegion, opened: Decode) -> None:
    first = ("place", 1, "Firstville", shapely.Point(0, 0))
    second = ("place", 5, "Second", shapely.Point(0.0001, 0.0001))
    far = ("place", 5, "Second", shapely.Point(0.004, 0.004))
    alone = draw_map(MapSources([make_region([first], name="one")]), ORIGIN, 16)
    crowded = draw_map(MapSources([make_region([first, second], name="two")]), ORIGIN, 16)
    spread = draw_map(MapSources([make_region([first, far], name="three")]), ORIGIN, 16)
    assert crowded.png == alone.png
    assert changed(opened(alone), opened(spread)) is not None


def test_a_pin_does_not_hide_the_name_of_its_town(make_region: MakeRegion, opened: Decode) -> None:
    town = make_region([("place", 1, "Firstville", shapely.Point(0, 0))], name="town")
    pinned = [
        opened(draw_map(MapSources([region]), ORIGIN, 14, markers=[Marker(ORIGIN)]))
        for region in (town, make_region(name="none"))
    ]
    assert changed(*pinned) is not None


def test_credit_is_drawn_and_returned(make_region: MakeRegion, opened: Decode) -> None:
    credited = draw_map(MapSources([make_region([("road", 3, None, STREET)], name="a")]), ORIGIN, 15)
    silent = draw_map(MapSources([make_region([("road", 3, None, STREET)], name="b", attribution="")]), ORIGIN, 15)
    assert credited.attribution == "© OpenStreetMap contributors"
    box = changed(opened(credited), opened(silent))
    assert box is not None
    assert box[0] > 400
    assert box[1] > 600
    elsewhere = draw_map(MapSources([make_region(name="c")], outlines=world, base_attribution="NE"), LatLon(40, 40), 12)
    assert elsewhere.attribution == "NE"


@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.text(max_size=200))
def test_any_name_can_be_drawn(make_region: MakeRegion, tmp_path: Path, name: str) -> None:
    for old in tmp_path.glob("*.sqlite"):
        old.unlink()
    storable = name.encode("utf-8", "ignore").decode()
    region = make_region([("place", 1, storable, shapely.Point(0, 0)), ("road", 3, storable, STREET)])
    assert draw_map(MapSources([region]), ORIGIN, 16, (90, 90), [Marker(ORIGIN, name)]).png


def test_damaged_shapes_are_left_out(make_region: MakeRegion, opened: Decode) -> None:
    path = make_region([("road", 3, "A", STREET), ("building", 1, None, shapely.box(-0.01, -0.01, 0.01, 0.01))])
    with sqlite3.connect(path) as conn:
        conn.execute("UPDATE shape SET shapes = x'0102', rank = 'two' WHERE layer = 'building'")
    conn.close()
    image = opened(draw_map(MapSources([path]), ORIGIN, 16))
    assert near(image, (320, 200), LAND)
    assert near(image, (200, 320), "#fad98d", 60)


@pytest.mark.parametrize("content", [b"", b"not a database at all", b"SQLite format 3\x00" + bytes(84)])
def test_a_file_that_is_no_region(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.region.sqlite"
    path.write_bytes(content)
    with pytest.raises(BadInput, match="region"):
        draw_map(MapSources([path]), ORIGIN)
    with pytest.raises(BadInput, match="no such region file"):
        draw_map(MapSources([tmp_path / "absent"]), ORIGIN)


@pytest.mark.parametrize(
    ("zoom", "size"),
    [(-1, (640, 640)), (20.1, (640, 640)), (float("nan"), (640, 640)), (15, (0, 640)), (15, (640, 2049))],
)
def test_out_of_range(zoom: float, size: tuple[int, int]) -> None:
    with pytest.raises(BadInput):
        draw_map(MapSources(), ORIGIN, zoom, size)


def test_markers_that_can_not_be_drawn() -> None:
    with pytest.raises(BadInput, match="not a colour"):
        draw_map(MapSources(), ORIGIN, markers=[Marker(ORIGIN, colour="reddish; DROP TABLE")])
    with pytest.raises(BadInput, match="markers"):
        draw_map(MapSources(), ORIGIN, markers=[Marker(ORIGIN)] * 501)


def test_monaco_looks_like_monaco(tmp_path: Path, opened: Decode) -> None:
    extract = Path(__file__).parents[4] / "shared/data/osm/monaco.osm.pbf"
    if not extract.exists():
        pytest.skip(f"{extract} is not here")
    from geosleuth.atlas.regions import import_osm

    region = import_osm(extract, "monaco", folder=tmp_path).path
    picture = draw_map(MapSources([region]), LatLon(43.7384, 7.4246), 15)
    image = opened(picture)
    assert near(image, (600, 500), SEA)  # the Mediterranean
    assert near(image, (345, 385), SEA)  # Port Hercule
    assert near(image, (60, 100), LAND)  # the slopes above the town
    assert picture.attribution == "© OpenStreetMap contributors"


def ink_px(picture: Picture) -> int:
    """How many pixels are as dark as letters."""
    with Image.open(io.BytesIO(picture.png)) as image:
        return int((np.asarray(image.convert("L")) < 90).sum())


EMPTY_PLAIN = LatLon(46.9, 20.1)
TOWNS = [
    (LatLon(46.93, 20.1), "Tiszakürt", 0.8),
    (LatLon(46.9, 20.4), "Szentes", 1.5),
    (LatLon(46.5, 20.1), "Algyő", 1),
]


def test_a_map_without_regions_names_towns_and_points_to_those_beyond_its_edges() -> None:
    def drawn(zoom: float, towns: list[tuple[LatLon, str, float]]) -> Picture:
        sources = MapSources(outlines=lambda _box, _zoom: [(shapely.box(0, 30, 40, 60), "land", "")])
        return draw_map(replace(sources, towns=lambda _view: towns), EMPTY_PLAIN, zoom, (480, 480))

    for zoom in (8.5, 12, 15):
        assert ink_px(drawn(zoom, TOWNS)) > ink_px(drawn(zoom, [])) + 200
    assert ink_px(drawn(15, TOWNS)) > ink_px(drawn(15, TOWNS[:1])) + 100
    assert drawn(4, TOWNS).png == drawn(4, []).png


def test_land_is_coloured_by_its_height_and_water_is_not() -> None:
    sources = MapSources(
        outlines=lambda _box, _zoom: [(shapely.box(0, 0, 10, 10), "land", "")],
        altitudes=lambda lats, _lons: np.where(lats > 5, 4000.0, 10.0),
    )
    with Image.open(io.BytesIO(draw_map(sources, LatLon(5, 10), 5, (320, 320)).png)) as image:
        pixels = image.convert("RGB")
        high, low, sea = (pixels.getpixel(at) for at in ((60, 60), (60, 250), (280, 60)))
    assert sea == ImageColor.getrgb(SEA)
    assert ImageColor.getrgb(LAND) not in (high, low)
    assert isinstance(high, tuple)
    assert isinstance(low, tuple)
    assert high[1] < low[1], "mountains are browner than plains"
