"""Models to train: opened, limited, frozen, and saved as policies."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from geosleuth.lab.train.models import (
    adapters,
    limit_pixels,
    load_model,
    merge_weights,
    save_gathered,
    save_policy,
)
from geosleuth.lab.train.recipe import ModelPart
from geosleuth.models.weights_engine import Engine
from geosleuth.support.errors import BadInput
from later import later
from tiny_vlm import tiny_vlm_folder

torch = later("torch")
later("peft")


def part(**changes: Any) -> ModelPart:
    settings: dict[str, Any] = {"path": str(tiny_vlm_folder()), "rank": 4, "alpha": 8}
    return ModelPart(**(settings | changes))


def logits(model: Any) -> Any:
    with torch.no_grad():
        return model.eval()(input_ids=torch.arange(20, 60)[None]).logits


@pytest.fixture
def adapted() -> tuple[Any, Any]:
    """A model whose adapters have learned something."""
    import peft

    model, processor = load_model(part(tuned="lora"))
    wrapped = peft.get_peft_model(model, adapters(part(tuned="lora")))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        for name, weights in wrapped.named_parameters():
            if "lora_B" in name:
                torch.nn.init.normal_(weights, std=0.2)
    return wrapped, processor


def test_adapters_are_worked_into_a_plain_folder(adapted: tuple[Any, Any], tmp_path: Path) -> None:
    model, processor = adapted
    before = logits(model)
    save_policy(model, processor, tmp_path / "policy")
    assert logits(model).equal(before)
    plain, _ = load_model(part(path=str(tmp_path / "policy")))
    torch.testing.assert_close(logits(plain), before, rtol=1e-4, atol=1e-5)
    with model.disable_adapter():
        assert (logits(model) - before).abs().max() > 0.01
    assert not any("lora" in name or "base_layer" in name for name in merge_weights(model))
    assert [path.name for path in tmp_path.iterdir()] == ["policy"]
    told = json.loads((tmp_path / "policy" / "processor_config.json").read_text(encoding="utf-8"))
    assert told["processor_class"] == "Qwen3VLProcessor"
    Engine(tmp_path / "policy", device="cpu")


class Gathering:
    """A trainer whose weights are spread over devices, as far as saving goes: files are all that comes out of it."""

    def __init__(self, model: Any, processor: Any) -> None:
        self.processing_class, self._model = processor, model
        self.accelerator = self
        self.is_main_process = True
        self.is_fsdp_enabled = False

    def wait_for_everyone(self) -> None:
        pass

    def save_model(self, folder: str) -> None:
        self._model.save_pretrained(folder)
        self.processing_class.save_pretrained(folder)


@pytest.mark.parametrize("tuned", ["lora", "full"])
def test_gathered_weights_make_the_same_policy(adapted: tuple[Any, Any], tmp_path: Path, tuned: Any) -> None:
    model, processor = adapted
    source = model if tuned == "lora" else load_model(part())[0]
    killed = tmp_path / ".policy.gathered"
    killed.mkdir()
    (killed / "model.safetensors.index.json").write_text("{", encoding="utf-8")
    save_gathered(Gathering(source, processor), part(tuned=tuned), tmp_path / "policy")
    plain, _ = load_model(part(path=str(tmp_path / "policy")))
    torch.testing.assert_close(logits(plain), logits(source), rtol=1e-4, atol=1e-5)
    assert [path.name for path in tmp_path.iterdir()] == ["policy"]


def test_a_policy_is_replaced_whole(tmp_path: Path) -> None:
    model, processor = load_model(part())
    (tmp_path / "policy").mkdir()
    (tmp_path / "policy" / "old").touch()
    save_policy(model, processor, tmp_path / "policy")
    assert not (tmp_path / "policy" / "old").exists()
    again, _ = load_model(part(path=str(tmp_path / "policy")))
    assert logits(again).equal(logits(model))


def test_pictures_are_shown_with_no_more_pixels_than_wanted() -> None:
    from PIL import Image

    _, processor = load_model(part(max_pixels=64 * 64))
    made = processor.image_processor([Image.new("RGB", (640, 480))], return_tensors="pt")
    assert int(made["image_grid_thw"].prod()) * 16 * 16 <= 64 * 64

    class Other:
        image_processor = object()

    with pytest.raises(BadInput, match=r"leave model\.max_pixels out"):
        limit_pixels(Other(), 10)


def test_a_folder_that_is_no_model_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no folder"):
        load_model(part(path=str(tmp_path / "nowhere")))
    broken = tmp_path / "broken"
    shutil.copytree(tiny_vlm_folder(), broken)
    config = json.loads((broken / "config.json").read_text(encoding="utf-8"))
    config["text_config"]["num_hidden_layers"] = 3
    (broken / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(BadInput, match="lacks 11 of the model's weights") as caught:
        load_model(part(path=str(broken)))
    assert "\n" not in str(caught.value)
