"""Maps and pictures from above: stitched tiles and static maps, of the asked size and for the asked ground."""

import asyncio
import io
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from geosleuth.atlas.online import OnlineSettings, TileSource, make_online
from geosleuth.atlas.online.replies import picture_box, to_pixels
from geosleuth.atlas.protocol import Marker, NotOffered, Picture
from geosleuth.geo import Box, LatLon, distance_km
from geosleuth.geo.gcj02 import to_gcj02
from geosleuth.support.errors import BadInput, ServiceFault

Settings = Callable[..., OnlineSettings]
MONACO = LatLon(43.7384, 7.4246)


def ask(name: str, settings: OnlineSettings, call: Callable[[Any], Coroutine[Any, Any, Picture]]) -> Picture:
    async def go() -> Picture:
        async with make_online(name, settings) as atlas:
            return await call(atlas)

    return asyncio.run(go())


def png(size: tuple[int, int] = (256, 256), colour: tuple[int, int, int] = (0, 128, 0)) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", size, colour).save(stream, "PNG")
    return stream.getvalue()


def opened(picture: Picture) -> Image.Image:
    image = Image.open(io.BytesIO(picture.png))
    assert image.format == "PNG"
    return image.convert("RGB")


def tiles(service: Any, **more: Any) -> TileSource:
    return TileSource(template=f"{service.url}/{{z}}/{{x}}/{{y}}.png", attribution="© Test", **more)


def colour_of(column: int, row: int) -> tuple[int, int, int]:
    return (column * 40 % 256, row * 40 % 256, 90)


def lay_tiles(service: Any, zoom: int) -> None:
    for column in range(2**zoom):
        for row in range(2**zoom):
            service.reply(f"/{zoom}/{column}/{row}.png", png(colour=colour_of(column, row)))


