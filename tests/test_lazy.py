"""Names and patterns that are made when they are first used."""

import re
import subprocess
import sys

import pytest

from geosleuth.support.lazy import export_names, lazy_pattern


def test_a_pattern_is_compiled_when_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    plain = re.compile

    def watched(source: str, flags: int = 0) -> re.Pattern[str]:
        compiled.append(source)
        return plain(source, flags)

    monkeypatch.setattr(re, "compile", watched)
    pattern = lazy_pattern(r"(\d+) KM", re.IGNORECASE)
    assert compiled == []
    assert [match[1] for match in pattern.finditer("3 km, 12 km")] == ["3", "12"]
    assert pattern.fullmatch("7 km")
    assert pattern.fullmatch("7 miles") is None
    assert pattern.sub("x", "5 km") == "x"
    assert pattern.pattern == r"(\d+) KM"


def test_a_package_has_its_names_and_no_others() -> None:
    code = (
        "import sys, geosleuth.atlas.regions as regions; early = 'geosleuth.atlas.regions.osm' in sys.modules;"
        "from geosleuth.atlas.regions import import_osm; print(early, import_osm.__module__);"
        "print([name for name in regions.__all__ if not hasattr(regions, name)], hasattr(regions, 'nothing'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["False geosleuth.atlas.regions.osm", "[] False"]


def test_a_module_can_not_be_exported_under_its_own_name() -> None:
    with pytest.raises(ValueError, match="card"):
        export_names("somewhere", {"card": ("card",)})
