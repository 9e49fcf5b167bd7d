"""Links out, in a real browser: other maps at the point, coordinates to copy, the photo for an image search."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from browser import PATIENCE_MS, PHONE, WIDE, Located, Opener, serious_faults

expect.set_options(timeout=PATIENCE_MS)
MAY_COPY = ["clipboard-read", "clipboard-write"]


def test_coordinates_are_copied_in_the_form_that_is_needed(open_page: Opener, located: Located) -> None:
    page = open_page(located.path, viewport={"width": 1440, "height": 900}, permissions=MAY_COPY)
    shown = page.locator(".coordinates code").inner_text()
    page.get_by_role("button", name="Formats").click()
    expect(page.locator(".formats li")).to_have_count(4)
    page.get_by_role("button", name="Copy MGRS").click()
    assert re.fullmatch(r"32TLP \d+ \d+", page.evaluate("navigator.clipboard.readText()"))
    page.get_by_role("button", name="Copy the coordinates").click()
    assert page.evaluate("navigator.clipboard.readText()") == shown


def test_other_maps_open_at_the_point_and_only_on_a_click(open_page: Opener, located: Located) -> None:
    page = open_page(located.path, viewport={"width": 1440, "height": 900}, expected=("ERR_FAILED",))
    asked: list[str] = []

    def stay(route: Route) -> None:
        asked.append(route.request.url)
        route.abort()

    page.context.route(re.compile(r"^https://"), stay)
    page.get_by_role("button", name="Open in").click()
    expect(page.get_by_text("Opens another site, which then knows the place.")).to_be_visible()
    addresses = page.locator(".finding .menu-list a").evaluate_all("(all) => all.map((one) => one.href)")
    hosts = {address.split("/")[2] for address in addresses}
    assert {"www.openstreetmap.org", "www.google.com", "yandex.com", "www.bing.com", "maps.apple.com"} < hosts
    assert all(address.startswith("https://") and "43.7" in address and "7.4" in address for address in addresses)
    for marker in (
        "/maps/search/?api=1&query=43.7",
        "?mlat=43.7",
        "&pt=7.4",
        "/marker?location=43.7",
        "&sp=point.43.7",
    ):
        assert any(marker in address for address in addresses), marker
    assert asked == []
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="OpenStreetMap").click()
    opened.value.close()
    assert {address.split("/")[2] for address in asked} == {"www.openstreetmap.org"}


def test_the_photo_is_copied_for_an_image_search(open_page: Opener, located: Located) -> None:
    page = open_page(located.path, viewport={"width": 1440, "height": 900}, permissions=MAY_COPY)
    page.context.route(re.compile(r"^https://"), lambda route: route.fulfill(body="elsewhere"))
    page.get_by_role("button", name="Image search").click()
    with page.context.expect_page() as opened:
        page.get_by_role("button", name="TinEye").click()
    assert opened.value.url.startswith("https://tineye.com/")
    opened.value.close()
    page.bring_to_front()
    expect(page.get_by_text("The photo is copied.")).to_be_visible()
    kinds = page.evaluate("navigator.clipboard.read().then((all) => all.flatMap((one) => [...one.types]))")
    assert kinds == ["image/png"]


@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_axe_finds_no_serious_fault(
    open_page: Opener, located: Located, theme: str, size: dict[str, int], shot: Callable[[Page, str], None]
) -> None:
    page = open_page(located.path, color_scheme=theme, viewport=size)
    for name in ("Formats", "Open in", "Image search"):
        if name == "Image search" and size == PHONE:
            page.get_by_role("tab", name="Photo").click()
        page.get_by_role("button", name=name).click()
        assert serious_faults(page, "main") == []
        shot(page, f"links-{name.lower().replace(' ', '-')}-{theme}-{size['width']}")
        page.keyboard.press("Escape")
