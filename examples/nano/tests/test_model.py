"""The model that is trained from nothing: its size, its tokens, its template, and all who must be able to use it."""

import asyncio
import json
from collections.abc import Sequence
from importlib import import_module
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import pytest

from asked import album_of, conversation_about
from geosleuth.lab.scenes import open_world
from geosleuth.lab.train.architectures import ARCHITECTURES
from geosleuth.models.weights import WeightsPolicy
from geosleuth.models.weights_engine import find_abilities, load_processor
from later import later
from nano.nano_model import (
    MAX_POSITIONS,
    PATCH_PX,
    SHAPES,
    VOCABULARY,
    _configuration,
    corpus,
    digit_groups,
    load_nano_processor,
    make_nano,
    make_tokenizer,
    parameters,
)
from nano_models import TEXTS, TOOLS, chat, noise, tiny_nano_folder, tiny_nano_model, tiny_nano_processor
from tiny_vlm import force

later("torch")
later("transformers")


def test_how_many_weights_the_nano_model_has() -> None:
    torch: Any = import_module("torch")
    transformers: Any = import_module("transformers")
    config = _configuration(transformers, SHAPES["nano"], tiny_nano_processor().tokenizer)
    with torch.device("meta"):
        model = transformers.Qwen3VLForConditionalGeneration(config)
    assert parameters(model) == 28_143_040
    assert parameters(model.model.visual) == 12_406_848


def test_it_is_the_same_each_time_and_ready_to_learn(tmp_path: Path) -> None:
    again = make_nano(tmp_path / "again", size="tiny", corpus=iter(TEXTS))
    other = make_nano(tmp_path / "other", size="tiny", seed=1, corpus=TEXTS)
    names = ["model.safetensors", "tokenizer.json", "chat_template.jinja"]
    first = [(tiny_nano_folder() / name).read_bytes() for name in names]
    assert [(again / name).read_bytes() for name in names] == first
    assert [(other / name).read_bytes() == one for name, one in zip(names, first, strict=True)] == [False, True, True]
    weights = dict(tiny_nano_model().named_parameters())
    spread = {name: float(one.detach().std()) for name, one in weights.items()}
    assert spread["model.language_model.embed_tokens.weight"] == pytest.approx(0.02, rel=0.05)
    assert spread["model.language_model.layers.0.mlp.down_proj.weight"] == pytest.approx(0.01, rel=0.05)
    assert spread["model.visual.blocks.1.attn.proj.weight"] == pytest.approx(0.01, rel=0.05)


def pieces(tokenizer: Any, text: str) -> list[str]:
    ids = tokenizer(text)["input_ids"]
    assert tokenizer.decode(ids) == text
    return [tokenizer.decode([number]) for number in ids]


def test_calls_take_few_tokens() -> None:
    tokenizer = tiny_nano_processor().tokenizer
    call = pieces(tokenizer, '{"name": "zoom", "arguments": {"bbox_2d": [12, 345]}}')
    assert call[:6] == ['{"name": "', "zoom", '", "arguments": {', '"bbox_2d": [', "12", ", "]
    marks = pieces(tokenizer, "<tool_call>\n</tool_call><|im_end|>")
    assert marks == ["<tool_call>", "\n", "</tool_call>", "<|im_end|>"]
    pieces(tokenizer, "ひまわり理容室 «Бәйшешек» \n\n  ත්‍රිකුණාමලය 4.5")


def test_numbers_are_tokens_of_up_to_three_digits() -> None:
    tokenizer = make_tokenizer([digit_groups()] * 3 + ["7, 7, -7"] * 3)
    assert pieces(tokenizer, "48.85661, -122.35222") == ["48", ".", "856", "61", ", -", "122", ".", "352", "22"]
    assert pieces(tokenizer, "0071000") == ["007", "100", "0"]


def test_pictures_are_made_ready_by_pillow() -> None:
    own, nano = load_processor(tiny_nano_folder()), load_nano_processor(tiny_nano_folder())
    assert type(nano.image_processor).__name__ == "Qwen2VLImageProcessorPil"
    picture = noise(300, 200)
    one, other = (each.image_processor(images=[picture], return_tensors="np") for each in (own, nano))
    assert (one["pixel_values"] == other["pixel_values"]).all()


@pytest.mark.parametrize(
    ("shown", "seen"),
    [
        ((1632, 1224), (448, 320)),
        ((1024, 768), (448, 320)),
        ((200, 150), (448, 320)),
        ((1632, 980), (480, 288)),
        ((800, 481), (480, 288)),
        ((600, 40), (1408, 96)),
    ],
)
def test_pictures_of_any_size_take_about_as_many_tokens(shown: tuple[int, int], seen: tuple[int, int]) -> None:
    images = tiny_nano_processor().image_processor
    grid = images(images=[noise(*shown)], return_tensors="np")["image_grid_thw"][0].tolist()
    assert (grid[2] * 16, grid[1] * 16) == seen
    assert 130 <= grid[1] * grid[2] // 4 <= 144


def rendered(messages: Sequence[Any], tools: Any = TOOLS, **options: Any) -> str:
    return str(tiny_nano_processor().apply_chat_template(messages, tools=tools, tokenize=False, **options))


