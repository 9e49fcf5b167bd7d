"""What the two parsers read, refuse and survive."""

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from geosleuth.answer import PARSERS, Answer, parse_lenient, parse_strict

PARIS = (48.8584, 2.2945)
GOOD = '{"lat": 48.8584, "lon": 2.2945, "city": "Paris", "country": "France"}'


def point_of(answer: Answer) -> tuple[float, float] | None:
    return None if answer.point is None else (answer.point.lat, answer.point.lon)


def near(answer: Answer, lat: float, lon: float) -> bool:
    point = answer.point
    return point is not None and abs(point.lat - lat) < 1e-9 and abs(point.lon - lon) < 1e-9


class TestStrict:
    def test_reads_the_first_top_level_object_with_all_four_keys(self) -> None:
        text = f'{{"lat": 1, "lon": 2}} then {GOOD} and {GOOD.replace("48", "49")}'
        answer = parse_strict(text)
        assert point_of(answer) == PARIS
        assert answer.address.country.conclusion == "France"
        assert answer.address.precise.conclusion == "Paris"

    @pytest.mark.parametrize(
        "text",
        [
            GOOD.replace("}", ",}"),
            GOOD.replace('"Paris"', "Paris"),
            GOOD.replace('"city"', '"town"'),
            f'{{"answer": {GOOD}}}',
            GOOD.replace("48.8584", '"48.8584"'),
            GOOD.replace("48.8584", "NaN"),
            GOOD.replace("48.8584", "Infinity"),
            GOOD.replace("48.8584", "90.001"),
            GOOD.replace("2.2945", "-180.5"),
            GOOD.replace("48.8584", "null"),
            GOOD.replace("48.8584", "true"),
            GOOD[:-1],
            "",
        ],
    )
    def test_forgives_nothing(self, text: str) -> None:
        assert point_of(parse_strict(text)) is None


