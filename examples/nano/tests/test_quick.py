"""GRPO made quick: the same tokens, the same pixels, the same tools as TRL's own way."""

from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from geosleuth.lab.scenes.environment import GeoEnvironment, Posed, build_environment_class, offline_setting
from geosleuth.lab.train.generator import Shrink, shrinking
from geosleuth.lab.train.grpo import grpo_trainer
from geosleuth.lab.train.prompts import prompt_rows
from geosleuth.lab.train.recipe import RolloutPart
from geosleuth.models.weights_engine import load_processor
from geosleuth.photo import open_photo
from later import later
from nano.fast_grpo import quicken, ready_images
from nano.shards import final_pixels
from nano.trainer import Collator
from nano.vision import patch_vision_inputs
from nano_models import chat, noise, tiny_nano_folder, tiny_nano_processor
from scripted_grpo import FAR, NEAR, called, make_photos, script, tiny_recipe

torch = later("torch")
later("trl")
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning"),
    pytest.mark.usefixtures("atlas_home"),
]
TOOLS = ("zoom", "read_text", "geocode")
SHRINK = Shrink(32, 130_000, 155_000, int(Image.Resampling.BICUBIC))


def trainer_of(folder: Path, rollout: RolloutPart, **options: Any) -> Any:
    """A trainer whose model's next token depends on what it read: weights as they come are all but indifferent."""
    transformers: Any = import_module("transformers")
    torch.set_num_threads(1)
    model = transformers.Qwen3VLForConditionalGeneration.from_pretrained(tiny_nano_folder())
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(3)
    table = make_photos(folder / "photos", 2)
    noise(96, 64).save(table.parent / "1.png")
    recipe = tiny_recipe(tiny_nano_folder(), table, rollout)
    rows = prompt_rows(recipe.data)
    trainer = grpo_trainer(model, load_processor(tiny_nano_folder()), rows, recipe, folder / "run", **options)
    trainer.other_row = next(row for row in rows if row["id"] != trainer.train_dataset[0]["id"])
    return trainer


def recorded(trainer: Any) -> list[tuple[Any, Any]]:
    """Plays two photos, two replies each; what the trainer asked to be drawn, and what was drawn."""
    own, seen = trainer._generate_single_turn, []

    def record(*given: Any) -> Any:
        seen.append((given, own(*given)))
        return seen[-1][1]

    trainer._generate_single_turn = record
    one = trainer.train_dataset[0]
    trainer.play([one, one, {**one, **trainer.other_row}, {**one, **trainer.other_row}])
    return seen


@pytest.fixture(scope="module")
def rollout() -> RolloutPart:
    return RolloutPart(method="nano", tools=(), reward="spotagent", group=2, reply_tokens=24, temperature=1e-4)


@pytest.mark.slow
def test_the_same_tokens_as_by_trls_own_way(rollout: RolloutPart, tmp_path: Path) -> None:
    trainer = trainer_of(tmp_path, rollout)
    ((given, (expected, _)),) = recorded(trainer)
    assert len({token for row in expected for token in row}) > 15
    assert expected[0] == expected[1] != expected[2]
    assert quicken(trainer, turn_tokens=24) is trainer
    drawn, logprobs = trainer._generate_single_turn(*given)
    assert drawn == [list(map(int, row)) for row in expected]
    assert logprobs is None
    assert trainer.drawn_tokens == sum(map(len, drawn))
    assert trainer.drawing_seconds > 0

    quicken(trainer, turn_tokens=7)
    assert trainer._generate_single_turn(*given)[0] == [row[:7] for row in drawn]
    with torch.no_grad():
        for weight in trainer.model.parameters():
            weight.mul_(-1)
    assert trainer._generate_single_turn(*given)[0] != [row[:7] for row in drawn]


