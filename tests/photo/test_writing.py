"""A copy with a place in it: other programs read the place, and nothing else has changed."""

import io
import struct
import zlib
from pathlib import Path
from typing import Any

import pillow_heif
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import ExifTags, Image
from PIL.PngImagePlugin import PngInfo

from geosleuth.geo import LatLon
from geosleuth.photo import PhotoLimits, open_photo
from geosleuth.photo.containers import take_apart
from geosleuth.photo.geotag import Unwritable, is_copy_of_ours, with_place, write_exif_copy
from geosleuth.support.errors import BadInput
from metadata_readers import exiftool, places

HERE = LatLon(43.73841, 7.42463)
SYDNEY = {1: "S", 2: (33.0, 51.0, 30.0), 3: "E", 4: (151.0, 12.0, 36.0), 6: 12.0, 17: 90.0}
XMP = (
    b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    b'<rdf:Description rdf:about="" xmlns:exif="http://ns.adobe.com/exif/1.0/" '
    b'xmlns:xmp="http://ns.adobe.com/xap/1.0/" '
    b'exif:GPSLatitude="33,51.5S" exif:GPSLongitude="151,12.6E" xmp:Rating="4">'
    b"<exif:GPSAltitude>12/1</exif:GPSAltitude><xmp:Label>keep me</xmp:Label></rdf:Description></rdf:RDF></x:xmpmeta>"
)


def exif_of(gps: dict[int, Any] | None = None) -> Image.Exif:
    exif = Image.Exif()
    exif[ExifTags.Base.Make] = "Fuji"
    exif[ExifTags.Base.Orientation] = 6
    exif.get_ifd(ExifTags.IFD.Exif).update({0x9003: "2024:05:06 07:08:09", 0x927C: b"maker's own notes, by offset"})
    if gps:
        exif.get_ifd(ExifTags.IFD.GPSInfo).update(gps)
    return exif


def photo(folder: Path, name: str, kind: str = "JPEG", **options: Any) -> Path:
    pillow_heif.register_heif_opener()
    image = Image.new("RGB", (64, 48))
    image.putdata([(x * 4 % 256, y * 5 % 256, 90) for y in range(48) for x in range(64)])
    path = folder / name
    image.save(path, kind, **options)
    return path


def limits_free_pixels(path: Path) -> bytes:
    return take_apart(path.read_bytes(), PhotoLimits()).pixels


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
@pytest.mark.parametrize("gps", [None, SYDNEY])
@pytest.mark.parametrize("point", [HERE, LatLon(-33.856784, -151.2152967), LatLon(90, -180), LatLon(0.00001, 0)])
def test_every_reader_finds_the_place_and_that_it_is_an_estimate(
    tmp_path: Path, kind: str, gps: dict[int, Any] | None, point: LatLon
) -> None:
    path = photo(tmp_path, "in.img", kind, exif=exif_of(gps))
    before = path.read_bytes()
    out = tmp_path / "out.img"
    done = write_exif_copy(path, out, point, 0.2)
    assert path.read_bytes() == before
    assert (done.path, done.replaced is not None) == (out, gps is not None)
    found = list(places(out))
    assert len(found) >= 2
    for place in found:
        assert place.lat == pytest.approx(point.lat, abs=1e-7)
        assert place.lon == pytest.approx(point.lon, abs=1e-7)
        assert place.error_m == 200
        assert place.method == "estimated from the picture by geosleuth"
        assert place.datum == "WGS-84"


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_the_picture_and_the_other_metadata_stay_as_they_are(tmp_path: Path, kind: str) -> None:
    path = photo(tmp_path, "in.img", kind, exif=exif_of(SYDNEY), icc_profile=b"profile" * 100)
    write_exif_copy(path, tmp_path / "out.img", HERE)
    assert limits_free_pixels(tmp_path / "out.img") == limits_free_pixels(path)
    with Image.open(path) as before, Image.open(tmp_path / "out.img") as after:
        assert before.tobytes() == after.tobytes()
        assert after.info["icc_profile"] == before.info["icc_profile"]
        old, new = before.getexif(), after.getexif()
        assert {tag: old[tag] for tag in old if tag != 0x8825} == {tag: new[tag] for tag in new if tag != 0x8825}
        assert old.get_ifd(0x8769) == new.get_ifd(0x8769)
        assert set(new.get_ifd(0x8825)) == {0, 1, 2, 3, 4, 18, 27}


