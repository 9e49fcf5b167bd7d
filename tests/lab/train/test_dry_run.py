"""Dry runs of the recipes that come with the package: everything is built but the weights."""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from geosleuth.lab.traces import write_store
from geosleuth.lab.train.configs import accelerate_config
from geosleuth.lab.train.dryrun import as_lines, as_mapping, dry_run, meta_model
from geosleuth.lab.train.papers import find_paper_values
from geosleuth.lab.train.recipe_files import ABLATIONS, read_recipe, recipe_names
from geosleuth.support.errors import BadInput
from later import later
from scripted_grpo import make_photos
from stored import about, made
from tiny_vlm import tiny_vlm_folder

DOCS = Path(__file__).resolve().parents[3] / "docs" / "background" / "training.md"

for needed in ("torch", "transformers", "trl", "peft"):
    later(needed)


@pytest.mark.parametrize("name", [name for name in recipe_names() if read_recipe(name).paper])
def test_a_recipe_of_a_paper_is_as_the_paper_has_it(name: str) -> None:
    report = dry_run(read_recipe(name))
    assert report.ok, as_lines(report)
    assert set(report.ours) == set(read_recipe(name).unpublished)
    assert any(line.startswith("weights:") for line in report.absent)
    assert any(line.startswith("data:") for line in report.absent)
    first, *lines = as_lines(report)
    assert first.startswith(f"{name}: all published values are the paper's, {len(report.departures)} departure")
    assert sum(line.startswith("  departs  ") for line in lines) == len(report.departures)
    told = json.loads(json.dumps(as_mapping(report)))
    assert told["ok"] is True
    assert told["resolved"]["optim.learning_rate"] == read_recipe(name).optim.learning_rate
    assert told["estimate"]["memory"]["peak"] == pytest.approx(report.estimate.memory.peak)
    assert told["accelerate"]["num_processes"] == read_recipe(name).run.devices
    found = report.estimate
    steps = "unknown" if found.steps is None else f"{found.steps:,}"
    published = sum(one.published for one in find_paper_values(read_recipe(name)))
    cells = (f"`{name}`", published, len(report.ours), f"{found.memory.peak:.1f} of {found.device_gb:g}", steps)
    assert f"| {' | '.join(map(str, cells))} |" in DOCS.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("name", ABLATIONS)
def test_an_ablation_of_a_paper_keeps_all_values_of_the_parts_it_has(name: str) -> None:
    recipe = read_recipe(name)
    assert recipe.name == name
    assert recipe.ablation is not None
    report = dry_run(recipe)
    assert report.ok, as_lines(report)
    base = read_recipe(ABLATIONS[name][0])
    assert (recipe.rollout.reward, recipe.model.path) != (base.rollout.reward, base.model.path)
    # What the row has in common with the method is still held against the paper.
    assert not dry_run(read_recipe(name, {"rollout.kl": 0.5})).ok
    if recipe.rollout.reward == "geoagent-spatial":
        strayed = dry_run(read_recipe(name, {"rollout.reward_options": {"tau_km": 3.5}}))
        assert [one.name for one in strayed.differences] == ["reward.spatial.tau_km"]


def departing(name: str, changes: dict[str, Any] | None = None) -> dict[str, str]:
    return {one.name: one.ours for one in dry_run(read_recipe(name, changes or {})).departures}


def test_what_departs_from_a_paper_is_named(tmp_path: Path) -> None:
    found = departing("geoagent-grpo")
    assert found["judge"] == found["encoder"] == "none named"
    assert found["prompt"] == "our own words"
    assert found["geocoder"] == "the offline atlas"
    folder = tmp_path / "paraphrase-multilingual-MiniLM-L12-v2"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    as_paper = {"rollout.judge": "server:Qwen3-32B-GPTQ-Int4", "rollout.judge_url": "http://127.0.0.1:9/v1",
                "rollout.encoder": str(folder)}  # fmt: skip
    assert {"judge", "encoder"}.isdisjoint(departing("geoagent-grpo", as_paper))
    assert departing("geoagent-grpo", {**as_paper, "rollout.judge": "rules"})["judge"] == "rules"
    assert "validation" in departing("spotagent-grpo")
    assert "what tools ask" in departing("geovista-grpo")
    assert departing("geovista-grpo", {"rollout.tools": ["search_web"]})["tools"] == "search_web"
    assert "prompt" in departing("twm-grpo")
    assert {"encoder", "judge"}.isdisjoint(departing("geoagent-grpo-spatial"))
    assert departing("nano-grpo") == {}


def test_a_run_that_would_not_start_says_what_it_lacks() -> None:
    report = dry_run(read_recipe("geoagent-grpo"))
    assert [line.partition(":")[0] for line in report.absent if "does not start" in line] == ["encoder", "judge"]
    with pytest.raises(BadInput, match="has no config"):
        dry_run(read_recipe("geoagent-grpo", {"rollout.encoder": "/nowhere", "rollout.judge": "rules"}))


@pytest.mark.parametrize("name", ["spotagent-sft", "twm-grpo"])
def test_accelerate_finds_the_layers_that_it_is_told_to_shard(name: str) -> None:
    utils: Any = import_module("accelerate.utils")
    recipe = read_recipe(name)
    told = accelerate_config(recipe)["fsdp_config"]
    layers = told["fsdp_transformer_layer_cls_to_wrap"].split(",")
    plugin = utils.FullyShardedDataParallelPlugin(
        fsdp_version=told["fsdp_version"],
        reshard_after_forward=told["fsdp_reshard_after_forward"],
        auto_wrap_policy=told["fsdp_auto_wrap_policy"],
        transformer_cls_names_to_wrap=layers,
        state_dict_type=told["fsdp_state_dict_type"],
        cpu_ram_efficient_loading=told["fsdp_cpu_ram_efficient_loading"],
    )
    plugin.set_auto_wrap_policy(meta_model(recipe.model))
    assert {one.__name__ for one in plugin.auto_wrap_policy.keywords["transformer_layer_cls"]} == set(layers)


def small(**changes: Any) -> dict[str, Any]:
    """A paper's recipe on a model that is really there."""
    folder = str(tiny_vlm_folder())
    return {"model.path": folder, "model.base": None, "paper": None, "unpublished": [], **changes}


def test_photos_that_are_here_are_posed(tmp_path: Path) -> None:
    photos = make_photos(tmp_path, 2)
    report = dry_run(read_recipe("geovista-grpo", small(**{"data.photos": str(photos)})))
    assert report.ok, as_lines(report)
    assert report.absent == ()
    assert any("the first 2 rows can be posed" in line for line in report.built)
    photos.write_text("id,image,lat,lon\na,nowhere.png,1,2\n", encoding="utf-8")
    with pytest.raises(BadInput, match="nowhere"):
        dry_run(read_recipe("geovista-grpo", small(**{"data.photos": str(photos)})))


def test_trajectories_that_are_here_are_read(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed; it is part of the developers' environment")
    write_store(tmp_path / "store", made(6), about())
    changes = small(**{"data.store": str(tmp_path / "store"), "data.limit": None})
    report = dry_run(read_recipe("geovista-coldstart", changes))
    assert report.ok, as_lines(report)
    assert any("4 rows; the first 3 can be read" in line for line in report.built)
    assert report.estimate.steps == 1


def test_weights_of_another_model_than_the_papers_are_noticed() -> None:
    report = dry_run(read_recipe("geovista-coldstart", {"model.path": str(tiny_vlm_folder())}))
    assert [one.name for one in report.differences] == ["model.base"]