def test_words_go_through_templates_once_and_come_out_the_same(tmp_path: Path) -> None:
    trainer = trainer_of(tmp_path, RolloutPart(method="nano", reward="spotagent", group=2, reply_tokens=400))
    parse_response = import_module("trl.chat_template_utils").parse_response
    prompt = [{"role": "user", "content": [{"type": "text", "text": "Where?"}]}]

    def result(*parts: Any) -> Any:
        return [{"role": "tool", "name": "zoom", "content": list(parts)}]

    def seen(size: tuple[int, int]) -> Any:
        return {"type": "image", "image": noise(*size)}

    text = {"type": "text", "text": "image-2:"}
    results = [result(text), result({"type": "text", "text": "image-3:"})]
    results += [result(text, seen(size)) for size in ((96, 64), (320, 64), (64, 96))]
    said = [
        called("read_text"),
        called("zoom", bbox_2d=[0, 0, 9, 9]),
        NEAR,
        "<tool_call>{",
        f"{NEAR}\n{called('zoom')}",
    ]
    tokens = [trainer._tokenizer(words, add_special_tokens=False)["input_ids"] for words in said]

    def all_words() -> Any:
        trainer._batch_environments = [None, None]
        asked = trainer._tokenize_prompts([prompt, prompt])[0]
        tools = trainer._env_tools[None]
        suffixes = [trainer._get_tool_suffix_ids(one) for one in results]
        # What stands before a reply is the question, or the newest result.
        before = (asked[0], asked[0] + tokens[0] + suffixes[0])
        replies = [parse_response(trainer._tokenizer, ids, prefix=one, tools=tools) for one in before for ids in tokens]
        return asked, suffixes, replies

    expected = all_words()
    assert len({tuple(ids) for ids in expected[1]}) >= 4
    calls: list[Any] = []
    parsed: list[Any] = []
    trainer._tokenizer.parse_response = _counting(trainer._tokenizer.parse_response, parsed)
    quicken(trainer, turn_tokens=24)
    trainer.processing_class.apply_chat_template = _counting(trainer.processing_class.apply_chat_template, calls)
    first = all_words()
    assert first == expected
    for reply in first[2]:
        reply["role"] = "changed"
    first[1][0].append(7)
    before = len(calls)
    assert all_words() == expected
    assert len(calls) == before + 1  # the prompt that both share; no result a second time
    broken = 1  # what can't be read is tried again
    assert len(parsed) == len(said) + 3 * broken


def _counting(function: Any, calls: list[Any]) -> Any:
    def counted(*given: Any, **options: Any) -> Any:
        calls.append(given)
        return function(*given, **options)

    return counted


def evened(processor: Any, rows: Any) -> Any:
    """Bytes as the processor's own numbers: scaled, made even, and the same at both times."""
    images = processor.image_processor
    mean, std = (torch.tensor(each)[:, None] for each in (images.image_mean, images.image_std))
    channels = (rows.view(len(rows), 3, -1) * images.rescale_factor - mean) / std
    return channels.view(len(rows), 3, 1, -1).expand(-1, -1, images.temporal_patch_size, -1).reshape(len(rows), -1)


def test_pixels_are_those_of_the_processor() -> None:
    processor = load_processor(tiny_nano_folder())
    sizes = ((640, 480), (90, 200), (600, 40), (640, 480))
    pictures = [Image.fromarray(final_pixels(processor, noise(*size, seed))) for seed, size in enumerate(sizes)]
    nested = [pictures[:1], pictures[1:]]
    own = processor.image_processor(images=pictures, return_tensors="pt")
    kind = type(processor.image_processor)
    with ready_images(processor, keep=2):
        for given in (pictures, nested, pictures):
            ready = processor.image_processor(images=given, return_tensors="pt")
            assert ready["pixel_values"].dtype == torch.uint8
            assert torch.equal(ready["image_grid_thw"], own["image_grid_thw"])
            assert torch.allclose(evened(processor, ready["pixel_values"]), own["pixel_values"], atol=1e-6)
        messages = chat(*pictures[:2])
        there = processor.apply_chat_template(messages, tokenize=True, return_dict=True, return_tensors="pt")
        with pytest.raises(ValueError, match="100 x 50 pixels is not at final size"):
            processor.image_processor(images=[noise(100, 50)])
    assert type(processor.image_processor) is kind
    again = processor.apply_chat_template(messages, tokenize=True, return_dict=True, return_tensors="pt")
    assert torch.equal(there["input_ids"], again["input_ids"])
    assert torch.allclose(evened(processor, there["pixel_values"]), again["pixel_values"], atol=1e-6)


