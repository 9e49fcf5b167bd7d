"""The task set for verifiers, loaded, played and scored by that library in an environment of its own."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from geosleuth.geo import LatLon
from geosleuth.lab.bench.sets import FilePicture, Item
from geosleuth.lab.scenes.environment.verifiers_package import write_verifiers
from geosleuth.lab.score import Truth
from geosleuth.support.errors import BadInput
from own_venv import ROOT, output_of, python_with
from tool_cases import sign

VERIFIERS = "verifiers==0.4.0"
WORDS = {"method": "spotagent", "reward": "spotagent"}
TRUTH = Truth(LatLon(43.73841, 7.42461), "Truthland", None, "Truthville")


def written(folder: Path) -> Path:
    photo = folder / "photo.png"
    sign("Rue Grimaldi").save(photo)
    assert write_verifiers(folder / "out", [Item("one", FilePicture(photo), TRUTH)], WORDS) == 1
    return folder / "out"


def test_the_package_says_how_to_get_verifiers(tmp_path: Path) -> None:
    code = "import sys; sys.path.insert(0, sys.argv[1]); import geosleuth_world"
    out = written(tmp_path)
    ended = subprocess.run([sys.executable, "-c", code, out], capture_output=True, text=True, check=False)
    assert "UserError: this needs verifiers" in ended.stderr
    assert "pip install verifiers" in ended.stderr
    with pytest.raises(BadInput, match="no photo"):
        write_verifiers(tmp_path / "none", [], WORDS)


@pytest.mark.slow
@pytest.mark.usefixtures("atlas_home")
def test_verifiers_own_loader_finds_it_and_its_own_scoring_scores_it(tmp_path: Path) -> None:
    child = ROOT / "tests" / "support" / "verifiers_child.py"
    told = json.loads(output_of(python_with(VERIFIERS), child, str(written(tmp_path))))
    assert told["version"] == "0.4.0"
    assert (told["env"], told["tasks"]) == ("SingleAgentEnv", 1)
    assert told["scores"] == pytest.approx([1.0, 0.0], abs=0.001)
    assert [told["validated"][check]["valid"] for check in ("gold", "noop")] == [1, 1]
    used = told["used"]
    assert list(used["tools"]) == ["image_zoom_in_tool", "search_web", "maps_geocode"]
    assert used["tools"]["maps_geocode"]["required"] == ["address"]
    assert used["zoomed"] == ["text", "text", "image"]
    assert "Monaco" in used["found"]
    assert used["bad"][0] is True
    assert used["turns"] >= 2
    # Tasks go to tool servers and into traces: they must not tell.
    assert not any(word in json.dumps([told["task"], used]) for word in ("43.73841", "7.42461", "Truth"))
