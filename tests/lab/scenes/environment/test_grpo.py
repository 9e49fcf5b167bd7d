"""One step of GRPO in TRL itself, with a tiny model that is made to call tools: what the trainer does with it all."""

import io
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from geosleuth.lab.scenes.environment import build_environment_class, build_prompt_column, hear_replies, offline_setting
from geosleuth.models.weights_engine import load_processor
from later import later
from scripted_grpo import FAR, NEAR, called, make_tiny, script
from tool_cases import sign

later("trl")


def trained(tmp_path: Path, generations: list[list[str]], *, answer_by: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The trainer after one step, in which the rows of the batch say what is given."""
    torch: Any = import_module("torch")
    transformers: Any = import_module("transformers")
    datasets: Any = import_module("datasets")
    trl: Any = import_module("trl")

    torch.set_num_threads(1)
    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")
    folder = make_tiny(tmp_path / "model")
    processor = load_processor(folder)
    model = transformers.Qwen3VLForConditionalGeneration.from_pretrained(folder)
    said = iter(generations)
    script(model, processor.tokenizer, lambda _rows: next(said))

    stream = io.BytesIO()
    sign("Rue Grimaldi", size=(300, 200), letter=20).save(stream, "PNG")
    setting = offline_setting("spotagent", reward="spotagent", answer_by=answer_by)
    row = {"prompt": build_prompt_column(setting), "photo": stream.getvalue(), "lat": 43.7384, "lon": 7.4246}
    trainer = trl.GRPOTrainer(
        model=model,
        processing_class=processor,
        train_dataset=datasets.Dataset.from_list([row]),
        environment_factory=build_environment_class(setting),
        reward_funcs=hear_replies if answer_by == "reply" else None,
        args=trl.GRPOConfig(
            output_dir=str(tmp_path / "out"), max_steps=1, num_generations=2, per_device_train_batch_size=2,
            max_completion_length=1500, learning_rate=1e-3, use_cpu=True, bf16=False, gradient_checkpointing=False,
            report_to=[], save_strategy="no", logging_steps=1, disable_tqdm=True,
        ),
    )  # fmt: skip
    trainer.train()
    return trainer


ZOOM = called("image_zoom_in_tool", bbox_2d=[0, 0, 150, 100])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
@pytest.mark.parametrize("answer_by", ["tool", pytest.param("reply", marks=pytest.mark.slow)])
@pytest.mark.usefixtures("atlas_home")
def test_a_step_of_grpo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer_by: str) -> None:
    first = [ZOOM, called("maps_geocode", address="Monaco")]
    answers = [called("answer", reply=NEAR), called("answer", reply=FAR)] if answer_by == "tool" else [NEAR, FAR]
    said = [first, answers, *([["Done.", "Done."]] if answer_by == "tool" else [])]
    trainer = trained(tmp_path, said, answer_by=answer_by, monkeypatch=monkeypatch)
    near, far = trainer.environments
    assert near.observations[0].images[0].handle == "image-2"
    assert "Monaco" in far.observations[0].text
    assert [one.trajectory.ended.reason for one in (near, far)] == ["answered", "answered"]
    told = trainer.state.log_history[0]
    assert told["rewards/GeoEnvironment/mean"] == pytest.approx(0.5)
    assert told["reward"] == pytest.approx(0.5)
    assert told["tools/failure_frequency"] == 0
    assert told["grad_norm"] > 0
