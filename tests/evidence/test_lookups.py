"""What is asked of the atlas: names, not noise; the most telling first."""

import pytest

from geosleuth.evidence import Lookup, TextSeen, lookups


def scene(*texts: str, size: float = 30) -> list[TextSeen]:
    return [
        TextSeen(text, "image-1", (10.0, 1.4 * size * row, 400.0, 1.4 * size * row + size), 0.95, "latin")
        for row, text in enumerate(texts)
    ]


def apart(*texts: str) -> list[TextSeen]:
    return [
        TextSeen(text, "image-1", (10.0, 200.0 * row, 400.0, 200.0 * row + 30), 0.95, "latin")
        for row, text in enumerate(texts)
    ]


def asked(found: list[Lookup]) -> dict[str, str]:
    return {one.text: one.kind for one in found}


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("Boulangerie Costa", "Boulangerie Costa", "business"),
        ("CAFÉ DE PARIS", "CAFÉ DE PARIS", "business"),
        ("Pharmacie du Port", "Pharmacie du Port", "business"),
        ("Ravintola Kappeli", "Ravintola Kappeli", "business"),
        ("Farmàcia Pyrénées", "Farmàcia Pyrénées", "business"),
        ("Trattoria da Mario", "Trattoria da Mario", "business"),
        ("山田薬局", "山田薬局", "business"),
        ("Zubrówka Lounge", "Zubrówka Lounge", "business"),
        ("Stockmann", "Stockmann", "business"),
        ("Rue Grimaldi", "Rue Grimaldi", "street"),
        ("12 Rue Grimaldi", "Rue Grimaldi", "street"),
        ("Mannerheimintie 12 B", "Mannerheimintie", "street"),
        ("Avinguda Meritxell", "Avinguda Meritxell", "street"),
        ("Place du Casino", "Place du Casino", "street"),
        ("ул. Ленина", "ул. Ленина", "street"),
        ("Atatürk Caddesi", "Atatürk Caddesi", "street"),
        ("Calle Mayor", "Calle Mayor", "street"),
        ("Hauptstraße", "Hauptstraße", "street"),
        ("Gare de Monaco", "Gare de Monaco", "station"),
        ("東京駅", "東京駅", "station"),
        ("서울역", "서울역", "station"),
        ("Nice Côte d'Azur Airport", "Nice Côte d'Azur Airport", "airport"),
        ("Musée océanographique", "Musée océanographique", "landmark"),
        ("Andorra la Vella", "Andorra la Vella", "place"),
        ("Helsinki", "Helsinki", "place"),
        ("98000 Monaco", "Monaco", "place"),
        ("Seoul 56 km", "Seoul", "place"),
    ],
)
def test_names_are_asked_about_as_what_they_are(text: str, name: str, kind: str) -> None:
    assert asked(lookups(apart(text))).get(name) == kind


@pytest.mark.parametrize(
    "text",
    [
        "OPEN", "EXIT", "Café", "Hotel", "Restaurant", "Pharmacie",
        "Apotheke", "Ravintola", "Sortie de secours", "STOP",
        "出口",
        "Tél. 01 42 68 53 00", "+377 93 15 26 00", "12,50 €", "9h - 19h", "Mo-Fr 9:00-18:00", "AVOINNA 7-21", "24/7",
        "info@gmail.com",
        "AB-123-CD", "A8", "12345", "50%", "WC", "", "...", "Boulangerie Pâtisserie",
        "Hotel Restaurant",
        "Ouvert du lundi au samedi", "No parking",
    ],
)  # fmt: skip
def test_noise_is_not_asked_about(text: str) -> None:
    assert lookups(apart(text)) == []


def test_a_name_over_two_lines_is_asked_about_whole() -> None:
    assert asked(lookups(scene("Hôtel de", "Paris")))["Hôtel de Paris"] == "business"
    assert asked(lookups(scene("BOULANGERIE", "COSTA")))["BOULANGERIE COSTA"] == "business"
    assert "BOULANGERIE COSTA" not in asked(lookups(apart("BOULANGERIE", "COSTA")))


def test_a_whole_address_is_taken_apart() -> None:
    found = lookups(apart("12 Rue Grimaldi, 98000 Monaco"))
    assert asked(found) == {"12 Rue Grimaldi": "street", "Rue Grimaldi": "street", "Monaco": "place"}
    assert {one.country_hint for one in found} == {"MC"}


def test_the_country_of_a_sign_is_passed_on_to_its_names_only() -> None:
    sign = [*scene("Boulangerie Costa", "Tél. +377 93 15 26 00")]
    far = TextSeen("Ravintola Kappeli", "image-1", (5000.0, 5000.0, 5400.0, 5030.0), 0.95, "latin")
    hints = {one.text: one.country_hint for one in lookups([*sign, far])}
    assert hints["Boulangerie Costa"] == "MC"
    assert hints["Ravintola Kappeli"] is None


def test_telling_names_come_before_guesses_and_worldwide_chains_last() -> None:
    found = lookups(apart("McDonald's", "Boulangerie Costa", "Qwerty Zxcvb"))
    assert [one.text for one in found] == ["Boulangerie Costa", "Qwerty Zxcvb", "McDonald's"]


def test_the_number_of_questions_is_bounded() -> None:
    many = [f"Boulangerie Numéro{chr(97 + row % 26)}{chr(97 + row // 26)}" for row in range(200)]
    assert len(lookups(apart(*many))) == 24
    assert len(lookups(apart(*many), limit=3)) == 3
    assert lookups([]) == []


def test_a_town_with_its_province_below_is_asked_for_with_it_and_not_alone() -> None:
    found = {one.text: one for one in lookups(scene("Welcome to Sydney", "Nova Scotia"))}
    assert found["Sydney, Nova Scotia"].country_hint == "CA"
    assert found["Sydney, Nova Scotia"].manner == "said"
    assert "Sydney" not in found
    assert "Sydney" in asked(lookups(scene("Welcome to Sydney", "Opera House")))


@pytest.mark.parametrize(
    ("text", "town", "manner"),
    [
        ("towards Leeds", "Leeds", "towards"),
        ("Richtung Hannover", "Hannover", "towards"),
        ("Harrogate Road", "Harrogate", "road"),
        ("Route de Lausanne", "Lausanne", "road"),
        ("Carretera de Toledo", "Toledo", "road"),
    ],
)
def test_towns_that_lie_ahead(text: str, town: str, manner: str) -> None:
    assert {one.text: one.manner for one in lookups(scene(text))}[town] == manner


def test_names_beside_a_road_number_may_be_airports() -> None:
    assert asked(lookups(scene("M25", "Heathrow")))["Heathrow Airport"] == "airport"
    assert "Heathrow Airport" not in asked(lookups(scene("Heathrow")))
    assert "Lyon Airport" not in asked(lookups(scene("A6", "Lyon")))


@pytest.mark.parametrize("name", ["เชียงใหม่", "ວຽງຈັນ", "မန္တလေး", "ភ្នំពេញ", "दिल्ली", "চট্টগ্রাম", "கோயம்புத்தூர்"])
def test_names_keep_the_marks_that_they_end_with(name: str) -> None:
    assert name in {one.text for one in lookups(scene(f"«{name}»"))}
