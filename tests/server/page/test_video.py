"""A video with three places in it, in a real browser: dropped, looked through, each place located and on the map."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from browser import IN_EVERY_LOOK, PATIENCE_MS, PHONE, WIDE, Opener, serious_faults
from clips import PLACES, three_places
from serving import Served

expect.set_options(timeout=PATIENCE_MS)
RUN_MS = 240_000


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return three_places(tmp_path_factory.mktemp("clips") / "walk.mp4")


@pytest.fixture(scope="module")
def seen(server: Served, clip: Path) -> str:
    """The path of a case whose video was located."""
    case = server.case(title="walk.mp4")
    sent = server.client.post(
        f"/api/cases/{case}/videos?name=walk.mp4",
        content=clip.read_bytes(),
        headers={"Content-Type": "video/mp4"},
        timeout=RUN_MS / 1000,
    )
    assert sent.status_code == 201, sent.text
    (video,) = sent.json()["videos"]
    runs = [server.start(case, photos=[one["photo"] for one in place["frames"]]) for place in video["places"]]
    assert [server.over(run, 240) for run in runs] == ["done"] * 3
    return f"/#/case/{case}/run/{runs[0]}"


def test_a_dropped_video_becomes_a_list_of_places_with_their_seconds(
    open_page: Opener, server: Served, clip: Path
) -> None:
    page = open_page(viewport=WIDE)
    page.locator("input[type=file]").set_input_files(clip)
    expect(page.locator(".tray-video")).to_have_text("walk.mp4")
    page.get_by_role("button", name="Find the place").click()
    places = page.locator(".video-places > li")
    expect(places).to_have_count(3, timeout=RUN_MS)
    for index, (name, lines) in enumerate(PLACES.items()):
        expect(places.nth(index).locator("strong")).to_contain_text(name, timeout=RUN_MS)
        expect(places.nth(index).locator(".place-frames")).to_contain_text(f"“{lines[0]}”")
        start = 1.5 * index
        expect(places.nth(index).locator(".place-words")).to_contain_text(f"0:0{start:g}–" if start else "0:00–")
    # The run that is shown has the answer's own pin; the other places stand beside it with their numbers.
    expect(page.locator('.pin[data-kind="place"]')).to_have_count(2)
    expect(page.locator('.pin[data-kind="answer"]')).to_have_count(1)
    places.nth(1).get_by_role("link").click()
    expect(page.locator("h2.place")).to_contain_text("Vaduz")
    expect(places.nth(1)).to_have_class("shown")
    case = server.client.get(f"/api/cases/{page.url.split('/')[5]}").json()
    assert case["title"] == "walk.mp4"
    assert max(len(run["photos"]) for run in case["runs"]) < len(case["photos"])


def test_a_place_that_is_run_again_keeps_to_its_own_frames(open_page: Opener, seen: str, server: Served) -> None:
    page = open_page(seen, viewport=WIDE)
    before = page.url
    page.get_by_role("button", name="New run").click()
    page.get_by_role("dialog").get_by_role("button", name="Find the place").click()
    page.wait_for_url(lambda url: url != before)
    again, first = (
        server.client.get(f"/api/runs/{url.rsplit('/', 1)[1]}").json()["photos"] for url in (page.url, before)
    )
    assert again == first
    expect(page.locator("h2.place")).to_contain_text("Helsinki", timeout=RUN_MS)


def test_a_file_that_is_no_video_is_refused_in_words(open_page: Opener, tmp_path: Path, server: Served) -> None:
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(b"\0\0\0\x18ftypisom" + bytes(500))
    page = open_page(viewport=WIDE, expected=("400",))
    cases = len(server.client.get("/api/cases").json()["cases"])
    page.locator("input[type=file]").set_input_files(broken)
    page.get_by_role("button", name="Find the place").click()
    expect(page.locator(".banner.bad")).to_contain_text("the video: it is cut short or damaged")
    assert len(server.client.get("/api/cases").json()["cases"]) == cases


@IN_EVERY_LOOK
def test_axe_finds_no_serious_fault(
    open_page: Opener, seen: str, theme: str, size: dict[str, int], shot: Callable[[Page, str], None]
) -> None:
    page = open_page(seen, color_scheme=theme, viewport=size)
    expect(page.locator(".video-places strong", has_text="Rosenheim")).to_be_visible()
    expect(page.locator(".place-frames img").first).to_be_visible()
    assert serious_faults(page, "main") == []
    shot(page, f"video-{theme}-{size['width']}")
    if size == PHONE:
        page.get_by_role("tab", name="Map").click()
    expect(page.locator('.pin[data-kind="place"]')).to_have_count(2)
    page.locator(".map-view").scroll_into_view_if_needed()
    page.wait_for_timeout(1500)
    shot(page, f"video-map-{theme}-{size['width']}")


@IN_EVERY_LOOK
def test_a_chosen_video_is_named_in_the_tray(
    open_page: Opener, clip: Path, theme: str, size: dict[str, int], shot: Callable[[Page, str], None]
) -> None:
    page = open_page(color_scheme=theme, viewport=size)
    page.locator("input[type=file]").set_input_files(clip)
    expect(page.locator(".tray-video")).to_have_text("walk.mp4")
    assert serious_faults(page, "main") == []
    shot(page, f"video-chosen-{theme}-{size['width']}")
    page.get_by_role("button", name="Leave out walk.mp4").click()
    expect(page.get_by_role("button", name="Choose photos")).to_be_visible()
