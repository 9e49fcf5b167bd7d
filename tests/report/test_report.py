"""The report of a finding: one page that says it all, loads nothing and believes nobody."""

import asyncio
import math
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from jinja2 import UndefinedError
from PIL import Image

from any_trajectory import trajectories
from drawn import examples
from findings import ANSWER, MONACO, SHA, SIZE, Page, album, finding_of, saying, without_pixels
from geosleuth.agent import Answered, ToolObserved, Trajectory
from geosleuth.agent.display import text_seen
from geosleuth.agent.locate import Finding, cap_finding
from geosleuth.agent.spoken_of import is_about
from geosleuth.answer import Address, Answer, Candidate
from geosleuth.answer.answer import how_sure
from geosleuth.atlas import OfflineAtlas
from geosleuth.atlas.granular import OfflineGazetteer, country_outline
from geosleuth.geo import LatLon
from geosleuth.photo import Claims, Photo
from geosleuth.report import cut_pictures, jinja, report_html
from geosleuth.report.digest import parse_account
from geosleuth.report.markup import Html
from geosleuth.report.mercator import mercator
from geosleuth.report.pictures import SIZE_PX, choose_zoom, fit_box
from marked import HOME, MARKER, holds_digits_of, holds_marker, marked_answer

HOSTILE = '</script></style><script>alert(1)</script><img src=x onerror="alert(2)">"\'&\x1b[31m\x00\ud800\u202e'


def page_of(found: Finding | Trajectory, **more: Any) -> Page:
    page = Page(asyncio.run(report_html(found, generated="today", **more)))
    page.assert_alone()
    return page


def test_what_a_reader_sees_first() -> None:
    page = page_of(finding_of(album=album()))
    top = page.text[: page.text.index("The best evidence")]
    assert "La Terrasse, Monaco" in top
    assert "Likely: 72 % that it lies within 220 m." in top
    assert "43.7307, 7.4255" in top
    assert "A lead, not a verdict." in top
    assert "a business name" in page.text[page.text.index("The best evidence") :].lower()
    assert page.named("a")[0]["href"] == "geo:43.7307,7.4255"
    assert "script" not in {tag for tag, _ in page.elements}


def test_templates_escape_what_is_no_markup_and_miss_nothing_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jinja, "_source", lambda _name: "<p>\n  {{ words }}{{ markup }}\n  and\n  more</p>")
    monkeypatch.setattr(jinja, "_environment", cache(jinja._environment.__wrapped__))
    assert jinja.render("any", words=HOSTILE[:14], markup=Html("<b>x</b>")).startswith("<p>\n  &lt;/script&gt;")
    with pytest.raises(UndefinedError, match="markup"):
        jinja.render("any", words="")


def test_the_layout_of_a_template_is_not_the_page_s() -> None:
    assert ">\n" not in (jinja._source("finding.html.j2") or ">\n")
    assert jinja._source("nowhere.html.j2") is None


def test_the_verdict_on_a_claim_stands_at_the_top() -> None:
    claim = ("The evidence speaks against 1.00000, 2.00000: it lies 9 km away.", "  against: a <b>sign</b>")
    page = page_of(finding_of(), claim=claim)
    top = page.text[: page.text.index("The best evidence")]
    assert "The claim. The evidence speaks against 1.00000, 2.00000" in top
    assert "Against: a <b>sign</b>" in top
    assert "The claim." not in page_of(finding_of()).text


def test_nothing_found_begins_with_one_sentence() -> None:
    words = 'It can\'t be told: "St. Mary" is all. That leaves India 13 %, China 12 %. What would help: text.'
    page = page_of(finding_of(Answer(explanation=words)))
    assert next(one for one in page.words if one.startswith("It can't")) == 'It can\'t be told: "St. Mary" is all.'
    assert "That leaves India 13 %, China 12 %." in page.text


def test_what_was_ruled_out_is_no_candidate() -> None:
    answer = replace(ANSWER, candidates=(*ANSWER.candidates, Candidate("Genoa, Italy", LatLon(44.4, 8.9), 0.1)))
    page = page_of(finding_of(answer))
    rows = page.text[page.text.index("Best first.") : page.text.index("Tried without success")]
    assert "Nice, France" in rows
    assert "Genoa" not in rows


