"""Names as a browser that draws letter by letter must be given them."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geosleuth.atlas.tiles.settlements import name_properties


@pytest.mark.parametrize("name", ["Köln", "Αθήνα", "Москва", "東京都", "서울", "თბილისი", "Երևան", "Hà Nội"])
def test_most_scripts_are_left_to_the_browser(name: str) -> None:
    assert name_properties(name) == {"name": unicodedata.normalize("NFC", name)}


def test_arabic_is_joined_and_turned_round() -> None:
    # Lam and alef are one letter; the first letter of the word ends up on the right.
    label = name_properties("سلام")["label"]
    assert label == "\ufee1\ufefc\ufeb3"
    assert unicodedata.normalize("NFKC", label[::-1]) == "سلام"


def test_numbers_and_latin_words_keep_their_order_among_hebrew_ones() -> None:
    assert name_properties("רחוב 12")["label"] == "12 בוחר"
    assert name_properties("Tel Aviv (תל אביב)", in_lines=False)["label"] == "Tel Aviv (ביבא לת)"


def test_long_hebrew_names_are_broken_before_they_are_turned() -> None:
    first, second = name_properties("אוניברסיטת תלאביב")["label"].split("\n")
    assert first[::-1] == "אוניברסיטת"
    assert second[::-1] == "תלאביב"
    assert "\n" not in name_properties("אוניברסיטת תלאביב", in_lines=False)["label"]


@pytest.mark.parametrize("name", ["दिल्ली", "กรุงเทพ", "ភ្នំពេញ"])
def test_scripts_that_need_shaping_are_spelled_in_latin_letters(name: str) -> None:
    drawn = name_properties(name)
    assert drawn["name"] == name
    assert drawn["label"].isascii()
    assert drawn["label"].strip()


@given(st.text(max_size=400))
def test_no_name_can_do_harm(name: str) -> None:
    drawn = name_properties(name)
    for text in drawn.values():
        # Laid out in up to three lines, and Latin spellings may be longer than what they spell.
        assert 0 < len(text) <= 64
        assert not any(unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") for char in text.replace("\n", ""))
        assert not any(char in text for char in "\u202a\u202b\u202d\u202e\u2066\u2067\u2068")
    assert "\n" not in drawn.get("name", "")
