"""``geosleuth.locate`` in notebooks: its signature, what a result shows, and the example notebook."""

import ast
import inspect
import json
import re
import sys
from contextlib import chdir
from dataclasses import fields
from pathlib import Path
from typing import Any, get_type_hints
from xml.etree import ElementTree as ET

import pytest

import geosleuth
from geosleuth.answer.answer import is_the_answer
from geosleuth.pipeline.api import LocateOptions
from geosleuth.pipeline.request import LocateRequest
from geosleuth.pipeline.result import Findings, LocateResult
from geosleuth.support.errors import BadInput, UserError
from signs import sign_photo

pytestmark = pytest.mark.usefixtures("atlas_home")
NOTEBOOK = Path(__file__).resolve().parents[2] / "examples" / "notebook.ipynb"


@pytest.fixture(scope="module")
def photo() -> Path:
    return NOTEBOOK.parent / "photos" / "drawn-bakery.jpg"


@pytest.fixture
def found(photo: Path) -> LocateResult:
    finding: LocateResult = geosleuth.locate(photo, offline=True)
    return finding


FOR_COMMANDS = {"out", "overwrite", "write_exif", "sidecars", "yes"}


def test_signatures_and_docstrings_have_every_option() -> None:
    options = {one.name: one for one in fields(LocateRequest) if one.name not in FOR_COMMANDS}
    assert set(get_type_hints(LocateOptions)) == {"send", "sinks", "profile", *options}
    own = {geosleuth.locate: {"photo", "same_place"}, geosleuth.alocate: {"photo", "same_place"}}
    own |= {geosleuth.locate_many: {"photos", "progress", "jobs"}}
    for opener, first in own.items():
        told = inspect.signature(opener).parameters
        assert set(told) == {"send", "sinks", "profile", *options, *first}
        assert not any(one.kind in (one.VAR_KEYWORD, one.VAR_POSITIONAL) for one in told.values())
        assert all(one.annotation is not inspect.Parameter.empty for one in told.values())
        for name, one in options.items():
            # None stands for 1 there, so that a profile's own number holds where none is given.
            assert told[name].default == (None if name == "parallel" else one.default), name
    documented = re.findall(
        r"^ {4}(\w+): ", (inspect.getdoc(geosleuth.locate) or "").partition("Returns:")[0], re.MULTILINE
    )
    assert documented == list(inspect.signature(geosleuth.locate).parameters)


def test_the_help_names_what_a_finding_has(found: LocateResult) -> None:
    told = (inspect.getdoc(geosleuth.locate) or "").partition("Returns:")[2].partition("Raises:")[0]
    named = set(re.findall(r"``(\w+)(?:\(\))?``", told)) - {"check"}
    assert {"answer", "extent", "doubts", "to_dict"} <= named
    assert all(hasattr(found, name) or hasattr(found.answer, name) for name in named)


def test_the_package_shows_its_interface_alone() -> None:
    assert dir(geosleuth) == sorted(["__version__", *geosleuth.__all__])
    for name in geosleuth.__all__:
        assert (getattr(geosleuth, name).__doc__ or "").strip(), name


def test_the_reference_has_every_name_of_the_package() -> None:
    page = (NOTEBOOK.parents[1] / "docs" / "reference" / "index.md").read_text(encoding="utf-8")
    shown = re.findall(r"^::: ([\w.]+)", page, re.MULTILINE)
    there = {f"{getattr(geosleuth, name).__module__}.{name}" for name in geosleuth.__all__}
    assert set(shown) == there, "docs/reference/index.md shows what is not there, or leaves something out"


