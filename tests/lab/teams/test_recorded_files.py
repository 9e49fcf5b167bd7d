"""``geosleuth team replay`` on files: reading, writing, refusing, and what is promised on real recorded answers."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from geosleuth.lab.bench.report import report_file
from geosleuth.lab.bench.scored import score_file
from geosleuth.lab.cli.handlers.team_replay import measure, replay_document
from geosleuth.lab.cli.team import team
from geosleuth.support.errors import BadInput
from recorded_agents import REGIONAL, make_said, make_truths

ROOT = Path(__file__).parents[3]
RECORDED = Path(os.environ.get("GEOSLEUTH_SHARED", ROOT.parent / "shared")) / "data" / "recorded"
needs_recorded = pytest.mark.skipif(
    not RECORDED.is_dir(),
    reason=f"the recorded answers are not at {RECORDED}; set GEOSLEUTH_SHARED to the folder that holds data/recorded",
)


def lines_of(name: str, count: int, *, truth: bool = True) -> list[dict[str, Any]]:
    truths = make_truths(count, 6)
    lines: list[dict[str, Any]] = []
    for row, (said, (town, point)) in enumerate(zip(make_said(truths, REGIONAL[name], len(name)), truths, strict=True)):
        assert said is not None
        assert said.answer.point is not None
        reply = f"{said.text} lat: {said.answer.point.lat:.5f}, lon: {said.answer.point.lon:.5f}, city: {town}"
        line: dict[str, Any] = {"id": f"{row}.jpg", "reply": reply}
        lines.append(line | {"truth": {"lat": point.lat, "lon": point.lon, "city": town}} if truth else line)
    return lines


def write(folder: Path, name: str, lines: list[dict[str, Any]]) -> str:
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return str(path)


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    return [write(tmp_path, name, lines_of(name, 80)) for name in REGIONAL]


def run(*words: str) -> Result:
    return CliRunner().invoke(team, ["replay", *words], catch_exceptions=True)


def refused(*words: str) -> str:
    result = run(*words)
    assert isinstance(result.exception, BadInput), result.exception
    return str(result.exception)


def test_the_answers_are_records_that_the_ruler_reads(files: list[str], tmp_path: Path) -> None:
    out = tmp_path / "answers.jsonl"
    result = run(*files, "--folds", "2", "--json", "--out", str(out))
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    scored = score_file(out, parser="lenient", distance="geodesic")
    summary = report_file(scored).summary
    assert summary.within[25.0].percent.value == pytest.approx(document["rows"]["learned"]["within"]["25"]["percent"])
    assert (summary.n, document["images"]) == (80, 80)
    line = json.loads(out.read_text(encoding="utf-8").splitlines()[0])
    assert line["answer"]["radius_km"] == 25
    assert line["within_km"]["25"] == pytest.approx(line["answer"]["probability"], abs=1e-4)
    assert line["follows"]


def test_a_person_gets_a_table(files: list[str]) -> None:
    result = run(*files, "--folds", "2")
    for words in (
        "best single",
        "plain vote",
        "smileGeo",
        "smileGeo, all",
        "learned",
        "oracle",
        "calibration",
        "2 parts by image",
    ):
        assert words in result.stdout


@pytest.mark.slow
def test_a_saved_model_answers_files_without_truths(files: list[str], tmp_path: Path) -> None:
    model, out, again = tmp_path / "trust.json", tmp_path / "out.jsonl", tmp_path / "again.jsonl"
    assert run(*files, "--folds", "2", "--save", str(model)).exit_code == 0
    new = tmp_path / "new"
    new.mkdir()
    bare = [write(new, name, lines_of(name, 30, truth=False)) for name in REGIONAL]
    assert run(*bare, "--model", str(model), "--out", str(out)).exit_code == 0
    answers = [json.loads(line)["answer"] for line in out.read_text(encoding="utf-8").splitlines()]
    assert len(answers) == 30
    # Truths that stand in the files are handed on, and change no answer.
    false = [line | {"truth": {"lat": 1.0, "lon": 1.0}} for line in lines_of("north", 30)]
    named = [f"north={write(new, 'other', false)}", *(path for path in bare if "north" not in path)]
    assert run(*named, "--model", str(model), "--out", str(again)).exit_code == 0
    lines = [json.loads(line) for line in again.read_text(encoding="utf-8").splitlines()]
    assert [line["answer"] for line in lines] == answers
    assert lines[0]["truth"] == {"lat": 1.0, "lon": 1.0}


def test_images_that_one_file_lacks_are_left_out_and_counted(tmp_path: Path) -> None:
    paths = [write(tmp_path, "north", lines_of("north", 60)), write(tmp_path, "south", lines_of("south", 50))]
    document = json.loads(run(*paths, "--folds", "2", "--json").stdout)
    assert document["images"] == 50
    assert any("10 of 60 images left out" in note for note in document["notes"])


def test_images_a_stone_s_throw_apart_stay_together(tmp_path: Path) -> None:
    def beside(line: dict[str, Any]) -> dict[str, Any]:
        return line | {"id": "beside.jpg", "truth": line["truth"] | {"lat": line["truth"]["lat"] + 0.0006}}

    paths = [write(tmp_path, n, [*lines_of(n, 50), beside(lines_of(n, 50)[3])]) for n in ("north", "south")]
    out = tmp_path / "answers.jsonl"
    document = json.loads(run(*paths, "--folds", "5", "--json", "--out", str(out)).stdout)
    assert any("1 share a name or a true place within 100 m" in note for note in document["notes"])
    fold = {line["id"]: line["fold"] for line in map(json.loads, out.read_text(encoding="utf-8").splitlines())}
    assert fold["beside.jpg"] == fold["3.jpg"]


def test_what_can_not_be_done_is_said_in_one_line(files: list[str], tmp_path: Path) -> None:
    assert "at least two" in refused(files[0])
    assert "two files are called north" in refused(files[0], files[0])
    assert "share no image id" in refused(files[0], write(tmp_path, "x", [lines_of("south", 1)[0] | {"id": "no"}]))
    moved = [line | {"truth": {"lat": 0, "lon": 0}} for line in lines_of("south", 80)]
    assert "disagree on where" in refused(files[0], write(tmp_path, "moved", moved))
    (tmp_path / "bad.jsonl").write_text('{"id": 1}\n', encoding="utf-8")
    assert "bad.jsonl:1: not a record" in refused(files[0], str(tmp_path / "bad.jsonl"))
    assert "--out writes" in refused(*files, "--out", str(tmp_path / "x.csv"))
    assert "give one of them" in refused(
        *files, "--save", str(tmp_path / "m.json"), "--model", str(tmp_path / "n.json")
    )
    assert "there already" in refused(*files, "--out", files[0].replace("north", "south").replace("south", "bad"))
    (tmp_path / "no.json").write_text("{}", encoding="utf-8")
    assert "format" in refused(*files, "--model", str(tmp_path / "no.json"))
    assert "NAME=FILE" not in refused(*files, "--model", str(tmp_path / "absent.json"))


def promises(names: tuple[str, ...], folds: int) -> dict[str, Any]:
    return replay_document(measure({name: RECORDED / f"{name}.jsonl" for name in names}, folds=folds, seed=0))


def at_least_the_best(document: dict[str, Any]) -> None:
    for km, best in document["best_agent_at_each_distance"].items():
        assert document["rows"]["learned"]["within"][km]["percent"] >= best, km
    assert max(document["calibration_error"].values()) <= 0.05


@needs_recorded
@pytest.mark.slow
def test_geobench_keeps_its_promises() -> None:
    document = promises(("geobench_gpt5", "geobench_qwen3vl235b", "geobench_qwen3vl30b"), folds=5)
    at_least_the_best(document)
    assert document["rows"]["learned"]["within"]["25"]["percent"] >= 82.5


@needs_recorded
@pytest.mark.slow
def test_mapbench_keeps_its_promises() -> None:
    document = promises(("mapbench_gpt5", "mapbench_o3", "mapbench_qwen3vl235b"), folds=5)
    at_least_the_best(document)
    assert document["rows"]["learned"]["within"]["25"]["percent"] >= 39.5
