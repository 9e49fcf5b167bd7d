"""``geosleuth photo``, run as people run it; in this process where a process of its own makes no difference."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import ExifTags, Image, ImageDraw, ImageFont

from in_process import whole_command

FONT = Path(__file__).resolve().parents[2] / "src/geosleuth/atlas/maps/fonts/sans.woff2"


def geosleuth(*words: str) -> subprocess.CompletedProcess[str]:
    command = Path(sys.executable).parent / "geosleuth"
    return subprocess.run([command, *words], capture_output=True, text=True, check=False, timeout=120)


@pytest.fixture
def sign(tmp_path: Path) -> Path:
    image = Image.new("RGB", (640, 240), (240, 236, 220))
    ImageDraw.Draw(image).text((40, 80), "Boulangerie Costa", fill=(20, 20, 30), font=ImageFont.truetype(FONT, 56))
    exif = Image.Exif()
    exif[ExifTags.Base.Make] = "Made-up\x1b[2J"
    gps = {1: "N", 2: (43.0, 44.0, 18.24), 3: "E", 4: (7.0, 25.0, 28.56)}
    exif.get_ifd(ExifTags.IFD.GPSInfo).update(gps)
    path = tmp_path / "sign.jpg"
    image.save(path, exif=exif, quality=92)
    return path


def test_claims_are_shown_as_claims(sign: Path) -> None:
    found = json.loads(whole_command("photo", "claims", sign, "--json").stdout)
    assert found["point"] == pytest.approx({"lat": 43.7384, "lon": 7.4246}, abs=1e-6)
    shown = whole_command("photo", "claims", sign).stdout
    assert "a claim, not evidence" in shown
    assert "\x1b" not in shown


def test_the_text_of_a_sign_is_read(sign: Path) -> None:
    (line,) = json.loads(whole_command("photo", "text", sign, "--json").stdout)
    assert line["text"] == "Boulangerie Costa"
    assert line["script"] == "latin"
    assert "Boulangerie Costa" in whole_command("photo", "text", sign).stdout
    (line,) = json.loads(whole_command("photo", "text", sign, "--script", "latin", "--json").stdout)
    assert line["text"] == "Boulangerie Costa"
    refused = whole_command("photo", "text", sign, "--script", "klingon")
    assert refused.returncode == 2
    assert "hangul" in refused.stderr


@pytest.mark.parametrize("content", [b"", b"not an image", b"\xff\xd8\xff\xe0 cut", b"GIF89a" + bytes(20)])
@pytest.mark.parametrize("command", ["claims", "text"])
def test_bad_photos_are_one_line_and_exit_code_two(tmp_path: Path, content: bytes, command: str) -> None:
    path = tmp_path / "photo.jpg"
    path.write_bytes(content)
    for target in (path, tmp_path, tmp_path / "missing.jpg"):
        done = whole_command("photo", command, target)
        assert done.returncode == 2
        assert done.stdout == ""
        assert done.stderr.count("\n") == 1
        assert target.name in done.stderr
    assert list(tmp_path.iterdir()) == [path]
