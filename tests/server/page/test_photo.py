"""Photos in a real browser: numbered boxes that point to clues and back, zoom and pan, tabs; and what axe says."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from browser import Located, Opener, serious_faults

WIDE = {"width": 1100, "height": 800}


@pytest.fixture
def page(open_page: Opener, located: Located) -> Page:
    opened = open_page(located.path, viewport=WIDE, has_touch=True)
    expect(opened.locator(".photo-lie img")).to_be_visible()
    expect(opened.locator("button.photo-box").first).to_be_attached()
    return opened


def lie(page: Page) -> tuple[float, float]:
    """How far the photo is shifted to the right, in percent of its frame, and how much larger it is than all of it."""
    style = page.locator(".photo-lie").evaluate("it => it.style.transform")
    found = re.match(r"translate\(([-\d.]+)%, [-\d.]+%\) scale\(([\d.]+)\)", style)
    assert found, style
    return float(found[1]), float(found[2])


def scale(page: Page) -> float:
    return lie(page)[1]


def left(page: Page) -> float:
    return lie(page)[0]


def middle(frame: Locator) -> tuple[float, float]:
    box = frame.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_boxes_and_clues_have_one_number_and_light_each_other(page: Page) -> None:
    box = page.locator("button.photo-box.clue").first
    number = box.locator(".photo-number").inner_text()
    clue = page.locator(".clue-row", has=page.locator(".badge", has_text=re.compile(rf"^{number}$")))
    expect(box).to_have_attribute("aria-label", re.compile(rf"^{number}: ."))
    expect(clue).to_have_count(1)
    box.focus()
    expect(clue).to_have_class(re.compile(r"\blinked\b"))
    page.locator(".photo-frame").focus()
    expect(clue).not_to_have_class(re.compile(r"\blinked\b"))
    clue.hover()
    expect(page.locator("button.photo-box.highlighted .photo-number")).to_have_text(number)


def test_a_photo_is_zoomed_and_moved_with_keys_buttons_and_the_wheel(page: Page) -> None:
    frame = page.locator(".photo-frame")
    frame.focus()
    page.keyboard.press("+")
    page.keyboard.press("+")
    near = scale(page)
    assert near == pytest.approx(2.25)
    before = left(page)
    page.keyboard.press("ArrowRight")
    assert left(page) < before
    page.keyboard.press("-")
    assert 1 < scale(page) < near
    page.keyboard.press("0")
    assert scale(page) == 1
    page.get_by_role("button", name="Zoom the photo in").click()
    assert scale(page) > 1
    page.get_by_role("button", name="Show the whole photo").click()
    assert scale(page) == 1
    frame.focus()
    page.mouse.move(*middle(frame))
    page.mouse.wheel(0, -300)
    expect(frame).to_have_class(re.compile("zoomed"))
    before = left(page)
    x, y = middle(frame)
    page.mouse.down()
    page.mouse.move(x - 60, y, steps=4)
    page.mouse.up()
    assert left(page) < before


@pytest.mark.slow
def test_two_fingers_zoom_a_photo(page: Page) -> None:
    x, y = middle(page.locator(".photo-frame"))
    hand = page.context.new_cdp_session(page)
    for kind, apart in (("touchStart", 30), ("touchMove", 60), ("touchMove", 90), ("touchEnd", None)):
        fingers = [] if apart is None else [{"x": x - apart, "y": y, "id": 0}, {"x": x + apart, "y": y, "id": 1}]
        hand.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": fingers})
    expect(page.locator(".photo-frame")).to_have_class(re.compile("zoomed"))
    assert 2 < scale(page) < 4


def test_several_photos_are_tabs(page: Page) -> None:
    tabs = page.get_by_role("tablist", name="Photos of this place").get_by_role("tab")
    expect(tabs).to_have_count(2)
    tabs.first.focus()
    page.keyboard.press("ArrowRight")
    expect(tabs.nth(1)).to_have_attribute("aria-selected", "true")
    expect(tabs.nth(1)).to_be_focused()
    expect(page.get_by_role("tabpanel")).to_be_visible()
    expect(page.locator(".photo-lie img")).to_have_attribute("src", re.compile("/photos/2"))
    page.keyboard.press("Home")
    expect(page.locator(".photo-lie img")).to_have_attribute("src", re.compile("/photos/1"))


def test_axe_finds_no_serious_fault_in_photo_and_map(page: Page) -> None:
    expect(page.locator(".map-view[data-phase=ready]")).to_be_attached()
    page.get_by_role("button", name="Draw an area").click()
    assert serious_faults(page, ".photo-view") + serious_faults(page, ".map-view") == []
