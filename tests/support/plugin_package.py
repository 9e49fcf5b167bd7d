"""The example plug-in as a user has it after ``pip install``: its folder, and the metadata that names its parts."""

import importlib
import shutil
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from geosleuth.agent import methods
from geosleuth.support import plugins
from geosleuth.tools import toolset

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "plugin"
BROKEN = {
    "geosleuth.tools": {"nowhere": "geosleuth_broken.nowhere:tool", "zoom": "geosleuth_broken:zoom"},
    "geosleuth.methods": {"none": "geosleuth_broken:NOTHING"},
    "geosleuth.datasets": {"none": "geosleuth_broken:NOTHING"},
}


def install(site: Path) -> Path:
    """Put the example, and a package that is broken in several ways, into a folder for ``sys.path``."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    shutil.copytree(EXAMPLE / "src" / "geosleuth_moon", site / "geosleuth_moon")
    _metadata(site, project["name"], project["entry-points"])
    broken = site / "geosleuth_broken.py"
    broken.write_text('NOTHING = 5\ndef zoom(x: str) -> str:\n    """Zoom.\n\n    Args:\n        x: this.\n    """\n')
    _metadata(site, "geosleuth-broken", BROKEN)
    return site


@contextmanager
def installed(site: Path) -> Iterator[Path]:
    """Have them in this process."""
    sys.path.insert(0, str(install(site)))
    forget()
    try:
        yield site
    finally:
        sys.path.remove(str(site))
        for name in [one for one in sys.modules if one.startswith(("geosleuth_moon", "geosleuth_broken"))]:
            del sys.modules[name]
        forget()


def _metadata(site: Path, name: str, groups: dict[str, dict[str, str]]) -> None:
    info = site / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = [
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in parts.items())
        for group, parts in groups.items()
    ]
    (info / "entry_points.txt").write_text("\n".join(lines))


def forget() -> None:
    """Look for installed parts again."""
    importlib.invalidate_caches()
    plugins.list_installed.cache_clear()
    toolset._load_tool.cache_clear()
    methods._load_factory.cache_clear()
