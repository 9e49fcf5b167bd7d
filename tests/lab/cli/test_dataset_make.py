"""The commands that make data sets, from their words to the tables that can be opened again."""

import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from geosleuth.cli import preparation
from geosleuth.lab.bench.makers.locatability import TAGS
from geosleuth.lab.bench.sets import open_set
from geosleuth.lab.cli.dataset import dataset as app
from geosleuth.support.errors import BadInput, GeosleuthError
from maker_sets import jpeg, photo_table, picture
from openai_server import chat_reply, failure, openai_server

REPLY = json.dumps(
    {"locatability": 8, "clarity": 7, "tags": dict.fromkeys(TAGS, "no") | {"sign": "yes"}, "landmark": None}
)
ROOM = json.dumps({"locatability": 2, "tags": {}, "landmark": None})
TOWER = json.dumps({"locatability": 10, "tags": {}, "landmark": "Eiffel Tower"})
EUROPE = [(48.85, 2.35), (52.52, 13.4), (41.9, 12.5), (40.4, -3.7), (60.17, 24.94), (43.73, 7.42)]


def run(*words: object, fails: bool = False) -> Any:
    """What a command prints as JSON; where it must fail, the error's words."""
    result = CliRunner().invoke(app, [*map(str, words), "--json"])
    if fails:
        assert result.exit_code != 0
        return str(result.exception)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return json.loads(result.stdout)


def test_a_model_rates_and_its_ratings_filter(atlas_home: Path, tmp_path: Path) -> None:
    assert atlas_home.is_dir()
    table = photo_table(tmp_path / "set", EUROPE[:3])
    rated, kept, dropped = (tmp_path / "set" / f"{name}.csv" for name in ("rated", "kept", "dropped"))
    with openai_server([chat_reply(REPLY), chat_reply(ROOM), chat_reply(TOWER)]) as url:
        words = ("rate", table, "--model", "server:any", "--base-url", url, "--yes", "--jobs", 1)
        told = run(*words, "--out", rated)
        assert (told["rated"], told["landmarks"], told["failed"]) == (3, 1, 0)
        assert told["bands"] == {"10": 1, "8-9": 1, "6-7": 0, "4-5": 0, "1-3": 1, "0": 0}
        again = run(*words, "--out", rated, "--overwrite")
        assert (again["known_before"], again["input_tokens"]) == (3, 0)
        assert len(url.requests) == 3
    first = next(iter(open_set(str(rated))))
    assert first.fields["locatability"] == "8"
    assert first.fields["tag_sign"] == "yes"
    assert first.fields["rated_by"] == "server:any"
    assert run("filter", rated, "--out", kept, "--dropped", dropped)["kept"] == 1
    assert [(one.id, one.fields["dropped_for"]) for one in open_set(str(dropped))] == [
        ("p1", "non-localisable"),
        ("p2", "landmark"),
    ]


def test_photos_that_failed_are_asked_about_alone_next_time(atlas_home: Path, tmp_path: Path) -> None:
    assert atlas_home.is_dir()
    table = photo_table(tmp_path / "set", EUROPE[:3], [jpeg(picture(1)), b"no photo", jpeg(picture(2))])
    out = tmp_path / "set" / "rated.jsonl"
    with openai_server([chat_reply(REPLY), failure(400), chat_reply(REPLY)]) as url:
        words = ("rate", table, "--model", "server:any", "--base-url", url, "--yes", "--jobs", "1", "--json")
        result = CliRunner().invoke(app, [*map(str, words), "--out", str(out)])
        assert result.exit_code == 1
        assert json.loads(result.stdout)["failed"] == 2
        assert [one.fields.get("locatability") for one in open_set(str(out))] == ["8", None, None]
        result = CliRunner().invoke(app, [*map(str, words), "--out", str(out), "--overwrite"])
        assert json.loads(result.stdout)["failed"] == 1
        assert len(url.requests) == 3


def test_replies_that_can_not_be_read_are_paid_for_and_counted(atlas_home: Path, tmp_path: Path) -> None:
    assert atlas_home.is_dir()
    table = photo_table(tmp_path / "set", EUROPE[:3])
    with openai_server([chat_reply("I would rather not.")]) as url:
        words = ("rate", table, "--out", tmp_path / "set" / "rated.csv", "--yes", "--model", "server:any", "--json")
        result = CliRunner().invoke(app, [*map(str, words), "--base-url", str(url)])
    told = json.loads(result.stdout)
    assert (result.exit_code, told["failed"], told["input_tokens"], told["output_tokens"]) == (1, 3, 300, 60)
    assert "--overwrite tries them alone" in " ".join(result.stderr.split())


