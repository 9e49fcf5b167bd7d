"""What metadata claims is read for the report, and reaches neither the photo nor anything made from it."""

import hashlib
import io
import struct
from datetime import UTC, datetime, timedelta, timezone

import pillow_heif
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from PIL.TiffImagePlugin import IFDRational

from geosleuth.geo import LatLon
from geosleuth.photo import Claims, encode, first_view, open_photo

GPS: dict[int, object] = {1: "S", 2: (33.0, 51.0, 30.0), 3: "E", 4: (151.0, 12.0, 36.0)}
MARK = "PLANTEDMARK"


def exif_block(main: dict[int, object], shot: dict[int, object], gps: dict[int, object]) -> bytes:
    exif = Image.Exif()
    exif.update(main)
    if shot:
        exif.get_ifd(0x8769).update(shot)
    if gps:
        exif.get_ifd(0x8825).update(gps)
    return exif.tobytes()


def saved(name: str, **options: object) -> bytes:
    pillow_heif.register_heif_opener()
    stream = io.BytesIO()
    Image.new("RGB", (64, 48), (90, 120, 150)).save(stream, name, **options)
    return stream.getvalue()


def claims(
    main: dict[int, object] | None = None,
    shot: dict[int, object] | None = None,
    gps: dict[int, object] | None = None,
    name: str = "JPEG",
) -> Claims:
    return open_photo(saved(name, exif=exif_block(main or {}, shot or {}, gps or {}))).claims


@pytest.mark.parametrize("name", ["JPEG", "PNG", "WEBP", "TIFF", "HEIF"])
def test_everything_of_interest_is_read_in_every_format(name: str) -> None:
    data = saved(
        name,
        exif=exif_block(
            {0x010F: "Fuji", 0x0110: "X100", 0x0131: "Darkroom 3"},
            {0x9003: "2024:05:06 07:08:09", 0x9011: "+09:30", 0xA405: 26},
            GPS | {5: b"\1", 6: 12.5, 17: 271.25},
        ),
    )
    got = open_photo(data).claims
    assert got.point is not None
    assert (got.point.lat, got.point.lon) == pytest.approx((-33.858333, 151.21), abs=1e-6)
    assert (got.altitude_m, got.heading_deg, got.focal_35mm) == (-12.5, 271.25, 26.0)
    assert got.taken_at == datetime(2024, 5, 6, 7, 8, 9, tzinfo=timezone(timedelta(hours=9, minutes=30)))
    assert (got.camera_make, got.camera_model, got.software) == ("Fuji", "X100", "Darkroom 3")
    assert (got.file_bytes, got.sha256) == (len(data), hashlib.sha256(data).hexdigest())
    assert got.notes == ()


@pytest.mark.parametrize(
    ("change", "lat_lon"),
    [
        ({}, (-33.858333, 151.21)),
        ({1: "N", 3: "W"}, (33.858333, -151.21)),
        ({2: (33.5, 0.0, 0.0)}, (-33.5, 151.21)),
        ({2: (33.0, 51.0, 60.0)}, (-33.866667, 151.21)),
    ],
)
def test_hemispheres_and_ways_of_writing_degrees(change: dict[int, object], lat_lon: tuple[float, float]) -> None:
    point = claims(gps=GPS | change).point
    assert point is not None
    assert (point.lat, point.lon) == pytest.approx(lat_lon, abs=1e-6)


@pytest.mark.parametrize(
    "change",
    [
        {2: (91.0, 0.0, 0.0)},
        {4: (180.0, 30.0, 0.0)},
        {2: (33.0, 99.0, 0.0)},
        {2: (IFDRational(33, 0), IFDRational(0, 0), 0.0)},
        {2: (0.0, 0.0, 0.0), 4: (0.0, 0.0, 0.0)},
        {1: ""},
        {3: "Q"},
        {1: "N", 2: ()},
    ],
)
def test_absurd_places_are_refused_with_a_note(change: dict[int, object]) -> None:
    got = claims(gps=GPS | change)
    assert got.point is None
    assert got.notes == ("the GPS tag makes no sense and was not read",)


def test_times_have_a_zone_only_where_the_file_gives_one() -> None:
    naive = claims(shot={0x9003: "2024:05:06 07:08:09"}).taken_at
    assert naive is not None
    assert (naive.isoformat(), naive.tzinfo) == ("2024-05-06T07:08:09", None)
    assert claims(gps={7: (23.0, 59.0, 58.0), 29: "2023:12:31"}).taken_at == datetime(
        2023, 12, 31, 23, 59, 58, tzinfo=UTC
    )
    for nonsense in ("0000:00:00 00:00:00", "2024:13:01 00:00:00", "yesterday", "    :  :     :  :  "):
        assert claims(shot={0x9003: nonsense}).taken_at is None


