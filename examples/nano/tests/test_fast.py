"""Fast generation writes what `model.generate` writes, for every mix of prompts, and keeps to its distribution."""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from geosleuth.support.errors import BadInput
from later import later
from nano import fast
from nano.fast import (
    FastGenerator,
    Positions,
    Prompt,
    Prompts,
    check,
    chunks,
    image_ids,
    logprob_differences,
    random_prompts,
    rope_positions,
    split_prompts,
)
from nano.fast_decode import Decoder, batch_bucket, span_bucket
from nano.vision import patch_vision_attention, patch_vision_inputs
from tiny_vlm import tiny_vlm_folder

torch = later("torch")
transformers = later("transformers")

Grid = tuple[int, int, int]
MIXED: list[list[Grid]] = [[(1, 4, 6)], [], [(1, 4, 4), (1, 8, 2)], [(1, 2, 2)], [], [(1, 4, 4)], [], [(1, 6, 2)], []]
PAD = 0


@pytest.fixture
def model() -> Any:
    """A tiny model whose next token depends on what it read: random weights as they come are all but indifferent."""
    made = transformers.Qwen3VLForConditionalGeneration.from_pretrained(tiny_vlm_folder())
    with torch.no_grad():
        for weight in made.parameters():
            weight.mul_(3)
    return made


def prompts_of(model: Any, grids: Sequence[Sequence[Grid]], *, seed: int = 1) -> Prompts:
    random, config = np.random.default_rng(seed), model.config
    ids: list[list[int]] = []
    for number, own in enumerate(grids):
        row = [int(word) for word in random.integers(1, 600, 5 + 3 * number)]
        for grid in own:
            inside = [config.image_token_id] * (int(np.prod(grid)) // 4)
            row += [config.vision_start_token_id, *inside, config.vision_end_token_id, int(random.integers(1, 600))]
        ids.append(row)
    flat = [grid for own in grids for grid in own]
    if not flat:
        return Prompts(ids, None, None)
    pixels = random.standard_normal((sum(int(np.prod(grid)) for grid in flat), 1536), dtype=np.float32)
    return Prompts(ids, torch.from_numpy(pixels), torch.tensor(flat))


def stock(model: Any, prompts: Prompts, count: int, eos: list[int]) -> list[list[int]]:
    width = max(map(len, prompts.ids))
    ids = torch.tensor([[PAD] * (width - len(row)) + row for row in prompts.ids])
    mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in prompts.ids])
    images = {"pixel_values": prompts.pixel_values, "image_grid_thw": prompts.image_grid_thw}
    model.generation_config.eos_token_id = eos or None
    whole = model.generate(
        input_ids=ids, attention_mask=mask, mm_token_type_ids=(ids == model.config.image_token_id).int(),
        max_new_tokens=count, do_sample=False, pad_token_id=PAD,
        **{key: value for key, value in images.items() if value is not None},
    )  # fmt: skip
    ended = []
    for row in whole[:, width:].tolist():
        ends = [at for at, token in enumerate(row) if token in eos]
        ended.append(row[: ends[0] + 1] if ends else row)
    return ended


def written(generator: FastGenerator, prompts: Prompts, count: int, **how: Any) -> list[list[int]]:
    return generator.generate(
        prompts.ids, prompts.pixel_values, prompts.image_grid_thw, max_new_tokens=count, **(how or {"greedy": True})
    )


def common_ends(completions: list[list[int]]) -> list[int]:
    """Tokens that end some completions early and others late."""
    return sorted({row[min(4 * number, len(row) - 1)] for number, row in enumerate(completions[:-2])})


def test_it_writes_what_generate_writes(model: Any) -> None:
    prompts = prompts_of(model, MIXED)
    generator = FastGenerator(model, eos_ids=[], pad_id=PAD)
    expected = stock(model, prompts, 40, [])
    assert len({token for row in expected for token in row}) > 50
    assert written(generator, prompts, 40) == expected


