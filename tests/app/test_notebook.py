"""``geosleuth.locate`` in notebooks: its signature, what a result shows, and the example notebook."""

import ast
import inspect
import json
from contextlib import chdir
from dataclasses import fields
from pathlib import Path
from typing import Any, get_type_hints
from xml.etree import ElementTree as ET

import pytest

import geosleuth
from geosleuth.pipeline.api import _FOR_COMMANDS, LocateOptions
from geosleuth.pipeline.request import LocateRequest
from geosleuth.pipeline.result import LocateResult

pytestmark = pytest.mark.usefixtures("atlas_home")
NOTEBOOK = Path(__file__).resolve().parents[2] / "examples" / "notebook.ipynb"


@pytest.fixture(scope="module")
def photo() -> Path:
    return NOTEBOOK.parent / "photos" / "drawn-bakery.jpg"


@pytest.fixture
def found(photo: Path) -> LocateResult:
    finding: LocateResult = geosleuth.locate(photo, offline=True)
    return finding


def test_the_signature_has_every_option() -> None:
    options = {one.name for one in fields(LocateRequest)} - set(_FOR_COMMANDS)
    assert set(get_type_hints(LocateOptions)) == {"send", "sinks", "profile", *options}
    for opener in (geosleuth.locate, geosleuth.alocate):
        told = inspect.signature(opener).parameters
        assert set(told) == {"photo", "send", "sinks", "profile", *options}
        assert all(one.annotation is not inspect.Parameter.empty for one in told.values())
        for one in fields(LocateRequest):
            if one.name in options:
                assert told[one.name].default == one.default, one.name


def test_a_result_shows_photo_map_and_evidence(found: LocateResult) -> None:
    shown = found._repr_html_()
    assert "Monaco" in shown
    for part in ("data:image/jpeg;base64,", "data:image/png;base64,", "<rect ", "<li>", "A lead, not a verdict."):
        assert part in shown, part
    assert "<script" not in shown
    assert "<title>L&#x27;" in shown, "what a photo says is text"


def test_maps_and_other_programs_get_it_too(found: LocateResult) -> None:
    features = found.to_geojson()["features"]
    assert found.claims[0].sha256 in json.dumps(features[0])
    assert [one["properties"]["role"] for one in features[1:]][:1] == ["uncertainty"]
    assert ET.fromstring(found.to_kml()).tag.endswith("kml")  # noqa: S314 -- our own


def test_a_closer_look_is_a_page(found: LocateResult, tmp_path: Path) -> None:
    closer = found.explore()
    assert closer._repr_html_().count("data:image/png;base64,") >= 2
    page = closer.save(tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "<h4>Evidence</h4>" in page
    assert "http" not in page.replace("https://www.openstreetmap.org", "")


def test_a_capped_result_shows_no_photo(photo: Path) -> None:
    shown = geosleuth.locate(photo, offline=True, granularity="country")
    for html in (shown._repr_html_(), shown.explore()._repr_html_()):
        assert "data:image/jpeg" not in html
        assert "Grimaldi" not in html


def test_the_example_notebook_runs() -> None:
    """Its cells in order, as a kernel runs them: what the last line of a cell is worth is shown."""
    names: dict[str, Any] = {}
    shown: list[Any] = []
    with chdir(NOTEBOOK.parent):
        for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]:
            assert cell.get("outputs", []) == [], "kept without outputs"
            if cell["cell_type"] != "code":
                continue
            tree = ast.parse("".join(cell["source"]))
            last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
            exec(compile(tree, "cell", "exec"), names)  # noqa: S102 -- our own notebook
            if isinstance(last, ast.Expr):
                value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # noqa: S307
                if value is not None:
                    shown.append(value._repr_html_())
    assert len(shown) == 2
    assert "Monaco" in shown[0]
    assert names["checked"].checked.verdict == "for"