@pytest.mark.parametrize("name", ["index.md", "pipeline.md"])
def test_the_first_example_of_the_reference_prints_what_it_says(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (NOTEBOOK.parents[1] / "docs" / "reference" / name).read_text(encoding="utf-8")
    example = page.partition("```python\n")[2].partition("```")[0]
    monkeypatch.chdir(NOTEBOOK.parents[1])
    exec(compile(example, name, "exec"), {})  # noqa: S102
    assert capsys.readouterr().out.splitlines() == re.findall(r"  # (.*)$", example, re.MULTILINE)


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
    rivals = page.partition("<h4>Other candidates</h4>")[2]
    own = next(one.name for one in found.answer.candidates if is_the_answer(one, found.answer))
    assert own, "the detective lists its answer among the candidates"
    assert f"<td>{own}</td>" not in rivals


def test_a_whole_country_has_no_point(tmp_path: Path) -> None:
    photo = sign_photo(tmp_path / "sign.jpg", "Sklep spożywczy", "Piekarnia i cukiernia", "Proszę zamykać drzwi")
    found = geosleuth.locate(photo, model="none", offline=True)
    assert found.extent == "country"
    assert (found.answer.point, found.answer.radius_km) == (None, None)
    assert [(one.name, one.point) for one in found.answer.candidates] == [("Poland", None)]
    rows = found.to_dict()["answer"]["candidates"]
    assert [(one["name"], one["extent"]) for one in rows] == [("Poland", "country")]
    shapes = [one["geometry"]["type"] for one in found.to_geojson()["features"]]
    assert "Point" not in shapes
    assert found.answer.address.country.conclusion == "Poland"
    document = found.to_dict()
    assert document["extent"] == "country"
    assert "lat" in document["answer"], "JSON keeps the stand-in, and extent says what it is"
    assert "Poland" in found._repr_html_()


def test_several_photos_have_several_findings(photo: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.jpg"
    broken.write_bytes(b"no photo")
    calls: list[tuple[int, int]] = []
    many = geosleuth.locate_many(
        [photo, broken], model="none", offline=True, progress=lambda *told: calls.append(told), jobs=1
    )
    assert calls == [(1, 2), (2, 2)]
    assert [one.photo for one in many] == [photo]
    assert isinstance(many.failed[broken], BadInput)
    assert repr(many) == "<Findings: 1 of 2 located, 1 failed>"
    frame = many.to_dataframe()
    assert list(frame["photo"]) == [str(photo), str(broken)]
    assert frame.loc[0, "country_code"] == "MC"
    assert "broken.jpg" in frame.loc[1, "error"]
    assert many.to_geojson()["features"][0]["geometry"]["type"] == "Point"
    listed = geosleuth.locate([photo, photo.parent / "drawn-hillside.jpg"], model="none", offline=True)
    assert [one.answer.located for one in listed] == [True, False]
    together = geosleuth.locate(
        [photo, photo.parent / "drawn-hillside.jpg"], model="none", offline=True, same_place=True
    )
    assert len(together.claims) == 2


def test_a_data_frame_needs_pandas_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UserError, match="needs pandas, which is not installed; run: pip install pandas"):
        Findings({}).to_dataframe()


def test_tools_without_a_model_are_refused(photo: Path) -> None:
    with pytest.raises(BadInput, match="tools are for a model, and none is named"):
        geosleuth.locate(photo, model="none", tools=["zoom"])


def test_a_capped_result_shows_no_photo(photo: Path) -> None:
    shown = geosleuth.locate(photo, offline=True, granularity="country")
    for html in (shown._repr_html_(), shown.explore()._repr_html_()):
        assert "data:image/jpeg" not in html
        assert "Grimaldi" not in html


@pytest.mark.filterwarnings("ignore:default lacks")
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
                if hasattr(value, "_repr_html_"):
                    shown.append(value._repr_html_())
    assert len(shown) == 4
    assert "Monaco" in shown[0]
    assert shown[2].count("<tr>") == 7, "six photos and the heads"
    assert names["by_model"].trajectory.started.policy == "server:stand-in-a"
    assert names["by_model"].answer.address.country.conclusion == "Monaco"
    assert len(names["apart_km"]) == 2
    assert all(13 < km < 14 for km in names["apart_km"].values())
    assert names["checked"].checked.verdict == "for"