def test_the_guide_names_the_sections_and_words_as_they_are() -> None:
    guide = (Path(__file__).resolve().parents[2] / "docs" / "tutorials" / "first-photo.md").read_text(encoding="utf-8")
    shown = page_of(finding_of(album=album())).text
    table = guide[guide.index("| section | what |") : guide.index("Text from photos, pages and models")]
    named = [line.split("|")[1].strip() for line in table.splitlines()[2:] if line.startswith("|")]
    assert len(named) == 8
    assert [heading for heading in named if heading not in shown] == ["Why"], "which the detective does not need"
    for words, least in re.findall(r"^\| ([a-z ]+) \| (\d+) % or more \|$", guide, re.MULTILINE):
        assert how_sure(int(least) / 100) == words
        assert how_sure(int(least) / 100 - 0.006) != words
        # Words go by the percentage that is shown: 96.9 % is shown as 97 %.
        assert how_sure(int(least) / 100 - 0.001) == words


def test_names_that_are_merely_spelt_alike_are_no_success() -> None:
    found = finding_of()
    for match, told in (("fuzzy", True), ("exact", False)):
        events = [
            replace(one, body=replace(one.body, observation=replace(one.body.observation, data=data)))
            if isinstance(one.body, ToolObserved) and one.body.observation.name == "maps_geocode"
            else one
            for data in [{"results": [{"name": "Zza", "match": match}]}]
            for one in found.trajectory.events
        ]
        text = page_of(replace(found, trajectory=replace(found.trajectory, events=tuple(events)))).text
        assert ("maps_geocode (Zzz): found only names that are spelt alike: weak matches" in text) == told
        assert "maps_geocode (Zzz): found nothing" not in text


def test_all_that_stands_behind_it() -> None:
    text = page_of(finding_of()).text
    for words in (
        "It hangs on one clue",
        "Against it speaks the language",
        "Another photo.",
        "Nice, France",
        "maps_geocode (Zzz): found nothing",
        "satellite_map_query: the tool can't do that (there are no tiles on this machine)",
        "Ruled out: Genoa, Italy (10 %): no such name there",
        "I read all text.",
        "The file claims no place.",
        "1 of 12 turns, 3 tool calls (1 failed), 1.5 s",
        SHA,
        "detective, method detective",
        "shapely",
    ):
        assert words in text, words


def test_clues_are_boxed_and_numbered_on_the_photo() -> None:
    page = page_of(finding_of(album=album()))
    (photo,) = page.named("svg", "photo")
    assert photo["viewbox"] == f"0 0 {SIZE[0]} {SIZE[1]}"
    assert len(page.named("g", "clue-box")) == 1
    assert len(page.named("g", "plain-box")) == 1
    sides = {(box["x"], box["y"], box["width"], box["height"]) for box in page.named("rect") if "x" in box}
    assert sides == {("80", "60", "320", "60"), ("80", "300", "320", "30")}
    assert len(page.named("svg", "part")) == 1
    assert page.text.count("La Terrasse") > 3


def test_without_pixels_the_rest_is_told() -> None:
    page = page_of(finding_of())
    assert page.named("svg", "photo") == []
    assert "Likely: 72 %" in page.text


def test_a_bare_trajectory_will_do() -> None:
    finding = finding_of()
    page = page_of(finding.trajectory, pictures=album().__getitem__)
    assert page.named("svg", "photo")
    assert "What the file says of itself" not in page.text


def test_pictures_are_cut_again_from_the_photos() -> None:
    finding = finding_of()
    pictures = cut_pictures(finding.trajectory, [Photo(Image.new("RGB", SIZE, "red"))])
    assert page_of(finding, pictures=pictures).named("svg", "photo")


def test_hostile_words_stay_words() -> None:
    page = page_of(saying(HOSTILE), pictures=album().__getitem__)
    assert "script" not in {tag for tag, _ in page.elements}
    assert "img" not in {tag for tag, _ in page.elements}
    assert page.text.count("<script>alert(1)</script>") > 10
    assert "\x1b" not in page.text
    assert "\x00" not in page.text


def test_the_page_can_be_written_as_utf_8(tmp_path: Path) -> None:
    html = asyncio.run(report_html(saying(HOSTILE)))
    (tmp_path / "report.html").write_text(html, encoding="utf-8")


def test_no_place() -> None:
    answer = Answer(
        explanation="Where this was taken can't be told: no text could be read. What would help: a larger copy.",
        candidates=(Candidate("India", LatLon(19.07, 72.88), 0.13),),
    )
    page = page_of(finding_of(answer, album=album()))
    assert page.text.startswith("No place was found – geosleuth")
    assert "no text could be read." in page.text
    assert "A larger copy." in page.text
    assert "India" in page.text
    assert "19.07" not in page.text, "the middle of a country that is merely likely is no finding"
    assert page.named("g", "answer-pin") == []
    assert len(page.named("g", "rival-pin")) == 1


