"""The screens in a real browser: history, settings, consent, sign-in, trouble, hostile text, and the phone."""

import json
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Route, expect

from browser import PATIENCE_MS, PHONE, Located, Opener, opened, serious_faults
from homes import home_with_base
from serving import Served, photo_bytes, recording, served

expect.set_options(timeout=PATIENCE_MS)
HOSTILE = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"


@pytest.fixture(scope="module")
def pair(server: Served, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str, str]:
    """A case with two runs from recordings; the second one's thoughts and place are hostile text."""
    folder = tmp_path_factory.mktemp("recordings")
    case = server.case(photo_bytes("Monaco"), title=f"Twice {HOSTILE}")
    answer = {"lat": 43.7, "lon": 7.26, "city": HOSTILE, "country": "France", "probability": 0.4, "radius_km": 5}
    # The browser's driver keeps an event loop in this thread; recordings are made in one of their own.
    with ThreadPoolExecutor(1) as aside:
        plain = aside.submit(recording, folder / "plain.jsonl").result()
        make = partial(recording, folder / "hostile.jsonl", answer=json.dumps(answer), thought=HOSTILE)
        hostile = aside.submit(make).result()
    runs = [server.start(case, model=f"replay:{one}") for one in (plain, hostile)]
    assert [server.over(run, 240) for run in runs] == ["done", "done"]
    return case, runs[0], runs[1]


@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_axe_finds_no_serious_fault(
    open_page: Opener, located: Located, pair: tuple[str, str, str], theme: str
) -> None:
    page = open_page("/", color_scheme=theme, viewport={"width": 1280, "height": 900})
    shown = {
        "/#/": page.locator(".case-card").first,
        located.path: page.locator(".finding.done"),
        f"/#/compare/{pair[1]}/{pair[2]}": page.locator(".compare-side").first,
        "/#/settings": page.get_by_role("heading", name="Keys"),
    }
    faults: dict[str, list[str]] = {}
    for path, mark in shown.items():
        page.evaluate("(hash) => { location.hash = hash }", path.lstrip("/"))
        expect(mark).to_be_visible()
        found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
        grave = [one for one in found if one["impact"] in ("serious", "critical")]
        faults |= {f"{path}: {one['id']}": [node["html"][:160] for node in one["nodes"]] for one in grave}
    assert faults == {}


def test_text_from_photos_and_models_stays_text(open_page: Opener, pair: tuple[str, str, str]) -> None:
    case, _, run = pair
    page = open_page(f"/#/case/{case}/run/{run}")
    expect(page.locator(".finding.done")).to_be_visible()
    expect(page.locator("h1")).to_contain_text(HOSTILE)
    expect(page.locator(".thought").first).to_contain_text(HOSTILE)
    expect(page.locator("h2.place")).to_contain_text("<script>")
    page.goto(page.url.split("#")[0] + "#/")
    expect(page.locator(".case-card", has_text=HOSTILE).first).to_be_visible()
    assert page.title() == "geosleuth"
    assert page.locator("main script, main img[onerror]").count() == 0


def test_a_sign_in_a_photo_stays_text(open_page: Opener, located: Located) -> None:
    page = open_page("/")

    def changed(route: Route) -> None:
        result = route.fetch().json()
        result["clues"] = [one | {"seen": HOSTILE, "says": HOSTILE} for one in result["clues"]]
        route.fulfill(json=result)

    page.route("**/api/runs/*/view", changed)
    page.evaluate("(hash) => { location.hash = hash }", located.path.lstrip("/"))
    expect(page.locator(".clue-seen").first).to_have_text(HOSTILE)
    expect(page.locator(".photo-box.clue").first).to_have_attribute("title", re.compile(re.escape(HOSTILE)))
    assert page.title() == "geosleuth"


def test_cases_are_found_by_their_notes_and_deleted_for_good(open_page: Opener, server: Served) -> None:
    case = server.case(photo_bytes("Lyon"), title="Grandmother's album")
    other = server.case(photo_bytes("Nice"), title="Something else")
    page = open_page("/")
    page.get_by_role("button", name="Title and notes of Grandmother's album").click()
    page.get_by_role("textbox", name="Notes").fill("the one with the blue tram")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_label("Search places, titles, notes").fill("blue tram")
    expect(page.locator(".case-card")).to_have_count(1)
    expect(page.locator(".case-notes")).to_have_text("the one with the blue tram")

    page.get_by_role("button", name="Delete Grandmother's album").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("1 photo")
    expect(dialog).to_contain_text("for good")
    page.get_by_role("button", name="Cancel").click()
    assert server.client.get(f"/api/cases/{case}").status_code == 200
    page.get_by_role("button", name="Delete Grandmother's album").click()
    page.get_by_role("button", name="Delete for good").click()
    expect(page.get_by_text("Nothing here mentions “blue tram”.")).to_be_visible()
    assert server.client.get(f"/api/cases/{case}").status_code == 404
    assert server.client.get(f"/api/cases/{other}").status_code == 200


