"""``geosleuth dataset list | card | check | stage``, as a user calls them."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from geosleuth.lab.bench.sets import CARDS
from geosleuth.lab.cli.dataset import dataset
from geosleuth.support.errors import BadInput
from set_files import jpeg, put


def run(*words: object) -> Result:
    return CliRunner().invoke(dataset, [str(word) for word in words], env={"COLUMNS": "200"})


@pytest.fixture
def table(tmp_path: Path) -> Path:
    put(tmp_path / "set" / "a.jpg", jpeg(1, gps=(48.0, 2.0)))
    put(tmp_path / "set" / "b.jpg", jpeg(2))
    rows = "image,lat,lon,country,scene\na.jpg,48.8,2.3,France,street\nb.jpg,52.5,13.4,,shop\n"
    return put(tmp_path / "set" / "t.csv", rows)


def test_the_list_names_every_set_with_its_licence() -> None:
    done = run("list")
    assert done.exit_code == 0
    assert all(name in done.stdout for name in CARDS)
    documents = json.loads(run("list", "--json").stdout)
    assert [document["name"] for document in documents] == list(CARDS)
    assert all(document["licence"] for document in documents)


def test_a_card_tells_what_one_must_know() -> None:
    done = run("card", "MAPBench")
    assert done.exit_code == 0
    for words in ("2,500", "Apache-2.0", "2,498", "0.5, 2, 10, 25, 200, 750", "--data mapbench:PATH"):
        assert words in done.stdout
    assert json.loads(run("card", "osv5m", "--json").stdout)["photos"] == 210122
    refused = run("card", "atlantis")
    assert isinstance(refused.exception, BadInput)
    assert "there are im2gps3k" in str(refused.exception)


def test_a_check_says_what_is_there(table: Path) -> None:
    done = run("check", table)
    assert done.exit_code == 0
    for words in ("Europe 2", "France 1", "Germany 1", "scene"):
        assert words in done.stdout
    document = json.loads(run("check", table, "--json").stdout)
    assert (document["photos"], document["missing"], document["is_usable"]) == (2, 0, True)
    assert document["countries"] == {"FR": 1, "DE": 1}


def test_a_check_of_a_set_that_no_run_could_go_through_fails(table: Path) -> None:
    with table.open("a") as stream:
        stream.write("c.jpg,200,2,,\nd.jpg,1,2,,\n")
    done = run("check", table)
    assert done.exit_code == 1
    assert "rows to fix" in done.stdout
    assert "t.csv:4: latitude must lie between" in done.stderr
    assert "missing: " in done.stderr