def test_a_run_that_broke_off() -> None:
    finding = finding_of(None)
    cut = replace(finding.trajectory, events=finding.trajectory.events[:4])
    text = page_of(cut).text
    assert "No place was found" in text
    assert "The run ended early: the run broke off." in text


def test_a_claim_that_contradicts_is_said_at_the_top() -> None:
    claims = Claims("JPEG", 1, SHA, SIZE, LatLon(48.8584, 2.2945), camera_model="Box 1")
    text = page_of(finding_of(claims=(claims,))).text
    top = text[: text.index("The best evidence")]
    assert "The file claims another place" in top
    assert "contradicts the finding" in text
    assert "48.85840, 2.29450" in text
    assert "Box 1" in text
    near = Claims("JPEG", 1, SHA, SIZE, MONACO)
    assert "agrees with the finding" in page_of(finding_of(claims=(near,))).text
    for claimed in (near, claims):
        text = page_of(finding_of(claims=(replace(claimed, estimated=True),))).text
        assert "no second opinion" in text
        assert "the finding." not in text.partition("What the file says of itself")[2].partition("Camera")[0]


@pytest.mark.parametrize("granularity", ["country", "region", "city"])
def test_a_capped_finding_shows_nothing_finer(granularity: Any, atlas_home: Path) -> None:
    assert atlas_home.is_dir()
    full = saying(MARKER).trajectory
    # The names of policies, methods and tools are the caller's own.
    started = replace(full.started, policy="p", method="m", tools=("read_text",))
    bodies = {0: started} | {
        event.index: replace(event.body, answer=marked_answer())
        for event in full.events
        if isinstance(event.body, Answered)
    }
    events = tuple(replace(event, body=bodies.get(event.index, event.body)) for event in full.events)
    claims = Claims("JPEG", 1, SHA, SIZE, HOME, heading_deg=123.4, notes=(MARKER,))
    exact = Finding(replace(full, events=events), (claims,), album())
    assert holds_marker(asyncio.run(report_html(exact)))
    finding = asyncio.run(cap_finding(exact, granularity, OfflineGazetteer()))
    html = asyncio.run(report_html(finding, atlas=OfflineAtlas()))
    page = Page(html)
    page.assert_alone()
    rest = without_pixels(html)
    assert not holds_marker(rest)
    assert not holds_digits_of(HOME, rest)
    assert "Monaco" in page.text
    assert f"Told no finer than the {granularity}" in page.text
    assert "made illegible" in page.text
    assert page.named("g", "clue-box") == page.named("g", "plain-box") == page.named("svg", "part") == []
    # The photo is there, and smaller than any letter.
    (photo,) = [found for found in page.named("image") if found.get("id") == "photo-1"]
    assert len(photo["href"]) < 2000


def test_a_finding_that_was_not_capped_is_refused() -> None:
    with pytest.raises(ValueError, match="cap the finding first"):
        asyncio.run(report_html(replace(finding_of(), granularity="city")))


def test_maps_come_no_closer_than_may_be_told() -> None:
    assert choose_zoom(MONACO, 0.05) > 16
    assert choose_zoom(MONACO, 0.05, "street") < 16, "shops are named from there on"
    assert choose_zoom(MONACO, 0.05, "city") < 12, "streets are named from there on"
    assert choose_zoom(MONACO, 0.05, "country") < 6
    assert choose_zoom(LatLon(90, 0), 15000) == 1.0


@pytest.mark.parametrize(
    "point",
    [MONACO, LatLon(0, 179.99), LatLon(-89.9, 10), LatLon(71, -179.5)],
    ids=["here", "antimeridian", "pole", "north"],
)
@pytest.mark.parametrize("radius_km", [0.3, 900.0, 15000.0])
def test_the_world_over(point: LatLon, radius_km: float) -> None:
    page = page_of(finding_of(Answer(point, Address.create("Somewhere"), 0.4, radius_km)))
    # A circle that is wider than a city, and names no place, has no pin.
    assert len(page.named("g", "answer-pin")) == (1 if radius_km < 1 else 0)
    drawn = " ".join(found.get("d", "") for found in page.named("path"))
    assert "nan" not in drawn
    assert "inf" not in drawn


def test_a_map_with_the_circle_and_the_pins(atlas_home: Path) -> None:
    assert atlas_home.is_dir()
    wide = replace(ANSWER, radius_km=90.0)
    page = page_of(finding_of(wide), atlas=OfflineAtlas())
    assert [found["href"][:22] for found in page.named("image")] == ["data:image/png;base64,"]
    assert len(page.named("path", "doubt")) == 1
    # Both on the map and both on the world.
    assert len(page.named("g", "answer-pin")) == len(page.named("g", "rival-pin")) == 2
    assert "Natural Earth" in page.text