def test_rows_end_where_generate_ends_them(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    prompts = prompts_of(model, MIXED)
    ends = common_ends(stock(model, prompts, 60, []))
    expected = stock(model, prompts, 60, ends)
    lengths = sorted(map(len, expected))
    assert lengths[0] < 8
    assert lengths[-1] > 20
    moved: list[int] = []
    keep = Decoder.keep

    def counted(self: Decoder, slots: Any, batch: int, span: int) -> None:
        moved.append(batch)
        keep(self, slots, batch, span)

    monkeypatch.setattr(Decoder, "keep", counted)
    assert written(FastGenerator(model, eos_ids=ends, pad_id=PAD), prompts, 60) == expected
    assert moved, "rows that have ended were to be left behind"


def test_it_follows_the_weights(model: Any) -> None:
    prompts = prompts_of(model, MIXED[:4])
    generator = FastGenerator(model, eos_ids=[], pad_id=PAD)
    before = written(generator, prompts, 12)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn(weight.shape, generator=torch.Generator().manual_seed(3)) * 0.02)
    after = written(generator, prompts, 12)
    assert after != before
    assert after == stock(model, prompts, 12, [])


def test_small_waves_and_chunks_change_nothing(model: Any) -> None:
    prompts = prompts_of(model, MIXED)
    generator = FastGenerator(model, eos_ids=[], pad_id=PAD, max_batch=4, prefill_tokens=40)
    assert written(generator, prompts, 10) == stock(model, prompts, 10, [])
    # Larger batches after smaller ones, and longer ones after shorter ones.
    longer = prompts_of(model, [[], [(1, 4, 4)] * 3], seed=5)
    assert written(generator, longer, 150) == stock(model, longer, 150, [])


def test_text_alone_and_a_single_token(model: Any) -> None:
    prompts = prompts_of(model, [[], [], []])
    generator = FastGenerator(model, eos_ids=[], pad_id=PAD)
    assert written(generator, prompts, 1) == stock(model, prompts, 1, [])
    assert generator.generate([], max_new_tokens=3) == []


def test_the_same_words_with_other_pictures_are_another_prompt(model: Any) -> None:
    one = prompts_of(model, [[(1, 8, 8)]])
    other = torch.randn(one.pixel_values.shape, generator=torch.Generator().manual_seed(9))
    pixels = torch.cat([one.pixel_values, other, one.pixel_values])
    together = Prompts(one.ids * 3, pixels, one.image_grid_thw.repeat(3, 1))
    generator = FastGenerator(model, eos_ids=[], pad_id=PAD)
    rows = written(generator, together, 16)
    assert rows == stock(model, together, 16, [])
    assert rows[0] == rows[2] != rows[1]


def test_positions_are_the_model_s_own(model: Any) -> None:
    prompts = prompts_of(model, MIXED)
    for number, prompt in enumerate(split_prompts(prompts.ids, prompts.image_grid_thw,
                                                  image_id=model.config.image_token_id, merge=2)):  # fmt: skip
        ids = torch.tensor([prompts.ids[number]])
        grids = torch.tensor(prompt.grids) if prompt.grids else None
        expected, offset = model.model.get_rope_index(ids, (ids == model.config.image_token_id).int(), grids)
        positions, next_less_index = rope_positions(prompt, merge=2)
        assert positions.tolist() == expected[:, 0].tolist()
        assert next_less_index == int(offset)


@pytest.mark.filterwarnings("ignore:mkldnn_matmul failed")  # says a CPU that has no such products of its own
@pytest.mark.parametrize("kind", ["float32 under autocast", "bfloat16"])
def test_half_precision_keeps_close_to_the_model(model: Any, kind: str) -> None:
    # Small weights: at three times their size rounding alone decides between tokens.
    with torch.no_grad():
        for weight in model.parameters():
            weight.div_(3)
    mixed = kind.startswith("float32")
    model = model if mixed else model.bfloat16()
    prompts = random_prompts(model, 3, tokens=8, images=2, grid=(1, 4, 4))
    generator = FastGenerator(model, eos_ids=[], pad_id=PAD, dtype=torch.bfloat16, banned_ids=image_ids(model))
    result = generator.sample(prompts.ids, prompts.pixel_values, prompts.image_grid_thw, max_new_tokens=8, seed=1)
    differences = logprob_differences(model, prompts, result, torch.bfloat16 if mixed else None)
    assert differences.max() < 0.1


