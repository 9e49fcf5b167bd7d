"""Files for verl: read by verl's own loaders, and played in its own agent loop, in an environment of its own."""

import json
import os
import subprocess
import sysconfig
from pathlib import Path

import pytest

from geosleuth.geo import LatLon
from geosleuth.lab.bench.sets import FilePicture, Item
from geosleuth.lab.scenes.environment.for_verl import compute_score, write_verl
from geosleuth.lab.score import Truth
from geosleuth.support.errors import BadInput
from own_venv import ROOT, output_of, python_with
from tool_cases import sign

VERL = (
    "verl==0.9.1",
    "omegaconf",
    "antlr4-python3-runtime==4.9.3",
    "tensordict==0.10.0",
    "pyvers",
    "cloudpickle",
    "codetiming",
    "hydra-core",
    "cachetools",
    "orjson",
)
# What verl opens pictures with; apart from it, as torchvision does not import beside the CPU's torch, see the child.
PICTURES = ("torchvision==0.28.0", "qwen_vl_utils")
TOOLS = ["image_zoom_in_tool", "search_web", "maps_geocode"]
WORDS = {"method": "spotagent", "reward": "spotagent"}
MONACO = Truth(LatLon(43.7384, 7.4246), "Monaco", None, "Monaco")


@pytest.fixture
def items(tmp_path: Path) -> list[Item]:
    found = []
    for name in ("Rue Grimaldi", "Boulangerie"):
        path = tmp_path / f"{name}.png"
        sign(name).save(path)
        found.append(Item(name, FilePicture(path), MONACO))
    return found


def test_rows_hold_the_question_the_picture_and_apart_the_truth(tmp_path: Path, items: list[Item]) -> None:
    import pyarrow.parquet
    import yaml

    assert write_verl(tmp_path / "out", items, WORDS) == 2
    row = pyarrow.parquet.read_table(tmp_path / "out" / "rows.parquet").to_pylist()[0]
    system, user = row["prompt"]
    assert "call the tool answer" not in system["content"]
    assert user["content"].count("<image>") == 1
    assert row["images"][0]["bytes"].startswith(b"\xff\xd8")
    truth = row.pop("reward_model")["ground_truth"]
    assert json.loads(truth)["lat"] == 43.7384
    assert "43.7384" not in json.dumps(row, default=str)
    tools = yaml.safe_load((tmp_path / "out" / "tools.yaml").read_text(encoding="utf-8"))["tools"]
    assert [one["tool_schema"]["function"]["name"] for one in tools] == [
        "image_zoom_in_tool",
        "search_web",
        "maps_geocode",
    ]
    with pytest.raises(BadInput, match="no photo"):
        write_verl(tmp_path / "none", [], WORDS)
    with pytest.raises(BadInput, match="no setting 'speed'"):
        write_verl(tmp_path / "none", items, {"speed": 3})


def test_the_last_words_earn_and_not_what_tools_said() -> None:
    right = '{"lat": 43.7384, "lon": 7.4246, "country": "Monaco"}'
    truth = json.dumps({"lat": 43.7384, "lon": 7.4246, "country": "Monaco"})
    extra = {"played": json.dumps({**WORDS, "answer_by": "reply"})}
    assert compute_score("geosleuth", f"<tool_response>{right}</tool_response> I give up.", truth, extra) == 0.0
    assert compute_score("geosleuth", f"<tool_response>no</tool_response>{right}", truth, extra) == pytest.approx(1.0)
    with pytest.raises(BadInput, match="rows that geosleuth wrote"):
        compute_score("gsm8k", right, truth, {})


@pytest.mark.slow
@pytest.mark.usefixtures("atlas_home")
def test_verl_s_own_loaders_read_it_and_the_tools_work(tmp_path: Path, items: list[Item]) -> None:
    from tiny_vlm import tiny_vlm_folder

    write_verl(tmp_path / "out", items, WORDS)
    files = [str(tmp_path / "out" / name) for name in ("tools.yaml", "rows.parquet")]
    child = ROOT / "tests" / "support" / "verl_child.py"
    told = json.loads(output_of(python_with(*VERL, deps=False), child, *files, str(tiny_vlm_folder())))
    assert told["version"] == "0.9.1"
    assert told["rows"] == 2
    assert told["tools"] == TOOLS
    assert told["in_prompts"] == 3
    assert told["roles"] == ["system", "user"]
    assert told["parts"] == ["text", "image"]
    assert not any(word in told["words"] for word in ("43.7384", "7.4246"))
    (zoomed, pictures), (found, _), (bad, _), (worse, _) = told["answers"]
    assert zoomed.startswith("A cut of image-1")
    assert len(pictures) == 1
    assert "Monaco" in found
    assert bad.startswith("Error")
    assert worse.startswith("Error")
    assert told["scores"] == pytest.approx([1.0, 0.0])


@pytest.mark.slow
@pytest.mark.usefixtures("atlas_home")
def test_verl_s_agent_loop_plays_a_rollout(tmp_path: Path, items: list[Item]) -> None:
    from scripted_grpo import make_tiny

    write_verl(tmp_path / "out", items, WORDS)
    python, other = python_with(*VERL, deps=False), python_with(*PICTURES, deps=False)
    model = str(make_tiny(tmp_path / "model"))
    # Hydra writes the whole configuration that the script would train with. A tiny vocabulary makes long prompts.
    done = subprocess.run(
        ["bash", tmp_path / "out" / "train.sh", model, "data.max_prompt_length=20000", "--cfg", "job", "--resolve"],
        env={**os.environ, "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    config = tmp_path / "config.yaml"
    config.write_text(done.stdout, encoding="utf-8")
    pictures = sysconfig.get_path("purelib", vars={"base": str(other.parent.parent)})
    child = ROOT / "tests" / "support" / "verl_rollout.py"
    told = json.loads(output_of(python, child, str(config), model, pictures))
    assert told["rows"] == 2
    assert told["turns"] == 6
    # The model's words carry loss, the tools' do not.
    assert told["learned"].count("<tool_call>") == 2
    assert told["learned"].endswith('"country": "Monaco"}<|im_end|>')
    assert "A cut of image-1" not in told["learned"]
    assert "A cut of image-1" in told["heard"]
    assert "Monaco (country); 43.7" in told["heard"]
    assert told["pictures"] == 2
    assert told["score"] == pytest.approx(1.0)
