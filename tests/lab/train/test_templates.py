"""Chat templates: which ones GRPO works with, and that one named in a recipe stays with the policy."""

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from geosleuth.lab.train.dryrun import dry_run
from geosleuth.lab.train.grpo import run_grpo
from geosleuth.lab.train.models import check_for_grpo, open_processor, set_template, template_text
from geosleuth.lab.train.recipe import ModelPart, RolloutPart
from geosleuth.lab.train.sft import run_sft
from geosleuth.support.errors import BadInput
from later import later
from scripted_grpo import make_photos, tiny_recipe
from tiny_vlm import CHAT_TEMPLATE, make_tiny_vlm, tiny_vlm_folder
from training_runs import processor_with, recipe, short_store, template

later("trl")

REMEDY = r"set model\.chat_template: qwen3_vl"
WITH_TOOLS = RolloutPart(
    method="spotagent", reward="spotagent", tools=("image_zoom_in_tool",), group=2, reply_tokens=8, turns=2
)
WITHOUT_TOOLS = replace(WITH_TOOLS, tools=(), turns=1)


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model with the template that Qwen2.5-VL brings."""
    import_module("torch").set_num_threads(1)
    return make_tiny_vlm(tmp_path_factory.mktemp("older") / "model", chat_template=template("qwen2_5_vl"))


@pytest.mark.parametrize("tools", [True, False])
def test_a_template_without_calls_is_refused(tools: bool) -> None:
    with pytest.raises(BadInput, match=REMEDY) as caught:
        check_for_grpo(processor_with(template("qwen2_5_vl")), tools=tools)
    assert "\n" not in str(caught.value)


def test_a_template_that_trl_can_not_read_calls_from() -> None:
    processor = processor_with(CHAT_TEMPLATE)
    check_for_grpo(processor, tools=False)
    with pytest.raises(BadInput, match=REMEDY):
        check_for_grpo(processor, tools=True)
    # The tokenizer may say itself how calls are read.
    processor.tokenizer.response_template = import_module("trl.chat_template_utils").qwen3_template
    check_for_grpo(processor, tools=True)
    rewriting = processor_with("{{- messages | length -}}" + CHAT_TEMPLATE)
    rewriting.tokenizer.response_template = processor.tokenizer.response_template
    with pytest.raises(BadInput, match=f"rewrites earlier turns.*{REMEDY}"):
        check_for_grpo(rewriting, tools=True)


def test_a_template_takes_the_place_of_the_models_own() -> None:
    processor = processor_with(template("qwen2_5_vl"))
    processor.tokenizer.response_template = {"of": "the old one"}
    set_template(processor, "qwen3_vl")
    assert processor.chat_template == processor.tokenizer.chat_template == template("qwen3_vl")
    check_for_grpo(processor, tools=True)
    assert processor.tokenizer.response_template != {"of": "the old one"}


def test_templates_that_there_are_not(tmp_path: Path) -> None:
    own = tmp_path / "own.jinja"
    for name in ("qwen9", "../chat_templates/qwen3_vl", str(own)):
        with pytest.raises(BadInput, match="give qwen3_vl, or a file"):
            template_text(name)
    own.write_bytes(b"\xff\xfe")
    with pytest.raises(BadInput, match="can't be read"):
        template_text(str(own))
    own.write_text(" \n", encoding="utf-8")
    with pytest.raises(BadInput, match="is no chat template"):
        template_text(str(own))
    own.write_text("{% for message in messages %}", encoding="utf-8")
    with pytest.raises(BadInput, match="can't show a chat"):
        open_processor(ModelPart(path=str(tiny_vlm_folder()), chat_template=str(own)))
    own.write_text(CHAT_TEMPLATE + "{# ours #}", encoding="utf-8")
    assert open_processor(ModelPart(path=str(tiny_vlm_folder()), chat_template=str(own))).chat_template.endswith("#}")


@pytest.mark.usefixtures("atlas_home")
@pytest.mark.parametrize("rollout", [WITH_TOOLS, WITHOUT_TOOLS], ids=["tools", "no tools"])
def test_grpo_refuses_before_it_begins(older: Path, tmp_path: Path, rollout: RolloutPart) -> None:
    plan = tiny_recipe(older, make_photos(tmp_path / "photos", 1), rollout)
    with pytest.raises(BadInput, match=REMEDY):
        run_grpo(plan, tmp_path / "run")
    with pytest.raises(BadInput, match=REMEDY):
        dry_run(plan)
    good = replace(plan, model=replace(plan.model, chat_template="qwen3_vl"))
    report = dry_run(good)
    assert "chat template: qwen3_vl, in place of the model's own" in report.built


@pytest.mark.slow
@pytest.mark.usefixtures("atlas_home")
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
def test_all_stages_of_a_model_whose_own_template_has_no_calls(older: Path, tmp_path: Path) -> None:
    def stage(name: str, path: Path, **data: Any) -> Path:
        plan = recipe(path, data.pop("store", None), model={"chat_template": "qwen3_vl"}, optim={"steps": 1}, data=data)
        return run_sft(replace(plan, stage=name), tmp_path / name).policy  # type: ignore[arg-type]

    tuned = stage("sft", older, scenes=1, questions=("country", "script"))
    cold = stage("coldstart", tuned, store=short_store(tmp_path / "store", 2))
    for number, rollout in enumerate((WITH_TOOLS, WITHOUT_TOOLS)):
        # The policy has the template; nothing need be said of it any more.
        plan = tiny_recipe(cold, make_photos(tmp_path / f"photos-{number}", 1), rollout)
        done = run_grpo(plan, tmp_path / f"grpo-{number}")
        assert done.steps == 1
        assert (done.policy / "chat_template.jinja").read_text(encoding="utf-8") == template("qwen3_vl")
