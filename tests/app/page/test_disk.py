"""Settings, the disk: what cases take, a quota, and a wipe in two steps."""

from pathlib import Path

from playwright.sync_api import Browser, expect

from browser import serious_faults
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
