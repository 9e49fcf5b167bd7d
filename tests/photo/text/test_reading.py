"""Text is read off signs in many scripts, from nothing but the picture."""

import importlib.util
import random
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from geosleuth.photo.text import OTHER_SCRIPTS, ReadingOptions, detect_script, read_picture, read_text
from geosleuth.photo.text.script import is_pattern
from geosleuth.support.errors import BadInput

ROOT = Path(__file__).parents[3]


def load_signs() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reading_signs", ROOT / "benchmarks/reading.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


SIGNS = load_signs()


def sign(word: str, font: str, seed: int = 3) -> Image.Image:
    drawn: Image.Image = SIGNS.draw_sign(word, font, random.Random(seed))
    return drawn


def column(word: str, font: str, size: int = 40) -> Image.Image:
    """Draw upright letters one below the other on a board in front of a wall."""
    drawn = ImageFont.truetype(str(SIGNS.FONTS / f"{font}.woff2"), size)
    picture = Image.new("RGB", (400, int(len(word) * 1.3 * size) + 160), (120, 130, 120))
    pen = ImageDraw.Draw(picture)
    pen.rectangle((150, 40, 150 + 2 * size, picture.height - 40), fill=(235, 235, 230))
    for number, letter in enumerate(word):
        pen.text((150 + size, 80 + (number * 1.3 + 0.5) * size), letter, font=drawn, fill=(20, 30, 90), anchor="mm")
    return picture


@pytest.mark.parametrize(
    ("word", "font", "script"),
    [
        ("노래방", "korean", "hangul"),
        pytest.param("静神社", "japanese", "chinese", marks=pytest.mark.slow),
        pytest.param("PHARMACY", "sans-semibold", "latin", marks=pytest.mark.slow),
    ],
)
def test_a_column_of_upright_letters_is_one_line(word: str, font: str, script: str) -> None:
    lines = read_text(column(word, font))
    assert [(line.text, line.script) for line in lines] == [(word, script)]
    left, top, right, bottom = lines[0].bounds
    assert bottom - top > 2 * (right - left)


def test_single_letters_beside_each_other_are_no_column() -> None:
    board = Image.new("RGB", (700, 300), "white")
    for number, letter in enumerate("ABC"):
        board.paste(column(letter, "sans-semibold").crop((150, 60, 230, 150)), (40 + 220 * number, 60))
    assert len(read_text(board)) > 1


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_thai_is_not_read_on_its_head_as_latin(seed: int) -> None:
    (line,) = read_text(sign("พัทยา", "thai", seed))
    assert line.script == "thai"
    assert line.turn == 0


def test_a_script_that_is_told_is_read_alone() -> None:
    board = Image.new("RGB", (1100, 900), "white")
    board.paste(sign("โรงแรม", "thai"), (20, 20))
    board.paste(sign("Farmacia", "sans"), (20, 470))
    (line,) = read_picture(board, ReadingOptions(script="thai")).lines
    assert (line.text, line.script) == ("โรงแรม", "thai")
    assert "Farmacia" in [line.text for line in read_picture(board, ReadingOptions(script="latin")).lines]


def test_an_unknown_script_is_refused() -> None:
    with pytest.raises(BadInput, match=r"klingon.*hangul"):
        ReadingOptions(script="klingon")


@pytest.mark.parametrize(
    ("word", "font", "script"),
    [
        ("Hauptbahnhof", "sans-semibold", "latin"),
        ("中国银行", "chinese-simplified", "chinese"),
        pytest.param("カラオケ", "japanese", "japanese", marks=pytest.mark.slow),
        ("Гостиница", "sans-semibold", "cyrillic"),
        pytest.param("Ηράκλειο", "sans-semibold", "greek", marks=pytest.mark.slow),
        pytest.param("הרצליה", "hebrew", "hebrew", marks=pytest.mark.slow),
        pytest.param("โรงแรม", "thai", "thai", marks=pytest.mark.slow),
        pytest.param("우체국", "korean", "hangul", marks=pytest.mark.slow),
        pytest.param("მაღაზია", "georgian", "georgian", marks=pytest.mark.slow),
    ],
)
def test_a_sign_is_read_and_its_script_named(word: str, font: str, script: str) -> None:
    lines = read_text(sign(word, font))
    assert [(SIGNS.plain(line.text), line.script) for line in lines] == [(word, script)]
    assert 0 < lines[0].confidence <= 1
    assert lines[0].engine == ("tesseract" if script in OTHER_SCRIPTS else "rapidocr")


@pytest.mark.slow
@pytest.mark.parametrize("script", list(SIGNS.SCRIPTS))
def test_words_the_reader_was_not_tuned_on_are_read(script: str) -> None:
    result = SIGNS.measure(script, "held-out", 2)
    assert result["character_accuracy"] >= SIGNS.promised_accuracy(script)


