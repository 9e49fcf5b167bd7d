"""``geosleuth bench run`` as somebody uses it: begin, go on, try errors again, stop at a limit."""

import io
import json
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from typer.testing import CliRunner, Result

from foreground import started, wait_for
from geosleuth.cli.commands import whole_app
from geosleuth.geo import LatLon
from geosleuth.lab.bench.run.folder import RunFolder
from geosleuth.tools.similar import build_index
from locating import GEOSLEUTH
from openai_server import Reply, Request, chat_reply, failure, openai_server
from scenery import save, scene

PARIS = '{"lat": 48.8566, "lon": 2.3522, "city": "Paris", "country": "France"}'
pytestmark = pytest.mark.usefixtures("atlas_home")

MakeSet = Callable[[int], Path]


@pytest.fixture
def make_set(tmp_path: Path) -> MakeSet:
    """A table of so many small photos, all taken in Paris, with recorded answers beside it that find every other."""

    def make(photos: int) -> Path:
        stream = io.BytesIO()
        Image.new("RGB", (64, 48), (90, 120, 40)).save(stream, "JPEG")
        rows, lines = ["id,image,lat,lon,country,kind"], []
        for number in range(photos):
            (tmp_path / f"{number}.jpg").write_bytes(stream.getvalue())
            rows.append(f"p{number},{number}.jpg,48.8566,2.3522,France,{'odd' if number % 2 else 'even'}")
            reply = "I can't tell." if number % 2 else f"It is Paris. {PARIS}"
            lines.append(json.dumps({"id": f"p{number}", "truth": {"lat": 48.8566, "lon": 2.3522}, "reply": reply}))
        (tmp_path / "answers.jsonl").write_text("\n".join(lines) + "\n")
        table = tmp_path / "photos.csv"
        table.write_text("\n".join(rows) + "\n")
        return table

    return make


def bench(*words: object, inputs: str | None = None) -> Result:
    return CliRunner().invoke(whole_app(), ["bench", *map(str, words)], input=inputs)


def replayed(table: Path, out: Path, *more: object) -> Result:
    return bench("run", "--data", table, "--model", f"replay:{table.parent / 'answers.jsonl'}", "--out", out, *more)


def document(result: Result) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_recorded_answers_are_run_kept_and_scored(make_set: MakeSet, tmp_path: Path) -> None:
    out = tmp_path / "run"
    result = replayed(make_set(6), out, "--json")
    assert result.exit_code == 0, result.output
    told = document(result)
    assert (told["photos"], told["answered"], told["unlocated"], told["errors"]) == (6, 6, 3, 0)
    assert told["accuracy"]["percent_within_km"]["25"] == 50
    assert told["accuracy"] == json.loads((out / "summary.json").read_text())["accuracy"]
    assert len(list((out / "trajectories").rglob("*.jsonl"))) == 6
    scored = bench("score", out / "results.jsonl", "--json")
    assert scored.exit_code == 0, scored.output
    assert '"records": 6' in scored.stdout or '"n": 6' in scored.stdout


def test_a_papers_form_counts_as_it_is(make_set: MakeSet, tmp_path: Path) -> None:
    """Nobody is asked for odds; a place that is only named is placed for the figures, unless they are to be strict."""
    replies = {"geovista": '<answer>{"country": "France", "city": "Paris"}</answer>', "twm": PARIS}
    for name, reply in replies.items():
        with openai_server([chat_reply(reply)]) as url:
            model = ("--model", "server:any", "--base-url", url, "--method", name, "--partial")
            result = bench("run", "--data", make_set(2), *model, "--out", tmp_path / name, "--json")
        assert result.exit_code == 0, result.output
        told = document(result)
        in_words = name == "geovista"
        assert (told["answered"], told["unlocated"], told["placed"]) == (2, 0, {"town": 2} if in_words else {})
        assert told["accuracy"]["percent_within_km"]["25"] == 100
        assert len(url.requests) == 2
        again = document(bench("run", "--data", make_set(2), *model, "--out", tmp_path / name, "--strict", "--json"))
        assert again["unlocated"] == (2 if in_words else 0)


def test_the_same_command_goes_on_and_repeats_nothing(make_set: MakeSet, tmp_path: Path) -> None:
    table, out, whole = make_set(8), tmp_path / "run", tmp_path / "whole"
    assert replayed(table, whole).exit_code == 0
    first = replayed(table, out, "--run-seconds", "0.1", "--at-once", "1", "--json")
    while first.exit_code:
        assert document(first)["missing"], first.output
        first = replayed(table, out, "--json")
    before = (out / "journal.jsonl").read_bytes()
    again = replayed(table, out)
    assert again.exit_code == 0, again.output
    assert (out / "journal.jsonl").read_bytes() == before
    assert (out / "results.jsonl").read_bytes() == (whole / "results.jsonl").read_bytes()


