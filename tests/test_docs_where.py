"""The table "Where is …?" of the page on architecture: every path exists, and every function is defined there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
_CODE = re.compile(r"`(?P<path>[^`]+)`(?: \(`(?P<name>\w+)`\))?")


def rows() -> list[tuple[str, str]]:
    text = (ROOT / "docs" / "background" / "architecture.md").read_text(encoding="utf-8")
    section = text.partition("## Where is …?\n")[2].partition("\n## ")[0]
    lines = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("|")]
    return [(what, where) for what, where in lines[2:]]


def test_the_table_answers_what_people_look_for() -> None:
    asked = [what for what, _ in rows()]
    assert len(asked) >= 20
    assert len(asked) == len(set(asked))


@pytest.mark.parametrize(("what", "where"), rows())
def test_every_path_exists(what: str, where: str) -> None:
    found = list(_CODE.finditer(where))
    assert found, f"no path for {what}"
    assert [match["path"] for match in found if not (ROOT / match["path"]).exists()] == []
    for match in found:
        if match["name"]:
            source = (ROOT / match["path"]).read_text(encoding="utf-8")
            assert re.search(rf"^(?:async )?def {match['name']}\(", source, re.MULTILINE), match[0]


def test_every_promise_in_the_security_policy_names_a_test_that_exists() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    section = text.partition("## What is promised\n")[2].partition("\n## ")[0]
    promises = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("|")][2:]
    assert len(promises) >= 10
    for promise, tests in promises:
        named = re.findall(r"`(tests/[^`:]+)(?:::(\w+))?`", tests)
        assert named, promise
        for path, name in named:
            source = (ROOT / path).read_text(encoding="utf-8")
            assert re.search(rf"^(?:async )?def {name or 'test_'}", source, re.MULTILINE), (promise, path, name)


def paper_rows() -> list[tuple[str, str, str, str]]:
    text = (ROOT / "docs" / "background" / "methods.md").read_text(encoding="utf-8")
    section = text.partition("## What is the same, and what differs\n")[2].partition("\n## ")[0]
    lines = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("|")]
    return [(what, how, where, test) for what, how, where, test in lines if what not in ("mechanism", "---")]


def test_each_paper_has_a_table_of_its_mechanisms() -> None:
    text = (ROOT / "docs" / "background" / "methods.md").read_text(encoding="utf-8")
    for paper in ("smileGeo", "GeoAgent", "SpotAgent", "GeoVista", "Thinking with Map"):
        assert f"\n### {paper}\n| mechanism | same or different | where | test |\n" in text
    assert len(paper_rows()) >= 40


@pytest.mark.parametrize("row", paper_rows(), ids=lambda row: row[0][:40])
def test_every_mechanism_is_somewhere_and_tested(row: tuple[str, str, str, str]) -> None:
    _, how, where, test = row
    assert how.startswith(("same", "different", "option", "not said", "six", "Pass@K"))
    for path in (where, test):
        assert (ROOT / path.strip("`")).exists(), path
    assert where.strip("`").startswith("src/geosleuth/")
    assert test.strip("`").startswith("tests/")
