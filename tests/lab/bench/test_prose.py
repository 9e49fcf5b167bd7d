"""Country, region, city, address and point in any reply, by rule alone."""

import json
from pathlib import Path

import pytest

from geosleuth.answer.answer import envelope
from geosleuth.lab.bench.prose import Extracted, extract, read_reply
from geosleuth.names import same_city, same_country

SHAPES = [
    ("<answer>Schöneberger Straße, 22149 Hamburg, Germany</answer>",
     ("Germany", None, "Hamburg", "Schöneberger Straße")),
    ("<think>Paris? No.</think>The photo was taken in Kyoto, Japan.", ("Japan", None, "Kyoto", None)),
    ("I conclude that this is 4544 W 124th St, Hawthorne, CA 90250, United States.",
     ("United States", "CA", "Hawthorne", "4544 W 124th St")),
    ("Although Vienna was my first idea, the most likely location is the Old Town of Graz, Styria, Austria.",
     ("Austria", "Styria", "Graz", None)),
    ("这张照片拍摄于中国江苏省苏州市平江路", ("中国", "江苏省", "苏州市", "平江路")),
    ("Das Foto wurde in der Reeperbahn 1, Hamburg, Deutschland aufgenommen.",
     ("Deutschland", None, "Hamburg", "Reeperbahn 1")),
    ('{"country": "Peru", "city": "Lima", "address": "Larco Museum"}', ("Peru", None, "Lima", "Larco Museum")),
    ("France; Île-de-France; Paris", ("France", "Île-de-France", "Paris", None)),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "names"), SHAPES)
def test_names_in_every_shape(reply: str, names: tuple[str | None, ...]) -> None:
    found = extract(reply)
    country, region, city, address = names
    assert (found.country, found.city) == (country, city)
    assert region is None or found.region == region
    assert address is None or found.address == address


@pytest.mark.parametrize(
    "reply",
    [
        "I’m sorry, but I can’t determine the location from this image.",
        "I cannot tell whether this is in Germany, Austria or Switzerland.",
        "Unable to identify the place: it does not show Paris or London.",
        "0.44",
        "",
        "The picture shows a cat on a sofa.",
    ],
)
def test_nothing_is_found_where_nothing_is_said(reply: str) -> None:
    assert not extract(reply)


def test_a_point_in_prose_is_found_beside_the_names() -> None:
    found = extract("It is the Friedensengel in Munich, Germany, at 48.1415° N, 11.5917° E.")
    assert found.point is not None
    assert (found.point.lat, found.point.lon) == (48.1415, 11.5917)
    assert (found.city, found.address) == ("Munich", "Friedensengel")


def test_named_places_stand_as_they_are_written() -> None:
    """An object says by itself what the answer is; prose beside it does not change it."""
    reply = 'Perhaps Rome, Italy.\n{"lat": 48.2, "lon": 16.37, "city": "Vienna", "country": "Austria"}'
    answer = read_reply(reply)
    assert (answer.address.country.conclusion, answer.address.precise.conclusion) == ("Austria", "Vienna")
    assert not answer.address.region


WRITTEN = [
    ("Reasoning:\n- Tiles as in Lisbon.\n\nAnswer:\nLivraria Lello, Rua das Flores, Porto, Portugal.",
     "Livraria Lello, Rua das Flores, Porto, Portugal"),
    ("Best guess: outside St. Paul’s Cathedral, London, UK (near Paternoster Square).",
     "Paternoster Square, St Paul’s Cathedral, London, UK"),
    ("**Most likely location:** Piazza delle Vettovaglie, Pisa, Tuscany, Italy. The arcades match.",
     "Piazza delle Vettovaglie, Pisa, Tuscany, Italy"),
    ("Downtown Savannah, Georgia — at River Street, looking toward Hutchinson Island.",
     "River Street, Downtown Savannah, Georgia"),
    ("Das Foto wurde wohl in der Holtenauer Straße, Kiel, Deutschland aufgenommen.",
     "Holtenauer Straße, Kiel, Deutschland"),
    ("This Photo was taken in Tromsø, Norway.", "Tromsø, Norway"),
    ("My guess: the riverside in Columbia, South Carolina.", "Columbia, South Carolina"),
    ("The spires resemble those of Vienna, Austria.\nAnswer: Zagreb Cathedral, Zagreb, Croatia.",
     "Zagreb Cathedral, Zagreb, Croatia"),
    ("I would say London’s Brick Lane.\nCoordinates: 51.522, -0.0717.", "Brick Lane, London"),
    ("A lane in Valparaíso or Lima, most likely Valparaíso, Chile, with murals by locals from Berlin.",
     "Valparaíso, Chile"),
    ("The Jefferson Memorial in Washington, D.C.\nAnswer: Tidal Basin, Washington, D.C., USA.",
     "Tidal Basin, Washington D.C., USA"),
    ("I’m sorry, but I can’t determine the location from this image.", ""),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "written"), WRITTEN)
def test_an_answer_in_prose_keeps_every_part_of_its_address(reply: str, written: str) -> None:
    assert envelope(read_reply(reply).address) == written


def test_an_address_goes_in_front_of_its_city() -> None:
    precise = Extracted("Germany", None, "Hamburg", "Reeperbahn 1").to_address().precise
    assert precise.conclusion == "Reeperbahn 1, Hamburg"


@pytest.mark.slow
def test_recorded_replies_without_their_objects(shared: Path) -> None:
    """Prose alone says the country and the city that the reply's own object has, where it names them at all."""
    right, wrong = 0, 0
    for line in (shared / "data" / "recorded" / "geobench_qwen3vl30b.jsonl").read_text("utf-8").split("\n"):
        text = json.loads(line)["solution_str"] if line else ""
        prose, brace, rest = text.rpartition("{")
        try:
            said = json.loads(brace + rest.replace("```", "").strip())
        except ValueError:
            continue
        if said["city"] in prose and said["country"] in prose:
            found = extract(prose.replace("```json", ""))
            same = same_country(found.country or "", said["country"])
            same = same and same_city(found.city or "-", said["city"], said["country"])
            right, wrong = right + same, wrong + (not same)
    assert right + wrong > 500
    assert right / (right + wrong) > 0.93