def test_only_the_exif_segment_of_a_jpeg_changes(tmp_path: Path) -> None:
    path = photo(tmp_path, "in.jpg", comment=b"a caption", progressive=True)
    path.write_bytes(path.read_bytes() + b"what a phone hangs on")
    write_exif_copy(path, tmp_path / "out.jpg", HERE, 1.0)
    before, after = path.read_bytes(), (tmp_path / "out.jpg").read_bytes()
    at = after.index(b"\xff\xe1")
    (length,) = struct.unpack_from(">H", after, at + 2)
    assert after[:at] + after[at + 2 + length :] == before
    claimed = open_photo(tmp_path / "out.jpg").claims.point
    assert claimed is not None
    assert (round(claimed.lat, 6), round(claimed.lon, 6)) == (HERE.lat, HERE.lon)


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_the_old_place_is_gone_from_every_byte(tmp_path: Path, kind: str) -> None:
    if kind == "PNG":
        extra = PngInfo()
        extra.add_itxt("XML:com.adobe.xmp", XMP.decode())
        path = photo(tmp_path, "in.img", kind, exif=exif_of(SYDNEY), pnginfo=extra)
    else:
        path = photo(tmp_path, "in.img", kind, exif=exif_of(SYDNEY), xmp=XMP)
    before = path.read_bytes()
    done = write_exif_copy(path, tmp_path / "out.img", HERE)
    after = (tmp_path / "out.img").read_bytes()
    assert done.replaced is not None
    old = struct.pack("<II", 151, 1)
    assert old in before or struct.pack(">II", 151, 1) in before
    assert old not in after
    assert struct.pack(">II", 151, 1) not in after
    assert b"33,51.5S" not in after
    assert b"GPSAltitude" not in after
    assert b"keep me" in after
    assert b'xmp:Rating="4"' in after
    found = exiftool(tmp_path / "out.img")
    assert found is None or not any(name.startswith("XMP-exif:") for name in found)


@pytest.mark.parametrize(("kind", "name"), [("WEBP", "WebP"), ("TIFF", "TIFF"), ("HEIF", "HEIC")])
def test_other_formats_are_pointed_to_the_sidecar(tmp_path: Path, kind: str, name: str) -> None:
    path = photo(tmp_path, "in.img", kind)
    with pytest.raises(BadInput, match=f"{name}.*XMP sidecar"):
        write_exif_copy(path, tmp_path / "out.img", HERE)
    assert [left.name for left in tmp_path.iterdir()] == ["in.img"]


def test_the_original_is_never_the_copy(tmp_path: Path) -> None:
    path = photo(tmp_path, "in.jpg")
    before = path.read_bytes()
    link, twin = tmp_path / "link.jpg", tmp_path / "twin.jpg"
    link.symlink_to(path)
    twin.hardlink_to(path)
    for out in (path, link, twin, tmp_path / "." / "in.jpg"):
        with pytest.raises(BadInput, match="the photo itself"):
            write_exif_copy(path, out, HERE, overwrite=True)
    assert path.read_bytes() == before


def test_another_file_is_overwritten_only_on_request(tmp_path: Path) -> None:
    path, out = photo(tmp_path, "in.jpg"), tmp_path / "out.jpg"
    out.write_bytes(b"precious")
    with pytest.raises(BadInput, match="there already"):
        write_exif_copy(path, out, HERE)
    assert out.read_bytes() == b"precious"
    write_exif_copy(path, out, HERE, overwrite=True)
    assert open_photo(out).claims.point is not None


def test_a_copy_of_a_copy_holds_one_place(tmp_path: Path) -> None:
    path = photo(tmp_path, "a.jpg", exif=exif_of())
    write_exif_copy(path, tmp_path / "b.jpg", LatLon(1, 2), 5)
    done = write_exif_copy(tmp_path / "b.jpg", tmp_path / "c.jpg", HERE, 0.05)
    assert done.replaced is not None
    assert (round(done.replaced.lat, 6), round(done.replaced.lon, 6)) == (1, 2)
    for place in places(tmp_path / "c.jpg"):
        assert (round(place.lat, 5), place.error_m) == (HERE.lat, 50)


