"""What goes beside a release: a bill of materials as CycloneDX has it, and sums that other programs can check."""

import hashlib
import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))

import release

MADE = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.fixture
def dist(tmp_path: Path) -> Path:
    (tmp_path / "geosleuth-0-py3-none-any.whl").write_bytes(b"a wheel")
    (tmp_path / "geosleuth-0.tar.gz").write_bytes(b"a source archive")
    return tmp_path


@pytest.fixture(scope="module")
def bill(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    wheel = tmp_path_factory.mktemp("dist") / "geosleuth-0-py3-none-any.whl"
    wheel.write_bytes(b"a wheel")
    return release.bill([wheel], made=MADE)


def test_the_bill_has_what_cyclonedx_requires(bill: dict[str, Any]) -> None:
    assert (bill["bomFormat"], bill["specVersion"], bill["version"]) == ("CycloneDX", "1.6", 1)
    assert re.fullmatch(r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", bill["serialNumber"])
    assert bill["metadata"]["timestamp"] == "2026-01-02T03:04:05Z"
    own = bill["metadata"]["component"]
    assert own["hashes"] == [{"alg": "SHA-256", "content": hashlib.sha256(b"a wheel").hexdigest()}]
    refs = [own["bom-ref"], *(one["bom-ref"] for one in bill["components"])]
    assert len(refs) == len(set(refs))
    for one in bill["components"]:
        assert one["type"] == "library"
        assert one["name"]
        assert one["version"]
        assert re.fullmatch(r"pkg:pypi/[a-z0-9-]+@[\w.!]+", one["purl"])
        assert one["scope"] in ("required", "optional")
        assert all(set(licence) in ({"expression"}, {"license"}) for licence in one.get("licenses", ()))
    assert [one["ref"] for one in bill["dependencies"]] == refs
    assert {below for one in bill["dependencies"] for below in one["dependsOn"]} <= set(refs)


def test_the_bill_lists_the_core_the_extras_and_what_they_need(bill: dict[str, Any]) -> None:
    scopes = {one["name"]: one["scope"] for one in bill["components"]}
    assert {scopes[name] for name in ("numpy", "pillow", "typer", "markupsafe")} == {"required"}
    assert {scopes[name] for name in ("fastapi", "starlette")} == {"optional"}
    assert "pytest" not in scopes
    assert all(one.get("licenses") for one in bill["components"] if one["scope"] == "required")
    below = {one["ref"].partition("@")[0]: one["dependsOn"] for one in bill["dependencies"]}
    assert any("markupsafe" in ref for ref in below["pkg:pypi/jinja2"])


def test_the_same_installation_gives_the_same_bill(bill: dict[str, Any], dist: Path) -> None:
    assert release.bill(sorted(dist.glob("*.whl")), made=MADE) == bill


def test_sums_hold_for_every_file(dist: Path) -> None:
    written = release.write_release(dist)
    assert [path.name for path in written][-1] == "SHA256SUMS"
    told = (line.split("  ") for line in (dist / "SHA256SUMS").read_text().splitlines())
    lines = {name: digest for digest, name in told}
    assert set(lines) == {path.name for path in dist.iterdir()} - {"SHA256SUMS"}
    for name, digest in lines.items():
        assert hashlib.sha256((dist / name).read_bytes()).hexdigest() == digest


def test_without_a_wheel_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="python -m build"):
        release.write_release(tmp_path)
    assert list(tmp_path.iterdir()) == []