def test_other_settings_and_other_photos_are_refused(make_set: MakeSet, tmp_path: Path) -> None:
    table, out = make_set(3), tmp_path / "run"
    assert replayed(table, out).exit_code == 0
    other = replayed(table, out, "--method", "geovista")
    assert isinstance(other.exception, Exception)
    assert "method" in str(other.exception)
    fewer = replayed(table, out, "--limit", "2")
    assert "other photos" in str(fewer.exception)


def test_a_limit_is_a_random_sample_and_the_manifest_says_which(make_set: MakeSet, tmp_path: Path) -> None:
    table = make_set(40)
    for seed in (1, 2):
        done = replayed(table, tmp_path / f"run{seed}", "--limit", "8", "--sample-seed", seed)
        assert done.exit_code == 0, done.output
    data = [json.loads((tmp_path / f"run{seed}" / "manifest.json").read_text())["data"] for seed in (1, 2)]
    assert [one["selection"] for one in data] == [
        {"limit": 8, "sample_seed": 1, "only": []}, {"limit": 8, "sample_seed": 2, "only": []},
    ]  # fmt: skip
    assert [one["count"] for one in data] == [8, 8]
    assert data[0]["sha256"] != data[1]["sha256"]
    ids = [json.loads(line)["id"] for line in (tmp_path / "run1" / "results.jsonl").read_text().splitlines()]
    assert ids == sorted(ids, key=lambda one: int(one[1:]))
    assert ids != [f"p{number}" for number in range(8)]


def test_an_index_with_other_photos_is_another_run(make_set: MakeSet, tmp_path: Path) -> None:
    table, out, album = make_set(2), tmp_path / "run", tmp_path / "album"
    album.mkdir()
    save(scene(1, (160, 120)), album / "1.jpg", LatLon(1, 1))
    index, moved = tmp_path / "album.index", tmp_path / "moved.index"
    build_index(album, index)
    assert replayed(table, out, "--image-search", index).exit_code == 0
    index.rename(moved)
    assert replayed(table, out, "--image-search", moved).exit_code == 0
    save(scene(2, (160, 120)), album / "2.jpg", LatLon(2, 2))
    build_index(album, moved)
    assert "image_search" in str(replayed(table, out, "--image-search", moved).exception)


def test_errors_are_kept_apart_and_tried_again_alone(make_set: MakeSet, tmp_path: Path) -> None:
    table, out = make_set(3), tmp_path / "run"
    broken = [True]

    def reply(request: Request) -> Reply:
        assert request.images
        return failure(400, "no such luck") if broken[0] else chat_reply(PARIS)

    with openai_server([reply]) as url:
        words = ("run", "--data", table, "--model", "server:any", "--base-url", url, "--yes", "--out", out, "--json")
        first = bench(*words)
        assert first.exit_code == 1
        assert (document(first)["answered"], document(first)["errors"]) == (0, 3)
        assert len((out / "errors.jsonl").read_text().splitlines()) == 3
        assert (out / "results.jsonl").read_text() == ""
        broken[0] = False
        # Going on does not try again what ended in an error; --retry errors does.
        assert document(bench(*words))["errors"] == 3
        again = bench(*words, "--retry", "errors")
    assert again.exit_code == 0, again.output
    assert (document(again)["answered"], document(again)["errors"]) == (3, 0)
    tries = list(RunFolder.read(out).tries())
    assert [one.outcome for one in tries] == ["failed"] * 3 + ["answered"] * 3
    assert len(list((out / "trajectories").rglob("*.jsonl"))) == 6


def test_a_run_stops_at_its_limit_and_says_what_is_missing(make_set: MakeSet, tmp_path: Path) -> None:
    table, out = make_set(10), tmp_path / "run"
    with openai_server([chat_reply(PARIS, tokens=(900, 100))]) as url:
        words = ("run", "--data", table, "--model", "server:any", "--base-url", url, "--yes", "--out", out, "--json")
        result = bench(*words, "--run-tokens", "4500", "--at-once", "2")
        told = document(result)
        assert result.exit_code == 1
        assert told["ended"] == "tokens"
        assert (told["answered"], told["missing"]) == (4, 6)
        assert told["tokens"] <= 4500
        assert "6 photos are missing" in told["words"]
        rest = document(bench(*words))
    assert (rest["answered"], rest["missing"]) == (10, 0)
    assert len(url.requests) == 10