@pytest.mark.parametrize(
    ("data", "trouble"),
    [(b"", "not a photo"), (b"no photo at all", "not a photo"), (b"\xff\xd8\xff\xe0\0\x10JFIF", "cut short")],
)
def test_what_is_no_whole_photo_is_refused_and_nothing_is_written(tmp_path: Path, data: bytes, trouble: str) -> None:
    path = tmp_path / "in.jpg"
    path.write_bytes(data)
    with pytest.raises(BadInput, match=trouble):
        write_exif_copy(path, tmp_path / "out.jpg", HERE)
    assert not (tmp_path / "out.jpg").exists()


def test_missing_photos_and_folders_are_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such photo"):
        write_exif_copy(tmp_path / "none.jpg", tmp_path / "out.jpg", HERE)
    with pytest.raises(BadInput, match="can't be written"):
        write_exif_copy(photo(tmp_path, "in.jpg"), tmp_path / "no" / "out.jpg", HERE)


def test_old_style_png_profiles_are_refused(tmp_path: Path) -> None:
    path = photo(tmp_path, "in.png", "PNG")
    data = path.read_bytes()
    body = b"Raw profile type exif\0\0" + zlib.compress(b"\nexif\n  4\n00000000\n")
    chunk = struct.pack(">I", len(body)) + b"zTXt" + body + struct.pack(">I", zlib.crc32(b"zTXt" + body))
    path.write_bytes(data[:33] + chunk + data[33:])
    with pytest.raises(BadInput, match="sidecar"):
        write_exif_copy(path, tmp_path / "out.png", HERE)


@given(block=st.binary(max_size=200), start=st.sampled_from([b"", b"II*\0\x08\0\0\0", b"MM\0*\0\0\0\x08"]))
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_any_block_is_refused_or_comes_out_readable(block: bytes, start: bytes) -> None:
    try:
        placed = with_place(start + block, HERE, 10, "estimated")
    except Unwritable:
        return
    stream = io.BytesIO()
    Image.new("RGB", (8, 8)).save(stream, "JPEG", exif=b"Exif\0\0" + placed)
    point = open_photo(stream.getvalue()).claims.point
    assert point is not None
    assert abs(point.lat - HERE.lat) < 1e-6


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_a_copy_does_not_confirm_the_finding_that_it_was_made_from(tmp_path: Path, kind: str) -> None:
    original = photo(tmp_path, "a", kind, exif=exif_of(SYDNEY))
    assert not open_photo(original).claims.estimated
    assert open_photo(original).claims.contradicts(HERE, 25.0)
    claims = open_photo(write_exif_copy(original, tmp_path / "copy", HERE, 0.5).path).claims
    assert claims.estimated
    assert claims.point is not None
    assert claims.own_point is None
    assert claims.contradicts(HERE, 25.0) is None
    assert claims.contradicts(LatLon(-33, 151), 25.0) is None


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
@pytest.mark.parametrize("radius_km", [None, 0.25, 12.0])
@pytest.mark.parametrize("point", [HERE, LatLon(-33.856784, -151.2152967), LatLon(90, -180), LatLon(0.00001, 0)])
def test_a_copy_of_ours_is_known_again(tmp_path: Path, kind: str, radius_km: float | None, point: LatLon) -> None:
    ending = kind.lower()
    path, copy = photo(tmp_path, f"a.{ending}", kind, exif=exif_of(SYDNEY)), tmp_path / f"a-located.{ending}"
    write_exif_copy(path, copy, point, radius_km)
    assert is_copy_of_ours(path, copy)
    other = photo(tmp_path, f"b.{ending}", kind)
    assert not is_copy_of_ours(other, copy)
    assert not is_copy_of_ours(path, path)
    (tmp_path / "link").symlink_to(copy)
    assert not is_copy_of_ours(path, tmp_path / "link")
    write_exif_copy(path, copy, point, radius_km, method="GPS", overwrite=True)
    assert not is_copy_of_ours(path, copy)
    write_exif_copy(path, copy, point, radius_km, overwrite=True)
    copy.write_bytes(copy.read_bytes().replace(b"Fuji", b"Fugi"))
    assert not is_copy_of_ours(path, copy)
