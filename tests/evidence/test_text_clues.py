"""Real strings from many countries: what they say, and what says nothing."""

import pytest

from geosleuth.evidence import Clue, ClueKind, TextSeen, country_prior, text_clues
from geosleuth.evidence.vocabulary import tokens

LINE_PX = 30.0


def seen(*texts: str, confidence: float = 0.95) -> list[TextSeen]:
    return [
        TextSeen(text, "image-1", (10.0, 50.0 * row, 10.0 + 14 * len(text), 50.0 * row + LINE_PX), confidence, "latin")
        for row, text in enumerate(texts)
    ]


def of_kind(kind: ClueKind, *texts: str) -> list[Clue]:
    return [clue for clue in text_clues(seen(*texts)) if clue.kind == kind]


def pull(clue: Clue) -> float:
    """How far one clue moves the prior: total variation distance, 0 to 1."""
    prior = country_prior()
    if not clue.countries:
        return 0.0
    weighed = {
        code: prior[code] * (clue.reliability * clue.countries.get(code, 0.0) / prior[code] + 1 - clue.reliability)
        for code in prior
    }
    total = sum(weighed.values())
    return sum(abs(weighed[code] / total - prior[code]) for code in prior) / 2


# Kind, text, a country that must be among the likeliest, and how many of those count.
SAYS: list[tuple[ClueKind, str, str, int]] = [
    # scripts
    ("script", "ラーメン横丁", "JP", 1),
    ("script", "渋谷駅前", "JP", 1),
    ("script", "서울특별시", "KR", 1),
    ("script", "ร้านขายยา", "TH", 1),
    ("script", "Φαρμακείο", "GR", 1),
    ("script", "בית מרקחת", "IL", 1),
    ("script", "აფთიაქი", "GE", 1),
    ("script", "Դեղատուն", "AM", 1),
    ("script", "ຮ້ານອາຫານ", "LA", 1),
    ("script", "ឱសថស្ថាន", "KH", 1),
    ("script", "ဆေးဆိုင်", "MM", 1),
    ("script", "ඖෂධසල", "LK", 1),
    ("script", "ফার্মেসী", "BD", 2),
    ("script", "மருந்தகம்", "IN", 2),
    ("script", "మందుల దుకాణం", "IN", 1),
    ("script", "ፋርማሲ", "ET", 1),
    ("script", "Продукты 24 часа", "RU", 1),
    ("script", "صيدلية الشفاء", "EG", 3),
    ("script", "药店", "CN", 1),
    ("script", "便利商店 歡迎光臨", "TW", 1),
    ("script", "臺灣銀行", "TW", 1),
    # languages of Latin, Cyrillic, Arabic and Devanagari writing
    ("language", "Boulangerie Pâtisserie", "FR", 1),
    ("language", "Rue Grimaldi", "FR", 1),
    ("language", "Défense d'afficher", "FR", 1),
    ("language", "Öffnungszeiten Montag bis Freitag", "DE", 1),
    ("language", "Hauptstraße", "DE", 1),
    ("language", "Einbahnstraße", "DE", 1),
    ("language", "Farmacia comunale", "IT", 1),
    ("language", "Chiuso per ferie", "IT", 1),
    ("language", "Se vende esta casa", "MX", 4),
    ("language", "Panadería La Espiga", "ES", 5),
    ("language", "Saída de emergência", "BR", 1),
    ("language", "Padaria e confeitaria", "PT", 5),
    ("language", "Fietsers oversteken", "NL", 1),
    ("language", "Winkelcentrum", "NL", 1),
    ("language", "Åbningstider", "DK", 2),
    ("language", "Järnvägsstation", "SE", 1),
    ("language", "Jernbanestasjon", "NO", 1),
    ("language", "Mannerheimintie", "FI", 1),
    ("language", "Ravintola Kappeli", "FI", 1),
    ("language", "Pysäköinti kielletty", "FI", 1),
    ("language", "Tere tulemast", "EE", 1),
    ("language", "Brīvības iela", "LV", 1),
    ("language", "Geležinkelio stotis", "LT", 1),
    ("language", "Zakaz parkowania", "PL", 1),
    ("language", "Sklep spożywczy", "PL", 1),
    ("language", "Zákaz vjezdu", "CZ", 1),
    ("language", "Železničná stanica", "SK", 1),
    ("language", "Gyógyszertár", "HU", 1),
    ("language", "Behajtani tilos", "HU", 1),
    ("language", "Ieșire de urgență", "RO", 1),
    ("language", "Ljekarna i drogerija", "HR", 1),
    ("language", "Železniška postaja", "SI", 1),
    ("language", "Mirë se vini", "AL", 2),
    ("language", "Atatürk Caddesi", "TR", 1),
    ("language", "Diş hekimi", "TR", 2),
    ("language", "Nizami küçəsi", "AZ", 1),
    ("language", "Nhà thuốc", "VN", 1),
    ("language", "Cấm đỗ xe", "VN", 1),
    ("language", "Jalan Sudirman", "ID", 1),
    ("language", "Rumah makan Padang", "ID", 1),
    ("language", "Lebuhraya Utara Selatan", "MY", 1),
    ("language", "Bawal umihi dito", "PH", 1),
    ("language", "Duka la dawa", "TZ", 4),
    ("language", "Avinguda Meritxell", "AD", 2),
    ("language", "Farmàcia Pyrénées", "ES", 2),
    ("language", "Udaletxea", "ES", 1),
    ("language", "Aðgangur bannaður", "IS", 1),
    ("language", "Fáilte go Gaillimh", "IE", 1),
    ("language", "Croeso i Gymru", "GB", 1),
    ("language", "Triq ir-Repubblika", "MT", 1),
    ("language", "Hoërskool", "ZA", 1),
    ("language", "Стоянка запрещена", "RU", 1),
    ("language", "Вулиця Шевченка", "UA", 1),
    ("language", "Паркирането забранено", "BG", 1),
    ("language", "Забрањено паркирање", "RS", 2),
    ("language", "Добредојдовте", "MK", 1),
    ("language", "Қош келдіңіз", "KZ", 1),
    ("language", "Тавтай морилно уу", "MN", 1),
    ("language", "خیابان آزادی", "IR", 2),
    ("language", "پارکنگ منع ہے", "PK", 1),
    ("language", "आपका स्वागत है", "IN", 1),
    ("language", "तपाईंलाई स्वागत छ", "NP", 1),
    # telephone numbers
    ("phone", "+377 93 15 26 00", "MC", 1),
    ("phone", "Tel. +376 820 600", "AD", 1),
    ("phone", "Puh. +358 9 310 1691", "FI", 1),
    ("phone", "0033 4 93 87 00 00", "FR", 1),
    ("phone", "+1 (212) 736-3100", "US", 1),
    ("phone", "+44 (0)20 7946 0958", "GB", 1),
    ("phone", "☎ +81 3-3211-3960", "JP", 1),
    ("phone", "Tél. 01 42 68 53 00", "FR", 1),
    ("phone", "Tel: (212) 736-3100", "US", 1),
    ("phone", "тел. +7 495 123-45-67", "RU", 1),
    ("phone", "WhatsApp +55 11 91234-5678", "BR", 1),
    ("phone", "โทร +66 2 123 4567", "TH", 1),
    # addresses in the net
    ("tld", "www.hotel-port.mc", "MC", 1),
    ("tld", "info@botiga.ad", "AD", 1),
    ("tld", "WWW.KAUPPAHALLI.FI", "FI", 1),
    ("tld", "www. boulangerie-costa .fr", "FR", 1),
    ("tld", "http://baeckerei.de/angebote", "DE", 1),
    ("tld", "shop.co.uk", "GB", 1),
    ("tld", "loja.com.br", "BR", 1),
    ("tld", "wwwpekara.rs", "RS", 1),
    # postcodes
    ("postcode", "98000 Monaco", "MC", 1),
    ("postcode", "06400 Cannes", "FR", 1),
    ("postcode", "10115 Berlin", "DE", 1),
    ("postcode", "75001 Paris", "FR", 1),
    ("postcode", "00100 Helsinki", "FI", 1),
    ("postcode", "AD500 Andorra la Vella", "AD", 1),
    ("postcode", "London SW1A 1AA", "GB", 1),
    ("postcode", "Ottawa ON K1A 0B1", "CA", 1),
    ("postcode", "1012 AB Amsterdam", "NL", 1),
    ("postcode", "00-950 Warszawa", "PL", 1),
    ("postcode", "F-75001 Paris", "FR", 1),
    ("postcode", "CH-8001 Zürich", "CH", 1),
    ("postcode", "Beverly Hills, CA 90210", "US", 1),
    ("postcode", "Sydney NSW 2000", "AU", 1),
    ("postcode", "〒100-0001", "JP", 1),
    ("postcode", "110 00 Praha", "CZ", 1),
    ("postcode", "New Delhi 110001", "IN", 1),
    ("postcode", "01310-100 São Paulo", "BR", 1),
    ("postcode", "LV-1050 Rīga", "LV", 1),
    # money
    ("currency", "12,90 zł", "PL", 1),
    ("currency", "25 Kč", "CZ", 1),
    ("currency", "1.200 Ft", "HU", 1),
    ("currency", "R$ 10,00", "BR", 1),
    ("currency", "₩5,000", "KR", 1),
    ("currency", "₹100", "IN", 1),
    ("currency", "500円", "JP", 1),
    ("currency", "HK$50", "HK", 1),
    ("currency", "NT$100", "TW", 1),
    ("currency", "RM 5.90", "MY", 1),
    ("currency", "Rp 10.000", "ID", 1),
    ("currency", "20 บาท", "TH", 1),
    ("currency", "100 руб.", "RU", 1),
    ("currency", "S/ 20", "PE", 1),
    ("currency", "CHF 5.20", "CH", 1),
    ("currency", "£4.99", "GB", 1),
    ("currency", "3,50 €", "FR", 4),
    ("currency", "49 kr", "SE", 3),
    ("currency", "25 lei", "RO", 1),
    ("currency", "50 TL", "TR", 1),
    # road numbers
    ("road_number", "BR-101", "BR", 1),
    ("road_number", "I-95", "US", 1),
    ("road_number", "D 906", "FR", 1),
    ("road_number", "国道1号", "JP", 1),
    ("road_number", "M-4", "RU", 4),
    ("road_number", "М-4", "RU", 1),
    ("road_number", "QL 1A", "VN", 1),
    ("road_number", "Nice A8", "FR", 3),
    # chains
    ("brand", "Monoprix", "FR", 1),
    ("brand", "ALEPA", "FI", 1),
    ("brand", "Biedronka", "PL", 1),
    ("brand", "R-kioski", "FI", 1),
    ("brand", "Caprabo", "ES", 1),
    ("brand", "Sainsburvs", "GB", 1),
    ("brand", "K-Market Kamppi", "FI", 1),
    ("brand", "Sparkasse", "DE", 1),
    # plates
    ("plate", "京A·12345", "CN", 1),
    ("plate", "123가 4567", "KR", 1),
    ("plate", "1-ABC-123", "BE", 1),
    ("plate", "AB-123-CD", "FR", 1),
    ("plate", "MH 12 AB 1234", "IN", 1),
    # dates, hours, speeds, units
    ("date_format", "12/31/2024", "US", 1),
    ("date_format", "31.12.2024", "DE", 5),
    ("date_format", "2024/12/31", "CN", 2),
    ("opening_hours", "9am - 5pm", "US", 2),
    ("opening_hours", "8h30 - 12h", "FR", 3),
    ("speed", "30 MPH", "US", 1),
    ("speed", "SPEED LIMIT 55", "US", 1),
    ("unit", "Next exit 10 miles", "US", 1),
]  # fmt: skip