def test_notes_keep_themselves(open_page: Opener, server: Served, pair: tuple[str, str, str]) -> None:
    page = open_page(f"/#/case/{pair[0]}")
    page.get_by_role("textbox", name="Notes").fill("ask at the archive")
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    assert server.client.get(f"/api/cases/{pair[0]}").json()["notes"] == "ask at the archive"


def test_settings_are_kept_and_keys_do_not_come_back(open_page: Opener, server: Served) -> None:
    page = open_page("/#/settings")
    page.get_by_label("Delete cases after so many days").fill("90")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".settings-save")).to_contain_text("Saved.")
    assert server.client.get("/api/settings").json()["retention_days"] == 90
    expect(page.get_by_role("switch", name="Stay offline", exact=True)).to_be_checked()

    page.get_by_label("Service").select_option("anthropic")
    page.get_by_label("Key", exact=True).fill("sk-not-a-real-key")
    page.get_by_role("button", name="Set the key").click()
    expect(page.locator(".keylist")).to_contain_text("in memory")
    assert "sk-not-a-real-key" not in page.content() + server.client.get("/api/keys").text
    page.get_by_role("button", name="Forget it").click()
    expect(page.get_by_text("No key is set.")).to_be_visible()


def test_a_photo_goes_nowhere_before_its_host_is_named_and_agreed_to(open_page: Opener) -> None:
    page = open_page("/", expected=("status of 409", "status of 400"))
    sent: list[list[str]] = []

    def wants_consent(route: Route) -> None:
        sent.append(json.loads(route.request.post_data or "{}")["send_to"])
        error = {"kind": "consent", "message": "1 photo would go to api.example.org", "hosts": ["api.example.org"]}
        refused = {"kind": "input", "message": "that is as far as this test goes"}
        route.fulfill(status=409 if len(sent) == 1 else 400, json={"error": error if len(sent) == 1 else refused})

    page.route("**/api/cases/*/runs", wants_consent)
    files = {"name": "sign.jpg", "mimeType": "image/jpeg", "buffer": photo_bytes("Monaco")}
    page.set_input_files("input[type=file]", files)  # type: ignore[arg-type]
    page.get_by_role("button", name="Find the place").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator(".hosts")).to_have_text("api.example.org")
    page.get_by_role("button", name="Send them").click()
    expect(page.get_by_role("alert")).to_contain_text("as far as this test goes")
    assert sent == [[], ["api.example.org"]]


def test_a_lost_connection_comes_back_by_itself(open_page: Opener, located: Located) -> None:
    page = open_page("/", expected=("net::ERR_FAILED",))
    page.route("**/api/runs/*/events*", lambda route: route.abort())
    page.evaluate("(hash) => { location.hash = hash }", located.path.lstrip("/"))
    expect(page.get_by_text("The connection is gone.")).to_be_visible()
    page.unroute("**/api/runs/*/events*")
    expect(page.locator(".finding.done .sure")).to_be_visible()
    expect(page.get_by_text("The connection is gone.")).to_be_hidden()


@pytest.mark.slow
def test_a_server_with_a_token_asks_for_it(browser: Browser, base_file: Path, tmp_path: Path) -> None:
    home = home_with_base(tmp_path, base_file)
    with served(home, environment={"GEOSLEUTH_TOKEN": "a-token-of-some-length-1234567890"}) as server:
        context = browser.new_context()
        page, watched = opened(context, server.url)
        watched.expected = ("status of 401",)
        page.get_by_label("Token").fill("wrong")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("alert")).to_contain_text("That is not the token.")
        page.get_by_label("Token").fill("a-token-of-some-length-1234567890")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("button", name="Choose photos")).to_be_visible()
        expect(page.get_by_text("What you will see")).to_be_visible()
        assert watched.unexpected() == []
        context.close()