def test_tiles_are_stitched_where_they_belong(service: Any, settings: Settings) -> None:
    lay_tiles(service, 3)
    picture = ask("xyz", settings(map_tiles=tiles(service)), lambda atlas: atlas.map(MONACO, zoom=3, size=(500, 300)))
    image = opened(picture)
    assert image.size == (500, 300)
    assert (picture.attribution, picture.source) == ("© Test", "127.0.0.1")
    x, y = to_pixels(MONACO, 3)
    for at in ((0, 0), (499, 0), (0, 299), (499, 299), (250, 150)):
        column, row = int((x - 250 + at[0]) // 256), int((y - 150 + at[1]) // 256)
        assert image.getpixel(at) == colour_of(column, row)
    assert isinstance(picture.extent, Box)
    assert picture.extent.contains(MONACO)
    assert distance_km(picture.extent.centre, MONACO) < 400  # Mercator: the middle row is not the middle latitude


def test_half_zooms_are_shrunk_and_pins_drawn(service: Any, settings: Settings) -> None:
    lay_tiles(service, 3)
    marker = Marker(MONACO, "Monaco", "#ff0000")
    chosen = settings(map_tiles=tiles(service))
    picture = ask("xyz", chosen, lambda atlas: atlas.map(MONACO, zoom=2.5, size=(200, 200), markers=[marker]))
    image = opened(picture)
    assert image.size == (200, 200)
    assert image.getpixel((100, 100)) == (255, 0, 0)
    assert {one.path.split("/")[1] for one in service.asked} == {"3"}
    with pytest.raises(BadInput, match="not a colour"):
        ask("xyz", chosen, lambda atlas: atlas.map(MONACO, zoom=3, markers=[Marker(MONACO, colour="javascript:")]))


def test_the_map_goes_round_the_antimeridian_and_ends_at_the_poles(service: Any, settings: Settings) -> None:
    lay_tiles(service, 2)
    chosen = settings(satellite_tiles=tiles(service))
    picture = ask("xyz", chosen, lambda atlas: atlas.satellite(LatLon(84, 179.9), zoom=2, size=(256, 400)))
    image = opened(picture)
    assert image.getpixel((20, 390))[0] == colour_of(3, 0)[0]  # type: ignore[index]
    assert image.getpixel((236, 390))[0] == colour_of(0, 0)[0]  # type: ignore[index]
    assert image.getpixel((20, 5)) == (221, 221, 221)
    assert isinstance(picture.extent, Box)
    assert picture.extent.west > picture.extent.east


def test_missing_tiles_are_grey_and_none_at_all_is_a_fault(service: Any, settings: Settings) -> None:
    service.reply("/3/4/2.png", png())
    chosen = settings(map_tiles=tiles(service))
    image = opened(ask("xyz", chosen, lambda atlas: atlas.map(MONACO, zoom=3, size=(600, 600))))
    assert {colour for _, colour in image.getcolors() or ()} == {(0, 128, 0), (221, 221, 221)}
    with pytest.raises(ServiceFault, match="has no tiles there"):
        ask("xyz", chosen, lambda atlas: atlas.map(LatLon(-40, 100), zoom=3))


def test_a_tile_key_travels_apart(service: Any, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    service.reply("*", png())
    chosen = settings(map_tiles=tiles(service, key_variable="TILE_KEY", key_param="token"))
    with pytest.raises(BadInput, match="TILE_KEY"):
        ask("xyz", chosen, lambda atlas: atlas.map(MONACO, zoom=3))
    monkeypatch.setenv("TILE_KEY", "tile-sesame")
    ask("xyz", chosen, lambda atlas: atlas.map(MONACO, zoom=3))
    assert service.last.params == {"token": "tile-sesame"}
    assert chosen.cache_path is not None
    assert all(b"tile-sesame" not in file.read_bytes() for file in chosen.cache_path.parent.iterdir())


def test_without_tiles_it_says_what_to_do(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(NotOffered, match="name one in GEOSLEUTH_SATELLITE_TILES"):
        ask("xyz", settings(), lambda atlas: atlas.satellite(MONACO))
    odd = TileSource(template="https://tiles.example/{z}/{x}.png", attribution="")
    with pytest.raises(BadInput, match="must hold"):
        ask("xyz", settings(map_tiles=odd), lambda atlas: atlas.map(MONACO))
    fine = TileSource(template="https://tiles.example/{z}/{x}/{y}.png", attribution="")
    with pytest.raises(BadInput, match=r"contact tiles\.example"):
        ask("xyz", OnlineSettings(map_tiles=fine, cache_path=tmp_path / "c"), lambda atlas: atlas.map(MONACO))


def huge() -> bytes:
    """A small file that claims to be a picture of 60,000 pixels a side."""
    content = bytearray(png((1, 1)))
    content[16:24] = (60_000).to_bytes(4, "big") * 2
    return bytes(content)


@pytest.mark.parametrize("body", [b"", b"not a picture", png()[:60], huge(), b"%PDF-1.4", b"GIF89a"])
@pytest.mark.parametrize("name", ["xyz", "google", "amap"])
def test_what_is_no_picture_is_a_fault(service: Any, settings: Settings, body: bytes, name: str) -> None:
    service.reply("*", body)
    with pytest.raises(ServiceFault, match="picture"):
        ask(name, settings(map_tiles=tiles(service), tries=1), lambda atlas: atlas.map(LatLon(39.9, 116.4), zoom=3))


@pytest.mark.parametrize(
    ("zoom", "size"), [(-1.0, (256, 256)), (float("nan"), (256, 256)), (3.0, (0, 10)), (3.0, (9000, 10))]
)
@pytest.mark.parametrize("name", ["xyz", "google", "amap"])
def test_pictures_of_no_sense_are_not_asked_for(
    service: Any, settings: Settings, name: str, zoom: float, size: tuple[int, int]
) -> None:
    with pytest.raises(BadInput):
        ask(name, settings(map_tiles=tiles(service)), lambda atlas: atlas.map(MONACO, zoom=zoom, size=size))
    assert service.asked == []


def test_google_draws_maps_and_pictures_from_above(service: Any, settings: Settings) -> None:
    service.reply("/maps/api/staticmap", png((400, 300)))
    picture = ask(
        "google", settings(), lambda atlas: atlas.map(MONACO, zoom=15, size=(400, 300), markers=[Marker(MONACO, "a")])
    )
    params = service.last.params
    assert (params["center"], params["zoom"], params["size"], params["maptype"]) == (
        "43.7384000,7.4246000",
        "15",
        "400x300",
        "roadmap",
    )
    assert params["markers"] == "color:0xc4002f|label:A|43.7384000,7.4246000"
    assert opened(picture).size == (400, 300)
    assert picture.extent == picture_box(MONACO, 15, (400, 300))
    large = ask("google", settings(), lambda atlas: atlas.satellite(MONACO, zoom=16, size=(1000, 800)))
    params = service.last.params
    assert (params["zoom"], params["size"], params["scale"], params["maptype"]) == ("15", "500x400", "2", "satellite")
    assert opened(large).size == (1000, 800)
    assert large.extent == picture_box(MONACO, 16, (1000, 800))


def test_amap_draws_maps_of_shifted_ground(service: Any, settings: Settings) -> None:
    beijing = LatLon(39.9042, 116.4074)
    service.reply("/v3/staticmap", png((640, 640)))
    picture = ask("amap", settings(), lambda atlas: atlas.map(beijing, zoom=15, markers=[Marker(beijing, "x")]))
    assert service.last.params["location"] != "116.407400,39.904200"
    assert service.last.params["markers"].startswith("mid,0xC4002F,X:116.41")
    assert isinstance(picture.extent, Box)
    assert distance_km(picture.extent.centre, beijing) < 0.01
    service.reply("/v3/staticmap", {"status": "0", "info": "INVALID_PARAMS", "infocode": "20000"})
    with pytest.raises(ServiceFault, match="INVALID_PARAMS"):
        ask("amap", settings(), lambda atlas: atlas.map(beijing, zoom=14))


def test_tiles_in_gcj02_are_taken_from_where_the_place_lies_in_them(
    service: Any, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At zoom 18 the shift of some 500 m is more than two tiles; AMAP shows the same tiles."""
    monkeypatch.setenv("AMAP_KEY", "secret")
    shanghai = LatLon(31.2304, 121.4737)

    def tile_of(point: LatLon) -> str:
        column, row = (int(value // 256) for value in to_pixels(point, 18))
        return f"/18/{column}/{row}.png"

    red, green = (200, 0, 0), (0, 128, 0)
    assert tile_of(shanghai) != tile_of(to_gcj02(shanghai))
    service.reply(tile_of(shanghai), png(colour=red))
    service.reply(tile_of(to_gcj02(shanghai)), png(colour=green))
    for name, datum, colour in (("xyz", "wgs84", red), ("xyz", "gcj02", green), ("amap", "gcj02", green)):
        chosen = settings(satellite_tiles=tiles(service, datum=datum))
        picture = ask(name, chosen, lambda atlas: atlas.satellite(shanghai, zoom=18, size=(16, 16)))
        assert opened(picture).getpixel((8, 8)) == colour
