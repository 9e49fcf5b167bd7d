"""``geosleuth bench judge`` against a real server on this machine, and on the recorded answers where they are."""

import csv
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from geosleuth.lab.cli.bench import bench
from geosleuth.support.errors import BadInput, GeosleuthError
from later import later
from openai_server import Line, Reply, Request, ServerUrl, chat_reply, failure, openai_server

later("pydantic_ai")

ROOT = Path(__file__).parents[4]
RECORDED = Path(os.environ.get("GEOSLEUTH_SHARED", ROOT.parent / "shared")) / "data" / "recorded"
needs_recorded = pytest.mark.skipif(
    not RECORDED.is_dir(),
    reason=f"the recorded answers are not at {RECORDED}; set GEOSLEUTH_SHARED to the folder that holds data/recorded",
)
ROWS = [
    ("a", "France", "Paris", "France", "Paris"),
    ("b", "France", "Paris", "France", "Montmartre"),
    ("c", "France", "Paris", "France", "Vincennes"),
    ("d", "France", "Paris", "Germany", "Berlin"),
    ("e", "Japan", "Tokyo", "日本", "Shibuya"),
    ("f", "Italy", "Rome", "Italy", "Milan"),
]
INSIDE = {("Paris", "Montmartre"), ("Tokyo", "Shibuya"), ("Japan", "日本")}


def knowing(request: Request) -> Reply:
    """A stand-in for a judge that knows a few places."""
    data = asked(request)
    same = data["truth"] == data["answer"] or (data["truth"], data["answer"]) in INSIDE
    return chat_reply("Yes." if same else "No.", tokens=(200, 2))


def asked(request: Request) -> dict[str, str]:
    content = request.json["messages"][-1]["content"]
    text = content if isinstance(content, str) else content[0]["text"]
    data: dict[str, str] = json.loads(text.split("\n")[1])
    return data


@pytest.fixture
def server() -> Iterator[ServerUrl]:
    with openai_server([knowing]) as url:
        yield url


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    path = tmp_path / "answers.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "true_lat", "true_lon", "true_country", "true_city", "lat", "lon", "country", "city"])
        writer.writerows(
            [name, 1, 2, *truth, "", "", *said] for name, *truth, said_a, said_b in ROWS for said in [(said_a, said_b)]
        )
    return path


def run(*words: object) -> Result:
    return CliRunner().invoke(bench, ["judge", *(str(word) for word in words)], env={"COLUMNS": "200", "NO_COLOR": "1"})


def at(url: str, cache: Path, *more: object) -> tuple[object, ...]:
    return ("--model", "server:any", "--base-url", url, "--cache", cache, *more)


def document(done: Result) -> Any:
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_rule_and_judge_side_by_side(answers: Path, server: ServerUrl, tmp_path: Path) -> None:
    cache, out, table = tmp_path / "kept.sqlite", tmp_path / "figures.json", tmp_path / "verdicts.csv"
    done = run(answers, *at(server, cache), "--out", out, "--out", table, "--json")
    found = document(done)
    assert {level: (one["by_rule"]["hits"], one["by_judge"]["hits"]) for level, one in found["levels"].items()} == {
        "country": (5, 5),
        "city": (1, 3),
    }
    assert found["levels"]["city"]["undecided_by_rule"] == 3
    assert found["agreement"]["n"] == found["agreement"]["both_yes"] + found["agreement"]["both_no"]
    assert found["agreement"]["percent"]["percent"] == 100.0
    assert found["agreement"]["kappa"]["value"] == pytest.approx(1.0)
    assert json.loads(out.read_text()) == found
    with table.open(encoding="utf-8") as stream:
        rows = {row["id"]: row["judge"] for row in csv.DictReader(stream)}
    assert rows == {"b": "yes", "c": "no", "e": "yes"}
    assert found["spent"] == {"input_tokens": 200 * found["asked"], "output_tokens": 2 * found["asked"], "usd": 0.0}
    assert len(server.requests) == found["asked"]
    assert "names of places" in done.stderr

    again = document(run(answers, *at(server, cache), "--json"))
    assert (again["asked"], again["from_cache"], again["levels"]) == (0, found["asked"], found["levels"])
    assert len(server.requests) == found["asked"]


def test_the_table_for_people(answers: Path, server: ServerUrl, tmp_path: Path) -> None:
    done = run(answers, *at(server, tmp_path / "kept.sqlite"))
    assert done.exit_code == 0, done.output
    assert "answers, judged by server:any" in done.stdout
    lines = {line.split("  ")[0].strip(): line.split()[-2:] for line in done.stdout.splitlines() if "%" in line}
    assert lines["right by rule, %"][0].startswith("16.67")
    assert lines["right with the judge, %"][0].startswith("50.00")
    assert "kappa 1.00" in done.stdout