def test_nothing_is_sent_without_leave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = photo_table(tmp_path / "set", EUROPE[:1])
    words = ("rate", table, "--out", tmp_path / "set" / "rated.csv", "--model", "server:any")
    away = ("--base-url", "http://model.test/v1")
    assert "add --yes to allow it" in run(*words, *away, fails=True)
    assert "--offline rules out" in run(*words, *away, "--offline", fails=True)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(preparation, "confirm", lambda _question: False)
    assert "add --yes" in run(*words, *away, fails=True)
    assert not (tmp_path / "set" / "rated.csv").exists()


def test_words_that_make_no_sense_are_refused_before_any_work(tmp_path: Path) -> None:
    table = photo_table(tmp_path / "set", EUROPE[:1])
    out = tmp_path / "set" / "out.csv"
    assert "look at photos" in run("rate", table, "--out", out, "--model", "detective", fails=True)
    assert "is an input of this command" in run("label", table, "--out", table, fails=True)
    assert "write two numbers" in run("filter", table, "--out", out, "--least-size", "big", fails=True)
    assert "run geosleuth dataset rate first" in run("filter", table, "--out", out, fails=True)
    assert "three numbers" in run("sample", table, "-n", 1, "--out", out, "--weights", "1,2", fails=True)
    assert "must divide 180" in run("coverage", table, table, "--cell", 7, fails=True)
    assert "names no city" in run("coverage", table, table, "--by", "city", fails=True)
    assert "no city; run geosleuth dataset label first" in run(
        "split", table, "--by", "city", "--out", tmp_path, fails=True
    )
    assert "sum to 1.3" in run("split", table, "--parts", "train=0.8,test=0.5", "--out", tmp_path, fails=True)
    assert not out.exists()
    out.write_text("mine")
    assert "--overwrite" in run("label", table, "--out", out, fails=True)
    assert out.read_text() == "mine"


def test_doubles_are_found_within_a_set_and_against_another(atlas_home: Path, tmp_path: Path) -> None:
    assert atlas_home.is_dir()
    one = picture(1, (640, 480))
    ours = photo_table(tmp_path / "ours", EUROPE[:3], [jpeg(one), jpeg(one.resize((320, 240)), 60), jpeg(picture(2))])
    theirs = photo_table(tmp_path / "theirs", EUROPE[:2], [jpeg(picture(3)), jpeg(picture(2), 50)])
    pairs, kept = tmp_path / "ours" / "pairs.csv", tmp_path / "ours" / "kept.csv"
    told = run("duplicates", ours, "--out", pairs, "--kept", kept)
    assert (told["photos"], told["pairs"], told["groups"], told["doubles"]) == (3, 1, 1, 1)
    assert pairs.read_text().splitlines()[1].startswith("p0,p1,")
    assert [item.id for item in open_set(str(kept))] == ["p0", "p2"]
    told = run("duplicates", ours, "--against", theirs, "--kept", kept, "--overwrite")
    assert (told["against"], told["doubles"]) == (2, 1)
    assert [item.id for item in open_set(str(kept))] == ["p0", "p1"]


def test_a_set_is_drawn_labelled_and_split(atlas_home: Path, tmp_path: Path) -> None:
    assert atlas_home.is_dir()
    points = [(lat + 0.01 * step, lon) for lat, lon in EUROPE for step in range(5)]
    table = photo_table(tmp_path / "set", points, [jpeg(picture(0))] * len(points))
    drawn, report, labelled = (tmp_path / "set" / name for name in ("drawn.csv", "report.csv", "labelled.csv"))
    told = run("sample", table, "-n", 12, "--present", "--refill", "--out", drawn, "--report", report)
    assert told["drawn"] == len(list(open_set(str(drawn)))) == 12
    assert sum(one["quota"] for one in told["countries"]) == 12
    assert report.read_text().startswith("country,quota,available,without_people,drawn\n")
    words = ("sample", table, "-n", 99, "--present", "--refill", "--out", drawn, "--overwrite")
    short = CliRunner().invoke(app, [*map(str, words)])
    assert "69 fewer than wanted" in short.stderr
    assert "--refill" not in short.stderr
    named = run("label", table, "--out", labelled)["named"]
    assert named["country"] == named["region"] == 30
    assert {item.truth.city for item in open_set(str(labelled))} >= {"Paris", "Berlin", "Helsinki"}
    one = photo_table(tmp_path / "one", points[:1], [jpeg(picture(0))])
    lonely = CliRunner().invoke(app, ["split", str(one), "--out", str(tmp_path / "one" / "parts")])
    assert "got no photo: 1 photo in too few places for these parts" in lonely.stderr
    parts = tmp_path / "set" / "parts"
    told = run("split", labelled, "--parts", "train=0.5,test=0.5", "--strip", 50, "--out", parts)
    train, test = (list(open_set(str(parts / f"{name}.csv"))) for name in ("train", "test"))
    assert len(train) + len(test) + told["left_out"] == 30
    assert train
    assert test
    shared = run("coverage", parts / "train.csv", parts / "test.csv", "--by", "cell", "--cell", "0.5")
    assert (shared["coverage"], shared["places"]["common"]) == (0.0, 0)


