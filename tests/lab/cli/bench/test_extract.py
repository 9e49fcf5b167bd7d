"""``geosleuth bench extract`` and ``bench judge --ask replies`` against a real server on this machine."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from geosleuth.lab.bench.records import read_records
from geosleuth.lab.cli.bench import bench
from later import later
from openai_server import Reply, Request, ServerUrl, chat_reply, openai_server

later("pydantic_ai")

REPLIES = {
    "prose": "The half-timbered houses settle it: this is Hamburg, Germany.",
    "object": '{"lat": 53.5, "lon": 10.0, "city": "Hamburg", "country": "Germany"}',
    "riddle": "It must be the free and hanseatic one on the Elbe.",
    "refusal": "I’m sorry, but I can’t determine the location from this image.",
}


def record(name: str, reply: str) -> str:
    truth = {"lat": 53.55, "lon": 9.99, "country": "Germany", "city": "Hamburg"}
    return json.dumps({"id": name, "truth": truth, "reply": reply, "kind": "street"}) + "\n"


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(record(name, reply) for name, reply in REPLIES.items()), encoding="utf-8")
    return path


def knows_the_riddle(request: Request) -> Reply:
    content = request.json["messages"][-1]["content"]
    text = content if isinstance(content, str) else content[0]["text"]
    if "Does the reply" in text:
        return chat_reply("Yes." if "hanseatic" in text else "No.", tokens=(300, 2))
    found = {"country": "Germany", "region": None, "city": "Hamburg"} if "hanseatic" in text else {"country": None}
    return chat_reply(f"Here it is: {json.dumps(found)}", tokens=(300, 20))


@pytest.fixture
def server() -> Iterator[ServerUrl]:
    with openai_server([knows_the_riddle]) as url:
        yield url


def run(*words: object) -> Result:
    result = CliRunner().invoke(bench, [str(word) for word in words], env={"COLUMNS": "200", "NO_COLOR": "1"})
    assert result.exit_code == 0, result.output
    return result


def test_by_rule_alone_nothing_is_asked(answers: Path, tmp_path: Path) -> None:
    out = tmp_path / "places.jsonl"
    told = json.loads(run("extract", answers, "--out", out, "--json").stdout)
    assert told["found"] == {"country": 2, "region": 0, "city": 2, "address": 0, "point": 1}
    assert (told["asked"], told["found_by"]) == (0, {"rule": 2, "model": 0, "nobody": 2})
    records = {one.id: one for one in read_records(out)}
    assert records["prose"].read("lenient").address.precise.conclusion == "Hamburg"
    assert records["object"].read("lenient").located
    assert not records["riddle"].read("lenient").address
    assert records["prose"].fields == {"kind": "street", "found_by": "rule"}


def test_a_model_is_asked_where_the_rule_finds_no_name_and_only_once(
    answers: Path, tmp_path: Path, server: ServerUrl
) -> None:
    model = ("--model", "server:any", "--base-url", server, "--cache", tmp_path / "kept.sqlite", "--yes", "--json")
    first = json.loads(run("extract", answers, *model, "--out", tmp_path / "a.jsonl").stdout)
    assert (first["asked"], first["found_by"]) == (2, {"rule": 2, "model": 1, "nobody": 1})
    assert first["spent"]["input_tokens"] == 600
    again = json.loads(run("extract", answers, *model).stdout)
    assert (again["asked"], again["from_cache"], again["found_by"]) == (0, 2, first["found_by"])


def test_a_judge_reads_whole_replies_that_the_rule_does_not_match(
    answers: Path, tmp_path: Path, server: ServerUrl
) -> None:
    model = ("--model", "server:any", "--base-url", server, "--cache", tmp_path / "kept.sqlite", "--yes", "--json")
    names = json.loads(run("judge", answers, *model, "--sample", 0, "--ask", "unmatched").stdout)["levels"]
    whole = json.loads(run("judge", answers, *model, "--sample", 0, "--ask", "replies").stdout)
    assert names["city"]["by_judge"]["hits"] == 2
    assert (whole["levels"]["country"]["by_rule"]["hits"], whole["levels"]["country"]["by_judge"]["hits"]) == (2, 3)
    assert whole["levels"]["city"]["by_judge"]["hits"] == 3
    # The refusal's country was judged wrong, so that its city is not asked about.
    assert whole["asked"] == 3