def test_texts_are_fit_to_be_shown() -> None:
    got = claims({0x010F: "Ev\x1b[31mil\n\rCam", 0x0110: "x" * 5000, 0x0131: " \t "})
    assert got.camera_make == "Ev[31milCam"
    assert got.camera_model == "x" * 120
    assert got.software is None


def test_broken_exif_is_a_note_and_no_error() -> None:
    block = exif_block({0x010F: "Maker"}, {0x9003: "2024:05:06 07:08:09"}, GPS)
    assert open_photo(saved("JPEG", exif=b"Exif\0\0garbage")).claims.notes == (
        "the EXIF data is broken and was not read",
    )
    at = block.index(struct.pack("<H", 0x8825)) if b"II*" in block else block.index(struct.pack(">H", 0x8825))
    lost = block[: at + 8] + b"\xff\xff\xff\x7f" + block[at + 12 :]
    got = open_photo(saved("JPEG", exif=lost)).claims
    assert got.camera_make == "Maker"
    assert got.point is None
    assert got.notes == ("the GPS part of the EXIF data is broken and was not read",)


@given(st.data())
def test_no_exif_block_whatever_stops_a_photo(data: st.DataObject) -> None:
    block = bytearray(exif_block({0x010F: "Maker"}, {0x9003: "2024:05:06 07:08:09"}, GPS))
    for _ in range(data.draw(st.integers(1, 6))):
        block[data.draw(st.integers(6, len(block) - 1))] = data.draw(st.integers(0, 255))
    got = open_photo(saved("JPEG", exif=bytes(block)))
    assert got.photo.image.mode == "RGB"


def test_xmp_places_are_claims_too() -> None:
    xmp = b'<rdf:Description exif:GPSLatitude="51,30.5N" exif:GPSLongitude="0,7.5W"/>'
    sidecar = xmp.replace(b"/>", b"><exif:GPSProcessingMethod>estimated by hand</exif:GPSProcessingMethod></rdf:D>")
    assert open_photo(saved("JPEG", xmp=sidecar)).claims.estimated
    assert not open_photo(saved("JPEG", xmp=xmp)).claims.estimated
    point = open_photo(saved("JPEG", xmp=xmp)).claims.point
    assert point is not None
    assert (point.lat, point.lon) == pytest.approx((51.508333, -0.125), abs=1e-6)


def test_conflicts() -> None:
    got = claims(gps=GPS)
    assert got.contradicts(LatLon(-33.86, 151.2), 5) is False
    assert got.contradicts(LatLon(48.85, 2.35), 5) is True
    assert claims().contradicts(LatLon(48.85, 2.35), 5) is None
    with pytest.raises(ValueError, match="radius_km"):
        got.contradicts(LatLon(48.85, 2.35), float("nan"))


def marked(name: str) -> bytes:
    """A photo with the mark in every place that this format has for words."""
    options: dict[str, object] = {"exif": exif_block({0x010E: MARK, 0x010F: MARK}, {0x9286: MARK.encode()}, {29: MARK})}
    if name != "TIFF":
        options["xmp"] = f"<x>{MARK}</x>".encode()
    if name == "JPEG":
        options["comment"] = MARK.encode()
    if name == "PNG":
        texts = PngInfo()
        texts.add_text("Comment", MARK)
        texts.add_itxt("Title", MARK, zip=True)
        options["pnginfo"] = texts
    if name in ("JPEG", "PNG", "WEBP", "HEIF"):
        options["icc_profile"] = b"\0\0\0\x80" + MARK.encode().ljust(124, b"\0")
    return saved(name, **options)


@pytest.mark.parametrize("name", ["JPEG", "PNG", "WEBP", "TIFF", "HEIF"])
def test_no_word_of_the_file_reaches_the_photo(name: str) -> None:
    data = marked(name)
    assert MARK.encode() in data
    photo = open_photo(data).photo
    assert type(photo.image) is Image.Image
    assert photo.image.info == {}
    assert not photo.image.getexif()
    assert MARK not in repr(vars(photo.image)) + repr(photo)
    for image_format in ("jpeg", "png", "webp"):
        shown = encode(first_view(photo), image_format)
        assert MARK.encode() not in shown
        assert not any(word in shown for word in (b"Exif", b"xmp", b"ICC", b"iCCP", b"tEXt", b"eXIf", b"\xff\xfe"))
