"""What the page says where there is nothing to show: withheld, broken off, refused, deleted; each in its own words."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from playwright.sync_api import expect

from browser import PATIENCE_MS, PHONE, WIDE, Opener
from serving import Served, drawing_bytes, photo_bytes, recording

expect.set_options(timeout=PATIENCE_MS)
SURE = '{"lat": 43.7384, "lon": 7.4246, "city": "Monaco", "country": "Monaco", "probability": 0.99, "radius_km": 2}'


@pytest.fixture(scope="module")
def replay(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A model that answers from a recording."""
    path = tmp_path_factory.mktemp("recordings") / "sure.jsonl"
    # The browser's driver keeps an event loop in this thread; recordings are made in one of their own.
    with ThreadPoolExecutor(1) as aside:
        made = aside.submit(recording, path, answer=SURE).result()
    return f"replay:{made}"


def shown(server: Served, replay: str, **request: str) -> tuple[str, str]:
    """A case with one finished run, and where the page shows it."""
    case = server.case(photo_bytes("Monaco"), title="Monaco")
    run = server.start(case, model=replay, **request)
    assert server.over(run, 240) == "done"
    return case, f"/#/case/{case}/run/{run}"


# What could be pressed; on a scrolled page the rest is behind the bar, before and after.
REACHABLE = """() => [...document.querySelectorAll("button, a, input")].filter((one) => {
  const { left, right, top, bottom } = one.getBoundingClientRect();
  return one.contains(document.elementFromPoint((left + right) / 2, (top + bottom) / 2));
})"""
COVERED_BY_NOTICE = """async (reachable) => {
  // Even without motion, styles take a moment.
  const ending = document.getAnimations().filter((one) => one.effect.getComputedTiming().endTime !== Infinity);
  await Promise.allSettled(ending.map((one) => one.finished));
  const over = document.querySelector(".notice").getBoundingClientRect();
  const meets = (one) => {
    const { left, right, top, bottom } = one.getBoundingClientRect();
    return left < over.right && right > over.left && top < over.bottom && bottom > over.top;
  };
  return reachable.filter((one) => one.checkVisibility() && meets(one)).map((one) => one.outerHTML);
}"""


@pytest.mark.slow
def test_what_may_not_be_told_is_said_to_be_withheld(open_page: Opener, server: Served, replay: str) -> None:
    page = open_page(shown(server, replay, granularity="city")[1])
    expect(page.locator(".finding.done")).to_be_visible()
    for panel in ("#clues", "#claims", "#steps"):
        expect(page.locator(panel)).to_contain_text("Not shown: places are told no finer than town or city.")
    said = page.locator("#main").inner_text()
    assert "Nothing in the photo gave a clue" not in said
    assert "The file says nothing" not in said


def test_ninety_nine_percent_are_twenty_of_twenty(open_page: Opener, server: Served, replay: str) -> None:
    page = open_page(shown(server, replay)[1])
    expect(page.locator(".finding .odds .held")).to_have_count(20)
    expect(page.locator(".finding .odds title")).to_have_text("20 cases like this one: about 20 would be right")


def test_a_marker_can_be_checked_and_a_phone_draws_around_the_candidates(
    open_page: Opener, server: Served, replay: str
) -> None:
    page = open_page(shown(server, replay)[1], viewport=PHONE)
    expect(page.locator(".finding.done")).to_be_visible()
    page.get_by_role("button", name="Draw an area").click()
    expect(page.locator(".map-canvas[data-settled]")).to_be_attached()
    view = page.get_by_role("button", name="Box around this view")
    expect(view).to_be_in_viewport(ratio=1)
    box, bar = view.bounding_box(), page.locator(".feedback").bounding_box()
    assert box is not None
    assert bar is not None
    assert box["y"] + box["height"] <= bar["y"]
    expect(page.locator(".pin[data-kind=answer]")).to_be_in_viewport()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Check a place").click()
    with page.expect_request("**/api/runs/*/check") as asked:
        page.locator(".pin[data-kind=answer]").click()
    assert asked.value.post_data_json == {"lat": 43.7384, "lon": 7.4246}