def test_boxes_are_in_pixels_of_the_picture_given_and_lines_run_downwards() -> None:
    picture = Image.new("RGB", (5000, 1000), "white")
    for top, word in ((100, "Bahnhof"), (600, "Zürich")):
        drawn = sign(word, "sans", 5)
        picture.paste(drawn, (3000, top))
    lines = read_text(picture)
    assert [line.text for line in lines] == ["Bahnhof", "Zürich"]
    for line in lines:
        left, upper, right, lower = line.bounds
        assert 3000 <= left < right <= 5000
        assert 0 <= upper < lower <= 1000
    assert lines[0].bounds[3] < lines[1].bounds[1]


@pytest.mark.parametrize(
    "mode",
    ["RGBA", "I;16", *(pytest.param(one, marks=pytest.mark.slow) for one in ("RGB", "L", "1", "CMYK", "F", "P"))],
)
def test_a_blank_picture_has_no_text(mode: str) -> None:
    assert read_text(Image.new(mode, (200, 150))) == []


@pytest.mark.parametrize("size", [(1, 1), (0, 5), (3, 4000), (4000, 3), (13, 700), (12, 12)])
def test_odd_sizes_are_no_trouble(size: tuple[int, int]) -> None:
    assert read_text(Image.new("RGB", size, "grey")) == []


def test_noise_is_not_read_as_text() -> None:
    noise = np.random.default_rng(1).integers(0, 255, (300, 400, 3), dtype=np.uint8)
    assert read_text(Image.fromarray(noise)) == []


@pytest.mark.slow
def test_grey_and_transparent_pictures_are_read() -> None:
    drawn = sign("Farmacia", "sans-semibold")
    clear = drawn.copy()
    clear.putalpha(255)
    deep = Image.fromarray(np.asarray(drawn.convert("L"), dtype=np.uint16) * 200)
    for picture in (clear, deep):
        assert [line.text for line in read_text(picture)] == ["Farmacia"]


def test_nothing_is_loaded_before_it_is_used() -> None:
    code = (
        "import sys, geosleuth.photo.text; "
        "print([name for name in ('onnxruntime', 'rapidocr', 'cv2', 'tesserocr', 'PIL.Image') if name in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"


def test_reading_opens_no_socket_and_writes_nothing(tmp_path: Path) -> None:
    home, picture = tmp_path / "home", tmp_path / "sign.png"
    home.mkdir()
    sign("ירושלים", "hebrew").save(picture)
    code = """
import sys
def watch(event, arguments):
    if event.startswith("socket.") and event != "socket.__new__":
        raise RuntimeError(event)
    if event == "open" and any(letter in str(arguments[1] or "r") for letter in "wax+"):
        raise RuntimeError(str(arguments))
sys.addaudithook(watch)
from PIL import Image
from geosleuth.photo.text import read_text
print(ascii([line.text for line in read_text(Image.open(sys.argv[1]))]))
"""
    environment = {"HOME": str(home), "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(home)}
    told = subprocess.run(
        [sys.executable, "-c", code, str(picture)],
        env=environment, cwd=home, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert told.returncode == 0, told.stderr
    assert told.stdout.strip() == ascii(["ירושלים"])
    assert list(home.rglob("*")) == []


@pytest.mark.parametrize(
    ("text", "script"),
    [("東京", "chinese"), ("東京タワー", "japanese"), ("12:30", "none"), ("Київ 5", "cyrillic"), ("", "none")],
)
def test_scripts_are_named_from_letters(text: str, script: str) -> None:
    assert detect_script(text) == script


@pytest.mark.parametrize(
    ("text", "is_one"),
    [("八八八八八", True), ("レレパハハハパハン", True), ("IIIIlIl", True), ("Mississippi", False), ("00000", False),
     ("東京都中央区", False), ("ABBA", False)],
)  # fmt: skip
def test_a_row_of_like_things_is_no_text(text: str, is_one: bool) -> None:
    assert is_pattern(text) is is_one


def test_lines_that_were_found_and_not_read_come_last_and_without_text() -> None:
    board = Image.new("RGB", (1200, 800), "white")
    board.paste(sign("Farmacia", "sans"), (20, 20))
    smaller = sign("Panaderia", "sans")
    board.paste(smaller.resize((smaller.width // 4, smaller.height // 4)), (900, 600))
    read = read_text(board, max_boxes=1)
    noticed = read_picture(board, ReadingOptions(max_boxes=1, unread=True)).lines
    assert [line.text for line in read] == ["Farmacia"]
    assert noticed[:1] == read
    (missed,) = noticed[1:]
    assert (missed.text, missed.confidence, missed.script) == ("", 0.0, "none")
    assert missed.bounds[0] > 880
    assert missed.bounds[1] > 580
