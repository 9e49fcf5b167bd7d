"""Two players, one game: scenes played alone by local weights, and the same scenes in batches."""

import asyncio
import gc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from geosleuth.agent import Trajectory, read_trajectory
from geosleuth.lab.train.generator import Asked, Encoder, Refused, Replier, fast_generate
from geosleuth.lab.train.play import SceneTable, Stage, play
from geosleuth.models import Sampling
from geosleuth.models.weights import WeightsPolicy
from geosleuth.models.weights_engine import Generated
from geosleuth.support.errors import MissingExtra, UserError
from players import NEAR, ZOOM, Scripted, called, plain_setting
from tiny_vlm import MAX_POSITIONS, tiny_vlm_folder

GREEDY = Sampling(temperature=0.0, max_tokens=16)
STAGE = Stage(setting=plain_setting, sampling=GREEDY)


@pytest.fixture(scope="module")
def policy() -> Iterator[WeightsPolicy]:
    one = WeightsPolicy(tiny_vlm_folder(), device="cpu")
    asyncio.run(one.load())
    yield one
    asyncio.run(one.aclose())


def replier_of(policy: WeightsPolicy, **more: Any) -> Replier:
    engine: Any = policy._engine
    return Replier(engine._model, engine._processor, name=tiny_vlm_folder().name, **more)


class Said:
    """The model's ``generate``, made to say a text by the turn: it runs in full, and its choice is taken from it."""

    def __init__(self, policy: WeightsPolicy, texts: list[str]) -> None:
        engine: Any = policy._engine
        self._model, self._tokenizer, self._texts = engine._model, engine._tokenizer, texts

    def __call__(self, **options: Any) -> Any:
        ids = options["input_ids"]
        opened = self._tokenizer.decode(ids[0]).count("<|im_start|>assistant")
        text = self._texts[min(opened, len(self._texts)) - 1]
        wanted = [*self._tokenizer(text, add_special_tokens=False)["input_ids"], self._tokenizer.eos_token_id]

        def force(input_ids: Any, scores: Any) -> Any:
            at = min(input_ids.shape[1] - ids.shape[1], len(wanted) - 1)
            forced = scores.new_full(scores.shape, float("-inf"))
            forced[:, wanted[at]] = scores[:, wanted[at]]
            return forced

        return type(self._model).generate(self._model, **options, logits_processor=[force])


def said(trajectory: Trajectory) -> list[Any]:
    return [(step.text, step.thinking, step.calls, step.finish, step.model) for step in trajectory.steps]


def seen(trajectory: Trajectory) -> list[Any]:
    return [(one.call_id, one.name, one.text, one.images, one.failure) for one in trajectory.observations]


def both(policy: WeightsPolicy, stage: Stage, count: int, folder: Path, **more: Any) -> Iterator[tuple[Any, Any]]:
    """The trajectories of scenes, played alone and together."""
    alone, together = (replace(stage, keep=folder / name) for name in ("alone", "together"))
    (folder / "alone").mkdir()
    table = SceneTable(alone)
    first = [asyncio.run(table.play(number, policy)) for number in range(count)]
    second = sorted(play(range(count), together, replier_of(policy, **more)), key=lambda scene: scene.number)
    for one, two in zip(first, second, strict=True):
        assert one.tries[0].input_tokens == two.tries[0].input_tokens
        assert (one.id, one.tries[0].distance_km) == (two.id, two.tries[0].distance_km)
        names = [folder / name / f"scene-{one.number}.try1.jsonl" for name in ("alone", "together")]
        yield read_trajectory(names[0]), read_trajectory(names[1])


@pytest.mark.slow
@pytest.mark.usefixtures("atlas_home")
def test_what_a_model_says_alone_it_says_in_a_batch(policy: WeightsPolicy, tmp_path: Path) -> None:
    def two_turns() -> Any:
        setting = plain_setting()
        return replace(setting, budget=replace(setting.budget, turns=2))

    for mine, theirs in both(policy, replace(STAGE, setting=two_turns), 3, tmp_path):
        assert said(mine) == said(theirs)
        assert mine.started == theirs.started


