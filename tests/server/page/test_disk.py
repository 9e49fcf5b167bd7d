"""Settings, the disk: what cases take, a quota, and a wipe in two steps."""

import re
from pathlib import Path

from playwright.sync_api import Browser, Route, expect

from browser import Opener, serious_faults
from serving import photo_bytes, served_here


def test_all_cases_are_deleted_after_a_second_look(browser: Browser, home: Path, tmp_path: Path) -> None:
    assert home.is_dir()
    with served_here(tmp_path / "cases") as server:
        server.case(photo_bytes("Rue Grimaldi"), title="By the sea")
        context = browser.new_context()
        page = context.new_page()
        page.goto(f"{server.url}/#/settings")
        expect(page.get_by_text("All cases take")).to_be_visible()
        page.get_by_label("Megabytes that cases may take").fill("50")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("Saved")).to_be_visible()
        assert server.client.get("/api/settings").json()["quota_mb"] == 50
        page.get_by_role("button", name="Delete all cases…").press("Enter")
        # Whoever uses keys stands at the harmless one of the two.
        expect(page.get_by_role("button", name="Cancel")).to_be_focused()
        assert serious_faults(page, "main") == []
        assert len(server.client.get("/api/cases").json()["cases"]) == 1
        page.get_by_role("button", name="Delete all cases now").click()
        expect(page.get_by_text("Deleted cases: 1.")).to_be_visible()
        assert server.client.get("/api/cases").json()["cases"] == []
        context.close()


def test_what_is_not_known_yet_is_not_told(open_page: Opener) -> None:
    held: list[Route] = []
    page = open_page("/", expected=("status of 500",))
    page.route(re.compile(r"/api/(maps|disk|keys)$"), lambda route: held.append(route))  # noqa: PLW0108 -- builtins take no mark
    page.goto(page.url.split("#")[0] + "#/settings")
    for name in ("Maps", "Cases on this disk", "Keys"):
        expect(page.get_by_role("region", name=name, exact=True)).to_contain_text("Loading…")
    for fact in ("No map is installed", "All cases take", "No key is set"):
        expect(page.get_by_text(fact)).to_have_count(0)
    for route in held:
        if route.request.url.endswith("/disk"):
            route.fulfill(status=500, json={"error": {"kind": "internal", "message": "the disk is away"}})
        else:
            route.continue_()
    expect(page.get_by_role("region", name="Cases on this disk")).to_contain_text(
        "could not be asked: the disk is away"
    )
    expect(page.get_by_role("region", name="Maps", exact=True)).to_contain_text("No map is installed yet.")
    expect(page.get_by_role("region", name="Keys", exact=True)).to_contain_text("No key is set.")
    expect(page.get_by_text("Loading…")).to_have_count(0)