def test_tiers_become_a_column(tmp_path: Path) -> None:
    table = photo_table(tmp_path / "set", [(10.0, 10.0), (20.0, 20.0), (30.0, 30.0)])
    # Off by this many thousandths of a degree of latitude, 111 m each.
    off = {"a": (0, 50, 0), "b": (80, 500, 500), "c": (500, 500, 0)}
    files = []
    for name, errors in off.items():
        folder = tmp_path / name
        folder.mkdir()
        rows = [
            {"id": f"p{row}", "truth": {"lat": 10 + 10 * row, "lon": 10 + 10 * row},
             "reply": json.dumps({"lat": 10 + 10 * row + error / 1000, "lon": 10 + 10 * row})}
            for row, error in enumerate(errors[: 2 if name == "c" else 3])
        ]  # fmt: skip
        (folder / "manifest.json").write_text("{}")
        (folder / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        files += ["--answers", str(folder if name == "b" else folder / "results.jsonl")]
    out = tmp_path / "set" / "tiered.csv"
    told = run("tier", table, *files, "--out", out)
    assert (told["easy"], told["hard"], told["unknown"]) == (1, 1, 1)
    assert [one.fields.get("tier") for one in open_set(str(out))] == ["easy", "hard", None]


def test_people_get_tables_and_one_line_errors(atlas_home: Path, tmp_path: Path) -> None:
    assert atlas_home.is_dir()
    table = photo_table(tmp_path / "set", EUROPE[:2])
    result = CliRunner().invoke(app, ["coverage", str(table), str(table)])
    assert "coverage 100.00%, consistency 100.00%" in result.stdout
    result = CliRunner().invoke(app, ["label", str(table), "--out", str(tmp_path / "set" / "l.csv")])
    assert "2 of 2" in result.stdout
    assert isinstance(CliRunner().invoke(app, ["label", "nowhere", "--out", "x.csv"]).exception, BadInput)
    assert issubclass(BadInput, GeosleuthError)


def _guide() -> str:
    page = Path(__file__).resolve().parents[3] / "docs" / "how-to" / "add-a-dataset.md"
    return page.read_text(encoding="utf-8").partition("\n## Make\n")[2].partition("\nPictures ")[0]


@pytest.mark.slow
def test_the_guide_can_be_followed(atlas_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert atlas_home.is_dir()
    photo_table(tmp_path / "set", EUROPE[:3]).rename(tmp_path / "set" / "photos.csv")
    monkeypatch.chdir(tmp_path / "set")
    lines = _guide().split("```")[1].split("\n")
    commands = [shlex.split(line)[2:] for line in lines if line.startswith("geosleuth dataset ")]
    assert [words[0] for words in commands] == ["rate", "filter", "duplicates", "label", "sample", "split", "coverage"]
    with openai_server([chat_reply(REPLY)]) as url:
        for words in commands:
            model = ["--model", "server:any", "--base-url", str(url), "--yes"] if words[0] == "rate" else []
            result = CliRunner().invoke(app, [*words, *model])
            assert result.exit_code == 0, (words, result.exception)
    # Nothing is lost on the way: fifty are wanted, so that every photo that is left is drawn.
    left = [item.id for item in open_set("labelled.csv")]
    assert [item.id for item in open_set("drawn.csv")] == left
    assert sorted(item.id for part in ("train", "test") for item in open_set(f"splits/{part}.csv")) == left
    dropped = (tmp_path / "set" / "dropped.csv").read_text().count("\n") - 1
    assert len(left) + dropped == 3


def test_the_guides_options_are_the_commands() -> None:
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", _guide()))
    known: set[str] = set()
    for command in ("rate", "filter", "duplicates", "sample", "coverage", "label", "split", "tier"):
        told = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "200"}).stdout
        assert "geosleuth dataset" in told
        known |= set(re.findall(r"--[a-z][a-z-]+", told))
    assert named - known == set()