def test_the_check_is_content_and_notices_a_wrong_position(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    prompts = random_prompts(model, 4, tokens=16, images=2, grid=(1, 4, 4))
    right = check(model, prompts=prompts, max_new_tokens=20, repeats=1)
    assert right.fine
    assert [way.name for way in right.variants] == ["model.generate", "sdpa, steps"]
    assert right.variants[1].same_as_generate == 1.0
    assert right.lines()[2].startswith("sdpa, steps")

    def shifted(prompt: Prompt, *, merge: int) -> tuple[Positions, int]:
        positions, offset = rope_positions(prompt, merge=merge)
        return positions, offset + 1

    monkeypatch.setattr(fast, "rope_positions", shifted)
    wrong = check(model, prompts=prompts, max_new_tokens=20, repeats=1)
    assert not wrong.fine
    assert wrong.variants[1].most_difference > 0.5


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA here")
def test_graphs_write_what_steps_write() -> None:
    on_gpu = transformers.Qwen3VLForConditionalGeneration.from_pretrained(tiny_vlm_folder()).cuda()
    found = check(on_gpu, prompts=random_prompts(on_gpu, 8, tokens=32, images=2, grid=(1, 4, 4)), attentions=["sdpa"])
    assert found.graphs_equal_steps
    assert found.fine


@pytest.fixture
def one_prompt(model: Any) -> Iterator[tuple[list[int], Any]]:
    """A prompt, and the probabilities of the token after it (far from even)."""
    ids = prompts_of(model, [[]]).ids[0]
    with torch.no_grad():
        yield ids, model(input_ids=torch.tensor([ids])).logits[0, -1].softmax(-1)


def test_tokens_come_with_their_probabilities(model: Any, one_prompt: tuple[list[int], Any]) -> None:
    ids, _ = one_prompt
    with torch.no_grad():
        chances = (model(input_ids=torch.tensor([ids])).logits[0, -1] / 0.7).softmax(-1).numpy()
    count = 4000
    generator = FastGenerator(model, eos_ids=[], pad_id=PAD, max_batch=1000)
    result = generator.sample([ids] * count, max_new_tokens=1, temperature=0.7, seed=11)
    drawn = np.bincount([row[0] for row in result.ids], minlength=len(chances)) / count
    likely = np.argsort(chances)[-10:]
    assert np.abs(drawn[likely] - chances[likely]).max() < 4 * np.sqrt(0.25 / count)
    assert abs(drawn[likely].sum() - chances[likely].sum()) < 4 * np.sqrt(0.25 / count)
    for row, scores in zip(result.ids[:20], result.logprobs[:20], strict=True):
        assert scores[0] == pytest.approx(float(np.log(chances[row[0]])), abs=1e-4)


def test_top_p_leaves_the_unlikely_out(model: Any, one_prompt: tuple[list[int], Any]) -> None:
    ids, chances = one_prompt
    ordered, order = chances.sort(descending=True)
    allowed = set(order[: int((ordered.cumsum(0) < 0.3).sum()) + 1].tolist())
    generator = FastGenerator(model, eos_ids=[], pad_id=PAD)
    drawn = {row[0] for row in generator.generate([ids] * 500, max_new_tokens=1, top_p=0.3, seed=2)}
    assert 1 < len(allowed) < 200
    assert drawn <= allowed
    assert len(drawn) > 1


def test_a_banned_token_is_never_written(model: Any, one_prompt: tuple[list[int], Any]) -> None:
    ids, chances = one_prompt
    banned = chances.argsort(descending=True)[:3].tolist()
    generator = FastGenerator(model, eos_ids=[], pad_id=PAD, banned_ids=banned)
    drawn = {token for row in generator.generate([ids] * 200, max_new_tokens=3, seed=2) for token in row}
    assert not drawn & set(banned)


def test_seeds_repeat_and_the_trainer_s_numbers_stay(model: Any) -> None:
    prompts = prompts_of(model, MIXED[:3])
    generator = FastGenerator(model, eos_ids=[], pad_id=PAD)

    def draw(seed: int | None) -> list[list[int]]:
        return written(generator, prompts, 8, temperature=1.0, seed=seed)

    state = torch.get_rng_state()
    first = draw(4)
    assert torch.equal(torch.get_rng_state(), state)
    assert draw(4) == first != draw(5)
    torch.manual_seed(6)
    restored = draw(None)
    torch.manual_seed(6)
    assert draw(None) == restored != draw(None)


def test_training_goes_on_as_it_was(model: Any) -> None:
    model.train()
    model.model.visual.eval()
    prompts = prompts_of(model, MIXED[:2])
    written(FastGenerator(model, eos_ids=[], pad_id=PAD), prompts, 2)
    assert model.training
    assert not model.model.visual.blocks[0].training
    assert all(weight.requires_grad for weight in model.parameters())


def test_what_can_t_be_written_is_said(model: Any) -> None:
    prompts = prompts_of(model, MIXED[:3])
    generator = FastGenerator(model, eos_ids=[], pad_id=PAD, max_tokens=100)
    for given, pattern in (
        ((prompts.ids, None, None), "prompt 0 has runs of"),
        (([[1, 2]], prompts.pixel_values, prompts.image_grid_thw), "3 images were given"),
        ((prompts.ids, prompts.pixel_values[1:], prompts.image_grid_thw), "patches"),
        (([[]], None, None), "no tokens"),
    ):
        with pytest.raises(BadInput, match=pattern):
            generator.generate(*given, max_new_tokens=4)
    with pytest.raises(BadInput, match="raise max_tokens"):
        generator.generate(prompts.ids, prompts.pixel_values, prompts.image_grid_thw, max_new_tokens=127)
    with pytest.raises(BadInput, match="temperature"):
        generator.generate([[1]], max_new_tokens=4, temperature=0.0)
    with pytest.raises(BadInput, match="CUDA"):
        FastGenerator(model, eos_ids=[], pad_id=PAD, graphs=True)
    with pytest.raises(BadInput, match="Qwen3VL"):
        FastGenerator(model.model, eos_ids=[], pad_id=PAD)


def test_buckets_hold_what_they_must() -> None:
    for most in (5, 64, 100, 512):
        for rows in range(1, most + 1):
            assert rows <= batch_bucket(rows, most) <= most
            assert rows <= batch_bucket(rows, most, 16) <= most
    assert batch_bucket(1, 512, 16) == 16
    assert [span_bucket(tokens, 1920) for tokens in (1, 128, 129, 512, 513, 1800)] == [128, 128, 256, 512, 768, 1920]
    cuts = chunks([3, 4, 5, 50, 60], 12)
    assert [list(range(5))[cut] for cut in cuts] == [[0, 1], [2], [3], [4]]


@pytest.mark.parametrize(
    ("grids", "calls"),
    [
        ([(1, 4, 6)] * 5, 1),
        ([(1, 4, 6), (1, 4, 4), (1, 6, 4), (1, 4, 4)], 2),
        ([(2, 4, 4)], 1),
        ([(1, 4, 4), (1, 2, 2)], 2),
    ],
)
def test_the_patched_tower_sees_the_same(
    model: Any, grids: list[Grid], calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    tower, sizes = model.model.visual, torch.tensor(grids)
    pixels = torch.randn(int(sizes.prod(-1).sum()), 1536, generator=torch.Generator().manual_seed(1))

    def seen() -> tuple[Any, list[Any]]:
        model.zero_grad()
        output = tower(pixels, sizes)
        (output.pooler_output.square().mean() + output.deepstack_features[0].square().mean()).backward()
        return output, [weight.grad.clone() for weight in tower.parameters()]

    own, own_gradients = seen()
    for _ in range(2):
        patch_vision_attention(model)
        patch_vision_inputs(model)
    attention = torch.nn.functional.scaled_dot_product_attention
    counted: list[Any] = []

    def counting(*given: Any, **how: Any) -> Any:
        counted.append(given)
        return attention(*given, **how)

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", counting)
    patched, patched_gradients = seen()
    assert len(counted) == calls * len(tower.blocks)
    torch.testing.assert_close(patched.pooler_output, own.pooler_output)
    # Sums in another order: single precision leaves them apart by a hair.
    torch.testing.assert_close(patched.last_hidden_state, own.last_hidden_state, atol=1e-5, rtol=1e-5)
    # A copy of the patched model has vision of its own.
    copied = deepcopy(model)
    with torch.no_grad():
        for weight in tower.parameters():
            weight.zero_()
    torch.testing.assert_close(copied.model.visual(pixels, sizes).pooler_output, own.pooler_output)
    for one, other in zip(own_gradients, patched_gradients, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)


def test_a_model_without_a_tower_is_refused() -> None:
    with pytest.raises(BadInput, match="vision tower"):
        patch_vision_attention(torch.nn.Linear(2, 2))
