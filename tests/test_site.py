"""The documentation site: what `make docs` would stop at, found without building it."""

import importlib.util
import logging
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
CONFIG = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def hooks() -> ModuleType:
    spec = importlib.util.spec_from_file_location("site_hooks", ROOT / "scripts" / "site_hooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pages_in(nav: Any) -> Iterator[str]:
    match nav:
        case str():
            yield nav
        case dict():
            for below in nav.values():
                yield from pages_in(below)
        case list():
            for below in nav:
                yield from pages_in(below)


def test_every_page_is_in_the_navigation_once(hooks: ModuleType) -> None:
    written = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    assert sorted(pages_in(CONFIG["nav"])) == sorted(written | set(hooks.PAGES))


def test_every_link_leads_to_a_file(hooks: ModuleType, caplog: pytest.LogCaptureFixture) -> None:
    sources = [*(ROOT / name for name in hooks.PAGES.values()), *DOCS.rglob("*.md")]
    pages = set(pages_in(CONFIG["nav"]))
    broken: list[str] = []
    with caplog.at_level(logging.WARNING):
        for path in sources:
            source = path.relative_to(ROOT).as_posix()
            text = path.read_text(encoding="utf-8")
            for match in hooks._LINK.finditer(hooks.site_links(text, source)):
                at = Path(next((page for page, name in hooks.PAGES.items() if name == source), source[5:])).parent
                target = (DOCS / at / match["path"]).resolve()
                if target.is_relative_to(DOCS) and target.relative_to(DOCS).as_posix() in pages:
                    continue
                if not target.exists():
                    broken.append(f"{source}: {match[0]}")
    assert broken == []
    assert [record.getMessage() for record in caplog.records] == []


@pytest.mark.parametrize(
    ("source", "written", "shown"),
    [
        ("docs/background/atlas.md", "[NOTICE](../../NOTICE)", "NOTICE"),
        (
            "docs/background/scenes.md",
            "[its card](../../examples/nano/model/README.md)",
            "its card (`examples/nano/model/README.md`)",
        ),
        (
            "docs/background/scenes.md",
            "[why](../decisions/0021-drawn-world.md)",
            "[why](../decisions/0021-drawn-world.md)",
        ),
        (
            "docs/decisions/README.md",
            "[fit](../background/training.md#memory)",
            "[fit](../background/training.md#memory)",
        ),
        ("docs/background/scenes.md", "[changes](../../CHANGELOG.md)", "[changes](../changelog.md)"),
        ("README.md", "[runs](docs/tutorials/benchmark.md#1-run)", "[runs](tutorials/benchmark.md#1-run)"),
        ("CONTRIBUTING.md", "[pages](docs/decisions/)", "[pages](decisions/README.md)"),
        ("README.md", "[elsewhere](https://example.org)", "[elsewhere](https://example.org)"),
    ],
)
def test_links_hold_on_the_site(hooks: ModuleType, source: str, written: str, shown: str) -> None:
    assert hooks.site_links(written, source) == shown


def test_a_link_to_nothing_is_reported(hooks: ModuleType, caplog: pytest.LogCaptureFixture) -> None:
    hooks.site_links("[gone](../../no-such-file.txt)", "docs/background/atlas.md")
    assert "docs/background/atlas.md links to no-such-file.txt, which does not exist" in caplog.text


def test_nothing_on_the_site_is_loaded_from_elsewhere() -> None:
    assert CONFIG["theme"]["font"] is False
    assert not {"extra_css", "extra_javascript", "repo_url"} & CONFIG.keys()


def test_the_build_is_strict_and_not_quiet() -> None:
    build = [line for line in (ROOT / "Makefile").read_text(encoding="utf-8").splitlines() if "mkdocs build" in line]
    assert len(build) == 1
    # Quiet hides warnings from strict mode, which then lets everything pass.
    assert "--strict" in build[0]
    assert not {"--quiet", "-q"} & set(build[0].split())
