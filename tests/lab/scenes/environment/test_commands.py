"""The commands that hand the environment to other libraries."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import geosleuth.lab.cli.world  # noqa: F401  (adds its commands)
from geosleuth.lab.cli.world import world
from geosleuth.support.errors import BadInput, UserError
from tool_cases import sign

RUN = CliRunner()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    sign("Rue Grimaldi").save(tmp_path / "one.png")
    row = {"id": "one", "image": "one.png", "lat": 43.7384, "lon": 7.4246, "country": "MC", "city": "Monaco"}
    path = tmp_path / "set.jsonl"
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("library", "files"),
    [
        ("verl", {"rows.parquet", "tools.yaml", "grpo.yaml", "train.sh"}),
        ("verifiers", {"pyproject.toml", "__init__.py", "rows.jsonl", "played.json"}),
    ],
)
def test_export_writes_what_the_library_reads(tmp_path: Path, data: Path, library: str, files: set[str]) -> None:
    out = tmp_path / "out"
    words = ["export", "--for", library, "--data", str(data), "--out", str(out), "--tools", "zoom,maps_geocode"]
    done = RUN.invoke(world, [*words, "--turns", "5"])
    assert done.exit_code == 0, done.output
    assert f"1 photos written to {out} for {library}" in done.output
    assert {path.name for path in out.rglob("*") if path.is_file()} == files


def test_what_can_not_be_is_said_in_one_line(tmp_path: Path, data: Path) -> None:
    words = ["--data", str(data)]
    serving = RUN.invoke(world, ["serve", *words])
    assert isinstance(serving.exception, UserError)
    assert "pip install openenv" in str(serving.exception)
    export = ["export", "--for", "verl", *words, "--out", str(tmp_path / "out")]
    for more, said in (
        (["--reward", "much"], "unknown reward 'much'"),
        (["--tools", "visual_prior"], "offline atlas alone"),
    ):
        refused = RUN.invoke(world, [*export, *more])
        assert isinstance(refused.exception, BadInput)
        assert said in str(refused.exception)
