"""Document search over the Factbook and our own facts."""

import time
from pathlib import Path

import pytest

from geosleuth.atlas.facts import search_documents
from geosleuth.support.errors import BadInput


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("documents")


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("flag with a cedar tree", "factbook:LB:government-flag"),
        ("climate of Mongolia", "factbook:MN:geography-climate"),
        ("volcano eruptions in Iceland", "factbook:IS:geography-natural-hazards"),
        ("terrain Österreich", "factbook:AT:geography-terrain"),
        ("roads UK", "factbook:GB:transportation-roads-roadways"),
    ],
)
def test_the_right_passage_comes_first(folder: Path, query: str, first: str) -> None:
    hits = search_documents(query, 5, folder)
    assert hits[0].id == first
    assert hits[0].snippet
    assert hits[0].source.startswith("World Factbook")
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)


def test_a_country_alone_gives_what_introduces_it(folder: Path) -> None:
    hits = search_documents("France", 3, folder)
    assert "facts:FR" in {hit.id for hit in hits}
    assert all(":FR" in hit.id for hit in hits)


@pytest.mark.parametrize(
    "query",
    [
        "",
        "   ",
        "?!,;",
        "\x00",
        '"',
        "(((",
        "*",
        "NEAR(",
        "title:x OR",
        "a AND",
        "NOT",
        "-",
        "^x",
        "'; DROP TABLE passages; --",
        "{a b}: c",
        '"unclosed',
        "col : *",
        "\ud800 x",
        "x" * 10_000_000,
        "ab " * 1_000_000,
        "AND OR NOT NEAR",
    ],
    ids=len,
)
def test_any_text_is_a_query(folder: Path, query: str) -> None:
    start = time.process_time()
    hits = search_documents(query, 5, folder)
    assert time.process_time() - start < 10
    assert len(hits) <= 5


def test_nothing_in_a_query_changes_the_index(folder: Path) -> None:
    search_documents("warm up", 1, folder)
    (index,) = folder.glob("documents-*.sqlite")
    before = index.read_bytes()
    search_documents("'; DELETE FROM passages; INSERT INTO passages VALUES ('x'); --", 5, folder)
    assert index.read_bytes() == before
    assert not list(folder.glob(".documents-*"))


@pytest.mark.parametrize(
    "query",
    [
        "Callitris New South Wales",
        "Warung Makan Sederhana",
        "Lucky Chicken Rice stall",
        "New Jersey diner",
        "Boulangerie Costa Monaco",
        "Toyota dealer Kampala phone number",
        "yellow road lines concrete poles red soil",
        "桂山岛",
    ],
)
def test_what_no_passage_is_about_brings_nothing(folder: Path, query: str) -> None:
    assert search_documents(query, 10, folder) == []


def test_the_index_is_built_where_home_says_and_again_when_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEOSLEUTH_HOME", str(tmp_path))
    assert search_documents("cedar")
    (index,) = (tmp_path / "cache").glob("documents-*.sqlite")
    other = tmp_path / "other"
    other.mkdir()
    (other / index.name).write_bytes(b"SQLite format 3\x00" + b"rubbish" * 1000)
    assert search_documents("cedar", 3, other)


def test_a_folder_that_cant_be_made_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(BadInput, match="can't be written"):
        search_documents("cedar", 3, tmp_path / "file" / "below")
