"""Every format opens to the same upright pixels; every bad file is refused in one line."""

import contextlib
import io
import os
import re
import struct
import sys
import threading
import time
import tracemalloc
import zlib
from pathlib import Path

import numpy as np
import pillow_heif
import pytest
from PIL import Image, ImageFile

from geosleuth.photo import Photo, PhotoLimits, open_photo, open_photos
from geosleuth.photo.opening import _Decoding
from geosleuth.support.errors import BadInput


def picture(width: int = 96, height: int = 64) -> Image.Image:
    """Smooth, so that lossy formats keep it, and different in every corner."""
    y, x = np.mgrid[0:height, 0:width]
    channels = (x * 255 / width, y * 255 / height, 255 - x * 255 / width)
    return Image.fromarray(np.stack(channels, axis=-1).astype(np.uint8))


def saved(image: Image.Image, name: str, **options: object) -> bytes:
    pillow_heif.register_heif_opener()
    stream = io.BytesIO()
    image.save(stream, name, **options)
    return stream.getvalue()


def array(photo: Photo | Image.Image) -> "np.ndarray[tuple[int, ...], np.dtype[np.int16]]":
    return np.asarray(photo.image if isinstance(photo, Photo) else photo, dtype=np.int16)


def refusal(source: Path | bytes | str, limits: PhotoLimits | None = None) -> str:
    with pytest.raises(BadInput) as caught:
        open_photo(source, limits or PhotoLimits())
    line = str(caught.value)
    assert "\n" not in line
    assert len(line) < 400
    return line


@pytest.mark.parametrize(
    ("name", "options", "tolerance"),
    [
        ("JPEG", {"quality": 95}, 6),
        ("JPEG", {"quality": 95, "progressive": True}, 6),
        ("PNG", {}, 0),
        ("WEBP", {"lossless": True}, 0),
        ("WEBP", {"quality": 95}, 12),
        ("TIFF", {}, 0),
        ("TIFF", {"compression": "tiff_lzw"}, 0),
        ("TIFF", {"compression": "tiff_adobe_deflate"}, 0),
        ("TIFF", {"compression": "packbits"}, 0),
        ("TIFF", {"compression": "jpeg", "quality": 95}, 40),
        ("HEIF", {"quality": 95}, 12),
    ],
)
def test_each_format_keeps_its_pixels(name: str, options: dict[str, object], tolerance: int, tmp_path: Path) -> None:
    # The ending lies: content alone decides.
    path = tmp_path / "wrong.gif"
    path.write_bytes(saved(picture(), name, **options))
    opened = open_photo(path)
    assert opened.photo.image.mode == "RGB"
    assert opened.photo.size == opened.claims.size_px == (96, 64)
    assert opened.claims.format.upper().removesuffix("C") == name.removesuffix("F").replace("TIF", "TIFF")
    assert np.abs(array(opened.photo) - array(picture())).max() <= tolerance
    assert opened.claims.notes == ()


@pytest.mark.parametrize(
    ("name", "orientation"),
    [*(("JPEG", orientation) for orientation in range(1, 9)), *((name, 6) for name in ("PNG", "WEBP", "TIFF", "HEIF"))],
)
def test_photos_come_out_upright(name: str, orientation: int) -> None:
    undo = {
        2: Image.Transpose.FLIP_LEFT_RIGHT, 3: Image.Transpose.ROTATE_180, 4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE, 6: Image.Transpose.ROTATE_90, 7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_270,
    }  # fmt: skip
    stored = picture() if orientation == 1 else picture().transpose(undo[orientation])
    exif = Image.Exif()
    exif[0x0112] = orientation
    options = {"lossless": True} if name == "WEBP" else {"quality": 95}
    photo = open_photo(saved(stored, name, exif=exif.tobytes(), **options)).photo
    assert photo.size == (96, 64)
    assert np.abs(array(photo) - array(picture())).max() <= 12


@pytest.mark.parametrize("name", ["JPEG", "TIFF"])
def test_cmyk_looks_as_it_should(name: str) -> None:
    photo = open_photo(saved(picture().convert("CMYK"), name, **({"quality": 95} if name == "JPEG" else {}))).photo
    assert np.abs(array(photo) - array(picture())).max() <= 16


@pytest.mark.parametrize("name", ["PNG", "TIFF"])
def test_sixteen_bit_greys_are_scaled_and_not_clipped(name: str) -> None:
    ramp = np.linspace(0, 65_535, 256, dtype=np.uint16).reshape(1, 256).repeat(4, axis=0)
    photo = open_photo(saved(Image.fromarray(ramp), name)).photo
    assert array(photo)[0, :, 0].tolist() == list(range(256))


