"""Batches: what the model gets is what the processor would have given it, and packing changes nothing."""

from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from later import later
from nano.shards import Encoded, encode_chat
from nano.trainer import IGNORED, Collator, batches
from nano_models import TOOLS, chat, noise, tiny_nano_model, tiny_nano_processor

torch = later("torch")
later("transformers")


def chats() -> list[list[dict[str, Any]]]:
    return [
        chat(noise(400, 300, 1), noise(90, 200, 2), city="Nice"),
        chat(noise(500, 300, 3), city="Monaco"),
        chat(city="Menton"),
        chat(noise(30, 40, 4), noise(400, 300, 5), city="Cannes"),
    ]


def encoded() -> list[Encoded]:
    return [encode_chat(tiny_nano_processor(), one, TOOLS) for one in chats()]


def losses(inputs: dict[str, Any]) -> Any:
    """The loss of every token that is learned, in the order of tokens."""
    with torch.no_grad():
        logits = tiny_nano_model()(**{name: one for name, one in inputs.items() if name != "labels"}).logits
    labels = inputs["labels"][:, 1:].reshape(-1)
    each = torch.nn.functional.cross_entropy(
        logits[:, :-1].reshape(-1, logits.shape[-1]).float(), labels, ignore_index=IGNORED, reduction="none"
    )
    return each[labels != IGNORED].numpy()


def test_a_batch_is_what_the_processor_makes() -> None:
    processor = tiny_nano_processor()
    asked = [one for number, one in enumerate(chats()) if number != 2]
    wanted = processor.apply_chat_template(
        asked, tools=TOOLS, tokenize=True, return_dict=True, return_tensors="pt",
        processor_kwargs={"padding": True, "padding_side": "right"},
    )  # fmt: skip
    collator = Collator(processor, pad_to=1)
    batch = collator.ready(collator([encode_chat(processor, one, TOOLS) for one in asked]))
    for name in ("input_ids", "attention_mask", "image_grid_thw", "mm_token_type_ids"):
        assert torch.equal(batch[name].long(), wanted[name].long()), name
    assert torch.allclose(batch["pixel_values"], wanted["pixel_values"], atol=1e-6)
    model = tiny_nano_model()
    places, _ = model.model.get_rope_index(
        wanted["input_ids"], wanted["mm_token_type_ids"], wanted["image_grid_thw"],
        attention_mask=wanted["attention_mask"],
    )  # fmt: skip
    real = wanted["attention_mask"].bool()
    assert torch.equal(batch["position_ids"][:, real], places[:, real])


def test_only_the_assistants_words_are_learned() -> None:
    batch = Collator(tiny_nano_processor())(encoded())
    assert batch["input_ids"].shape[1] % 64 == 0
    learned = batch["labels"] != IGNORED
    assert torch.equal(batch["labels"][learned], batch["input_ids"][learned])
    assert learned.sum(1).tolist() == [int(sample.mask.sum()) for sample in encoded()]


def test_neither_padding_nor_packing_nor_the_missing_mask_change_the_loss() -> None:
    processor, samples = tiny_nano_processor(), encoded()
    alone = Collator(processor, pad_to=1)
    # Packing puts the chats in another order.
    wanted = np.sort(np.concatenate([losses(alone.ready(alone([sample]))) for sample in samples]))
    for collator in (Collator(processor), Collator(processor, with_mask=False), Collator(processor, row_tokens=768)):
        inputs = collator.ready(collator(samples))
        assert np.sort(losses(inputs)) == pytest.approx(wanted, abs=2e-5)
    assert len(inputs["input_ids"]) < len(samples)
    assert "attention_mask" not in inputs


def test_a_model_learns_from_batches() -> None:
    model = import_module("copy").deepcopy(tiny_nano_model()).train()
    collator = Collator(tiny_nano_processor(), row_tokens=512)
    inputs = collator.ready(collator(encoded()[1:3]))
    drawn = torch.optim.AdamW(model.parameters(), lr=3e-3)
    told = []
    for _ in range(4):
        loss = model(**inputs).loss
        loss.backward()
        drawn.step()
        drawn.zero_grad()
        told.append(float(loss.detach()))
    assert told[0] == pytest.approx(np.log(8192), abs=0.5)
    assert told[-1] < told[0] - 0.5


@given(lengths=st.lists(st.integers(1, 5000), max_size=200), tokens=st.integers(64, 20_000), seed=st.integers(0, 2**32))
def test_batches_hold_every_sample_once_and_keep_to_the_budget(lengths: list[int], tokens: int, seed: int) -> None:
    found = list(batches(lengths, tokens, seed=seed))
    assert sorted(number for batch in found for number in batch) == list(range(len(lengths)))
    for batch in found:
        longest = -(-max(lengths[number] for number in batch) // 64) * 64
        assert longest * len(batch) <= tokens or len(batch) == 1
    assert found == list(batches(lengths, tokens, seed=seed))
