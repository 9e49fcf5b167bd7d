"""Scripts, telling letters and road numbers."""

import pytest

from geosleuth.atlas.facts import by_road_number, by_script, get_script


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("สวัสดี Hello", "TH"),
        ("Ελλάδα", "GR"),
        ("新宿のラーメン", "JP"),
        ("한국", "KR"),
        ("中国银行", "CN"),
        ("台灣國立大學", "TW"),
        ("Київ", "UA"),
        ("Łódź Główna", "PL"),
        ("thị trấn", "VN"),
        ("Utcai őr", "HU"),
        ("تهران گفتگو پمپ", "PK"),
        ("საქართველო", "GE"),
        ("Հայաստան", "AM"),
        ("ישראל", "IL"),
        ("улица Вишневая ы", "RU"),
        ("Ћевапи", "RS"),
    ],
)
def test_the_country_that_writes_so_comes_first(text: str, first: str) -> None:
    assert by_script(text).evidence.countries[0] == first


def test_shares_of_scripts() -> None:
    writing = by_script("abcd жжжж ก")
    assert writing.scripts["Latn"] == pytest.approx(4 / 9)
    assert writing.scripts["Cyrl"] == pytest.approx(4 / 9)
    assert writing.scripts["Thai"] == pytest.approx(1 / 9)
    assert by_script("1234 !?").scripts == {}
    assert not by_script("1234 !?").evidence


def test_telling_letters_name_languages() -> None:
    assert by_script("Straße").languages == ("de",)
    assert by_script("Straße").telling_letters == "ß"
    assert set(by_script("Straße").evidence.countries) >= {"DE", "AT"}
    assert "PL" not in by_script("Příliš žluťoučký kůň").evidence.countries
    assert by_script("Příliš žluťoučký kůň").evidence.countries[0] == "CZ"
    assert by_script("Main Street").languages == ()


def test_chinese_characters_alone_leave_three_ways_open() -> None:
    assert {"CN", "JP", "TW"} <= set(by_script("東京").evidence.countries)
    assert "JP" not in by_script("中国银行").evidence.countries
    assert set(by_script("台灣國立大學").evidence.countries) >= {"TW", "HK", "MO"}


def test_script_of_a_character() -> None:
    assert get_script("a") == "Latn"
    assert get_script("字") == "Hani"
    assert get_script("1") is None
    assert get_script("\x00") is None


@pytest.mark.parametrize(
    ("number", "countries"),
    [
        ("BR-101", {"BR"}),
        ("I-95", {"US"}),
        ("Interstate 5", {"US"}),
        ("国道1号", {"JP"}),
        ("國道1號", {"TW"}),
        ("CM-412", {"ES"}),
        ("SS 1", {"IT"}),
        ("A1(M)", {"GB"}),
        ("DN1", {"RO"}),
        ("QL1A", {"VN"}),
        ("D 906", {"FR", "TR", "HR", "CZ", "SK"}),
    ],
)
def test_road_number(number: str, countries: set[str]) -> None:
    assert set(by_road_number(number).evidence.countries) == countries


def test_e_roads_follow_their_route() -> None:
    e45 = by_road_number("E45")
    assert {"NO", "FI", "SE", "DK", "DE", "AT", "IT"} <= set(e45.evidence.countries)
    assert "FR" not in e45.evidence.countries
    assert e45.schemes[0][0] == "European route E45"
    assert by_road_number("E 45").evidence.countries == e45.evidence.countries


def test_shared_road_numbers_name_every_scheme_known() -> None:
    a8 = by_road_number("a8")
    assert {"DE", "FR", "IT", "GB"} <= set(a8.evidence.countries)
    assert "US" not in a8.evidence.countries
    assert "RU" in by_road_number("М-4").evidence.countries
    unknown = by_road_number("XYZZY")
    assert not unknown.evidence
    assert unknown.schemes == ()