def test_floats_are_stretched_with_a_note() -> None:
    ramp = np.linspace(-3, 7, 64, dtype=np.float32).reshape(8, 8)
    ramp[0, 0] = np.nan
    opened = open_photo(saved(Image.fromarray(ramp), "TIFF"))
    assert opened.photo.image.getpixel((7, 7)) == (255, 255, 255)
    assert any("brightness" in note for note in opened.claims.notes)


def test_palette_grey_and_black_and_white() -> None:
    for mode in ("P", "L", "1", "LA"):
        photo = open_photo(saved(Image.new("RGB", (8, 8), "white").convert(mode), "PNG")).photo
        assert photo.image.getpixel((3, 3)) == (255, 255, 255), mode


def test_transparency_is_laid_over_white() -> None:
    image = Image.new("RGBA", (2, 1), (200, 0, 0, 128))
    image.putpixel((1, 0), (0, 0, 0, 0))
    for name in ("PNG", "TIFF"):
        photo = open_photo(saved(image, name)).photo
        assert photo.image.getpixel((0, 0)) == (227, 127, 127)
        assert photo.image.getpixel((1, 0)) == (255, 255, 255)
    palette = Image.new("P", (2, 1), 0)
    palette.putpalette([10, 20, 30, 200, 100, 50])
    palette.putpixel((1, 0), 1)
    photo = open_photo(saved(palette, "PNG", transparency=0)).photo
    assert [photo.image.getpixel((x, 0)) for x in (0, 1)] == [(255, 255, 255), (200, 100, 50)]


@pytest.mark.parametrize(("name", "options"), [("PNG", {}), ("WEBP", {"lossless": True}), ("TIFF", {})])
def test_of_several_frames_the_first_is_taken_and_noted(name: str, options: dict[str, object]) -> None:
    second = Image.new("RGB", (96, 64), "black")
    opened = open_photo(saved(picture(), name, save_all=True, append_images=[second], **options))
    assert (array(opened.photo) == array(picture())).all()
    assert any("several" in note for note in opened.claims.notes)


def png(width: int, height: int, depth: int, colour: int, compressed: bytes, *extra: tuple[bytes, bytes]) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    chunks = ((b"IHDR", header), *extra, (b"IDAT", compressed), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)) for name, body in chunks
    )


