"""Names in many scripts: always letters, never empty boxes."""

import pytest

from geosleuth.atlas.maps.labels import can_shape, clean, line, measure, stencil, writable

NAMES = {
    "sans": "Łódź, Škofja Loka, Đà Nẵng, Москва, Αθήνα",
    "arabic": "القاهرة",
    "hebrew": "ירושלים",
    "thai": "กรุงเทพมหานคร",
    "devanagari": "नई दिल्ली",
    "bengali": "ঢাকা",
    "tamil": "சென்னை",
    "georgian": "თბილისი",
    "armenian": "Երևան",
    "ethiopic": "አዲስ አበባ",
    "khmer": "ភ្នំពេញ",
    "myanmar": "ရန်ကုန်",
    "tibetan": "ལྷ་ས",
    "korean": "서울특별시",
    "japanese": "東京タワー",
    "chinese-simplified": "北京市朝阳区",
}


@pytest.mark.parametrize(("font", "name"), NAMES.items())
def test_every_script_has_a_font(font: str, name: str) -> None:
    laid = line(name, shaping=True)
    assert laid is not None
    assert font in {run.font for run in laid.runs}
    if can_shape():
        assert writable([name]) == clean(name)
    mask = stencil([writable([name])], 14)
    assert mask.getbbox() is not None
    assert mask.size == measure([writable([name])], 14)


def test_han_letters_look_japanese_beside_kana() -> None:
    assert [run.font for run in (line("直ノ") or pytest.fail("no font")).runs] == ["japanese"]
    assert [run.font for run in (line("直") or pytest.fail("no font")).runs] == ["chinese-simplified"]


def test_what_no_font_has_is_written_otherwise() -> None:
    cuneiform = "𒀭𒂗𒆤"
    assert line(cuneiform) is None
    assert writable([cuneiform, "Enlil"]) == "Enlil"
    assert line("Enlil 𒀭") is None
    assert writable(["ᠮᠣᠩᠭᠣᠯ"]).isascii()
    assert writable(["\U000f0000", ""]) == ""


def test_without_shaping_arabic_is_spelled_in_latin() -> None:
    spelled = writable(["القاهرة"], shaping=False)
    assert spelled
    assert spelled.isascii()
    assert writable(["Αθήνα"], shaping=False) == "Αθήνα"


def test_runs_of_a_right_to_left_name_go_from_right_to_left() -> None:
    laid = line("شارع 12", shaping=True)
    assert laid is not None
    assert laid.right_to_left
    assert laid.runs[-1].text.startswith("شارع")


def test_direction_overrides_and_control_characters_are_dropped() -> None:
    assert clean("\u202eabc\u202c\x00\x1b[0m\u2066d") == "abc[0md"
    assert clean("  a\u00a0\n b\t") == "a b"
    assert clean("می\u200cخواهم") == "می\u200cخواهم"  # a joiner that spelling needs