SAYS_NOTHING = [
    "OPEN", "EXIT", "Hotel", "Café", "Coca-Cola", "Pizza", "Bar Restaurant", "McDonald's", "Shell", "SALE 50%",
    "TAXI", "WC", "Wi-Fi", "12", "1234", "2024", "24/7", "A", "", " ", "...", "No. 5", "XL", "100%",
    "facebook.com/shop",
    "www.example.com", "info@gmail.com",
    "Samsung", "iPhone", "Adidas", "BMW", "7-Eleven", "Gate 12", "Room 204",
    "10:00",
    "Lidl", "WELCOME", "Push", "5 m", "3 kg", "1 + 1 = 2", "🙂🙂", "Bus", "P", "→", "cafe.tv", "studio.io",
    "Super Market",
]  # fmt: skip


@pytest.mark.parametrize(("kind", "text", "country", "among"), SAYS, ids=lambda value: str(value)[:24])
def test_a_text_points_at_its_country(kind: ClueKind, text: str, country: str, among: int) -> None:
    clues = of_kind(kind, text)
    assert clues, f"no {kind} clue in {text!r}"
    ranked = sorted(clues[0].countries, key=lambda code: -clues[0].countries[code])
    assert country in ranked[:among], ranked[:6]
    assert clues[0].where is not None
    assert clues[0].where.text == text