def test_what_a_chat_looks_like() -> None:
    assert rendered(chat(noise(40, 30), noise(40, 30))) == (
        "<|im_start|>system\nFind the place.\nTools:\nzoom(bbox_2d, image)\nread_text(bbox_2d, image)<|im_end|>\n"
        "<|im_start|>user\nimage-1 (ひまわり):<|vision_start|><|image_pad|><|vision_end|>Where was this photo taken?"
        "<|im_end|>\n"
        "<|im_start|>assistant\n<tool_call>\n"
        '{"name": "zoom", "arguments": {"bbox_2d": [1, 20, 300, 45], "image": "ü"}}\n</tool_call><|im_end|>\n'
        "<|im_start|>user\n<tool_response>\nA cut.<|vision_start|><|image_pad|><|vision_end|>\n</tool_response>"
        "<|im_end|>\n"
        '<|im_start|>assistant\n{"country": "France", "city": "Nice", "lat": 43.7, "lon": 7.25}<|im_end|>\n'
    )
    thinking = {"role": "assistant", "content": " Look. ", "reasoning_content": "hm", "tool_calls": None}
    asked = [{"role": "user", "content": "hi"}]
    assert rendered([*asked, thinking], None).endswith("assistant\n<think>hm</think>\nLook.<|im_end|>\n")
    assert rendered(asked, None, add_generation_prompt=True) == (
        "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n"
    )


def test_no_message_changes_by_what_follows() -> None:
    messages = chat(noise(40, 30), noise(40, 30), noise(40, 30))
    texts = [rendered(messages[: number + 1]) for number in range(1, len(messages))]
    assert all(later.startswith(text) for text, later in pairwise(texts))


def test_trl_takes_the_template_and_reads_replies() -> None:
    pytest.importorskip("trl", reason="TRL is not installed; it is part of the developers' environment")
    trl: Any = import_module("trl.chat_template_utils")
    processor = load_processor(tiny_nano_folder())
    assert trl.is_chat_template_prefix_preserving(processor)
    assert trl.supports_tool_calling(processor)
    assert trl.has_generation_markers(processor.chat_template)
    assert trl.is_chat_template_stop_token_trained(processor)

    def read(text: str) -> Any:
        ids = [processor.tokenizer(one)["input_ids"] for one in (text, "<|im_start|>assistant\n")]
        return trl.parse_response(processor.tokenizer, ids[0], prefix=ids[1], tools=TOOLS)

    call = {"name": "zoom", "arguments": {"bbox_2d": [1, 2, 3, 4]}}
    told = read(f"<think>so</think>\nLook.\n<tool_call>\n{json.dumps(call)}\n</tool_call><|im_end|>")
    assert told["tool_calls"] == [{"type": "function", "function": call}]
    assert (told["content"], told["reasoning_content"]) == ("Look.", "so")
    assert read('{"country": "France"}<|im_end|>') == {"role": "assistant", "content": '{"country": "France"}'}
    assert "tool_calls" not in read('<tool_call>\n{"name": "zo</tool_call><|im_end|>')


def test_it_loads_as_any_model_does_and_shows_tools_natively() -> None:
    processor = load_processor(tiny_nano_folder())
    able = find_abilities(
        lambda messages, tools: str(
            processor.apply_chat_template(messages, tools=tools, add_generation_prompt=True, tokenize=False)
        )
    )
    assert able.tools
    assert able.tool_images
    assert able.system


def test_it_answers_as_weights_of_a_folder_do(tmp_path: Path) -> None:
    album = album_of(tmp_path)
    policy = WeightsPolicy(tiny_nano_folder(), device="cpu", max_new_tokens=60)
    asyncio.run(policy.load())
    said = '<tool_call>\n{"name": "look", "arguments": {"bbox_2d": [1, 2, 30, 40]}}\n</tool_call>'
    engine: Any = policy._engine
    engine._model.generate = force(engine._model, engine._tokenizer, said)
    step = asyncio.run(policy.step(conversation_about(album)))
    asyncio.run(policy.aclose())
    assert [(call.name, call.arguments) for call in step.calls] == [("look", {"bbox_2d": [1, 2, 30, 40]})]
    assert step.text == ""


@pytest.mark.usefixtures("atlas_home")
def test_texts_for_tokens_hold_the_world_that_may_be_trained_on() -> None:
    world = open_world(1)
    texts = list(islice(corpus(world), 4000))
    assert texts == list(islice(corpus(world), 4000))
    town = world.list_towns("train")[0]
    shop = world.businesses(town)[0]
    assert {town.name, shop.name, shop.street} <= set(texts)
    assert any(text.startswith('{"name": "geocode", "arguments": {"address": "') for text in texts)
    assert any(text.startswith("Places for ") and "exact match" in text for text in texts)
    answers = [json.loads(text) for text in texts if text.startswith('{"country": ')]
    assert {tuple(answer) for answer in answers} == {("country", "city", "lat", "lon")}
    assert not {answer["city"] for answer in answers} & {one.name for one in world.list_towns("held-out")}


def test_sizes_are_those_that_the_nano_model_is_made_with() -> None:
    shape, told = SHAPES["nano"], ARCHITECTURES["geosleuth/nano"]
    text, vision = told["text_config"], told["vision_config"]
    assert (text["vocab_size"], text["max_position_embeddings"]) == (VOCABULARY, MAX_POSITIONS)
    assert (text["hidden_size"], text["num_hidden_layers"], text["intermediate_size"]) == (
        shape.hidden, shape.layers, shape.inner,
    )  # fmt: skip
    assert (text["num_attention_heads"], text["num_key_value_heads"], text["head_dim"]) == (
        shape.heads, shape.kv_heads, shape.head_dim,
    )  # fmt: skip
    assert text["rope_parameters"]["mrope_section"] == list(shape.rope_sections)
    sizes = ("depth", "hidden_size", "num_heads", "intermediate_size", "patch_size")
    assert tuple(vision[name] for name in sizes) == (
        shape.vision_layers, shape.vision_hidden, shape.vision_heads, shape.vision_inner, PATCH_PX,
    )  # fmt: skip
    assert (vision["num_position_embeddings"], vision["deepstack_visual_indexes"]) == (shape.grid**2, [shape.deepstack])
