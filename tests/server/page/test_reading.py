"""Correct the reading, in a real browser: fix a line, have a box read, rule a line out; the answer follows."""

import io
from collections.abc import Callable

import pytest
from PIL import Image, ImageDraw
from playwright.sync_api import Page, expect

from browser import IN_EVERY_LOOK, PATIENCE_MS, PHONE, Opener, serious_faults
from serving import Served, photo_bytes

expect.set_options(timeout=PATIENCE_MS)
RUN_MS = 240_000
ON_TOP = """(one) => {
  const { left, top, width, height } = one.getBoundingClientRect();
  return one.contains(document.elementFromPoint(left + Math.min(40, width / 2), top + height / 2));
}"""
COVERED = """(boxes) => boxes.flatMap((box) => {
  const tag = box.querySelector(".photo-number")?.getBoundingClientRect();
  const own = box.getBoundingClientRect();
  const frame = box.closest(".photo-frame").getBoundingClientRect();
  if (!tag) return [];
  const width = Math.min(tag.right, own.right) - Math.max(tag.left, own.left);
  const height = Math.min(tag.bottom, own.bottom) - Math.max(tag.top, own.top);
  const outside = tag.top < frame.top || tag.bottom > frame.bottom || tag.left < frame.left || tag.right > frame.right;
  return outside || (width > 3 && height > 3) ? [box.title] : [];
})"""


@pytest.fixture(scope="module")
def misread(server: Served) -> str:
    """The path of a run on a sign that nobody can place as it stands there."""
    case = server.case(photo_bytes("Boulangerie", "Liechtenst"), title="Misread")
    run = server.start(case)
    assert server.over(run, 240) == "done"
    return f"/#/case/{case}/run/{run}"


def went_on(page: Page, before: str) -> None:
    """Press Continue, and wait for what came of it."""
    page.get_by_role("button", name="Continue").click()
    page.wait_for_url(lambda url: url != before)
    expect(page.locator(".finding.done")).to_be_visible(timeout=RUN_MS)


def test_a_corrected_line_moves_the_answer_and_a_line_ruled_out_moves_it_back(
    open_page: Opener, server: Served, misread: str
) -> None:
    page = open_page(misread, viewport={"width": 1440, "height": 900})
    expect(page.locator("h2.place")).to_have_text("No place was found")
    page.get_by_role("button", name="Correct the line: Liechtenst").click()
    field = page.get_by_label("What it says:")
    expect(field).to_be_focused()
    field.fill("Vaduz, Liechtenstein")
    page.get_by_role("button", name="Use it").click()
    expect(page.locator(".feedback .chip")).to_have_text("“Liechtenst” is read as “Vaduz, Liechtenstein”")
    # It rejects nothing, and does not look as if it did.
    expect(page.locator(".feedback .chip.rejects")).to_have_count(0)
    first = page.url
    went_on(page, first)
    expect(page.locator("h2.place")).to_contain_text("Vaduz")
    expect(page.locator(".text-line", has_text="Vaduz, Liechtenstein")).to_contain_text("was: Liechtenst")
    run = server.client.get(f"/api/runs/{page.url.rsplit('/', 1)[1]}").json()
    assert run["parent"] == first.rsplit("/", 1)[1]
    assert [one["text"] for one in run["rejected"]["readings"]] == ["Vaduz, Liechtenstein"]
    # The steps say what the person corrected, and figures are those of the whole run, here and where runs are compared.
    expect(page.locator(".went-on")).to_have_text("You: “Liechtenst” is “Vaduz, Liechtenstein”")
    figures = page.locator(".spending dd").all_inner_texts()
    expect(page.locator(".spending-whole")).to_contain_text("with those before you continued. Since then: ")
    page.get_by_role("button", name="Compare").click()
    used = page.locator(".compare-side").last.locator(".facts div", has_text="Used")
    expect(used).to_contain_text(f"{figures[0]} steps, {figures[1]} tool calls, {figures[2]}, with those before it was")
    page.go_back()
    expect(page.locator(".finding.done")).to_be_visible()

    page.get_by_role("button", name="Not about the place: Vaduz, Liechtenstein").click()
    expect(page.locator(".feedback .chip")).to_have_text("Not about the place: Vaduz, Liechtenstein")
    went_on(page, page.url)
    expect(page.locator("h2.place")).to_have_text("No place was found")


def test_a_line_entered_as_it_stands_is_confirmed(open_page: Opener, misread: str) -> None:
    page = open_page(misread, viewport={"width": 1440, "height": 900})
    page.get_by_role("button", name="Correct the line: Liechtenst").click()
    page.get_by_role("button", name="Use it").click()
    expect(page.locator(".feedback .chip")).to_have_text("It says: Liechtenst")
    expect(page.locator(".text-line", has_text="Liechtenst")).to_contain_text("confirmed")
    expect(page.get_by_role("button", name="Continue")).to_be_enabled()


