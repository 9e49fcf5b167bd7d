"""Photos of a test part: whatever file they are written to, training refuses them there too."""

import json
from pathlib import Path

import pytest

from geosleuth.lab.train.prompts import prompt_rows
from geosleuth.lab.train.recipe import DataPart
from geosleuth.support.errors import BadInput
from in_process import geosleuth
from set_files import jpeg


@pytest.fixture
def spec(tmp_path: Path) -> str:
    """A set whose card says that it is for testing; no row does."""
    folder = tmp_path / "set"
    folder.mkdir()
    lines = []
    for name in ("a", "b"):
        (folder / f"{name}.jpg").write_bytes(jpeg())
        lines.append(json.dumps({"image": f"{name}.jpg", "latitude": 31.2, "longitude": 121.4}))
    (folder / "test_metadata.jsonl").write_text("\n".join(lines) + "\n")
    return f"mapbench:{folder}"


def test_no_prompts_are_made_of_a_test_set(spec: str) -> None:
    with pytest.raises(BadInput, match="these are test photos"):
        prompt_rows(DataPart(photos=(spec,)))


@pytest.mark.parametrize("library", ["verifiers", "verl"])
def test_an_environment_of_it_is_refused_or_keeps_the_mark(spec: str, tmp_path: Path, library: str) -> None:
    words = ("world", "export", "--for", library, "--data", spec, "--out", tmp_path / "out")
    refused = geosleuth(*words)
    assert refused.returncode == 2
    assert "these are test photos" in refused.stderr
    assert "--allow-test" in refused.stderr
    assert not (tmp_path / "out").exists()
    done = geosleuth(*words, "--allow-test")
    assert done.returncode == 0, done.stderr
    if library == "verifiers":
        lines = (tmp_path / "out" / "geosleuth_world" / "rows.jsonl").read_text().splitlines()
        rows = [json.loads(line) for line in lines]
    else:
        table = pytest.importorskip("pyarrow.parquet").read_table(tmp_path / "out" / "rows.parquet")
        rows = [row["extra_info"] for row in table.to_pylist()]
    assert [row["split"] for row in rows] == ["test", "test"]
