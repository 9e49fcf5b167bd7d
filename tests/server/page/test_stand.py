"""Where did I stand? Features clicked in photo and map give position, heading and area, in a real browser."""

import math
from collections.abc import Callable

from playwright.sync_api import Page, expect

from browser import IN_EVERY_LOOK, PATIENCE_MS, Located, Opener, serious_faults
from geosleuth.geo import LatLon, bearing_deg, distance_km
from geosleuth.geo.resection import compute_column
from serving import Served

expect.set_options(timeout=PATIENCE_MS)
CAMERA = LatLon(43.7330, 7.4180)
HEADING_DEG, FOV_DEG = 45.0, 70.0
FEATURES = (LatLon(43.7405, 7.4215), LatLon(43.7385, 7.4330), LatLon(43.7352, 7.4290))


def column(feature: LatLon) -> float:
    off = (bearing_deg(CAMERA, feature, "geodesic") - HEADING_DEG + 180) % 360 - 180
    return min(0.95, max(0.05, compute_column(off, FOV_DEG)))


def mark(page: Page, number: int, feature: LatLon, *, tabs: bool = False) -> None:
    """One feature: a click in the photo, then its place on the map, typed so that it is exact."""
    page.get_by_role("button", name=f"Mark feature {number}").click()
    layer = page.locator(".photo-marking")
    layer.scroll_into_view_if_needed()
    frame = layer.bounding_box()
    assert frame is not None
    page.mouse.click(frame["x"] + column(feature) * frame["width"], frame["y"] + frame["height"] / 2)
    expect(page.locator(".stand-step")).to_have_text("Now click the same feature on the map.")
    if tabs:
        expect(page.get_by_role("tab", name="Map")).to_have_attribute("aria-selected", "true")
    # Until the map is ready, the form is open, and a click would close it.
    expect(page.get_by_role("button", name="Pin at the centre")).to_be_visible()
    page.get_by_text("Type the place instead").click()
    page.get_by_label("Latitude").fill(str(feature.lat))
    page.get_by_label("Longitude").fill(str(feature.lon))
    page.get_by_role("button", name="Pin it here").click()
    expect(page.locator(".stand-features li")).to_have_count(number)


def settled_map(page: Page) -> None:
    expect(page.locator('.map-canvas[data-settled="yes"]')).to_be_visible()


def test_three_features_give_position_heading_and_area(open_page: Opener, located: Located) -> None:
    page = open_page(located.path, viewport={"width": 1440, "height": 900})
    expect(page.locator(".finding.done")).to_be_visible()
    page.get_by_role("button", name="Where did I stand?").click()
    page.get_by_label("Field of view in degrees").fill(str(FOV_DEG))
    mark(page, 1, FEATURES[0])
    mark(page, 2, FEATURES[1])
    expect(page.locator(".stand-found")).to_contain_text("These features leave a whole curve")
    with page.expect_response("**/stand") as reply:
        mark(page, 3, FEATURES[2])
    found = reply.value.json()["found"]
    assert found["kind"] == "fix"
    off_km = distance_km(CAMERA, LatLon(found["lat"], found["lon"]))
    assert off_km < 0.03, off_km
    assert abs(found["heading_deg"] - HEADING_DEG) < 1
    assert math.isclose(found["fov_deg"], FOV_DEG)
    expect(page.locator(".stand-found")).to_contain_text("The camera stood at 43.73")
    expect(page.locator('.pin[data-kind="camera"]')).to_be_visible()
    expect(page.locator('.pin[data-kind="feature"]')).to_have_count(3)
    expect(page.locator('.pin[data-kind="pinned"]')).to_have_count(0)
    expect(page.locator(".photo-mark-label")).to_have_text(["1", "2", "3"])
    page.locator(".stand").get_by_role("button", name="Look only there").click()
    expect(page.locator(".feedback")).to_contain_text("only the area on the map")
    page.get_by_role("button", name="Remove feature 3").click()
    expect(page.locator(".stand-found")).to_contain_text("These features leave a whole curve")
    page.locator(".stand").get_by_role("button", name="Close").click()
    expect(page.locator(".photo-mark-label")).to_have_count(0)
    expect(page.locator('.pin[data-kind="feature"]')).to_have_count(0)