@pytest.mark.slow
@pytest.mark.usefixtures("atlas_home")
def test_calls_and_their_pictures_are_the_same_in_a_batch(
    policy: WeightsPolicy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    says = Said(policy, [f"<think>\nA sign.\n</think>\nI look.\n{ZOOM}", NEAR])
    engine: Any = policy._engine
    monkeypatch.setattr(engine._model, "generate", says)
    stage = replace(STAGE, sampling=Sampling(temperature=0.0, max_tokens=400))
    for mine, theirs in both(policy, stage, 2, tmp_path, generate=says):
        assert said(mine) == said(theirs)
        assert seen(mine) == seen(theirs)
        assert mine.answer == theirs.answer
        assert seen(theirs)[0][3][0].handle == "image-2"


def test_a_batch_put_together_here_is_the_processors(policy: WeightsPolicy) -> None:
    engine: Any = policy._engine
    pictures = {str(side): Image.linear_gradient("L").convert("RGB").resize((side, 90)) for side in (100, 300, 640)}

    def asks(*sides: int) -> Asked:
        words: list[dict[str, Any]] = [{"type": "text", "text": "Where?" * len(sides)}]
        shown = [{"type": "image", "image": str(side)} for side in sides]
        return Asked([{"role": "user", "content": words + shown}], None, pictures)

    batch = [asks(100), asks(300, 640, 100), asks()]
    encoder = Encoder(engine._torch, engine._model, engine._processor)
    by_processor = encoder.encode(batch)
    assert encoder._here
    here = encoder.encode(batch)
    assert set(here) == set(by_processor)
    assert all(engine._torch.equal(here[name], by_processor[name]) for name in here)
    assert len(encoder._ready) == len(pictures)
    pictures.clear()
    gc.collect()
    assert not encoder._ready


def test_a_generator_without_padding_can_stand_in(policy: WeightsPolicy) -> None:
    engine: Any = policy._engine
    rows: list[list[int]] = []

    def write(ids: list[list[int]], _pixels: Any, _grids: Any, *, greedy: bool, **_: Any) -> list[list[int]]:
        assert greedy
        rows.extend(ids)
        return [engine._tokenizer("Hm" * n, add_special_tokens=False)["input_ids"] for n in range(1, len(ids) + 1)]

    replier = replier_of(policy, generate=fast_generate(write, engine._tokenizer.pad_token_id))
    content = [[{"type": "text", "text": text}] for text in ("Where?", "Where is it, after all?")]
    asks = [Asked([{"role": "user", "content": one}], None, {}, GREEDY) for one in content]
    replies = replier.replies(asks)
    assert [isinstance(one, Generated) and one.text for one in replies] == ["Hm", "HmHm"]
    assert [len(one) for one in rows] == [one.input_tokens for one in replies if isinstance(one, Generated)]


def test_a_conversation_that_is_too_long_is_refused_by_itself(policy: WeightsPolicy) -> None:
    def asks(words: str) -> Asked:
        content = [{"type": "text", "text": words}]
        return Asked([{"role": "user", "content": content}], None, {}, Sampling(temperature=0.0, max_tokens=4))

    replier = replier_of(policy)
    alone = replier.replies([asks("Where?")])
    replies = replier.replies([asks("Where?"), asks("où " * MAX_POSITIONS), asks("Where?")])
    assert replies[0] == replies[2] == alone[0]
    assert isinstance(replies[1], Refused)
    assert str(MAX_POSITIONS) in replies[1].trouble


def test_a_batch_that_memory_can_not_hold_is_drawn_in_parts(policy: WeightsPolicy) -> None:
    engine: Any = policy._engine
    sizes: list[int] = []

    def narrow(**options: Any) -> Any:
        rows = len(options["input_ids"])
        sizes.append(rows)
        if rows > 1:
            raise engine._torch.OutOfMemoryError
        return type(engine._model).generate(engine._model, **options)

    content = [{"type": "text", "text": "Where?"}]
    asks = [Asked([{"role": "user", "content": content}], None, {}, GREEDY)] * 3
    replies = replier_of(policy, generate=narrow).replies(asks)
    assert replies == replier_of(policy).replies(asks)
    assert sizes == [3, 1, 2, 1, 1]


@pytest.mark.slow
@pytest.mark.usefixtures("atlas_home")
def test_scenes_in_processes_of_their_own_come_to_the_same() -> None:
    def say(turn: int, _asked: Asked) -> str:
        return ZOOM if turn == 0 else called("no_such_tool") if turn == 1 else NEAR

    stage = replace(STAGE, tries=2)
    here, apart = Scripted(say), Scripted(say)
    first = {scene.number: scene for scene in play(range(3), stage, here, at_once=4)}
    second = {scene.number: scene for scene in play(range(3), stage, apart, at_once=4, workers=1, batch=4)}
    assert sorted(first) == sorted(second) == [0, 1, 2]
    for number, scene in first.items():
        one, two = scene.tries[0], second[number].tries[0]
        assert one.distance_km is not None
        assert one.distance_km == two.distance_km == scene.verified.distance_km  # type: ignore[union-attr]
        assert dict(one.tools) == {"zoom": 1, "no_such_tool": 1}
        assert dict(two.failures) == {"unknown_tool": 1}
        assert (one.turns, one.calls, one.answered) == (two.turns, two.calls, two.answered) == (3, 2, True)
    # Two scenes of two tries are under way, and all that wait are answered at once.
    assert here.sizes[0] == 4
    (unjudged,) = play(range(1), replace(stage, verified=False), Scripted(say), at_once=4)
    assert unjudged.verified is None
    assert unjudged.tries[0].distance_km == first[0].tries[0].distance_km


@pytest.mark.usefixtures("atlas_home")
def test_trouble_in_a_hand_comes_out_here() -> None:
    opened: list[int] = []

    def opens_once() -> Any:
        opened.append(1)
        if len(opened) > 1:
            raise MissingExtra("a_module", "an_extra")
        return plain_setting()

    with pytest.raises(UserError, match=r"pip install .*\[an_extra\]'"):
        list(play(range(2), replace(STAGE, setting=opens_once), Scripted(lambda *_: NEAR)))