def test_a_phone_has_one_column_with_tabs_and_no_sideways_scrolling(
    open_page: Opener, located: Located, pair: tuple[str, str, str]
) -> None:
    page = open_page(located.path, viewport=PHONE)
    expect(page.locator(".finding.done")).to_be_visible()
    expect(page.locator("#candidates")).to_be_visible()
    expect(page.locator("#clues")).to_be_hidden()
    page.get_by_role("tab", name="Photo").click()
    expect(page.locator("#clues")).to_be_visible()
    expect(page.locator("#candidates")).to_be_hidden()
    # The bar at the bottom has all of its parts, with their words.
    bar = page.locator(".feedback")
    expect(bar.get_by_placeholder("Only look within")).to_be_in_viewport(ratio=1)
    draw = bar.get_by_text("Draw an area")
    expect(draw).to_be_in_viewport(ratio=1)
    size = draw.bounding_box()
    assert size is not None
    assert size["width"] > 60
    page.get_by_role("tab", name="Map").click()
    expect(page.locator("#candidates")).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#steps")).to_be_visible()
    shows = {
        located.path: ".finding.done", "/#/": ".case-card", "/#/settings": "#keys-title",
        f"/#/compare/{pair[1]}/{pair[2]}": ".compare table",
    }  # fmt: skip
    wide: dict[str, int] = {}
    for path, part in shows.items():
        page.evaluate("(hash) => { location.hash = hash }", path.lstrip("/"))
        expect(page.locator(part).first).to_be_visible()
        wide[path] = page.evaluate("() => document.scrollingElement.scrollWidth")
    assert set(wide.values()) == {PHONE["width"]}, wide


IN_SIGHT = """() => {
  const top = document.querySelector(".map-stage").getBoundingClientRect().top;
  const below = document.querySelector(".feedback").getBoundingClientRect().top;
  return (Math.min(below, document.querySelector(".map-stage").getBoundingClientRect().bottom) - top) / innerHeight;
}"""


@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_on_a_phone_the_map_has_half_of_the_first_view(
    open_page: Opener, located: Located, theme: str, shot: Callable[[Page, str], None]
) -> None:
    page = open_page(located.path, viewport=PHONE, has_touch=True, is_mobile=True, color_scheme=theme)
    expect(page.locator('.map-canvas[data-settled="yes"]')).to_be_visible()
    expect(page.locator("h2.place")).to_be_in_viewport(ratio=1)
    expect(page.locator(".finding .sure")).to_be_in_viewport(ratio=1)
    expect(page.get_by_role("button", name="Continue")).to_be_in_viewport(ratio=1)
    point = page.locator(".finding .coordinates")
    expect(point).to_be_in_viewport(ratio=1)
    expect(point.get_by_role("button", name="Copy the coordinates")).to_be_visible()
    assert page.evaluate(IN_SIGHT) >= 0.5
    # What else there is to say of it stands below the map, and buttons keep their names.
    expect(page.get_by_text("A lead, not a verdict")).to_be_visible()
    expect(page.get_by_role("link", name="Report")).to_be_visible()
    assert serious_faults(page, ".case-head, .finding, .sticky-summary") == []
    shot(page, f"phone-first-view-{theme}")


def focused(page: Page) -> str:
    return str(page.evaluate("() => document.activeElement.textContent || document.activeElement.placeholder"))


def test_everything_can_be_reached_by_keys(open_page: Opener, pair: tuple[str, str, str]) -> None:
    page = open_page("/")
    expect(page.locator(".case-card").first).to_be_visible()
    page.keyboard.press("Tab")
    assert focused(page) == "Skip to the content"
    page.keyboard.press("/")
    assert focused(page) == "Search places, titles, notes"
    page.keyboard.press("Escape")
    page.locator("main").focus()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("Check a place")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("s")
    expect(page.get_by_role("heading", name="Settings")).to_be_visible()
    page.evaluate("(hash) => { location.hash = hash }", f"#/case/{pair[0]}/run/{pair[1]}")
    expect(page.locator(".finding.done")).to_be_visible()
    page.keyboard.press("h")
    page.keyboard.type("by the sea")
    expect(page.get_by_role("button", name="Continue")).to_be_enabled()
    theme = page.locator("html").get_attribute("data-theme")
    page.locator("main").focus()
    page.keyboard.press("t")
    expect(page.locator("html")).not_to_have_attribute("data-theme", theme or "")


@pytest.mark.slow
def test_the_first_load_is_quick_and_small(open_page: Opener, located: Located) -> None:
    waits: list[float] = []
    for _ in range(4):
        page = open_page("/")
        page.get_by_role("button", name="Choose photos").wait_for()
        waits.append(page.evaluate("() => performance.getEntriesByName('interactive')[0].startTime"))
        if waits[-1] <= 1000:
            break
    # The best of a few: other tests share the machine.
    assert min(waits) <= 1000, waits
    page.evaluate("(hash) => { location.hash = hash }", located.path.lstrip("/"))
    expect(page.locator(".map-view[data-phase=ready]")).to_be_attached()
    page.wait_for_load_state("networkidle")
    loaded = page.evaluate(
        "() => performance.getEntriesByType('resource').map((one) => [one.name, one.encodedBodySize])"
    )
    scripts = {name: size for name, size in loaded if name.endswith(".js")}
    assert len(scripts) >= 2, scripts
    assert sum(scripts.values()) <= 1_000_000, scripts