@pytest.mark.parametrize("text", SAYS_NOTHING)
def test_what_stands_on_signs_everywhere_says_nearly_nothing(text: str) -> None:
    for clue in text_clues(seen(text)):
        assert pull(clue) < 0.2, clue


@pytest.mark.parametrize(
    "text",
    ["Main Street", "Police station", "No parking at any time", "Please keep off the grass", "Bakery and coffee shop"],
)
def test_english_alone_hardly_moves_the_prior(text: str) -> None:
    for clue in of_kind("language", text):
        assert pull(clue) < 0.25, clue
        assert clue.caution is not None


@pytest.mark.parametrize(
    ("weaker", "stronger"),
    [
        ("12345", "12345 Berlin"),
        ("02-123-4567", "Tel 02-123-4567"),
        ("Tel 02-123-4567", "+82 2-123-4567"),
        ("www.cafe.tv", "www.cafe.mc"),
        ("$5", "NT$5"),
        ("A8", "BR-101"),
        ("K-Market Kamppi", "K-Market"),
    ],
)
def test_looser_evidence_is_trusted_less(weaker: str, stronger: str) -> None:
    assert max(clue.reliability for clue in text_clues(seen(weaker))) < max(
        clue.reliability for clue in text_clues(seen(stronger))
    )


def test_two_languages_side_by_side_are_two_clues() -> None:
    clues = of_kind("language", "Sortie de secours", "Nooduitgang", "Rue Neuve", "Nieuwstraat")
    assert len(clues) == 2
    product = {
        code: clues[0].countries.get(code, 0) * clues[1].countries.get(code, 0) / country_prior()[code]
        for code in country_prior()
    }
    assert max(product, key=lambda code: product[code]) == "BE"


