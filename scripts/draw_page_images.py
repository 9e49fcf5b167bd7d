"""Draw the pictures of the page in docs/images: the real page in a real Chromium, over the example photos.

    python scripts/draw_page_images.py [--out docs/images]

Starts `geosleuth serve` in a home of its own with the map of Monaco, locates the example photos, and takes a picture of
each screen. Those of the first visit and of a review come from the tests, with GEOSLEUTH_SCREENSHOTS=FOLDER. Needs the
packages of `.venv-dev` (`make test`) and Chromium.
"""

import argparse
import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from browser import chromium_path, launched, opened  # noqa: E402
from serving import GEOSLEUTH, Served, served  # noqa: E402

EXAMPLES = ROOT / "examples"
WIDE, PHONE = ViewportSize(width=1440, height=1000), ViewportSize(width=390, height=844)
CASES = {
    "drawn-hillside.jpg": "",
    "drawn-bookshop.jpg": "A postcard from the estate sale; the stamp is missing.",
    "way-sign.jpg": "",
    "drawn-tour-bus.jpg": "",
    "drawn-bakery.jpg": "Family album, page 14. The aunt says it was near the harbour.",
}
"""Example photos and their notes, the newest last."""

RUN_S = 300.0
Theme = Literal["light", "dark"]
SCREENS: tuple[tuple[ViewportSize, Theme], ...] = ((WIDE, "light"), (WIDE, "dark"), (PHONE, "light"), (PHONE, "dark"))


def located(server: Served) -> tuple[str, str]:
    """Locate every example; return the case and the run of the last."""
    case = run = ""
    for name, notes in CASES.items():
        case = server.case((EXAMPLES / "photos" / name).read_bytes(), title=name)
        if notes:
            server.client.patch(f"/api/cases/{case}", json={"notes": notes}).raise_for_status()
        run = server.start(case)
        if server.over(run, RUN_S) != "done":
            sys.exit(f"{name} was not located")
    return case, run


def draw(page: Page, path: Path, settled_ms: int = 2500) -> None:
    """Take a picture of what is shown, after the map has faded in and names have found their places."""
    page.wait_for_timeout(settled_ms)
    picture = Image.open(io.BytesIO(page.screenshot()))
    picture.convert("RGB").save(path, "WEBP", quality=82, method=6)
    print(f"wrote {path}")


def show(browser: Browser, url: str, size: ViewportSize, theme: Theme) -> Page:
    """Open an address in a window of its own."""
    context = browser.new_context(viewport=size, color_scheme=theme, reduced_motion="reduce")
    return opened(context, url)[0]


def draw_all(browser: Browser, server: Served, out: Path) -> None:
    """Take every picture."""
    case, run = located(server)
    again = server.start(case, hint="by the sea")
    server.over(again, RUN_S)
    for size, theme in SCREENS:
        page = show(browser, server.url, size, theme)
        if page.get_by_role("button", name="Not now").count():
            page.get_by_role("button", name="Not now").click()
        page.locator(".case-card").first.wait_for()
        draw(page, out / f"home-{size['width']}-{theme}.webp")
        page.context.close()
    for size, theme in SCREENS[:3]:
        page = show(browser, f"{server.url}/#/case/{case}/run/{run}", size, theme)
        page.locator(".finding.done").wait_for()
        if size == WIDE:
            page.locator(".map-canvas[data-settled=yes]").wait_for()
        draw(page, out / f"case-{size['width']}-{theme}.webp")
        page.context.close()
    page = show(browser, f"{server.url}/#/case/{case}/run/{run}", PHONE, "dark")
    page.get_by_role("tab", name="Map").click()
    page.locator(".map-canvas[data-settled=yes]").wait_for()
    page.locator(".map-view").scroll_into_view_if_needed()
    draw(page, out / "map-390-dark.webp")
    page.context.close()
    draw_live(browser, server, case, out)
    page = show(browser, f"{server.url}/#/compare/{run}/{again}", WIDE, "light")
    page.locator(".compare-side").first.wait_for()
    page.locator(".map-canvas[data-settled=yes]").first.wait_for()
    draw(page, out / "compare-1440-light.webp")
    page.context.close()
    for size in (WIDE, PHONE):
        page = show(browser, f"{server.url}/#/settings", size, "light")
        page.get_by_role("heading", name="Keys").wait_for()
        draw(page, out / f"settings-{size['width']}-light.webp")
        page.context.close()


def draw_live(browser: Browser, server: Served, case: str, out: Path) -> None:
    """Take a picture of a run that is under way."""
    page = show(browser, f"{server.url}/#/case/{case}", WIDE, "dark")
    page.locator(".case-head").wait_for()
    run = server.start(case, hint="a harbour")
    page.goto(f"{server.url}/#/case/{case}/run/{run}")
    page.get_by_role("button", name="Stop").wait_for()
    page.get_by_text("Step 1").wait_for()
    draw(page, out / "live-1440-dark.webp", settled_ms=200)
    page.context.close()
    server.over(run, RUN_S)


def main() -> None:
    """Start the server and the browser, and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "images")
    asked = parser.parse_args()
    chromium = chromium_path()
    if chromium is None:
        sys.exit("There is no Chromium here: sh scripts/ensure_chromium.sh")
    with tempfile.TemporaryDirectory() as folder:
        home = {**os.environ, "GEOSLEUTH_HOME": folder}
        subprocess.run([GEOSLEUTH, "atlas", "add", EXAMPLES / "regions" / "monaco.osm.pbf"], env=home, check=True)
        with served(Path(folder)) as server, sync_playwright() as playwright:
            browser = launched(playwright, chromium)
            draw_all(browser, server, asked.out)
            browser.close()


if __name__ == "__main__":
    main()
