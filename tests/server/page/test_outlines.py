"""Candidates with their own areas: a whole country is drawn as its land, in a real browser."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from browser import IN_EVERY_LOOK, PATIENCE_MS, Opener, serious_faults
from serving import Served, photo_bytes

expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="module")
def french(server: Served) -> str:
    """The path of a run whose only candidate is a country."""
    case = server.case(photo_bytes("Boulangerie"), title="Some bakery")
    run = server.start(case)
    assert server.over(run, 240) == "done"
    return f"/#/case/{case}/run/{run}"


@pytest.fixture(scope="module")
def emirates(server: Served) -> str:
    """The path of a run whose finding is a whole country."""
    case = server.case(photo_bytes("+971 50 123 4567"), title="Some shop")
    run = server.start(case)
    assert server.over(run, 240) == "done"
    return f"/#/case/{case}/run/{run}"


@IN_EVERY_LOOK
def test_a_country_that_is_the_finding_has_no_point(
    open_page: Opener, emirates: str, theme: str, size: dict[str, int], shot: Callable[[Page, str], None]
) -> None:
    page = open_page(emirates, color_scheme=theme, viewport=size)
    expect(page.locator("h2.place")).to_have_text("United Arab Emirates")
    sure = page.locator(".finding .sure strong").inner_text()
    assert re.fullmatch(r"\d+ % in United Arab Emirates", sure)
    # Neither words nor map point at a place that nobody named.
    expect(page.locator(".finding .coordinates")).to_have_count(0)
    expect(page.get_by_role("button", name="Open in")).to_have_count(0)
    if size["width"] < 500:
        page.get_by_role("tab", name="Steps").click()
    expect(page.locator(".run-sure")).to_have_text(sure)
    if size["width"] < 500:
        page.get_by_role("tab", name="Map").click()
    expect(page.locator('.map-canvas[data-settled="yes"]')).to_be_visible()
    expect(page.locator('.pin[data-kind="answer"]')).to_have_count(0)
    assert serious_faults(page, "main") == []
    shot(page, f"country-{theme}-{size['width']}")
    page.goto(page.url.split("#")[0])
    expect(page.locator(".cards li", has_text="United Arab Emirates").first).to_contain_text(sure)


def test_only_whole_countries_have_outlines(server: Served) -> None:
    names = ["France", "Granada, Spain", "Kiribati", "nowhere"]
    found = server.client.post("/api/outlines", json={"names": names}).json()["outlines"]
    assert set(found) == {"France", "Kiribati"}
    assert all(one["type"] in ("Polygon", "MultiPolygon") for one in found.values())


@IN_EVERY_LOOK
def test_a_country_among_the_candidates_is_its_land(
    open_page: Opener, french: str, theme: str, size: dict[str, int], shot: Callable[[Page, str], None]
) -> None:
    page = open_page(french, color_scheme=theme, viewport=size)
    expect(page.locator(".finding.done")).to_be_visible()
    if size["width"] < 500:
        page.get_by_role("tab", name="Map").click()
    expect(page.locator(".candidate", has_text="France")).to_contain_text("anywhere in the country")
    expect(page.locator(".candidate", has_text="France")).not_to_contain_text("within")
    # The pin's words name no circle either.
    expect(page.locator('.pin[data-kind="rival"]').first).to_have_attribute(
        "aria-label", re.compile("France · [0-9]+ %$")
    )
    # A letter in the middle of the land, no pin at its capital.
    expect(page.locator('.pin[data-kind="rival"]').first).to_have_attribute("data-shape", "disc")
    expect(page.locator('.map-canvas[data-settled="yes"]')).to_be_visible()
    assert serious_faults(page, "main") == []
    shot(page, f"outline-{theme}-{size['width']}")