def test_a_foreign_script_among_much_latin_text_is_a_guest() -> None:
    alone = of_kind("script", "寿司")[0]
    guest = of_kind("script", "寿司", "Boulangerie de la Gare", "Rue de la République", "Pharmacie centrale")[0]
    assert guest.reliability < 0.6 * alone.reliability
    assert guest.caution is not None


def test_an_exchange_office_names_no_country() -> None:
    board = ("USD 1.08", "GBP 0.85", "CHF 0.95", "JPY 162.5", "PLN 4.30", "CZK 25.2")
    assert len(of_kind("currency", *board)) >= 4
    assert all(clue.reliability < 0.2 for clue in of_kind("currency", *board))


def test_a_tour_bus_is_outnumbered_but_heard() -> None:
    clues = text_clues(
        seen("Reisebüro Schmidt GmbH", "+49 30 1234567", "www.schmidt-reisen.de", "Place du Casino", "98000 Monaco")
    )
    assert all(clue.reliability < 1 for clue in clues)
    assert any(clue.countries.get("MC", 0) > 0.9 for clue in clues)
    assert any("bus" in (clue.caution or "") for clue in clues if clue.kind == "phone")


def test_the_same_sign_read_twice_is_one_clue() -> None:
    twice = [*seen("+377 93 15 26 00"), TextSeen("+377 93 15 26 00", "image-2", (0, 0, 300, 40), 0.99, "latin")]
    clues = text_clues(twice)
    assert len(clues) == 1
    assert clues[0].where is not None
    assert clues[0].where.image == "image-2"


