"""The committed page is the one that its sources give, it is small, and the licences of what is in it lie beside it."""

import gzip
import hashlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SOURCES = ROOT / "page"
BUILT = ROOT / "src" / "geosleuth" / "server" / "page"
MADE_OF = (
    "build", "index.html", "package-lock.json", "package.json", "public", "src", "tsconfig.json", "vite.config.ts",
)  # fmt: skip

pytestmark = pytest.mark.skipif(not SOURCES.is_dir(), reason="the page's sources are not in this distribution")


def packed(path: Path) -> int:
    return len(gzip.compress(path.read_bytes(), 9))


def test_the_built_page_is_up_to_date() -> None:
    files = [
        file for name in MADE_OF for file in [SOURCES / name, *(SOURCES / name).rglob("*")] if file.is_file()
    ]  # fmt: skip
    digest = hashlib.sha256()
    for name in sorted(file.relative_to(SOURCES).as_posix() for file in files):
        digest.update(name.encode() + b"\0" + (SOURCES / name).read_bytes() + b"\0")
    assert (BUILT / "sources.sha256").read_text().strip() == digest.hexdigest(), "the sources changed: run `make page`"


def test_what_a_browser_loads_is_small() -> None:
    page = (BUILT / "index.html").read_text()
    first = [BUILT / path.lstrip("/") for path in re.findall(r'(?:src|href)="(/assets/[^"]+\.js)"', page)]
    scripts = list((BUILT / "assets").glob("*.js"))
    assert first
    assert sum(map(packed, first)) < 64_000
    assert sum(map(packed, scripts)) < 1_000_000
    assert "maplibre" in "".join(path.name for path in scripts)


def test_nothing_stands_in_the_page_that_its_policy_would_refuse() -> None:
    page = (BUILT / "index.html").read_text()
    assert re.findall(r"<script(?![^>]*\bsrc=)", page) == []
    assert re.findall(r"<style|\sstyle=|\son\w+=", page) == []
    assert re.findall(r"(?:src|href)=\"(?!/)", page) == []


def test_every_package_in_the_page_has_its_licence_beside_it() -> None:
    lock = json.loads((SOURCES / "package-lock.json").read_text())["packages"]
    shipped = [
        f"{path.rpartition('node_modules/')[2]} {entry['version']}\n" for path, entry in lock.items()
        if path and not entry.get("dev")
    ]  # fmt: skip
    texts = (BUILT / "LICENSES.txt").read_text()
    assert len(shipped) > 5
    assert [name for name in shipped if name not in texts] == []
    for name in ("maplibre-gl", "preact", "@preact/signals"):
        assert name in (ROOT / "NOTICE").read_text()


def test_versions_are_pinned_and_no_registry_is_named() -> None:
    package = json.loads((SOURCES / "package.json").read_text())
    versions = {**package["dependencies"], **package["devDependencies"]}
    assert [name for name, version in versions.items() if not re.fullmatch(r"\d+\.\d+\.\d+", version)] == []
    assert "resolved" not in (SOURCES / "package-lock.json").read_text()


def test_a_page_that_differs_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import check_page

    one, other = tmp_path / "one", tmp_path / "other"
    for folder, text in ((one, "a"), (other, "b")):
        (folder / "assets").mkdir(parents=True)
        (folder / "assets" / "same.js").write_text("x")
        (folder / "index.html").write_text(text)
    (other / "more.js").write_text("y")
    assert check_page.differing(one, other) == ["index.html", "more.js"]
    assert check_page.node_version(sys.executable) == sys.version_info[:2]


def test_where_chromium_cannot_be_installed_the_script_says_why(tmp_path: Path) -> None:
    shell = shutil.which("sh")
    if shell is None:
        pytest.skip("no sh here")
    script = ROOT / "scripts" / "ensure_chromium.sh"
    ran = subprocess.run([shell, script], env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False)
    assert ran.returncode == 0
    assert "Browser tests will be skipped: there is no Chromium, and this system has no apt-get" in ran.stderr