def test_a_case_deleted_elsewhere_is_cleared(open_page: Opener, server: Served, replay: str) -> None:
    case, path = shown(server, replay)
    page = open_page(path, expected=("status of 404", "status of 409"))
    expect(page.locator(".finding.done")).to_be_visible()
    assert server.client.delete(f"/api/cases/{case}").status_code == 204
    page.evaluate("() => document.dispatchEvent(new Event('visibilitychange'))")  # As on a return to this tab.
    expect(page.get_by_role("alert")).to_have_text("This case was deleted.")
    expect(page.locator(".finding")).to_have_count(0)


def test_a_file_that_is_no_picture_is_said_to_be_none_at_once(open_page: Opener) -> None:
    page = open_page("/")
    files = [
        {"name": "empty.jpg", "mimeType": "image/jpeg", "buffer": b""},
        {"name": "broken.png", "mimeType": "image/png", "buffer": b"no picture at all"},
        {"name": "other.heic", "mimeType": "image/heic", "buffer": b"only the server can tell"},
    ]
    page.set_input_files("input[type=file]", files)  # type: ignore[arg-type]
    lines = page.get_by_role("alert").get_by_role("listitem")
    expect(lines).to_have_text(
        [
            "empty.jpg: this file is empty; choose another one.",
            "broken.png: this is no picture that can be read; choose a photo.",
        ]
    )
    expect(lines.first).to_be_in_viewport(ratio=1)
    expect(page.locator(".tray-photo.refused")).to_have_count(2)
    expect(page.locator(".tray-photo img")).to_have_count(0)  # No broken picture is drawn.
    page.get_by_role("button", name="Leave out empty.jpg").click()
    expect(lines).to_have_count(1)
    begin = page.get_by_role("button", name="Find the place")
    expect(begin).to_be_enabled()
    page.get_by_role("button", name="Leave out other.heic").click()
    expect(begin).to_be_disabled()  # What is left was refused.


def test_says_what_looks_like_no_photo_before_it_looks(open_page: Opener, server: Served) -> None:
    before = len(server.client.get("/api/cases").json()["cases"])
    page = open_page("/")
    drawn = {"name": "map.png", "mimeType": "image/png", "buffer": drawing_bytes("Rue Grimaldi")}
    page.set_input_files("input[type=file]", drawn)  # type: ignore[arg-type]
    page.get_by_role("button", name="Find the place", exact=True).click()
    expect(page.locator(".staged .banner")).to_contain_text(re.compile(r"map\.png looks like a \w+, not a photo\."))
    assert len(server.client.get("/api/cases").json()["cases"]) == before
    page.get_by_role("button", name="Find the place all the same").click()
    expect(page.locator(".finding.done")).to_be_visible()
    expect(page.locator(".finding .banner").first).to_contain_text("may lie elsewhere, or nowhere")
    assert len(server.client.get("/api/cases").json()["cases"]) == before + 1


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_a_notice_covers_no_button(open_page: Opener, server: Served, replay: str, size: dict[str, int]) -> None:
    page = open_page(shown(server, replay)[1], viewport=size, permissions=["clipboard-write"])
    expect(page.locator(".finding.done")).to_be_visible()
    copy = page.get_by_role("button", name="Copy").first
    copy.evaluate("(one) => one.scrollIntoView({ block: 'center' })")
    reachable = page.evaluate_handle(REACHABLE)
    assert reachable.evaluate("(found) => found.length") > 5
    copy.click()
    expect(page.locator(".notice")).to_be_visible()
    assert page.evaluate(COVERED_BY_NOTICE, reachable) == []


def test_each_refused_photo_has_its_line_and_its_mark(open_page: Opener) -> None:
    page = open_page("/", expected=("status of 400", "status of 415"))
    names = ("one.heic", "two.heic")  # Of these only the server can tell.
    files = [{"name": name, "mimeType": "image/heic", "buffer": b"no picture at all"} for name in names]
    page.set_input_files("input[type=file]", files)  # type: ignore[arg-type]
    page.get_by_role("button", name="Find the place").click()
    lines = page.get_by_role("alert").get_by_role("listitem")
    expect(lines).to_have_count(2)
    for number, name in enumerate(names):
        expect(lines.nth(number)).to_contain_text(name)
    expect(page.locator(".tray-photo.refused")).to_have_count(2)