def test_a_feature_is_marked_by_keyboard_and_a_map_click(open_page: Opener, located: Located) -> None:
    page = open_page(located.path, viewport={"width": 1440, "height": 900})
    expect(page.locator(".finding.done")).to_be_visible()
    settled_map(page)
    page.get_by_role("button", name="Where did I stand?").click()
    page.get_by_role("button", name="Mark feature 1").click()
    expect(page.locator(".photo-marking")).to_be_focused()
    for key in ("Shift+ArrowLeft", "Shift+ArrowLeft", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    expect(page.locator(".map-view.mode-pin")).to_be_visible()
    frame = page.locator(".map-canvas").bounding_box()
    assert frame is not None
    page.mouse.click(frame["x"] + frame["width"] / 3, frame["y"] + frame["height"] / 3)
    expect(page.locator(".stand-features li")).to_contain_text("41 % from the left")
    expect(page.locator('.pin[data-kind="feature"]')).to_have_count(1)


def test_features_that_no_place_fits_are_told_in_one_line(open_page: Opener, located: Located) -> None:
    page = open_page(located.path, expected=("status of 400",), viewport={"width": 1440, "height": 900})
    expect(page.locator(".finding.done")).to_be_visible()
    page.get_by_role("button", name="Where did I stand?").click()
    mark(page, 1, FEATURES[0])
    mark(page, 2, LatLon(-33.86, 151.2))
    expect(page.locator(".stand").get_by_role("alert")).to_contain_text("Check which places the names mean")


def test_a_place_that_is_marked_twice_is_refused(server: Served, located: Located) -> None:
    marks = [{"column": at, "lat": FEATURES[0].lat, "lon": FEATURES[0].lon} for at in (0.1, 0.9)]
    refused = server.client.post(f"/api/cases/{located.case}/photos/1/stand", json={"marks": marks, "fov_deg": 70})
    assert refused.status_code == 400
    assert "is marked twice, in columns 0.100 and 0.900" in refused.json()["error"]["message"]


def test_a_capped_service_says_nothing_finer(server: Served, located: Located) -> None:
    marks = [{"column": column(one), "lat": one.lat, "lon": one.lon} for one in FEATURES]
    server.client.put("/api/settings", json={"granularity": "city"}).raise_for_status()
    try:
        refused = server.client.post(f"/api/cases/{located.case}/photos/1/stand", json={"marks": marks})
    finally:
        server.client.put("/api/settings", json={}).raise_for_status()
    assert refused.status_code == 400
    assert "no finer than city" in refused.json()["error"]["message"]


@IN_EVERY_LOOK
def test_axe_finds_no_serious_fault(
    open_page: Opener, located: Located, theme: str, size: dict[str, int], shot: Callable[[Page, str], None]
) -> None:
    phone = size["width"] < 500
    page = open_page(located.path, color_scheme=theme, viewport=size)
    expect(page.locator(".finding.done")).to_be_visible()
    if phone:
        page.get_by_role("tab", name="Map").click()
    page.get_by_role("button", name="Where did I stand?").click()
    page.get_by_label("Field of view in degrees").fill(str(FOV_DEG))
    for number, feature in enumerate(FEATURES, 1):
        mark(page, number, feature, tabs=phone)
    expect(page.locator(".stand-found")).to_contain_text("The camera stood at")
    settled_map(page)
    assert serious_faults(page, "main") == []
    page.locator(".map-view").scroll_into_view_if_needed()
    shot(page, f"stand-{theme}-{size['width']}")
    if phone:
        page.get_by_role("button", name="Mark feature 4").click()
        shot(page, f"stand-photo-{theme}-{size['width']}")