@pytest.mark.parametrize("minds", [1, 2])
def test_a_model_that_never_answers_misses_whether_it_tries_once_or_twice(
    make_set: MakeSet, tmp_path: Path, minds: int
) -> None:
    table, out = make_set(2), tmp_path / "run"
    with openai_server([chat_reply("Let me think.", tokens=(900, 100))]) as url:
        words = ("run", "--data", table, "--model", "server:any", "--base-url", url, "--yes", "--out", out, "--json")
        told = document(bench(*words, "--parallel", minds, "--turns", "1"))
    assert (told["answered"], told["unlocated"], told["errors"]) == (2, 2, 0)
    assert told["tokens"] == 1000 * len(url.requests) == 2000 * minds
    assert bench("score", out).exit_code == bench("report", out).exit_code == 0


def test_a_run_can_be_replayed(make_set: MakeSet, tmp_path: Path) -> None:
    table, out, again = make_set(4), tmp_path / "run", tmp_path / "again"
    assert replayed(table, out).exit_code == 0
    result = bench("run", "--data", table, "--model", f"replay:{out}", "--out", again, "--json")
    assert result.exit_code == 0, result.output
    answers = [
        [json.loads(line)["answer"] for line in (run / "results.jsonl").read_text().splitlines()]
        for run in (out, again)
    ]
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--data", "nowhere.csv"], "nowhere.csv"),
        (["--data", "{table}", "--only", "kind=none"], "no photo is left"),
        (["--data", "{table}", "--model", "replay:{table}.none"], "there is no such file"),
        (["--data", "{table}", "--retry", "errors"], "no run whose errors"),
        (["--data", "{table}", "--gpus", "1"], "--cluster"),
        (["--data", "{table}", "--model", "gpt"], "names no model"),
        (["--data", "{table}", "--unmasked", "x"], "--mask clue"),
        (["--data", "{table}", "--mask", "poles"], "boxes"),
    ],
)
def test_what_must_be_mended_is_one_line(make_set: MakeSet, tmp_path: Path, words: Sequence[str], told: str) -> None:
    table = make_set(2)
    given = [word.format(table=table) for word in words]
    result = bench("run", *given, "--out", tmp_path / "run")
    assert result.exit_code != 0
    assert told in str(result.exception)
    assert "\n" not in str(result.exception)
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_photos_of_any_size_and_photos_that_do_not_open_end_no_run(make_set: MakeSet, tmp_path: Path) -> None:
    table, out = make_set(4), tmp_path / "run"
    # Beyond the size at which Pillow refuses, within ours, and beyond ours.
    Image.new("1", (19_000, 10_000)).save(tmp_path / "0.jpg", "TIFF", compression="group4")
    Image.new("1", (21_000, 10_000)).save(tmp_path / "1.jpg", "TIFF", compression="group4")
    (tmp_path / "2.jpg").write_bytes((tmp_path / "2.jpg").read_bytes()[:200])
    result = replayed(table, out, "--json")
    told = document(result)
    assert (told["photos"], told["errors"]) == (4, 2), result.output
    troubles = {one.id: one.trouble or "" for one in RunFolder.read(out).tries() if one.outcome == "failed"}
    assert troubles.keys() == {"p1", "p2"}
    assert "million allowed" in troubles["p1"]
    assert "damaged" in troubles["p2"]


@pytest.mark.parametrize("by", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_a_run_that_is_stopped_keeps_what_is_finished(make_set: MakeSet, tmp_path: Path, by: signal.Signals) -> None:
    table, out = make_set(6), tmp_path / "run"
    with openai_server([chat_reply(PARIS), chat_reply(PARIS), Reply(manner="silent")]) as url:
        words = ["bench", "run", "--data", table, "--model", "server:any", "--base-url", url, "--yes", "--at-once", 1]
        with started([str(GEOSLEUTH), *map(str, words), "--out", str(out)]) as process:
            wait_for(url, 3)
            process.send_signal(by)
            _, said = process.communicate(timeout=30)
    assert process.returncode == 130, said
    assert "run the same command to resume" in " ".join(said.split())
    outcomes = [one.outcome for one in RunFolder.read(out).tries()]
    assert outcomes.count("answered") == 2
    assert len((out / "results.jsonl").read_text().splitlines()) == 2
