"""A real Chromium to look at the page with."""

import io
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from PIL import ExifTags, Image
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Playwright, Request, expect

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE_MS = int(os.environ.get("GEOSLEUTH_PATIENCE_MS", "300000"))
"""How long a page may take for one step. The first map of a new home puts the world's outlines together: some ten
seconds of CPU, minutes on a busy machine."""

# Chromium draws WebGL in software here, as it does on machines without a graphics card.
_FLAGS = ("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-dev-shm-usage")
_WITHOUT_WEBGL = ("--disable-gpu", "--disable-3d-apis")


_AT_REST = """() => document.getAnimations().every(
  (one) => one.playState !== "running" || one.effect?.getComputedTiming().iterations === Infinity,
)"""

WIDE, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
LOOKS = [(theme, size) for theme in ("light", "dark") for size in (WIDE, PHONE)]
IN_EVERY_LOOK = pytest.mark.parametrize(
    ("theme", "size"),
    [LOOKS[0], *(pytest.param(*look, marks=pytest.mark.slow) for look in LOOKS[1:])],
    ids=["light-wide", "light-phone", "dark-wide", "dark-phone"],
)
"""Each screen in both themes and two sizes; all but the first are slow."""

Opener = Callable[..., Page]
CLAIMED = (43.55, 7.02)
"""Where the first photo's file says that it was taken: Cannes."""


def chromium_path() -> str | None:
    """The Chromium that browser tests drive: the one that GEOSLEUTH_CHROMIUM names, or the system's."""
    named = os.environ.get("GEOSLEUTH_CHROMIUM", "")
    return next((found for name in (named, *NAMES) if name and (found := shutil.which(name))), None)


def launched(playwright: Playwright, executable: str, *, webgl: bool = True) -> Browser:
    """Start Chromium; as root it has no sandbox to stand in."""
    as_root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    flags = [*as_root, *(_FLAGS if webgl else _WITHOUT_WEBGL)]
    return playwright.chromium.launch(executable_path=executable, args=flags)


@dataclass
class Watched:
    """What went wrong in a page while a test used it: errors, refused content, requests that left the machine."""

    origin: str
    errors: list[str] = field(default_factory=list)
    strayed: list[str] = field(default_factory=list)
    expected: tuple[str, ...] = ()
    """Parts of console messages that a test brings about on purpose."""

    def follow(self, page: Page) -> None:
        """Listen to a page from now on."""
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self._heard)
        page.on("request", self._asked)

    def unexpected(self) -> list[str]:
        """Everything that no test asked for."""
        return [one for one in self.errors if not any(part in one for part in self.expected)] + self.strayed

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.errors.append(f"{message.text} ({message.location.get('url', '')})")

    def _asked(self, request: Request) -> None:
        if not request.url.startswith((self.origin, "blob:", "data:")):
            self.strayed.append(f"reached for {request.url}")


def opened(context: BrowserContext, url: str) -> tuple[Page, Watched]:
    """A page at an address of a server, and what is heard of it."""
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    expect.set_options(timeout=PATIENCE_MS)
    watched = Watched("/".join(url.split("/")[:3]))
    watched.follow(page)
    page.goto(url)
    return page, watched


@dataclass(frozen=True, slots=True)
class Located:
    """A finished run, and the path of its page."""

    case: str
    run: str
    path: str


def with_gps(photo: bytes, lat: float, lon: float) -> bytes:
    """The same picture in a file that claims a position, both north and east."""
    picture = Image.open(io.BytesIO(photo))
    claims = picture.getexif()
    claims.get_ifd(ExifTags.IFD.GPSInfo).update({1: "N", 2: (lat, 0.0, 0.0), 3: "E", 4: (lon, 0.0, 0.0)})
    stream = io.BytesIO()
    picture.save(stream, "JPEG", exif=claims, quality=95)
    return stream.getvalue()


def serious_faults(page: Page, part: str) -> list[str]:
    """What axe holds against a part of a page, as far as it keeps people from using it."""
    from axe_playwright_python.sync_playwright import Axe

    # What is still fading in has no colour of its own yet.
    page.wait_for_function(_AT_REST)
    return [
        f"{one['id']}: {node['html']}"
        for one in Axe().run(page, context=part).response["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]