def test_an_explanation_is_parted_outside_quotation_marks_only() -> None:
    account = parse_account(ANSWER.explanation or "")
    assert account.why == "La Terrasse, Monaco: 72 %. The evidence is a business name."
    assert account.against == "Against it speaks the language."
    assert account.hangs_on.endswith('"What would help: nothing": without it no place could be told.')
    assert account.would_help == "What would help: another photo."
    assert parse_account("A model's own words.").why == "A model's own words."
    assert not parse_account("A model's own words.").in_parts
    assert parse_account("").why == ""


@pytest.mark.parametrize(
    ("evidence", "line", "about"),
    [
        ('a business name: "La Terrasse" is the name of it', "La Terrasse", True),
        ('a sign in "Lyon 210 km + Marseille 98 km": a fix', "Marseille 98 km", True),
        ('a place name: "Marseille" is far', "MARSEILLE 98 km", True),
        ("The plate “Rue Grimaldi” is blue", "12 rue Grimaldi", True),
        ("The street sign says Rue Grimaldi, I think", "Rue Grimaldi", True),
        ('the language in "東京駅": Japanese', "東京駅", True),
        ('a word: "La"', "La Terrasse", False),
        ('a name: "Art"', "Martin", False),
        ("nothing of the kind", "Rue Grimaldi", False),
        ('a name: "x"', "", False),
    ],
)
def test_which_line_a_piece_of_evidence_is_about(evidence: str, line: str, about: bool) -> None:
    assert is_about(evidence, line) is about


@pytest.mark.parametrize("box", [None, [1, 2, 3], ["a", 1, 2, 3], [float("nan")] * 4, [10**400, 0, 1, 1], [5, 5, 5, 5]])
def test_boxes_that_are_none_are_left_out(box: Any) -> None:
    finding = finding_of()
    events = []
    for event in finding.trajectory.events:
        body: Any = event.body
        if getattr(body, "observation", None) is not None and body.observation.name == "read_text":
            data = {"image": "image-1", "lines": [{"text": "x", "bbox_px": box}, None]}
            body = replace(body, observation=replace(body.observation, data=data))
        events.append(replace(event, body=body))
    assert text_seen(replace(finding.trajectory, events=tuple(events)), ()) == ()


@settings(max_examples=examples(40), suppress_health_check=list(HealthCheck))
@given(trajectories())
def test_any_run_can_be_told(trajectory: Trajectory) -> None:
    html = asyncio.run(report_html(trajectory))
    Page(html).assert_alone()
    html.encode()
    assert not re.search(r"<script", html)


def test_notebooks_get_a_card() -> None:
    card = finding_of()._repr_html_()
    assert "La Terrasse, Monaco" in card
    assert "Likely: 72 % that it lies within 220 m" in card
    assert "A lead, not a verdict." in card
    hostile = saying(HOSTILE)._repr_html_()
    assert "<script" not in hostile
    assert "<img" not in hostile
    hostile.encode()
    nowhere = finding_of(Answer(explanation="Nothing could be read."))._repr_html_()
    assert "No place was found" in nowhere
    assert "Nothing could be read." in nowhere


def test_a_country_is_drawn_by_its_outline() -> None:
    japan = Answer(LatLon(35.689487, 139.691711), Address.create("Japan"), 0.84, 1131.0, "Japan: 84 %.")
    page = page_of(finding_of(japan))
    assert "Likely: 84 % that it lies in Japan." in page.text
    assert "35.7" not in page.text
    assert page.named("g", "answer-pin") == []
    assert "within 1,131 km" not in page.text
    assert "The outline is the country that the finding names." in page.text
    assert "circle" not in page.text
    (drawn,) = page.named("path", "doubt")
    assert drawn["d"].count("Z") > 10, "islands are rings of their own"


@pytest.mark.parametrize("code", ["JP", "CL", "RU", "MC"])
def test_a_country_fits_on_its_map(code: str) -> None:
    outline = country_outline(code)
    assert outline is not None
    centre, zoom = fit_box(outline.box)
    pixels = 256 * 2**zoom
    assert outline.box.width_deg / 360 * pixels <= SIZE_PX[0]
    assert (mercator(outline.box.north) - mercator(outline.box.south)) / (2 * math.pi) * pixels <= SIZE_PX[1]
    assert outline.box.contains(centre)
    assert fit_box(outline.box, "country")[1] <= 4.5
