"""The map in a real browser: candidates, areas and pins by mouse, finger and keyboard, and without WebGL or tiles."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Locator, Page, Playwright, Route, ViewportSize, expect

from browser import CLAIMED, Located, Opener, launched, opened
from serving import Served

SMALL: ViewportSize = {"width": 900, "height": 700}
READY = ".map-view[data-phase=ready]"
HUNG_UP = ("net::ERR_FAILED",)


def ready(page: Page) -> Page:
    expect(page.locator(READY)).to_be_attached(timeout=60_000)
    return page


def stage(page: Page) -> dict[str, float]:
    canvas = page.locator(".map-canvas canvas.maplibregl-canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    assert box is not None
    return {"x": box["x"], "y": box["y"], "width": box["width"], "height": box["height"]}


def drawing(page: Page) -> Locator:
    page.get_by_role("button", name="Draw an area").click()
    panel = page.get_by_role("group", name="Draw the search area")
    expect(panel).to_be_visible()
    return panel


@contextmanager
def caught(page: Page, path: str) -> Iterator[list[dict[str, object]]]:
    """What the page sends to a path; it never arrives, so that no second run begins."""
    sent: list[dict[str, object]] = []

    def take(route: Route) -> None:
        sent.append(json.loads(route.request.post_data or "null"))
        route.abort()

    page.route(path, take)
    yield sent
    page.unroute(path, take)


def area_sent(page: Page) -> list[list[float]]:
    """The ring of the area that the page would go on with."""
    expect(page.get_by_text("only the area on the map").first).to_be_visible()
    with caught(page, "**/api/runs/*/continue") as sent:
        with page.expect_event("requestfailed"):
            page.get_by_role("button", name="Continue").click()
        expect(page.locator(".feedback .banner")).to_be_visible()
    area = sent[0]["area"]
    assert isinstance(area, dict)
    assert area["type"] == "Polygon"
    ring: list[list[float]] = area["coordinates"][0]
    assert ring[0] == ring[-1]
    return ring


def test_candidates_stand_on_the_map_and_point_to_the_list(open_page: Opener, located: Located) -> None:
    page = ready(open_page(located.path, viewport=SMALL))
    answer = page.locator(".pin[data-kind=answer]")
    expect(answer).to_have_count(1)
    expect(answer).to_have_attribute("aria-label", re.compile(r"^A: .*Monaco.* %"))
    answer.focus()
    expect(page.locator(".candidate.linked")).to_have_count(1)
    expect(answer.locator(".pin-label")).to_be_visible()
    page.locator(".map-canvas canvas").first.focus()
    expect(page.locator(".candidate.linked")).to_have_count(0)
    page.locator(".candidate").first.hover()
    expect(page.locator(".pin.highlighted")).to_have_count(1)
    claim = page.locator(".pin[data-kind=claimed]")
    expect(claim).to_have_attribute("aria-label", f"The file claims {CLAIMED[0]:.5f}, {CLAIMED[1]:.5f}")
    expect(page.locator(".maplibregl-ctrl-attrib")).to_contain_text("Natural Earth")
    expect(page.get_by_role("region", name="Map of the candidates").first).to_be_attached()


@pytest.mark.slow
def test_corners_are_set_with_a_finger(open_page: Opener, located: Located) -> None:
    page = ready(open_page(located.path, viewport=SMALL, has_touch=True, expected=HUNG_UP))
    panel = drawing(page)
    at = stage(page)
    for x, y in ((60, 60), (160, 60), (110, 160)):
        page.touchscreen.tap(at["x"] + x, at["y"] + y)
    expect(panel.get_by_role("status")).to_have_text("3 corners")
    panel.get_by_role("button", name="Take the last corner back").click()
    expect(panel.get_by_role("status")).to_have_text("2 corners")
    expect(panel.get_by_role("button", name="Close the area")).to_be_disabled()
    at = stage(page)
    page.touchscreen.tap(at["x"] + 60, at["y"] + 160)
    panel.get_by_role("button", name="Close the area").click()
    assert len(area_sent(page)) == 4


@pytest.mark.slow
def test_an_area_is_drawn_with_the_mouse_the_keyboard_or_numbers(open_page: Opener, located: Located) -> None:
    page = ready(open_page(located.path, viewport=SMALL, expected=HUNG_UP))
    drawing(page)
    at = stage(page)
    page.mouse.move(at["x"] + 40, at["y"] + 40)
    page.mouse.down()
    page.mouse.move(at["x"] + 120, at["y"] + 120, steps=4)
    page.mouse.up()
    ring = area_sent(page)
    assert len(ring) == 5
    assert len({lon for lon, _ in ring}) == len({lat for _, lat in ring}) == 2

    # A double click sets the last corner and closes the area.
    drawing(page)
    at = stage(page)
    for x, y in ((40, 40), (140, 40)):
        page.mouse.click(at["x"] + x, at["y"] + y)
        page.wait_for_timeout(500)
    page.mouse.dblclick(at["x"] + 90, at["y"] + 140)
    assert len(area_sent(page)) == 4

    panel = drawing(page)
    page.locator(".map-canvas canvas").first.focus()
    for number, key in enumerate(("ArrowRight", "ArrowDown", "ArrowLeft"), start=1):
        page.keyboard.press("Enter")
        expect(panel.get_by_role("status")).to_have_text(f"{number} corner" + ("s" if number > 1 else ""))
        page.keyboard.press(key)
        page.wait_for_timeout(600)
    panel.get_by_role("button", name="Close the area").click()
    assert len(area_sent(page)) == 4

    panel = drawing(page)
    panel.get_by_text("Type the box instead").click()
    for field, value in (("North", "44.5 N"), ("South", "far"), ("West", "179"), ("East", "178 W")):
        panel.get_by_label(field).fill(value)
    panel.get_by_role("button", name="Use this box").click()
    expect(panel.get_by_role("alert")).to_contain_text("South: a number of degrees up to 90")
    panel.get_by_label("South").fill("43° 30' N")
    panel.get_by_role("button", name="Use this box").click()
    ring = area_sent(page)
    assert {lon for lon, _ in ring} == {179, 182}
    assert {lat for _, lat in ring} == {43.5, 44.5}

    drawing(page).get_by_role("button", name="Box around this view").click()
    assert area_sent(page) != ring


AT_ONCE = """() => new Promise((done) => {
  const begun = new MutationObserver(() => {
    if (!document.querySelector(".map-view.mode-draw")) return;
    begun.disconnect();
    const enter = new KeyboardEvent("keydown", { key: "Enter", bubbles: true });
    document.querySelector(".map-canvas canvas").dispatchEvent(enter);
    done();
  });
  begun.observe(document.body, { subtree: true, childList: true, attributes: true });
  document.querySelector("[data-shortcut=draw]").click();
})"""
"""Begin to draw, and set a corner as soon as the page says that one draws."""


def test_the_map_draws_as_soon_as_the_page_says_so(open_page: Opener, located: Located) -> None:
    page = ready(open_page(located.path, viewport=SMALL))
    page.evaluate(AT_ONCE)
    panel = page.get_by_role("group", name="Draw the search area")
    expect(panel.get_by_role("status")).to_have_text("1 corner")


def test_a_pin_is_dropped_by_mouse_button_key_or_number(open_page: Opener, located: Located) -> None:
    page = ready(open_page(located.path, viewport=SMALL, expected=HUNG_UP))
    pin = page.locator(".pin[data-kind=pinned]")
    with caught(page, "**/api/runs/*/check") as sent:
        for number, way in enumerate(("click", "centre", "keyboard", "typed")):
            page.get_by_role("button", name="Check a place").click()
            panel = page.get_by_role("group", name="Pin the place to check")
            expect(panel).to_be_visible()
            expect(pin).to_have_count(0)
            if way == "click":
                at = stage(page)
                page.mouse.click(at["x"] + at["width"] * 0.3, at["y"] + at["height"] * 0.4)
            elif way == "centre":
                panel.get_by_role("button", name="Pin at the centre").click()
            elif way == "keyboard":
                page.locator(".map-canvas canvas").first.focus()
                page.keyboard.press("Enter")
            else:
                panel.get_by_text("Type the place instead").click()
                panel.get_by_label("Latitude").fill("43,7")
                panel.get_by_label("Longitude").fill("7.4")
                panel.get_by_role("button", name="Pin it here").click()
            expect(pin).to_have_count(1)
            expect(panel).to_have_count(0)
            assert len(sent) == number + 1
    spots = [(spot["lat"], spot["lon"]) for spot in sent]
    clicked, centred, by_key, typed = spots
    assert clicked != centred == by_key
    assert typed == (43.7, 7.4)
    assert all(
        isinstance(value, float) and abs(value - near) < 2
        for spot in spots
        for value, near in zip(spot, typed, strict=True)
    )


@pytest.mark.slow
def test_the_map_turns_dark_with_the_page(open_page: Opener, located: Located) -> None:
    page = ready(open_page(located.path, viewport=SMALL, color_scheme="light"))
    with page.expect_response("**/tiles/style/dark.json") as reply:
        page.emulate_media(color_scheme="dark")
    assert reply.value.ok
    expect(page.locator(".pin[data-kind=answer]")).to_have_count(1)


@pytest.mark.slow
def test_a_map_without_tiles_still_shows_candidates(open_page: Opener, located: Located) -> None:
    page = open_page("/", viewport=SMALL, expected=HUNG_UP)
    page.route("**/tiles/**", lambda route: route.abort())
    page.goto(page.url.rstrip("/") + located.path)
    ready(page)
    expect(page.locator(".pin[data-kind=answer]")).to_have_count(1)
    expect(page.get_by_text("Parts of the map could not be loaded.")).to_be_visible()
    page.get_by_role("button", name="Zoom the map in").click()
    expect(page.locator(READY)).to_be_attached()


@pytest.mark.slow
def test_without_webgl_places_are_listed_and_areas_typed(
    playwright: Playwright, chromium: str, server: Served, located: Located
) -> None:
    blind = launched(playwright, chromium, webgl=False)
    try:
        page, watched = opened(blind.new_context(viewport=SMALL), server.url + located.path)
        expect(page.locator(".map-view[data-phase=unable]")).to_be_attached()
        expect(page.get_by_text("This browser can draw no map here")).to_be_visible()
        expect(page.locator(".map-list [data-kind=answer]")).to_contain_text("Monaco")
        panel = drawing(page)
        for field, value in (("North", "44"), ("South", "43"), ("West", "7"), ("East", "8")):
            panel.get_by_label(field).fill(value)
        panel.get_by_role("button", name="Use this box").click()
        expect(page.get_by_text("only the area on the map").first).to_be_visible()
        assert watched.unexpected() == []
    finally:
        blind.close()
