"""The field guide: its tables are whole, and what a player of geography games knows comes out of them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from geosleuth.evidence import Clue
from geosleuth.evidence.guide import (
    checklist,
    field_guide,
    most_telling,
    place_code,
    read_sightings,
    sighting_clue,
    tell_apart,
    weigh_sightings,
)
from geosleuth.evidence.guide.tables import UNCHECKED
from geosleuth.evidence.posterior import posterior
from geosleuth.models.detective.stated import StatedFacts, build_stated_clues
from geosleuth.pipeline.plan import make_plan
from geosleuth.pipeline.request import LocateRequest
from geosleuth.support.errors import BadInput

ROOT = Path(__file__).parents[3]
MOST_UNCHECKED = 0.09


def test_every_row_has_a_known_value_a_grade_and_a_source() -> None:
    guide = field_guide()
    for name, table in guide.grades.items():
        for place, row in table.items():
            for value in row:
                assert value in guide.values[name], (name, place, value)
                assert guide.checked[name, place, value] in guide.sources, (name, place, value)


def test_few_rows_are_unchecked_and_the_docs_say_how_many() -> None:
    counts = field_guide().counts()
    assert counts["unchecked rows"] < MOST_UNCHECKED * counts["rows"]
    page = (ROOT / "docs" / "background" / "detective.md").read_text(encoding="utf-8")
    said = ", ".join(f"{count:,} {what}" for what, count in counts.items())
    assert said in " ".join(page.split())


def test_a_row_that_nobody_looked_up_counts_half() -> None:
    guide = field_guide()
    regions = {place.partition("-")[0] for place in guide.places if "-" in place}
    tried = 0
    for (attribute, place, value), source in guide.checked.items():
        if source != UNCHECKED or place in regions or "-" in place:
            continue
        grade = guide.grades[attribute][place][value]
        equals = [
            other
            for other, row in guide.grades[attribute].items()
            if row.get(value) == grade and other not in regions and guide.is_checked(attribute, other, value)
        ]
        if equals and grade in ("always", "common"):
            odds = weigh_sightings(f"{attribute}={value}", prior={place: 0.5, equals[0]: 0.5}).countries
            assert odds[place] < odds[equals[0]], (attribute, place, value)
            tried += 1
        if tried == 5:
            break
    assert tried


@pytest.mark.parametrize(
    ("seen", "likely", "unlikely"),
    [
        ("cars drive on the left", "GB", "FR"),
        ("yellow rear number plate", "GB", "US"),
        ("double yellow centre line", "US", "GB"),
        ("yellow diamond warning sign", "US", "FR"),
        ("kangaroo warning sign", "AU", "CA"),
        ("stop_sign_word = pare", "BR", "ES"),
        ("dashed yellow edge line", "IE", "FR"),
        ("driving_side = left", "JP", "KR"),
        ("script = thai", "TH", "LA"),
        ("red post box", "GB", "DE"),
        ("yellow post box", "DE", "GB"),
    ],
)
def test_what_a_player_knows(seen: str, likely: str, unlikely: str) -> None:
    before, after = weigh_sightings([]), weigh_sightings(seen)
    assert after.sightings, seen
    gained = {code: after.countries[code] / before.countries[code] for code in (likely, unlikely)}
    assert gained[likely] > 1.2 * gained[unlikely]


def test_sightings_add_up_and_say_what_moved_what() -> None:
    weighed = weigh_sightings("cars drive on the left, dashed yellow edge line, dashed white centre line")
    assert next(iter(weighed.countries)) == "IE"
    assert len(weighed.moves) == len(weighed.sightings) == 3
    assert sum(weighed.countries.values()) == pytest.approx(1.0)


OF_ONE_COUNTRY = {
    "hangul": "KR", "thai": "TH", "lao": "LA", "khmer": "KH", "burmese": "MM", "sinhala": "LK", "georgian": "GE",
    "hebrew": "IL", "thaana": "MV", "kana": "JP", "telugu": "IN", "kannada": "IN", "odia": "IN", "meitei": "IN",
    "javanese": "ID", "balinese": "ID", "syllabics": "CA",
}  # fmt: skip


@pytest.mark.parametrize(("script", "country"), OF_ONE_COUNTRY.items())
def test_a_script_that_one_country_writes_tells_it(script: str, country: str) -> None:
    assert weigh_sightings([f"script = {script}"]).countries[country] >= 0.75


def test_a_script_is_told_by_the_name_of_its_language() -> None:
    countries = weigh_sightings(["Korean script"]).countries
    assert countries["KR"] >= 0.75
    assert countries["KP"] < 0.1


def test_confidence_and_unknown_words() -> None:
    (sure, doubted), unknown = read_sightings(["cars drive on the left", "yellow rear number plate @0.6", "a zeppelin"])
    assert (sure.confidence, doubted.confidence) == (0.9, 0.6)
    assert unknown == ["a zeppelin"]


@pytest.mark.parametrize(
    ("words", "read"),
    [
        ("white front and yellow rear plates", {"plate_front": "white", "plate_rear": "yellow"}),
        ("yellow plate at the back", {"plate_rear": "yellow"}),
        ("white plates front and back", {"plate_front": "white", "plate_rear": "white"}),
        ("plates front and back", {"plate_required_front": "front_and_rear"}),
        ("large white motorcycle plate", {"plate_front": "white", "plate_rear": "white"}),
        ("Chinese script", {"script": "han"}),
        ("Spanish street name", {"language": "spanish"}),
        ("no utility poles", {"utility_pole": "none"}),
        ("white edge line", {"edge_line": "white_solid"}),
        ("concrete block paved street", {}),
    ],
)
def test_words_are_read_as_they_are_meant(words: str, read: dict[str, str]) -> None:
    found = {one.attribute: one.values[0] for one in read_sightings([words])[0]}
    assert {
        name: value for name, value in found.items() if name in read or name.startswith(("plate_f", "plate_r", "road"))
    } == {
        **({"plate_required_front": "front_and_rear"} if "white front" in words else {}),
        **read,
    }


def test_front_and_rear_plates_are_weighed_as_a_pair() -> None:
    apart = weigh_sightings(["yellow rear plate", "white front plate"]).countries
    assert next(iter(apart)) == "GB"
    # Cars with white plates and cars with yellow ones are many there, but none has one of each.
    assert apart["IN"] < 0.5 * apart["GB"]
    alike = weigh_sightings(["yellow rear plate", "yellow front plate"]).countries
    assert alike["NL"] > 5 * alike["GB"]


def test_regions_are_named_only_where_one_stands_out() -> None:
    seen = ["concrete road", "scooters", "wet tropical green"]
    named = weigh_sightings(seen).regions
    assert all(max(found.values()) >= 0.15 for found in named.values())
    assert "IN" not in named


def test_an_attribute_or_value_that_is_not_there_is_named() -> None:
    with pytest.raises(BadInput, match="no attribute 'zeppelin'"):
        read_sightings("zeppelin=red")
    with pytest.raises(BadInput, match="driving_side has no value 'middle'"):
        read_sightings("driving_side=middle")


def test_sightings_join_the_posterior_of_signs() -> None:
    clue = sighting_clue(weigh_sightings("cars drive on the left, dashed yellow edge line"))
    assert clue is not None
    found = posterior([clue])
    assert next(iter(found.countries)) == "IE"
    assert sighting_clue(weigh_sightings("a zeppelin")) is None


def test_lookalikes_are_told_apart_by_what_differs_most() -> None:
    first = tell_apart(["NO", "SE"])[0]
    assert first.attribute in ("speed_limit_sign", "warning_sign", "centre_line")
    assert set(first.values) == {"NO", "SE"}
    with pytest.raises(BadInput, match="two or more"):
        tell_apart(["NO"])
    with pytest.raises(BadInput, match="nothing on QQ"):
        tell_apart(["NO", "QQ"])


def test_what_photos_show_comes_before_small_print() -> None:
    for candidates in (["BE", "NL"], ["TH", "PH", "KH"], ["AR", "ZA", "US-NM", "NA"]):
        names = [one.attribute for one in tell_apart(candidates)]
        assert not {"web_domain", "phone_prefix", "currency_sign", "postcode_form"} & set(names), names
    small = [one.attribute for one in tell_apart(["BE", "NL"], limit=100)]
    assert small.index("web_domain") > small.index("roof")


def test_a_region_without_a_table_stands_for_its_country() -> None:
    assert set(tell_apart(["BE-VAN", "NL"])[0].values) == {"BE", "NL"}
    assert place_code("CN-SX") == place_code("cn-14") == "CN-14"
    with pytest.raises(BadInput, match="can't tell BE-VAN and BE-VBR apart: it has BE as a whole"):
        tell_apart(["BE-VAN", "BE-VBR"])


def test_a_place_is_told_by_what_is_rare_elsewhere() -> None:
    assert "plate_characters" in most_telling("BE")[:5]
    assert set(most_telling("BE")[-5:]) >= {"web_domain", "phone_prefix"}


def test_pages_of_a_place_and_of_an_attribute() -> None:
    guide = field_guide()
    assert guide.of_place("NO")["Driving side"] == {"Traffic on the right": "always"}
    assert "GB" in guide.of_attribute("driving_side")["Traffic on the left"]
    with pytest.raises(BadInput, match="no place and no attribute 'QQ'"):
        guide.of_place("QQ")


def test_the_command_weighs_and_prints_json(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "geosleuth", "clues", "weigh", "cars drive on the left, red soil", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    document = json.loads(done.stdout)
    assert document["sightings"][0]["attribute"] == "driving_side"
    assert sum(document["countries"].values()) == pytest.approx(1.0)


def test_the_command_shows_every_sighting_whole() -> None:
    words = "two yellow centre lines side by side, left-hand traffic"
    printed = subprocess.run(
        [sys.executable, "-m", "geosleuth", "clues", "weigh", words],
        capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": "80"},
    ).stdout  # fmt: skip
    above, below = printed.split("moved")
    assert "probability" in above
    left = " ".join(line[:41] for line in below.splitlines()).split()
    assert "double with black between Driving side: Traffic on the left" in " ".join(left)


def test_what_somebody_sees_adds_to_what_signs_say() -> None:
    words = Clue("language", "Bread and cakes", "English is spoken there", 0.9, {"GB": 0.6, "US": 0.3, "IE": 0.1})
    (seen,) = build_stated_clues(StatedFacts(seen="dashed yellow edge line, a zeppelin"), (), ())
    assert (seen.kind, seen.seen) == ("sighting", "Edge line: Yellow, broken")
    alone, both = posterior([words]).countries, posterior([words, seen]).countries
    assert next(iter(alone)) == "GB"
    assert next(iter(both)) == "IE"
    assert list(build_stated_clues(StatedFacts(seen="a zeppelin"), (), ())) == []


def test_a_plan_names_what_the_guide_does_not_know_and_refuses_what_it_can_not_have() -> None:
    plan = make_plan(LocateRequest(seen="red soil, a zeppelin", offline=True), [])
    assert plan.notes == ("not in the field guide, and left out: a zeppelin",)
    with pytest.raises(BadInput, match="no attribute 'zeppelin'"):
        make_plan(LocateRequest(seen="zeppelin=red", offline=True), [])


def test_the_checklist_asks_what_is_seen_and_not_what_is_read() -> None:
    asked = {attribute.name: values for attribute, values in checklist()}
    assert {"driving_side", "centre_line", "roof", "tree", "street_scene"} <= set(asked)
    assert "phone_prefix" not in asked
    assert all(1 < len(values) <= 12 for values in asked.values())


def test_an_attribute_is_found_by_one_of_its_words() -> None:
    guide = field_guide()
    assert guide.attribute_called("taxis") == "taxi_colour"
    assert guide.attribute_called("Guard-rails") == "guard_rail"
    assert guide.attribute_called("plate") is None


def test_where_the_country_is_sure_its_regions_are_weighed() -> None:
    seen = "red soil, cars drive on the left"
    weighed = weigh_sightings(seen, within=("AU",))
    assert weighed.countries == {"AU": 1.0}
    assert sum(weighed.regions["AU"].values()) == pytest.approx(1)
    assert set(weigh_sightings(seen, within=("AU", "ZA")).countries) == {"AU", "ZA"}
    with pytest.raises(BadInput, match="XX"):
        weigh_sightings(seen, within=("XX",))