def bomb() -> bytes:
    """A real one: 50,000 x 50,000 black pixels, every byte of them there."""
    packer = zlib.compressobj(9)
    row = bytes(1 + 50_000 // 8)
    return png(50_000, 50_000, 1, 0, b"".join([*(packer.compress(row) for _ in range(50_000)), packer.flush()]))


def test_a_bomb_is_refused_at_once_and_in_little_memory() -> None:
    data = bomb()
    tracemalloc.start()
    start = time.process_time()
    line = refusal(data)
    seconds = time.process_time() - start
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "50000 x 50000" in line
    assert "200 million" in line
    assert seconds < 5
    assert peak < 20 * len(data) + 10_000_000


def test_a_picture_of_one_endless_row_is_refused() -> None:
    packer = zlib.compressobj(9)
    rows = b"".join([*(packer.compress(bytes(1_000_001)) for _ in range(200)), packer.flush()])
    data = png(200_000_000, 1, 8, 0, rows)
    assert len(data) < 250_000
    line = refusal(data)
    assert "200000000 x 1" in line
    assert "65,535" in line
    assert open_photo(saved(Image.new("L", (65_535, 1)), "PNG")).photo.size == (65_535, 1)


def test_the_photos_of_one_case_have_a_limit_together(tmp_path: Path) -> None:
    data = saved(picture(100, 100), "PNG")
    limits = PhotoLimits(max_case_pixels=25_000)
    assert len(open_photos([data, data], limits)) == 2
    with pytest.raises(BadInput, match=r"0\.025 million pixels allowed together"):
        open_photos([data, data, data], limits)
    with pytest.raises(BadInput, match=r"^photo 7: there is no such file"):
        open_photos([tmp_path / "none.jpg"], names=["photo 7"])


def test_large_photos_are_decoded_one_after_the_other() -> None:
    decoding = _Decoding(100)
    most = taken = 0
    lock = threading.Lock()

    def decode(pixels: int) -> None:
        nonlocal most, taken
        with decoding.reserve(pixels):
            with lock:
                taken += pixels
                most = max(most, taken if pixels <= 100 else taken - pixels + 100)
            time.sleep(0.01)
            with lock:
                taken -= pixels

    threads = [threading.Thread(target=decode, args=(pixels,)) for pixels in [10, 60, 500, 40, 60, 90, 10, 10] * 4]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert taken == 0
    assert 60 <= most <= 100


def huge(name: str) -> bytes:
    """Small files whose headers promise 60,000 x 60,000 pixels or so."""
    if name == "JPEG":
        return re.sub(
            rb"(\xff\xc0\x00\x11\x08)....", rb"\1" + struct.pack(">HH", 60_000, 60_000), saved(picture(), name)
        )
    if name == "WEBP":
        data = bytearray(saved(picture(), name, exif=b"Exif\0\0II*\0"))
        data[24:30] = b"\x60\xea\0\x60\xea\0"
        return bytes(data)
    data = bytearray(saved(picture(), name))
    if name == "HEIF":
        at = data.index(b"ispe") + 8
        data[at : at + 8] = struct.pack(">II", 60_000, 60_000)
        return bytes(data)
    block = struct.unpack_from("<I", data, 4)[0]
    for at in range(block + 2, block + 26, 12):
        if struct.unpack_from("<H", data, at)[0] in (256, 257):
            data[at + 2 : at + 12] = struct.pack("<HII", 4, 1, 60_000)
    return bytes(data)


@pytest.mark.parametrize("name", ["JPEG", "WEBP", "TIFF", "HEIF"])
def test_headers_that_promise_too_much_are_refused_unread(name: str) -> None:
    assert "million allowed" in refusal(huge(name))


def test_a_promise_that_no_compression_could_keep_is_refused() -> None:
    assert "cut short" in refusal(png(14_000, 14_000, 8, 2, zlib.compress(b"\0" * 1000)))


@pytest.mark.parametrize("name", ["JPEG", "PNG", "WEBP", "TIFF", "HEIF"])
@pytest.mark.parametrize("share", [0.02, 0.6, 0.98])
def test_cut_files_are_refused(name: str, share: float, tmp_path: Path) -> None:
    image = Image.effect_noise((200, 150), 40).convert("RGB")
    whole = saved(image, name)
    path = tmp_path / "cut.jpg"
    path.write_bytes(whole[: int(len(whole) * share)])
    assert refusal(path).startswith(f"{path}: ")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "options"), [("WEBP", {"lossless": True, "method": 0}), ("TIFF", {"compression": "tiff_adobe_deflate"})]
)
def test_a_hundred_and_ninety_million_pixels_open(name: str, options: dict[str, object]) -> None:
    # More than twice Pillow's own limit, at which it refuses; below ours.
    data = saved(Image.new("RGB", (16_000, 11_875), (10, 200, 30)), name, **options)
    photo = open_photo(data).photo
    assert photo.size == (16_000, 11_875)
    assert photo.image.getpixel((15_999, 11_874)) == (10, 200, 30)


class _Unheard(Exception):
    pass


def test_whatever_a_decoder_raises_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    def raises(*_: object) -> None:
        raise _Unheard

    for name in ("JPEG", "PNG", "WEBP", "TIFF"):
        data = saved(picture(), name)
        with monkeypatch.context() as broken:
            broken.setattr(ImageFile.ImageFile, "load_prepare", raises)
            assert "damaged" in refusal(data)


def test_not_a_photo(tmp_path: Path) -> None:
    path = tmp_path / "notes.jpg"
    path.write_text("Dear diary, today I saw a mountain.")
    assert refusal(path) == (
        f"{path}: this is not a photo that can be opened; give a JPEG, PNG, WebP, TIFF or HEIC photo"
    )
    for data in (saved(picture(), "GIF"), saved(picture(), "BMP"), saved(picture(), "AVIF"), b"%!PS-Adobe-3.0 EPSF\n"):
        assert "not a photo that can be opened" in refusal(data)


def test_what_is_no_file_at_all(tmp_path: Path) -> None:
    (tmp_path / "empty.jpg").touch()
    os.mkfifo(tmp_path / "pipe.jpg")
    assert "is empty" in refusal(tmp_path / "empty.jpg")
    assert "is empty" in refusal(b"")
    assert "folder" in refusal(tmp_path)
    assert "no such file" in refusal(tmp_path / "absent.jpg")
    assert "device or a pipe" in refusal(tmp_path / "pipe.jpg")
    assert "device or a pipe" in refusal("/dev/zero")
    assert "can't be read" in refusal("a\0b.jpg")
    assert "can't be read" in refusal("x" * 5000)
    assert "no such file" in refusal("line\nbreak\x1b[31m.jpg")


def test_a_file_without_permission(tmp_path: Path) -> None:
    path = tmp_path / "mine.jpg"
    path.write_bytes(saved(picture(), "JPEG"))
    path.chmod(0)
    root = os.geteuid() == 0
    if root:
        os.seteuid(65_534)
    try:
        assert "no permission" in refusal(path)
    finally:
        if root:
            os.seteuid(0)