class TestLenientReadsWhatAPersonCould:
    @pytest.mark.parametrize(
        "text",
        [
            GOOD,
            f"```json\n{GOOD}\n```",
            f"Clues first. {GOOD} That is my answer.",
            f"<think>{{maybe}}</think><answer>{GOOD}</answer>",
            f"<answer>{GOOD}",
            GOOD.replace("}", ",}"),
            GOOD.replace('"Paris"', "Paris").replace('"France"', "France"),
            GOOD.replace('"Paris"', 'Paris"'),
            '{\n "lat": 48.8584,\n "lon": 2.2945,\n "city": "Paris,\n "country": "France"\n}',
            GOOD.replace('"', "'"),
            GOOD.replace('"', "“", 1).replace('"', "”", 1),
            "{lat: 48.8584, lon: 2.2945, city: Paris, country: France}",
            GOOD.replace(', "city"', ' "city"'),
            '{"lat": 48.8584, // the tower\n "lon": 2.2945, "city": "Paris", "country": "France"}',
            '{"answer": {"latitude": 48.8584, "longitude": 2.2945, "city": "Paris", "country": "France"}}',
            '{"location": {"lat": 48.8584, "lng": 2.2945}, "city": "Paris", "country": "France"}',
            '{"coordinates": [48.8584, 2.2945], "city": "Paris", "country": "France"}',
            '{"type": "Point", "coordinates": [2.2945, 48.8584], "city": "Paris", "country": "France"}',
            '{"coordinates": "48.8584, 2.2945", "city": "Paris", "country": "France"}',
            '{"lat": "48.8584° N", "lon": "2.2945° E", "city": "Paris", "country": "France"}',
            "<answer>country: France, city: Paris, Latitude: 48.8584, Longitude: 2.2945 **</answer>**",
            "**Country:** France\n**City:** Paris\n**Latitude:** 48.8584\n**Longitude:** 2.2945",
            "Country: France\nCity: Paris\nlat: 48.8584 lng: 2.2945",
            "Country: France\nCity: Paris\nLatitude ≈ 48.8584 N\nLongitude ≈ 2.2945 E",
            "Country: France\nCity: Paris\nat roughly 48.8584 °N latitude and 2.2945 °E longitude.",
        ],
    )
    def test_point_and_names(self, text: str) -> None:
        answer = parse_lenient(text)
        assert near(answer, *PARIS)
        assert answer.address.country.conclusion == "France"
        assert answer.address.precise.conclusion == "Paris"

    @pytest.mark.parametrize(
        ("text", "lat", "lon"),
        [
            ("lat=48.1, long=-2.3", 48.1, -2.3),
            ("Latitude: 33.8568° S, Longitude: 151.2153° E", -33.8568, 151.2153),
            ("48°51'30\"N 2°17'42\"E", 48 + 51 / 60 + 30 / 3600, 2 + 17 / 60 + 42 / 3600),
            ("48° 51′ 30″ N, 2° 17′ 42″ W", 48 + 51 / 60 + 30 / 3600, -(2 + 17 / 60 + 42 / 3600)),
            ("48°51.5'N, 2°17.7'E", 48 + 51.5 / 60, 2 + 17.7 / 60),
            ("N 48.8584, W 2.2945", 48.8584, -2.2945),
            ("-33.86 S, 151.2 E", -33.86, 151.2),
            ("−33.8568, 151.2153", -33.8568, 151.2153),
            ("The spot is (40.7580, -73.9855).", 40.758, -73.9855),
            ("Coordinates: 40.75, -73.98", 40.75, -73.98),
            ("GPS: 51.5074 -0.1278", 51.5074, -0.1278),
            ("Lat/Lon: 51.5074, -0.1278", 51.5074, -0.1278),
            ("latitude of 51.5 and longitude of -0.12", 51.5, -0.12),
            ("Longitude: 2.35, Latitude: 48.85", 48.85, 2.35),
            ("<answer>48.85, 2.35</answer>", 48.85, 2.35),
            ("lat: 48.85 ± 0.1, lon: 2.35 ± 0.1", 48.85, 2.35),
            ("Latitude: South 33.86, Longitude: East 151.2", -33.86, 151.2),
            ("北纬39.9°，东经116.4°", 39.9, 116.4),
            ("48,8566° N, 2,3522° E", 48.8566, 2.3522),
            ("Latitude: 48.85 Longitude: 2,3522", 48.85, 2.3522),
            ("latitude: 48,8584 longitude: 2,2945", 48.8584, 2.2945),
            ("The square (48.858, 2.294) it is.", 48.858, 2.294),
            ("first 10.123 N, 20.123 E, no: 11.123 N, 21.123 E", 11.123, 21.123),
            ('{"lat": 48.1, "lon": 2.3, "city": "Par', 48.1, 2.3),
            ('{"lat": 48.1, "lon": 2.3, "reason": "the "GR" plaque"}', 48.1, 2.3),
        ],
    )
    def test_points(self, text: str, lat: float, lon: float) -> None:
        assert near(parse_lenient(text), lat, lon)

    def test_the_last_complete_object_wins(self) -> None:
        other = GOOD.replace("48.8584", "45.76").replace("Paris", "Lyon")
        assert parse_lenient(f"{GOOD} or rather {other}").address.precise.conclusion == "Lyon"
        assert point_of(parse_lenient(f'{GOOD} or rather {{"lat": 45.76, "lon": 4.')) == PARIS
        assert point_of(parse_lenient(f'{GOOD} Form: {{"lat": <latitude>, "lon": <longitude>}}')) == PARIS

    def test_three_levels_with_their_reasons(self) -> None:
        answer = parse_lenient(
            '{"ChainOfThought": {"CountryIdentification": {"Clues": ["flags", "peaks"], "Reasoning": "height", '
            '"Conclusion": "China", "Uncertainty": "Low"}, "RegionalGuess": {"Clues": [], "Conclusion": "Tibet"}, '
            '"PreciseLocalization": {"Conclusion": "Tingri County"}}, "FinalAnswer": "China; Tibet; Tingri County"}'
        )
        assert not answer.located
        country = answer.address.country
        assert (country.conclusion, country.clues, country.reasoning, country.uncertainty) == (
            "China", ("flags", "peaks"), "height", "Low",
        )  # fmt: skip
        assert answer.address.region.conclusion == "Tibet"
        assert answer.address.precise.conclusion == "Tingri County"

    @pytest.mark.parametrize(
        "text",
        [
            "China; Tibet; Tingri County",
            "<answer>China; Tibet; Tingri County</answer>",
            "So:\n\nChina; Tibet; Tingri County.",
        ],
    )
    def test_country_region_place(self, text: str) -> None:
        address = parse_lenient(text).address
        assert [level.conclusion for level in (address.country, address.region, address.precise)] == [
            "China", "Tibet", "Tingri County",
        ]  # fmt: skip

    @pytest.mark.parametrize("around", ["{}", "So:\n```json\n{}\n```", "<answer>{}</answer>"])
    def test_names_without_a_point_keep_their_explanation(self, around: str) -> None:
        answer = parse_lenient(around.replace("{}", '{"country": "Monaco", "explanation": "the plate"}'))
        assert (answer.address.country.conclusion, answer.explanation) == ("Monaco", "the plate")

    def test_a_street_and_its_city_stand_finest_first(self) -> None:
        answer = parse_lenient('{"address": "12 Rue Grimaldi", "city": "Monaco", "state": "-", "country": "Monaco"}')
        assert answer.address.precise.conclusion == "12 Rue Grimaldi, Monaco"
        assert answer.address.region.conclusion is None

    @pytest.mark.parametrize(
        ("stated", "probability"),
        [
            ("85", 0.85),
            ('"85%"', 0.85),
            ("0.85", 0.85),
            ("100", 1.0),
            ("0", 0.0),
            ("140", None),
            ("-3", None),
            ('"high"', None),
        ],
    )
    def test_confidence(self, stated: str, probability: float | None) -> None:
        assert parse_lenient(f'{{"lat": 1, "lon": 2, "confidence": {stated}}}').probability == probability

    @pytest.mark.parametrize(
        ("stated", "km"), [("5", 5.0), ('"5 km"', 5.0), ('"500 m"', 0.5), ('"far"', None), ("-1", None), ("true", None)]
    )
    def test_radius(self, stated: str, km: float | None) -> None:
        assert parse_lenient(f'{{"lat": 1, "lon": 2, "radius": {stated}}}').radius_km == km

    def test_confidence_in_prose(self) -> None:
        assert parse_lenient("Location: 1.123, 2.123\nConfidence: about 70%").probability == 0.7