def test_a_box_is_read_and_what_cannot_be_read_can_be_written(open_page: Opener, misread: str) -> None:
    page = open_page(misread, viewport={"width": 1440, "height": 900})
    expect(page.locator(".text-line").first).to_be_visible()
    read_box(page, (0.02, 0.08), (0.6, 0.26))
    expect(page.get_by_label("What it says:")).to_have_value("Boulangerie")
    page.get_by_role("button", name="Cancel").last.click()
    # An empty wall has no text; the person knows better.
    read_box(page, (0.1, 0.7), (0.5, 0.9))
    page.get_by_label("Nothing could be read there. Write what it says:").fill("Triesen")
    page.get_by_role("button", name="Use it").click()
    expect(page.locator(".text-line", has_text="Triesen")).to_contain_text("added")
    expect(page.locator('.photo-box[title*="Triesen"]')).to_be_visible()
    page.get_by_role("button", name="Undo: Triesen").click()
    expect(page.locator(".text-line", has_text="Triesen")).to_have_count(0)


def to_photo(page: Page, size: dict[str, int]) -> None:
    """Turn to the photo: on a phone a finding opens with its map."""
    expect(page.locator(".finding.done")).to_be_visible()
    if size == PHONE:
        page.get_by_role("tab", name="Photo").click()


@pytest.mark.parametrize("size", [{"width": 1440, "height": 900}, PHONE], ids=["wide", "phone"])
def test_what_to_draw_is_in_sight_when_drawing_begins(open_page: Opener, misread: str, size: dict[str, int]) -> None:
    page = open_page(misread, viewport=size)
    to_photo(page, size)
    expect(page.locator(".text-line").first).to_be_visible()
    page.get_by_role("button", name="Read a part").scroll_into_view_if_needed()
    page.get_by_role("button", name="Read a part").click()
    expect(page.locator(".photo-marking")).to_be_focused()
    how = page.get_by_text("Draw a box around the text to read.", exact=True)
    expect(how).to_be_visible()
    assert page.evaluate(ON_TOP, how.element_handle()), "something lies over what to do"


def test_numbers_stand_beside_their_boxes(open_page: Opener, server: Served) -> None:
    # The first line stands so near to the edge that nothing fits above it.
    picture = Image.open(io.BytesIO(photo_bytes("", "Rue Grimaldi", "+377 93 30 23 45")))
    ImageDraw.Draw(picture).text((70, 2), "Boulangerie", fill=(20, 20, 20), font_size=36)
    stream = io.BytesIO()
    picture.save(stream, "PNG")
    case = server.case(stream.getvalue())
    run = server.start(case)
    assert server.over(run, 240) == "done"
    page = open_page(f"/#/case/{case}/run/{run}", viewport={"width": 1440, "height": 900})
    expect(page.locator(".photo-number").first).to_be_visible()
    expect(page.locator(".photo-number:not(.above)").first).to_be_visible()
    assert page.locator("button.photo-box").evaluate_all(COVERED) == []


def read_box(page: Page, first: tuple[float, float], second: tuple[float, float]) -> None:
    page.get_by_role("button", name="Read a part").click()
    layer = page.locator(".photo-marking")
    layer.scroll_into_view_if_needed()
    frame = layer.bounding_box()
    assert frame is not None
    page.mouse.move(frame["x"] + first[0] * frame["width"], frame["y"] + first[1] * frame["height"])
    page.mouse.down()
    page.mouse.move(frame["x"] + second[0] * frame["width"], frame["y"] + second[1] * frame["height"], steps=4)
    page.mouse.up()


def test_a_click_on_a_box_of_the_photo_opens_its_line(open_page: Opener, misread: str) -> None:
    page = open_page(misread, viewport={"width": 1440, "height": 900})
    page.locator('.photo-box[title*="Liechtenst"]').click()
    expect(page.get_by_label("What it says:")).to_have_value("Liechtenst")
    expect(page.get_by_label("What it says:")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_label("What it says:")).to_have_count(0)


@IN_EVERY_LOOK
def test_axe_finds_no_serious_fault(
    open_page: Opener, misread: str, theme: str, size: dict[str, int], shot: Callable[[Page, str], None]
) -> None:
    page = open_page(misread, color_scheme=theme, viewport=size)
    to_photo(page, size)
    page.get_by_role("button", name="Not about the place: Boulangerie").click()
    page.get_by_role("button", name="Correct the line: Liechtenst").click()
    assert serious_faults(page, "main") == []
    page.locator("#text").scroll_into_view_if_needed()
    shot(page, f"reading-{theme}-{size['width']}")
    page.get_by_role("button", name="Read a part").click()
    expect(page.locator(".photo-marking")).to_be_focused()
    assert serious_faults(page, "main") == []
    shot(page, f"reading-box-{theme}-{size['width']}")
