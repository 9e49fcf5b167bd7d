"""A map for the atlas, in a real browser: suggested by a finding, its host and size named first, fetched, used."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from browser import IN_EVERY_LOOK, PATIENCE_MS, Opener, opened, serious_faults
from extract_server import ExtractServer, extract_server, tiny_extract
from homes import home_with_base
from serving import Served, photo_bytes, served

expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="module")
def extracts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ExtractServer]:
    with extract_server() as made:
        made.offer("andorra", tiny_extract(tmp_path_factory.mktemp("extracts"), 3000))
        yield made


@pytest.fixture(scope="module")
def with_maps(extracts: ExtractServer, tmp_path_factory: pytest.TempPathFactory, base_file: Path) -> Iterator[Served]:
    home = home_with_base(tmp_path_factory.mktemp("maps"), base_file)
    with served(home, environment={"GEOSLEUTH_EXTRACTS_URL": extracts.url}) as running:
        yield running


@pytest.fixture(scope="module")
def found(with_maps: Served) -> str:
    """The path of a finding that lies on no map."""
    case = with_maps.case(photo_bytes("Andorra la Vella", "+376 820 123"), title="On no map")
    run = with_maps.start(case)
    assert with_maps.over(run, 240) == "done"
    return f"/#/case/{case}/run/{run}"


@pytest.fixture
def opener(browser: Browser, with_maps: Served) -> Iterator[Opener]:
    contexts = []

    def open_at(path: str, expected: tuple[str, ...] = (), **options: object) -> Page:
        context = browser.new_context(**{"reduced_motion": "reduce", **options})  # type: ignore[arg-type]
        page, watched = opened(context, with_maps.url + path)
        watched.expected = expected
        contexts.append((context, watched))
        return page

    yield open_at
    heard = [one for _, watched in contexts for one in watched.unexpected()]
    for context, _ in contexts:
        context.close()
    assert heard == []


def online(with_maps: Served, *, offline: bool) -> None:
    with_maps.client.put("/api/settings", json={"offline": offline}).raise_for_status()


def ask(page: Page) -> None:
    page.get_by_role("button", name="Ask 127.0.0.1").click()
    expect(page.get_by_role("dialog")).to_contain_text("Andorra (andorra)")


def test_a_finding_on_no_map_brings_it_after_two_questions(
    opener: Opener,
    with_maps: Served,
    extracts: ExtractServer,
    found: str,
) -> None:
    online(with_maps, offline=True)
    page = opener(found, viewport={"width": 1440, "height": 900})
    expect(page.get_by_text("A map of Andorra would help.")).to_be_visible()
    extracts.asked.clear()
    page.get_by_role("button", name="Get the map").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("This asks 127.0.0.1 for its list of maps")
    # The offline switch goes before everything.
    expect(dialog.get_by_role("button", name="Ask 127.0.0.1")).to_be_disabled()
    dialog.get_by_role("link", name="Turn it off in the settings").click()
    page.get_by_role("switch", name="Stay offline", exact=True).uncheck()
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".settings-save")).to_contain_text("Saved.")
    page.go_back()
    assert extracts.asked == []

    page.get_by_role("button", name="Get the map").click()
    ask(page)
    assert extracts.bodies_asked() == []
    size_kb = round(len(extracts.files["/andorra-latest.osm.pbf"]) / 1000)
    expect(dialog).to_contain_text(f"{size_kb} KB")
    expect(dialog).to_contain_text("2026-11-16")
    extracts.stall_after = 4000
    page.get_by_role("button", name=f"Download {size_kb} KB").click()
    expect(dialog.get_by_role("status")).to_contain_text("Downloading")
    expect(dialog.locator(".bar-fill")).not_to_have_attribute("style", "width: 0%;")
    extracts.stall_after = None
    expect(dialog).to_contain_text("The map of Andorra is installed.")
    dialog.get_by_role("button", name="Close").last.click()
    # The same photo again, on the new map.
    page.get_by_role("button", name="New run with it").click()
    expect(page.get_by_role("dialog")).to_contain_text("The same photos from the beginning.")
    page.get_by_role("button", name="Cancel").click()
    page.goto(with_maps.url + "/#/settings")
    expect(page.locator("#maps-title + .keylist")).to_contain_text("andorra")


def test_a_fault_is_one_line_and_can_be_tried_again(
    opener: Opener,
    with_maps: Served,
    extracts: ExtractServer,
) -> None:
    online(with_maps, offline=False)
    page = opener("/#/settings", expected=("status of 503", "status of 400"))
    content = extracts.files["/andorra-latest.osm.pbf"]
    page.get_by_label("Country, region or city").fill("Qqqqzzz")
    page.get_by_role("button", name="Get the map").click()
    page.get_by_role("button", name="Ask 127.0.0.1").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("alert")).to_contain_text("no country, region or city is called 'Qqqqzzz'")
    dialog.get_by_role("button", name="Cancel").click()

    extracts.offer("switzerland", content[:-1] + b"x", checksum="0" * 32)
    page.get_by_label("Country, region or city").fill("Suisse")
    page.get_by_role("button", name="Get the map").click()
    page.get_by_role("button", name="Ask 127.0.0.1").click()
    page.get_by_role("button", name="Download").click()
    expect(dialog.get_by_role("alert")).to_contain_text("the checksum of switzerland-latest.osm.pbf is wrong")
    dialog.get_by_role("button", name="Try again").click()
    expect(dialog.get_by_role("button", name="Ask 127.0.0.1")).to_be_enabled()


@IN_EVERY_LOOK
def test_axe_finds_no_serious_fault(
    opener: Opener,
    with_maps: Served,
    theme: str,
    size: dict[str, int],
    shot: Callable[[Page, str], None],
) -> None:
    online(with_maps, offline=False)
    page = opener("/#/settings", color_scheme=theme, viewport=size)
    page.get_by_label("Country, region or city").fill("Andorra")
    assert serious_faults(page, "main") == []
    page.locator("#maps-title").scroll_into_view_if_needed()
    page.get_by_role("button", name="Get the map").click()
    ask(page)
    assert serious_faults(page, "dialog") == []
    shot(page, f"get-map-{theme}-{size['width']}")
