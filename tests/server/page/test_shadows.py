"""Sun and shadows, in a real browser: drawn lines and a time give a band on the map, a place gives the times."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page, expect

from browser import IN_EVERY_LOOK, PATIENCE_MS, Located, Opener, serious_faults
from geosleuth.geo import shadow_of_elevation, sun_positions

expect.set_options(timeout=PATIENCE_MS)
MONACO = (43.737, 7.421)
FOOT = (0.3, 0.6)


def ratio_at(time: str) -> float:
    """How long shadows are in Monaco."""
    moment = datetime.fromisoformat(time).astimezone(UTC)
    return shadow_of_elevation(float(sun_positions(moment, *MONACO).apparent_elevation_deg))


def line(page: Page, button: str, end: tuple[float, float]) -> None:
    """Draw from the foot to an end, in shares of the photo."""
    layer = page.locator(".photo-marking")
    if layer.count() == 0:
        page.get_by_role("button", name=button).click()
    layer.scroll_into_view_if_needed()
    frame = layer.bounding_box()
    assert frame is not None
    for step, (x, y) in enumerate((FOOT, end)):
        page.mouse.move(frame["x"] + x * frame["width"], frame["y"] + y * frame["height"], steps=4)
        if step == 0:
            page.mouse.down()
    page.mouse.up()


def described(page: Page, *, phone: bool = False) -> None:
    """An object and a shadow as long as it would be in Monaco at noon UTC on a day in June."""
    if phone:
        page.get_by_role("tab", name="Map").click()
    page.get_by_role("button", name="Sun and shadows").click()
    # The photo has 480 by 320 pixels.
    height_px = 0.5 * 320
    line(page, "Draw the object", (FOOT[0], FOOT[1] - 0.5))
    expect(page.locator(".marking-how")).to_have_text("Draw its shadow, from the foot to the tip.")
    line(page, "Draw its shadow", (FOOT[0] + ratio_at("2026-06-21T12:00+00:00") * height_px / 480, FOOT[1]))
    if phone:
        page.get_by_role("tab", name="Map").click()
    page.get_by_label("Time, with Z for UTC or an offset").fill("2026-06-21T12:00Z")


def test_a_drawn_shadow_gives_a_band_that_holds_the_place(open_page: Opener, located: Located) -> None:
    page = open_page(located.path, viewport={"width": 1440, "height": 900})
    described(page)
    measured = float(page.get_by_label("Shadow length ÷ object height").input_value())
    assert measured == pytest.approx(ratio_at("2026-06-21T12:00+00:00"), abs=0.03)
    with page.expect_response("**/api/shadows") as reply:
        page.get_by_role("button", name="Where can it be?").click()
    found = reply.value.json()["found"]
    assert any(one["code"] == "MC" for one in found["countries"])
    assert found["area"]["type"] in ("Polygon", "MultiPolygon")
    wide = len(found["countries"])
    expect(page.locator(".stand-found")).to_contain_text("Where the sun stands")
    expect(page.locator(".stand-found")).to_contain_text("of the people who live in towns within the band")
    # The map with the band and the words below it are in sight.
    expect(page.locator(".map-stage")).to_be_in_viewport(ratio=0.99)
    expect(page.locator(".stand-found p").first).to_be_in_viewport(ratio=0.99)

    # A second shadow of the same place leaves less.
    page.get_by_role("button", name="Add another shadow").click()
    page.get_by_label("Shadow length ÷ object height").fill(f"{ratio_at('2026-06-21T16:00+00:00'):.3f}")
    page.get_by_label("Time, with Z for UTC or an offset").fill("2026-06-21T16:00Z")
    with page.expect_response("**/api/shadows") as reply:
        page.get_by_role("button", name="Where can it be?").click()
    both = reply.value.json()["found"]["countries"]
    assert any(one["code"] == "MC" for one in both)
    assert len(both) < wide


@pytest.mark.parametrize("name", ["Sun and shadows", "Where did I stand?"])
def test_a_panel_that_opens_comes_into_sight(open_page: Opener, located: Located, name: str) -> None:
    page = open_page(located.path, viewport={"width": 1440, "height": 900})
    expect(page.locator(".finding.done")).to_be_visible()
    page.get_by_role("button", name=name).click()
    panel = page.get_by_role("region", name=name)
    expect(panel.get_by_role("heading")).to_be_in_viewport(ratio=1)
    last = panel.get_by_role("button").last
    expect(last).to_be_in_viewport(ratio=1)
    box, bar = last.bounding_box(), page.locator(".feedback").bounding_box()
    assert box is not None
    assert bar is not None
    assert box["y"] + box["height"] <= bar["y"], "the bar at the bottom covers it"


def test_a_place_gives_the_times_that_fit_and_a_time_without_a_zone_is_refused(
    open_page: Opener, located: Located
) -> None:
    page = open_page(located.path, viewport={"width": 1440, "height": 900}, expected=("status of 400",))
    page.get_by_role("button", name="Sun and shadows").click()
    page.get_by_label("Shadow length ÷ object height").fill(f"{ratio_at('2026-06-21T12:00+00:00'):.3f}")
    page.get_by_label("Time, with Z for UTC or an offset").fill("2026-06-21T14:00")
    page.get_by_role("button", name="Where can it be?").click()
    expect(page.locator(".shadows").get_by_role("alert")).to_contain_text("a clock time without a zone")
    page.get_by_role("button", name="Use the finding").click()
    page.get_by_role("button", name="When does it fit?").click()
    expect(page.locator(".stand-found")).to_contain_text("fits the place and time")
    page.get_by_label("Place to test (optional)").fill("somewhere")
    page.get_by_role("button", name="When does it fit?").click()
    expect(page.locator(".shadows").get_by_role("alert")).to_contain_text("Write the place as latitude, longitude")


def test_a_slider_moves_the_day_and_the_band_with_it(open_page: Opener, located: Located) -> None:
    page = open_page(located.path, viewport={"width": 1440, "height": 900})
    described(page)
    slider = page.get_by_label("Day: 2026-06-21")
    with page.expect_request("**/api/shadows") as asked:
        slider.focus()
        page.keyboard.press("ArrowRight")
    sent = asked.value.post_data_json
    assert sent is not None
    assert sent["shadows"][0]["time"] == "2026-06-22T12:00Z"
    expect(page.get_by_label("Time, with Z for UTC or an offset")).to_have_value("2026-06-22T12:00Z")
    expect(page.locator(".stand-found")).to_contain_text("Where the sun stands")


@IN_EVERY_LOOK
def test_axe_finds_no_serious_fault(
    open_page: Opener, located: Located, theme: str, size: dict[str, int], shot: Callable[[Page, str], None]
) -> None:
    phone = size["width"] < 500
    page = open_page(located.path, color_scheme=theme, viewport=size)
    expect(page.locator(".finding.done")).to_be_visible()
    described(page, phone=phone)
    page.get_by_role("button", name="Where can it be?").click()
    expect(page.locator(".stand-found")).to_contain_text("Where the sun stands")
    expect(page.locator(".stand-found")).to_contain_text("of the people who live in towns within the band")
    expect(page.locator('.map-canvas[data-settled="yes"]')).to_be_visible()
    assert serious_faults(page, "main") == []
    page.locator(".map-view").scroll_into_view_if_needed()
    shot(page, f"shadows-{theme}-{size['width']}")
