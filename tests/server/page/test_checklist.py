"""The checklist "What do you see?" in a real browser: every tick ranks the map anew."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from browser import PATIENCE_MS, Opener

expect.set_options(timeout=PATIENCE_MS)

WIDE = {"width": 1280, "height": 900}


def first(page: Page) -> str:
    return page.locator(".see-ranking .see-country").first.inner_text()


def ticked(page: Page, name: str) -> None:
    page.get_by_role("checkbox", name=name, exact=True).first.check()


def test_every_tick_ranks_the_countries_anew(open_page: Opener) -> None:
    page = open_page("/#/see", viewport=WIDE)
    expect(page.get_by_text("Nothing is ticked yet.")).to_be_visible()
    ticked(page, "Traffic on the left")
    expect(page.locator(".see-ranking li").first).to_be_visible()
    before = page.locator(".see-ranking .see-country").all_inner_texts()
    assert "India" in before
    edge = page.locator("fieldset", has_text="line at the outer edge")
    edge.get_by_role("checkbox", name="Yellow, broken").check()
    expect(page.locator(".see-ranking .see-country").first).to_have_text("Ireland")
    # The map shows the same countries, and says so to whoever hears the page.
    expect(page.locator(".map-view[data-phase=ready]")).to_be_visible()
    expect(page.locator(".map-view [aria-label*=Ireland], .map-list :text('Ireland')").first).to_be_attached()
    # A tick that is taken back takes its weight with it.
    page.get_by_role("button", name=re.compile("Yellow, broken")).click()
    expect(page.locator(".see-ranking .see-country").first).to_have_text(before[0])


@pytest.mark.slow
def test_written_words_are_weighed_and_unknown_ones_named(open_page: Opener) -> None:
    page = open_page("/#/see", viewport=WIDE)
    page.get_by_label("Or write it").fill("sign with block characters, tall tower blocks, a zeppelin")
    expect(page.locator(".see-ranking .see-country").first).to_have_text("China")
    expect(page.get_by_text("Not in the field guide: a zeppelin")).to_be_visible()
    page.get_by_text("What moved what").click()
    expect(page.locator(".see-odds .lines")).to_contain_text("Script: Chinese characters")


def test_how_written_words_were_understood_is_shown_and_corrected(open_page: Opener) -> None:
    page = open_page("/#/see", viewport=WIDE)
    written = page.get_by_label("Or write it")
    written.fill("bare sand beside the road, palm trees")
    understood = page.get_by_role("group", name="How it was understood")
    expect(understood).to_contain_text("“bare sand beside the road”: Road surface: Unpaved sandy or earth road")
    understood.get_by_role("button", name="Change what “bare sand beside the road” means").click()
    page.get_by_label("What “bare sand beside the road” means").select_option("soil_colour=pale_desert")
    expect(written).to_have_value("palm trees")
    expect(page.locator(".see-ticked")).to_contain_text("Soil colour")
    expect(understood).not_to_contain_text("Road surface")
    understood.get_by_role("button", name=re.compile("palm trees")).first.click()
    expect(written).to_have_value("")
    expect(understood).to_have_count(0)


def test_what_is_ticked_goes_with_the_next_photo(open_page: Opener) -> None:
    page = open_page("/#/see", viewport=WIDE)
    ticked(page, "Traffic on the left")
    page.get_by_role("button", name="Use it for a photo").click()
    buffer = {"name": "plain.jpg", "mimeType": "image/jpeg", "buffer": b"\xff\xd8\xff"}
    page.set_input_files("input[type=file]", buffer)  # type: ignore[arg-type]
    expect(page.get_by_label("What you see")).to_have_value("driving_side=left")


def test_answers_about_lines_on_the_road_are_drawn_differently(open_page: Opener) -> None:
    page = open_page("/#/see", viewport=WIDE)
    for question in ("line in the middle of the road", "line at the outer edge"):
        asked = page.locator("fieldset", has_text=question)
        expect(asked.locator(".see-drawing").first).to_be_visible()
        drawings = asked.locator(".see-drawing").evaluate_all("(all) => all.map((one) => one.innerHTML)")
        assert len(drawings) >= 8
        assert len(set(drawings)) == len(drawings)


def test_every_tick_has_a_drawing_and_axe_finds_no_serious_fault(open_page: Opener) -> None:
    page = open_page("/#/see", viewport=WIDE)
    expect(page.locator(".see-group").first).to_be_visible()
    page.evaluate("document.querySelectorAll('.see-group').forEach((one) => { one.open = true })")
    values, drawings = page.locator(".see-value"), page.locator(".see-value .see-drawing > *:first-child")
    assert values.count() > 200
    assert drawings.count() == values.count()
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