def test_byte_limits_hold_before_reading(tmp_path: Path) -> None:
    path = tmp_path / "large.jpg"
    with path.open("wb") as stream:
        stream.truncate(50 * 1024**3)
    assert "larger than the 100 MiB" in refusal(path)
    assert "larger than" in refusal(saved(picture(), "PNG"), PhotoLimits(max_bytes=100))


def test_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("JPEG", "PNG", "WEBP", "TIFF", "HEIF"):
        path = tmp_path / f"a.{name}"
        path.write_bytes(saved(picture(), name))
        (tmp_path / f"cut.{name}").write_bytes(path.read_bytes()[:-100])
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    for path in before:
        if path.name.startswith("cut"):
            refusal(path)
        else:
            open_photo(path)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_endless_parts_are_refused() -> None:
    small = saved(picture(), "JPEG")
    assert "too many" in refusal(small[:2] + b"\xff\xe5\x00\x02" * 70_000 + small[2:])
    empty = struct.pack(">I", 0) + b"teXt" + bytes(4)
    whole = saved(picture(), "PNG")
    assert "too many" in refusal(whole[:33] + empty * 70_000 + whole[33:])


def test_what_phones_append_to_a_jpeg_does_no_harm() -> None:
    small = saved(picture(), "JPEG")
    photo = open_photo(small + b"\xff" * 5000 + b"\xff\xda\0\x04" * 500 + small).photo
    assert (array(photo) == array(open_photo(small).photo)).all()


def test_a_jpeg_with_endless_scans_is_refused() -> None:
    data = saved(picture(), "JPEG", progressive=True)
    scan = data[data.rindex(b"\xff\xda") : -2]
    assert "scans" in refusal(data[:-2] + scan * 500 + data[-2:])


def slow_ones() -> dict[str, bytes]:
    """Files made to keep a careless reader busy: each has as much of something as fits."""
    jpeg, webp = saved(picture(), "JPEG"), saved(picture(), "WEBP", exif=b"Exif\0\0II*\0")
    scan = jpeg.rindex(b"\xff\xda") + 14
    directory = struct.pack("<H", 65_535) + b"".join(struct.pack("<HHII", tag, 4, 1, tag) for tag in range(65_535))
    many_tags = b"II*\0" + struct.pack("<I", 8) + directory + bytes(4)
    rows = zlib.compress(bytes(20))
    hostile = b"exif:a" + b" " * 900_000 + b"exif:" * 20_000
    chunks = webp[12:] + b"JUNK\0\0\0\0" * 60_000
    return {
        "fill before a segment": jpeg[:2] + b"\xff" * 20_000_000 + jpeg[2:],
        "fill in a scan": jpeg[:scan] + b"\xff" * 20_000_000 + b"\0" + jpeg[scan:],
        "restarts": jpeg[:scan] + b"\xff\xd0" * 10_000_000 + jpeg[scan:],
        "bytes after the end": jpeg + b"\xff\xda\0\x04" * 10_000_000,
        "tags": many_tags,
        "tags in EXIF": png(4, 4, 8, 0, rows, (b"eXIf", many_tags)),
        "spaces in XMP": png(4, 4, 8, 0, rows, (b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + hostile)),
        "chunks": b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WEBP" + chunks,
        "empty data": png(4, 4, 8, 0, rows, *[(b"IDAT", b"")] * 60_000),
    }


def test_no_file_keeps_the_reader_busy() -> None:
    seconds = {}
    for what, data in slow_ones().items():
        start = time.process_time()
        with contextlib.suppress(BadInput):
            open_photo(data)
        seconds[what] = time.process_time() - start
    assert max(seconds.values()) < 10, seconds


def test_inflating_text_and_profiles_are_never_inflated() -> None:
    bomb_text = zlib.compress(bytes(200_000_000), 9)
    chunks = [(b"iCCP", b"p\0\0" + bomb_text), (b"zTXt", b"Comment\0\0" + bomb_text)]
    chunks.append((b"iTXt", b"XML:com.adobe.xmp\0\1\0\0\0" + bomb_text))
    data = png(4, 4, 8, 0, zlib.compress(bytes(20)), *chunks)
    tracemalloc.start()
    open_photo(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000_000


def test_without_the_extra_a_heic_photo_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    data = saved(picture(), "HEIF")
    monkeypatch.setitem(sys.modules, "pillow_heif", None)
    with pytest.raises(BadInput, match=r"^the photo: HEIC photos need an extra; run: .*\[media\]'"):
        open_photo(data)


def test_an_old_libheif_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    data = saved(picture(), "HEIF")
    monkeypatch.setattr(pillow_heif, "libheif_version", lambda: "1.19.5")
    with pytest.raises(BadInput, match=r"libheif 1\.19\.5 has known holes"):
        open_photo(data)
