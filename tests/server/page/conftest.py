"""The page in a real browser, on the real server."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, sync_playwright

from browser import CLAIMED, Located, Opener, Watched, chromium_path, launched, opened, with_gps
from homes import home_with_base
from serving import Served, photo_bytes, served

TOO_WIDE = """() => {
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= width) return [];
  const wide = [...document.querySelectorAll("body *")].filter((one) => one.getBoundingClientRect().right > width + 1);
  return wide.map((one) => `${one.tagName} ${one.className}`).slice(0, 20);
}"""


@pytest.fixture(scope="session")
def chromium() -> str:
    found = chromium_path()
    if found is None:
        pytest.skip(
            "no Chromium here (apt-get install chromium, or set GEOSLEUTH_CHROMIUM): scripts/ensure_chromium.sh"
        )
    return found


@pytest.fixture(scope="module")
def playwright(chromium: str) -> Iterator[Playwright]:  # noqa: ARG001 -- without Chromium there is nothing to drive
    with sync_playwright() as running:
        yield running


@pytest.fixture(scope="module")
def browser(playwright: Playwright, chromium: str) -> Iterator[Browser]:
    running = launched(playwright, chromium)
    yield running
    running.close()


@pytest.fixture(scope="session")
def home(chromium: str, tmp_path_factory: pytest.TempPathFactory, base_file: Path) -> Path:  # noqa: ARG001
    """What a user has after the first run."""
    return home_with_base(tmp_path_factory.mktemp("served"), base_file)


@pytest.fixture(scope="session")
def server(home: Path) -> Iterator[Served]:
    """The command, as users start it; one for all browser tests of a process."""
    with served(home) as running:
        yield running


@pytest.fixture(scope="session")
def located(server: Served) -> Located:
    """A finished run of the detective on two photos of one place; the first claims another place than it shows."""
    photos = (with_gps(photo_bytes("Boulangerie", "Rue Grimaldi", "+377 93 30 23 45"), *CLAIMED), photo_bytes("Monaco"))
    case = server.case(*photos, title="Two of Monaco")
    run = server.start(case)
    assert server.over(run, 240) == "done"
    return Located(case, run, f"/#/case/{case}/run/{run}")


@pytest.fixture
def open_page(browser: Browser, server: Served) -> Iterator[Opener]:
    """Opens the page; at the end nothing may have gone wrong in it and nothing may have left the machine.

    ``path`` is what comes after the origin, ``expected`` names parts of console messages that the test brings about,
    everything else goes to the browser's context (viewport, color_scheme, reduced_motion, has_touch ...).
    """
    contexts: list[tuple[BrowserContext, Watched]] = []

    def opener(path: str = "/", *, expected: tuple[str, ...] = (), **options: object) -> Page:
        context = browser.new_context(**{"reduced_motion": "reduce", **options})  # type: ignore[arg-type]
        page, watched = opened(context, server.url + path)
        watched.expected = expected
        contexts.append((context, watched))
        return page

    yield opener
    heard = [one for _, watched in contexts for one in watched.unexpected()]
    for context, _ in contexts:
        context.close()
    assert heard == []


@pytest.fixture(scope="session")
def shot() -> Callable[[Page, str], None]:
    """Takes pictures of screens where GEOSLEUTH_SCREENSHOTS names a folder; no screen may scroll sideways."""
    folder = os.environ.get("GEOSLEUTH_SCREENSHOTS")

    def take(page: Page, name: str) -> None:
        assert page.evaluate(TOO_WIDE) == [], f"{name} is wider than the window"
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            page.screenshot(path=Path(folder) / f"{name}.png")

    return take