def test_a_limit_leaves_the_rest_open_and_the_next_run_asks_it(
    answers: Path, server: ServerUrl, tmp_path: Path
) -> None:
    cache = tmp_path / "kept.sqlite"
    done = run(answers, *at(server, cache), "--questions", 2, "--sample", 0, "--json")
    assert document(done)["levels"]["city"]["outcomes"]["not_judged"] == 1
    assert "limit of 2 questions" in done.stderr
    rest = document(run(answers, *at(server, cache), "--sample", 0, "--json"))
    assert (rest["asked"], rest["from_cache"], rest["stopped"]) == (1, 2, None)


def test_a_server_that_fails_is_an_error_and_loses_nothing(answers: Path, tmp_path: Path) -> None:
    cache = tmp_path / "kept.sqlite"
    script: list[Line] = [knowing, failure(400, "no such thing")]
    with openai_server(script) as url:
        done = run(answers, *at(url, cache), "--sample", 0, "--jobs", 1, "--json")
        assert isinstance(done.exception, GeosleuthError)
        assert not isinstance(done.exception, BadInput)
        found = json.loads(done.stdout)
        assert (found["failed"], found["levels"]["city"]["outcomes"]["not_judged"]) == (2, 2)
        assert found["levels"]["city"]["outcomes"]["judged_right"] == 1


def test_nothing_is_sent_without_leave_or_offline(answers: Path, server: ServerUrl, tmp_path: Path) -> None:
    words = (answers, "--model", "server:any", "--base-url", "https://models.example/v1")
    done = run(*words, "--cache", tmp_path / "kept.sqlite")
    assert isinstance(done.exception, BadInput)
    assert "models.example" in str(done.exception)
    assert "--yes" in str(done.exception)
    offline = run(answers, *at(server, tmp_path / "kept.sqlite"), "--offline")
    assert isinstance(offline.exception, BadInput)
    assert "--offline" in str(offline.exception)
    assert server.requests == []


@pytest.mark.parametrize("model", ["detective", "blind:population", "replay:run.jsonl", "gpt-5"])
def test_who_can_not_read_can_not_judge(answers: Path, model: str) -> None:
    done = run(answers, "--model", model)
    assert isinstance(done.exception, BadInput)
    assert "can't judge names" in str(done.exception)


def test_truths_without_names_are_refused_before_anything_is_sent(server: ServerUrl, tmp_path: Path) -> None:
    path = tmp_path / "bare.csv"
    path.write_text("id,true_lat,true_lon,lat,lon\na,1,2,1,2\n")
    done = run(path, *at(server, tmp_path / "kept.sqlite"))
    assert isinstance(done.exception, BadInput)
    assert "nothing to judge" in str(done.exception)
    assert server.requests == []


@pytest.mark.slow
def test_a_command_that_is_killed_has_kept_what_was_answered(tmp_path: Path) -> None:
    path, cache = tmp_path / "many.csv", tmp_path / "kept.sqlite"
    head = "id,true_lat,true_lon,true_country,true_city,lat,lon,country,city\n"
    path.write_text(head + "".join(f"{n},1,2,France,Paris,,,France,Place {n}\n" for n in range(60)))
    words = [str(word) for word in (path, *at("", cache, "--sample", 0, "--jobs", 1, "--json"))]

    def slow(request: Request) -> Reply:
        return replace(knowing(request), delay_s=0.02)

    with openai_server([slow]) as url:
        words[words.index("")] = url
        command = [str(Path(sys.executable).with_name("geosleuth")), "bench", "judge", *words]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + 60
            while len(url.requests) < 10 and time.monotonic() < deadline:
                time.sleep(0.01)
        finally:
            process.kill()
            process.wait()
        before = len(url.requests)
        assert 10 <= before < 60
        found = document(run(*words))
    # At most the one question that was under way is asked twice.
    assert before - 1 <= found["from_cache"] <= before
    assert found["from_cache"] + found["asked"] == 60
    assert found["levels"]["city"]["outcomes"]["judged_wrong"] == 60


@needs_recorded
@pytest.mark.parametrize(
    ("name", "undecided", "right"),
    [("geobench_gpt5", (0, 63), (860, 705))],
)
def test_what_the_rule_leaves_open_of_the_recorded_answers(
    name: str, undecided: tuple[int, int], right: tuple[int, int], server: ServerUrl, tmp_path: Path
) -> None:
    path = RECORDED / f"{name}.jsonl"
    found = document(run(path, *at(server, tmp_path / "kept.sqlite"), "--jobs", 16, "--sample", 40, "--json"))
    levels = found["levels"]
    assert found["n"] == 934
    assert (levels["country"]["by_rule"]["hits"], levels["city"]["by_rule"]["hits"]) == right
    assert (levels["country"]["undecided_by_rule"], levels["city"]["undecided_by_rule"]) == undecided
    assert found["agreement"]["n"] == 40
    for one in levels.values():
        assert sum(one["outcomes"].values()) == one["n"] == 934