def test_figures_that_go_on_are_no_postcode() -> None:
    assert not of_kind("postcode", "08-652 31 90")
    assert of_kind("postcode", "00-652 Warszawa")


def test_forints_are_no_feet() -> None:
    assert not of_kind("unit", "490 Ft")
    assert of_kind("unit", "490 ft")


def test_a_national_number_has_an_area_in_each_of_its_countries() -> None:
    [clue] = of_kind("phone", "Tel. 239 824 112")
    towns = {spot.country: spot.name for spot in reversed(clue.spots) if spot.country}
    assert towns["PT"] == "Coimbra"
    assert towns["CZ"] == "Prague"
    for code in towns:
        assert sum(spot.weight for spot in clue.spots if spot.country == code) < clue.countries[code]


def test_letters_that_number_things_are_no_words() -> None:
    assert tokens("B1-B22") == []
    assert tokens("Gate B 22a, 18h") == ["gate", "b"]
    assert not of_kind("language", "B1-B22")


@pytest.mark.parametrize(
    ("text", "cities"),
    [
        ("14e Arr.", ["Paris", "Marseille"]),
        ("4e Arrt", ["Paris", "Marseille", "Lyon"]),
        ("20ème arrondissement", ["Paris"]),
        ("VIII. kerület", ["Budapest"]),
        ("21. Bezirk", ["Vienna"]),
    ],
)
def test_cities_that_number_their_districts(text: str, cities: list[str]) -> None:
    [clue] = [clue for clue in text_clues(seen(text)) if clue.kind == "place"]
    assert [spot.name for spot in clue.spots] == cities


@pytest.mark.parametrize("text", ["21e Arr.", "XXV. kerület", "14e étage", "Bezirk 7"])
def test_districts_that_no_city_has(text: str) -> None:
    assert not of_kind("place", text)


def test_a_state_and_figures_that_begin_as_its_postcodes_do_not_are_no_address() -> None:
    assert of_kind("postcode", "Seattle, WA 98101")
    assert not of_kind("postcode", "WA 12345")
    assert of_kind("plate", "WA 12345")


def test_words_of_kitchens_are_trusted_less_than_words_of_signs() -> None:
    [kitchen] = of_kind("language", "Ristorante Venezia")
    [sign] = of_kind("language", "Vietato fumare")
    assert kitchen.reliability < 0.5 * sign.reliability


def test_words_that_hardly_any_other_country_has_say_more() -> None:
    rare, common = (
        next(clue for clue in text_clues(seen(text)) if "as some countries" in clue.says)
        for text in ("Priory", "Bookshop")
    )
    assert rare.countries["GB"] > 1.5 * common.countries["GB"]
    assert rare.countries["US"] > 0


def test_a_chinese_plate_names_its_province() -> None:
    (clue,) = of_kind("plate", "豫C·12345")
    assert "Henan" in clue.says
