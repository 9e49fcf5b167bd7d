"""Mosaics from Sentinel-2: real GeoTIFF and JPEG 2000 files, made here, with pixels whose place is known."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image
from pyproj import Transformer

from geosleuth.geo import LatLon
from geosleuth.lab.bench.makers.mosaics import (
    Frame,
    SatelliteScene,
    find_scenes,
    frame_around,
    make_mosaic,
    make_mosaics,
)
from geosleuth.lab.bench.makers.photo_tables import build_point_place
from geosleuth.lab.bench.sets import open_set
from geosleuth.support.errors import BadInput

rasterio = pytest.importorskip("rasterio")
# rasterio multiplies transforms in a way that the package for them will give up one day.
pytestmark = pytest.mark.filterwarnings("ignore:Use `@` matmul:PendingDeprecationWarning")

CITY = LatLon(38.7223, -9.1393)
SIDE = 64
FRAME = frame_around(CITY, SIDE)
RED, GREEN, BLUE = (200, 30, 30), (30, 200, 30), (30, 30, 200)


def write(
    path: Path,
    values: npt.NDArray[Any],
    *,
    west: float = FRAME.west_m - 200,
    north: float = FRAME.north_m + 200,
    metres: float = 10.0,
    epsg: int | None = FRAME.epsg,
) -> Path:
    """A raster of bands, rows, columns, at a place; by default 20 pixels wider than the square on each side."""
    path.parent.mkdir(parents=True, exist_ok=True)
    more = (
        {}
        if epsg is None
        else {"crs": f"EPSG:{epsg}", "transform": rasterio.transform.from_origin(west, north, metres, metres)}
    )
    if path.suffix == ".jp2":
        more |= {"driver": "JP2OpenJPEG", "QUALITY": "100", "REVERSIBLE": "YES"}
    else:
        more["driver"] = "GTiff"
    bands, height, width = values.shape
    with rasterio.open(path, "w", width=width, height=height, count=bands, dtype=values.dtype, **more) as sink:
        sink.write(values)
    return path


def flat(colour: tuple[int, int, int], side: int = SIDE + 40) -> npt.NDArray[np.uint8]:
    """A picture of one colour, bands first."""
    return np.broadcast_to(np.array(colour, dtype=np.uint8)[:, None, None], (3, side, side)).copy()


def safe(folder: Path, name: str, *, classes: npt.NDArray[np.uint8] | None = None, **bands: npt.NDArray[Any]) -> Path:
    """A product as the Copernicus hub lays it out, as far as it is read."""
    product = folder / f"{name}.SAFE"
    images = product / "GRANULE" / f"L2A_{name}" / "IMG_DATA"
    for band, values in bands.items():
        write(images / "R10m" / f"T29SMC_20230601_{band}_10m.jp2", values)
    if classes is not None:
        write(images / "R20m" / "T29SMC_20230601_SCL_20m.jp2", classes[None], metres=20.0)
    return product


def pixel_of(frame: Frame, point: LatLon) -> tuple[float, float]:
    """Column and row of a point, from the upper left corner of the upper left pixel."""
    x, y = Transformer.from_crs(4326, frame.epsg, always_xy=True).transform(point.lon, point.lat)
    return (x - frame.west_m) / frame.metres, (frame.north_m - y) / frame.metres


def test_a_known_point_lies_at_its_pixel() -> None:
    frame = frame_around(CITY)
    assert (frame.epsg, frame.side_px, frame.metres) == (32629, 2000, 10.0)
    assert pixel_of(frame, CITY) == pytest.approx((1000, 1000), abs=0.51)
    assert (frame.west_m % 10, frame.north_m % 10) == (0, 0)
    assert frame_around(LatLon(-33.9, 18.4)).epsg == 32734
    with pytest.raises(BadInput, match="UTM"):
        frame_around(LatLon(88, 0))


def test_pixels_of_the_same_grid_come_over_exactly(tmp_path: Path) -> None:
    values = np.random.default_rng(0).integers(1, 256, (3, SIDE + 40, SIDE + 40), dtype=np.uint8)
    write(tmp_path / "T29SMC_TCI.jp2", values)
    (scene,) = find_scenes([tmp_path])
    mosaic = make_mosaic([scene], FRAME)
    assert np.array_equal(mosaic.pixels, values[:, 20:-20, 20:-20].transpose(1, 2, 0))
    assert (mosaic.clear, mosaic.cloudy, mosaic.empty) == (1.0, 0.0, 0.0)


def test_another_zone_is_turned_into_ours(tmp_path: Path) -> None:
    """A scene in the next UTM zone, with one bright spot at the city."""
    x, y = Transformer.from_crs(4326, 32630, always_xy=True).transform(CITY.lon, CITY.lat)
    side = 200
    west, north = round(x / 10) * 10 - side * 5, round(y / 10) * 10 + side * 5
    values = flat((10, 10, 10), side)
    values[:, side // 2 - 2 : side // 2 + 2, side // 2 - 2 : side // 2 + 2] = 250
    write(tmp_path / "a_TCI.tif", values, west=west, north=north, epsg=32630)
    mosaic = make_mosaic(find_scenes([tmp_path]), FRAME)
    column, row = pixel_of(FRAME, CITY)
    assert mosaic.empty == 0
    bright = np.argwhere(mosaic.pixels[:, :, 0] > 128)
    assert bright.mean(axis=0) == pytest.approx([row - 0.5, column - 0.5], abs=1.5)


def test_the_clearest_comes_first_and_others_fill_in(tmp_path: Path) -> None:
    half = (SIDE + 40) // 2
    mostly, partly = (np.full((half, half), 4, dtype=np.uint8) for _ in range(2))
    mostly[:, : half * 3 // 4] = 9
    partly[: half // 4, :] = 3
    cloudy = safe(tmp_path, "A_cloudy", TCI=flat(RED), classes=mostly)
    clear = safe(tmp_path, "B_clear", TCI=flat(GREEN), classes=partly)
    mosaic = make_mosaic(find_scenes([tmp_path]), FRAME)
    assert [scene.picture for scene in mosaic.scenes] == [next(one.rglob("*TCI*")) for one in (clear, cloudy)]
    assert mosaic.pixels[-1, 0].tolist() == list(GREEN)
    # The upper rows lie in shadow in the clear scene; the right part of them is clear in the cloudy one.
    assert mosaic.pixels[0, -1].tolist() == list(RED)
    # Neither shows the upper left clearly: there the clearer one is taken as it is.
    assert mosaic.pixels[0, 0].tolist() == list(GREEN)
    assert mosaic.empty == 0
    assert 0 < mosaic.cloudy < 0.2
    assert mosaic.clear + mosaic.cloudy == pytest.approx(1)
    assert {clear.name, cloudy.name} == {"B_clear.SAFE", "A_cloudy.SAFE"}


def test_cities_become_a_data_set(tmp_path: Path) -> None:
    write(tmp_path / "scenes" / "a_TCI.tif", flat(GREEN, 200), west=FRAME.west_m - 500, north=FRAME.north_m + 500)
    cities = [build_point_place("Lisbon", CITY, "Lisbon", "Portugal"), build_point_place("Porto", LatLon(41.15, -8.61))]
    out = tmp_path / "out"
    scenes = find_scenes([tmp_path / "scenes"])
    made = make_mosaics(cities, scenes, out, side_px=SIDE)
    assert made.made == ("Lisbon",)
    assert made.refused == {"Porto": "no scene covers any of this square; give scenes of this area"}
    (item,) = open_set(f"table:{out}")
    assert (item.id, item.truth.point, item.truth.country) == ("Lisbon", CITY, "Portugal")
    assert item.fields["epsg"] == "32629"
    assert (item.fields["clear"], item.fields["empty"]) == ("1.0000", "0.0000")
    with Image.open(item.picture.where) as image:
        assert image.size == (SIDE, SIDE)
    again = make_mosaics(cities[:1], scenes, out, side_px=SIDE)
    assert (again.made, again.kept) == ((), ("Lisbon",))
    assert [one.fields for one in open_set(f"table:{out}")] == [item.fields]


def test_what_is_finished_stays_in_the_table_while_the_rest_is_made(tmp_path: Path) -> None:
    write(tmp_path / "a_TCI.tif", flat(GREEN))
    scenes, out = find_scenes([tmp_path / "a_TCI.tif"]), tmp_path / "out"
    cities = [build_point_place(name, CITY) for name in ("Almada", "Lisbon", "Tagus")]
    make_mosaics(cities[1:], scenes, out, side_px=SIDE)

    def cut_off(done: int, _total: int) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_mosaics(cities, scenes, out, side_px=SIDE, progress=cut_off)
    assert [one.id for one in open_set(f"table:{out}")] == ["Almada", "Lisbon", "Tagus"]
    last = make_mosaics(cities, scenes, out, side_px=SIDE)
    assert (last.made, last.kept) == ((), ("Almada", "Lisbon", "Tagus"))


def test_finds_pictures_with_their_classes_and_passes_others_over(tmp_path: Path) -> None:
    write(tmp_path / "T1_TCI_20m.tif", flat(RED))
    finest = write(tmp_path / "T1_TCI_10m.tif", flat(RED))
    classes = write(tmp_path / "T1_SCL_20m.tif", np.ones((1, 8, 8), dtype=np.uint8))
    write(tmp_path / "height.tif", np.ones((1, 8, 8), dtype=np.float32))
    assert find_scenes([tmp_path]) == [SatelliteScene(finest, classes)]
    with pytest.raises(BadInput, match="no such file"):
        find_scenes([tmp_path / "none"])
    with pytest.raises(BadInput, match="no scenes found"):
        find_scenes([tmp_path / "height.tif"])


def test_what_can_not_be_read_is_named(tmp_path: Path) -> None:
    torn = tmp_path / "a_TCI.tif"
    torn.write_bytes(b"torn")
    with pytest.raises(BadInput, match=r"a_TCI\.tif: can't be read"):
        make_mosaic([SatelliteScene(torn)], FRAME)
    with pytest.warns(rasterio.errors.NotGeoreferencedWarning):
        nowhere = write(tmp_path / "b_TCI.tif", flat(RED), epsg=None)
    with pytest.raises(BadInput, match="has no georeference"):
        make_mosaic([SatelliteScene(nowhere)], FRAME)
    with pytest.raises(BadInput, match="no scene covers any"):
        make_mosaic([SatelliteScene(write(tmp_path / "c_TCI.tif", flat(RED)))], Frame(32629, 0.0, 0.0, SIDE))


def test_a_list_of_other_files_is_no_scene_whatever_it_is_called(tmp_path: Path) -> None:
    elsewhere = write(tmp_path / "private" / "other.tif", flat(RED))
    listed = "".join(
        f"""<VRTRasterBand dataType="Byte" band="{band}"><SimpleSource>
        <SourceFilename relativeToVRT="0">{elsewhere}</SourceFilename><SourceBand>{band}</SourceBand>
        </SimpleSource></VRTRasterBand>"""
        for band in (1, 2, 3)
    )
    fake = tmp_path / "scenes" / "a_TCI.tif"
    fake.parent.mkdir()
    fake.write_text(
        f"""<VRTDataset rasterXSize="{SIDE + 40}" rasterYSize="{SIDE + 40}"><SRS>EPSG:{FRAME.epsg}</SRS>
        <GeoTransform>{FRAME.west_m - 200}, 10, 0, {FRAME.north_m + 200}, 0, -10</GeoTransform>{listed}</VRTDataset>"""
    )
    with pytest.raises(BadInput, match=r"a_TCI\.tif: can't be read as a satellite picture"):
        make_mosaic(find_scenes([fake.parent]), FRAME)