def test_a_model_sees_the_same_in_bytes_and_learns_the_same() -> None:
    transformers: Any = import_module("transformers")
    processor = load_processor(tiny_nano_folder())
    pictures = [Image.fromarray(final_pixels(processor, noise(*size))) for size in ((640, 480), (90, 200))]
    own = processor.image_processor(images=pictures, return_tensors="pt")
    with ready_images(processor):
        ready = processor.image_processor(images=pictures, return_tensors="pt")
    assert 8 * ready["pixel_values"].nbytes == own["pixel_values"].nbytes
    found = []
    for given, takes_bytes in ((own, False), (own, True), (ready, True)):
        model = transformers.Qwen3VLForConditionalGeneration.from_pretrained(tiny_nano_folder())
        if takes_bytes:
            patch_vision_inputs(model, processor.image_processor)
        output = model.model.get_image_features(given["pixel_values"], given["image_grid_thw"])
        seen = torch.cat(list(output.pooler_output))
        seen.square().mean().backward()
        found.append((seen.detach(), model.model.visual.patch_embed.proj.weight.grad))
    for seen, gradient in found[1:]:
        torch.testing.assert_close(seen, found[0][0], atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(gradient, found[0][1], atol=1e-6, rtol=1e-3)


def photo_environment(size: tuple[int, int]) -> type[GeoEnvironment]:
    import io

    stored = io.BytesIO()
    noise(*size).save(stored, "PNG")
    posed = Posed((open_photo(stored.getvalue()),))
    return build_environment_class(offline_setting("nano", answer_by="reply", reward="ours"), lambda _row: posed)


def pictures_in(content: Any) -> list[Any]:
    return [part["image"] for part in content if part["type"] == "image"]


def test_tools_look_the_same_and_their_pictures_are_at_final_size() -> None:
    utils: Any = import_module("transformers.utils")
    plain = photo_environment((800, 600))
    small = shrinking(plain, shrink=SHRINK, tools=TOOLS)
    assert small.__name__ == plain.__name__
    for name in TOOLS:
        assert utils.get_json_schema(getattr(small, name)) == utils.get_json_schema(getattr(plain, name))
    one: Any = plain()
    other: Any = small()
    box = {"bbox_2d": [100, 100, 500, 600]}
    for whole, shrunk in ((one.reset(), other.reset()), (one.zoom(**box), other.zoom(**box))):
        assert [part.get("text") for part in whole] == [part.get("text") for part in shrunk]
        (before,), (after,) = pictures_in(whole), pictures_in(shrunk)
        assert Image.fromarray(final_pixels(tiny_nano_processor(), before)).tobytes() == after.tobytes()
        assert after.size != before.size
    assert one.geocode(address="Monaco") == other.geocode(address="Monaco")


def test_the_replies_of_a_group_share_the_picture_they_open_with() -> None:
    small = shrinking(photo_environment((800, 600)), shrink=SHRINK, tools=TOOLS)
    one: Any = small()
    other: Any = small()
    (first,), (again,) = pictures_in(one.reset(id="7")), pictures_in(other.reset(id="7"))
    assert first is again
    assert pictures_in(one.reset(id="8"))[0] is not first
    box = {"bbox_2d": [100, 100, 500, 600]}
    assert pictures_in(one.zoom(**box))[0] is not pictures_in(other.zoom(**box))[0]


def test_a_copy_of_a_picture_is_made_ready_no_second_time() -> None:
    processor = load_processor(tiny_nano_folder())
    pictures = [Image.fromarray(final_pixels(processor, noise(640, 480, seed))) for seed in (1, 2)]
    made: list[Any] = []
    with pytest.MonkeyPatch.context() as patch, ready_images(processor):
        cut = Collator.bytes_of_patches

        def counted(self: Collator, image: Any) -> Any:
            made.append(image)
            return cut(self, image)

        patch.setattr(Collator, "bytes_of_patches", counted)
        for given in (pictures, [one.copy() for one in pictures]):
            processor.image_processor(images=given, return_tensors="pt")
    assert len(made) == 2


@pytest.mark.slow
def test_pictures_from_other_processes_are_shrunk_too(tmp_path: Path) -> None:
    tools = ("image_zoom_in_tool", "maps_geocode")
    rollout = RolloutPart(method="nano", tools=tools, reward="spotagent", group=2, reply_tokens=1400)
    wrap = partial(shrinking, shrink=SHRINK, tools=("zoom", "geocode"))
    trainer = trainer_of(tmp_path, rollout, workers=2, wrap=wrap)
    said = iter([[called("zoom", bbox_2d=[0, 0, 500, 500]), called("geocode", address="Monaco")], [NEAR, FAR]])
    script(trainer.model, trainer.processing_class.tokenizer, lambda _rows: next(said))
    patch_vision_inputs(trainer.model, trainer.processing_class.image_processor)
    try:
        with ready_images(trainer.processing_class):
            outcome = trainer.play([trainer.train_dataset[0]] * 2)
    finally:
        trainer.close_workers()
    assert outcome.worked == ((True,), (True,))
    assert outcome.answered.tolist() == [True, True]
    contents = [message["content"] for talk in trainer._logs["completion"] for message in talk]
    shown = [one for content in contents if isinstance(content, list) for one in pictures_in(content)]
    assert [one.size for one in shown] == [(one.width // 32 * 32, one.height // 32 * 32) for one in shown]
    assert len(shown) == 1
