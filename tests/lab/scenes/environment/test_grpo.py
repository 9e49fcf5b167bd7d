"""One step of GRPO in TRL itself, with a tiny model that is made to call tools: what the trainer does with it all."""

import io
import json
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from geosleuth.lab.scenes.environment import environment_for, hear_replies, offline_setting, prompt_for
from geosleuth.models.weights_engine import load_processor
from later import later
from tiny_vlm import make_tiny_vlm
from tool_cases import sign

later("trl")
NEAR = json.dumps({"lat": 43.7384, "lon": 7.4246, "country": "Monaco"})
FAR = json.dumps({"lat": -33.87, "lon": 151.21, "country": "Australia"})


def called(name: str, **arguments: Any) -> str:
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


class Script:
    """What each row of a batch says in each generation, as `tiny_vlm.Forced` does for one row and one generation.

    A stand-in for a trained model: it runs in full, and its choice among the tokens is taken from it.
    """

    def __init__(self, tokenizer: Any, generations: list[list[str]]) -> None:
        self._said = iter(generations)
        self._ids = partial(tokenizer, add_special_tokens=False)
        self._end = tokenizer.eos_token_id

    def generate(self, model: Any, *given: Any, **options: Any) -> Any:
        wanted = [[*self._ids(text)["input_ids"], self._end] for text in next(self._said)]
        start: list[int] = []

        def force(input_ids: Any, scores: Any) -> Any:
            if not start:
                start.append(input_ids.shape[1])
            forced = scores.new_full(scores.shape, float("-inf"))
            for row, ids in enumerate(wanted):
                token = ids[min(input_ids.shape[1] - start[0], len(ids) - 1)]
                forced[row, token] = scores[row, token]
            return forced

        return type(model).generate(model, *given, logits_processor=[force], **options)


def trained(tmp_path: Path, generations: list[list[str]], *, answer_by: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The trainer after one step, in which the rows of the batch say what is given."""
    torch: Any = import_module("torch")
    transformers: Any = import_module("transformers")
    datasets: Any = import_module("datasets")
    trl: Any = import_module("trl")

    torch.set_num_threads(1)
    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")
    template = (Path(trl.__file__).parent / "chat_templates" / "qwen3_vl.jinja").read_text(encoding="utf-8")
    folder = make_tiny_vlm(tmp_path / "model", chat_template=template)
    processor = load_processor(folder)
    model = transformers.Qwen3VLForConditionalGeneration.from_pretrained(folder)
    model.generate = partial(Script(processor.tokenizer, generations).generate, model)

    stream = io.BytesIO()
    sign("Rue Grimaldi", size=(300, 200), letter=20).save(stream, "PNG")
    setting = offline_setting("spotagent", reward="spotagent", answer_by=answer_by)
    row = {"prompt": prompt_for(setting), "photo": stream.getvalue(), "lat": 43.7384, "lon": 7.4246}
    trainer = trl.GRPOTrainer(
        model=model,
        processing_class=processor,
        train_dataset=datasets.Dataset.from_list([row]),
        environment_factory=environment_for(setting),
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
    script = [first, answers, *([["Done.", "Done."]] if answer_by == "tool" else [])]
    trainer = trained(tmp_path, script, answer_by=answer_by, monkeypatch=monkeypatch)
    near, far = trainer.environments
    assert near.observations[0].images[0].handle == "image-2"
    assert "Monaco" in far.observations[0].text
    assert [one.trajectory.ended.reason for one in (near, far)] == ["answered", "answered"]
    told = trainer.state.log_history[0]
    assert told["rewards/GeoEnvironment/mean"] == pytest.approx(0.5)
    assert told["reward"] == pytest.approx(0.5)
    assert told["tools/failure_frequency"] == 0
    assert told["grad_norm"] > 0