class TestLenientInventsNothing:
    @pytest.mark.parametrize(
        "text",
        [
            "",
            "0.42",
            "I'm sorry, but I can't determine the location from this image.",
            "The best guess is central Harbin, Heilongjiang Province.",
            '{"lat": 95, "lon": 2}',
            '{"lat": 12.3, "lon": 181}',
            '{"lat": NaN, "lon": 2}',
            '{"lat": Infinity, "lon": 2}',
            '{"lat": 1e400, "lon": 2}',
            '{"lat": true, "lon": false}',
            '{"lat": null, "lon": null}',
            '{"lat": 48.1}',
            '{"lat": 120.5, "lon": 30.2}',
            "lat 195.0, lon 20",
            "lat: 1e2 lon: 3",
            "Price: 1.999, 2.499 EUR",
            "Population 12.345, 23.456",
            "Location: 12.50, 14.99 euros",
            f'{GOOD} I withdraw that: {{"lat": null, "lon": null, "city": null, "country": null}}',
            f'{GOOD} rather {{"lat": 99, "lon": 4}}',
            'Final: {"lat": 95, "lon": 10}. Earlier I said 48.8566, 2.3522.',
            "I first thought lat: 1.0, lon: 2.0. <answer>I cannot determine the location.</answer>",
            "<think>maybe lat: 1.5, lon: 2.5</think> Sorry, I can't tell.",
            f"<think>{GOOD}</think><answer>France; Provence; Nice</answer>",
            "It is 5, 6 or 3.14, 2.71",
            "Location: 12, 14 Rue Grimaldi",
            "-33.86 N, 151.2 E",
            "48°75'30\"N 2°17'40\"E",
            "open 9.30, 17.30",
            '{"lat": 48.1, "lon": 2.3',
            "Version 1.2.345, 6.7.890",
        ],
    )
    def test_no_point(self, text: str) -> None:
        assert point_of(parse_lenient(text)) is None

    def test_words_for_nothing_are_no_names(self) -> None:
        answer = parse_lenient('{"lat": 0.0, "lon": 0.0, "city": "Unknown", "country": "N/A"}')
        assert not answer.address


noise = st.text(
    st.sampled_from(list("{}[]\"'“”<>:,;=/\\#°′″.-+−0123456789eENSWnlato gi\n\t")) | st.characters(), max_size=300
)
fragments = st.lists(
    st.sampled_from(
        [
            GOOD,
            "<answer>",
            "</answer>",
            "lat:",
            "lon",
            '"',
            "{",
            "}",
            "48.8584",
            "° N",
            "91",
            "NaN",
            "Country: X",
            ";",
            "\u2028",
        ]
    )
    | noise,
    max_size=12,
).map("".join)


@given(noise | fragments | st.text())
@example("{" * 5000)
@example('{"a":' * 5000)
@example("[" * 5000)
def test_arbitrary_text_never_raises(text: str) -> None:
    for parser in PARSERS.values():
        answer = parser(text)
        if answer.point is not None:
            assert -90 <= answer.point.lat <= 90
            assert -180 <= answer.point.lon <= 180


@given(fragments)
def test_lenient_loses_no_point_that_strict_finds(text: str) -> None:
    # In tags a later word may be final, and later objects may take coordinates back; elsewhere nothing gets lost.
    if "<" not in text and parse_strict(text).located:
        assert parse_lenient(text).located


@pytest.mark.parametrize(
    "piece",
    [
        '{"a":', '{"a', "{", "{//", "<answer>", "lat: ", "1.2345, ", "48°51'30\"N ", '{"a": [1,', "country: ", " ",
        '"', '{"',
        "{a:", "lat 1.0 ", "48.8584 N, ", "coordinates ", "\\", "confidence ",
        "a;", '{"a": "x" ', "N 4", "°", "{'", "{a,",
    ],
)  # fmt: skip
@pytest.mark.parametrize("size", [20_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_hostile_repetition_costs_seconds_at_most(piece: str, size: int) -> None:
    text = piece * (size // len(piece))
    start = time.process_time()
    for parser in PARSERS.values():
        parser(text)
    assert time.process_time() - start < 20
