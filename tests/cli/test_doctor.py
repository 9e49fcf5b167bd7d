"""What is installed, what is missing, and the command that brings it."""

import tomllib
from importlib import metadata
from io import StringIO
from itertools import takewhile
from pathlib import Path

import pytest
from rich.console import Console

from geosleuth import __version__
from geosleuth.cli.doctor import EXTRAS, EXTRAS_BY_USE, doctor_document, doctor_view, install_lines
from geosleuth.support.errors import install_command

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def names(requirements: list[str]) -> set[str]:
    return {requirement.split("[")[0].split(">")[0].split("=")[0].split("<")[0].strip() for requirement in requirements}


def test_the_core_is_what_the_project_asks_for() -> None:
    found = doctor_document()
    assert found["geosleuth"] == __version__
    assert set(found["core"]) == names(PROJECT["dependencies"])
    assert all(version == metadata.version(name) for name, version in found["core"].items())


def test_every_extra_is_there_and_complete() -> None:
    found = doctor_document()["extras"]
    assert set(found) == set(EXTRAS) == set(PROJECT["optional-dependencies"]) - {"all"}
    for extra, state in found.items():
        assert {*state["installed"], *state["missing"]} == names(PROJECT["optional-dependencies"][extra])
        assert not set(state["installed"]) & set(state["missing"])


def test_missing_parts_come_with_the_command_that_installs_them() -> None:
    for extra, state in doctor_document()["extras"].items():
        assert state["install"] == (install_command(extra) if state["missing"] else None)


def test_people_can_read_it() -> None:
    out = StringIO()
    Console(file=out, width=200).print(doctor_view())
    text = out.getvalue()
    assert f"geosleuth {__version__}" in text
    for use, extras in EXTRAS_BY_USE.items():
        assert use in text
        for extra, purpose in extras.items():
            assert extra in text
            assert purpose in text


def test_every_missing_extra_has_its_command_on_a_line_of_its_own() -> None:
    wanted = {state["install"] for state in doctor_document()["extras"].values() if state["install"]}
    lines = install_lines()
    told = list(takewhile(lambda line: line != "All of these at once:", lines))
    assert {line for line in told if not line.startswith("To ")} == wanted


def test_one_last_command_brings_all_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("geosleuth.cli.doctor._version", lambda _: None)
    assert install_lines()[-2:] == ["All of these at once:", install_command("all")]
    monkeypatch.setattr("geosleuth.cli.doctor._version", lambda name: None if name in ("av", "trl") else "1")
    assert install_lines()[-2:] == ["All of these at once:", install_command("media,train")]
