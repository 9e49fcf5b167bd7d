"""Fine-tuning and cold start through TRL: killed and gone on with, packed, with adapters, and what comes out."""

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from geosleuth.lab.traces import Store
from geosleuth.lab.train.masks import IGNORED, Writer
from geosleuth.lab.train.models import load_model
from geosleuth.lab.train.run_folder import Finished, TrainingFolder, read_finished
from geosleuth.lab.train.samples import CHATS, Collator, build_dataset, find_position_counter, store_chats
from geosleuth.lab.train.sft import run_sft, sft_trainer
from geosleuth.models import Conversation, Prompt, Sampling
from geosleuth.models.weights import WeightsPolicy
from geosleuth.support.errors import BadInput
from later import later
from tiny_vlm import tiny_vlm_folder
from training_runs import recipe, short_store

torch = later("torch")
later("trl")

CHILD = Path(__file__).resolve().parents[2] / "support" / "training_runs.py"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    return short_store(tmp_path_factory.mktemp("stored") / "store", 5)


def weights(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((folder / "policy").glob("*.safetensors"))}


def figures(folder: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    return [{key: line[key] for key in ("step", "loss", "num_tokens", "learning_rate", "grad_norm")} for line in lines]


def in_a_process(store: Path, after: int, tuned: str, when: str, *folders: Path) -> subprocess.CompletedProcess[str]:
    """Runs in a process of their own: what one computed before, in half precision say, shows in last bits."""
    words = [str(CHILD), str(store), str(tiny_vlm_folder()), str(after), tuned, when, *map(str, folders)]
    return subprocess.run([sys.executable, *words], check=False, capture_output=True, text=True, timeout=300)


def killed(store: Path, folder: Path, after: int, tuned: str, when: str = "between") -> None:
    child = in_a_process(store, after, tuned, when, folder)
    assert child.returncode == -signal.SIGKILL, child.stderr[-2000:]
    assert not (folder / "done.json").exists()


def ended(store: Path, tuned: str, *folders: Path) -> list[tuple[Finished, list[list[int]]]]:
    """Runs that come to their end, one after the other: what came of each, and how far it was when it told."""
    child = in_a_process(store, 0, tuned, "never", *folders)
    assert child.returncode == 0, child.stderr[-2000:]
    done = [one for one in (read_finished(TrainingFolder(folder)) for folder in folders) if one is not None]
    return list(zip(done, map(json.loads, child.stdout.splitlines()[-len(folders) :]), strict=True))


@pytest.mark.slow
def test_a_run_goes_on_past_a_damaged_checkpoint(store: Path, tmp_path: Path) -> None:
    plan = recipe(tiny_vlm_folder(), store, optim={"steps": 3})
    whole = run_sft(plan, tmp_path / "whole")
    for _ in range(2):
        run_sft(plan, tmp_path / "run", seconds=0)
    newest = tmp_path / "run" / "checkpoints" / "checkpoint-2"
    (newest / "optimizer.pt").write_bytes(b"\x93" * 10_000)
    again = run_sft(plan, tmp_path / "run")
    assert not (newest.parent / "damaged-2" / "trainer_state.json").samefile(newest / "trainer_state.json")
    assert again.figures == whole.figures
    assert weights(tmp_path / "run") == weights(tmp_path / "whole")


def test_a_trained_policy_replies(store: Path, tmp_path: Path) -> None:
    plan = recipe(tiny_vlm_folder(), store, optim={"steps": 1})
    done = run_sft(plan, tmp_path / "run")
    policy = WeightsPolicy(done.policy, device="cpu", max_new_tokens=3)
    talk = Conversation(
        "", (Prompt("Where?"),), (), lambda _: pytest.fail("there is no picture"), sampling=Sampling(0.0)
    )
    step = asyncio.run(policy.step(talk))
    assert step.usage.output_tokens == 3


PACKED = {"packing": True, "gradient_checkpointing": True, "batch": 1, "micro_batch": 1, "max_length": 2400}


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {"optim": {"micro_batch": 1}},
        {"optim": {"gradient_checkpointing": True}},
        {"optim": PACKED, "model": {"tuned": "lora", "freeze_vision": True}},
    ],
    ids=["accumulated", "recomputed", "packed"],
)
def test_a_run_in_slices_is_the_run_in_one(store: Path, tmp_path: Path, changes: dict[str, Any]) -> None:
    plan = recipe(tiny_vlm_folder(), store, **changes)
    whole = run_sft(plan, tmp_path / "whole")
    slices = 1
    while not (part := run_sft(plan, tmp_path / "slices", seconds=0)).complete:
        slices += 1
    assert slices == whole.steps == 6
    assert part.figures == whole.figures
    assert weights(tmp_path / "slices") == weights(tmp_path / "whole")


@pytest.mark.slow
def test_a_run_killed_while_it_saves_goes_on_from_the_checkpoint_before(store: Path, tmp_path: Path) -> None:
    killed(store, tmp_path / "killed", 3, "lora", "saving")
    half = tmp_path / "killed" / "checkpoints" / "checkpoint-3"
    assert (half / "adapter_model.safetensors").exists()
    assert not (half / "trainer_state.json").exists()
    (_, told), _ = ended(store, "lora", tmp_path / "killed", tmp_path / "whole")
    assert [done for done, _ in told] == [2, 3, 4]
    assert weights(tmp_path / "killed") == weights(tmp_path / "whole")
    assert figures(tmp_path / "killed") == figures(tmp_path / "whole")


@pytest.mark.slow
@pytest.mark.usefixtures("atlas_home")
def test_questions_about_scenes_are_learned(tmp_path: Path) -> None:
    data = {"store": None, "scenes": 2, "questions": ("country", "signs", "levels")}
    plan = recipe(tiny_vlm_folder(), None, stage="sft", data=data, optim={"steps": 2, "max_length": 8000})
    told: list[tuple[int, int]] = []
    done = run_sft(plan, tmp_path / "run", preparing=lambda *now: told.append(now), workers=1)
    assert (done.steps, done.figures["chats"], done.figures["too_long"]) == (2, 6, 0)
    assert (2, 2) in told
    assert told[-1] == (6, 0)


def rows_of(store: Path, processor: Any, *, packing: bool) -> Any:
    return build_dataset(store_chats(Store(store)), Writer(processor), max_length=2400, packing=packing)[0]


def test_packed_chats_do_not_see_each_other(store: Path) -> None:
    plan = recipe(tiny_vlm_folder(), store)
    model, processor = load_model(plan.model)
    model.eval()
    apart = rows_of(store, processor, packing=False)
    together = rows_of(store, processor, packing=True)
    assert len(apart) == 5
    assert len(together) < 5
    assert sorted(text for row in together for text in row[CHATS]) == sorted(row[CHATS][0] for row in apart)
    single = Collator(processor, max_length=2400)
    packs = Collator(processor, max_length=2400, packing=True, positions=find_position_counter(model))
    # Two rows of unlike length in one batch, so that one is filled up.
    batch = packs([together[0], together[len(together) - 1]])
    with torch.no_grad():
        # As TRL does: only then do positions that start anew keep chats apart.
        logits = model(**{name: value for name, value in batch.items() if name != "labels"}, use_cache=False).logits
    for number, row in enumerate((together[0], together[len(together) - 1])):
        at = 0
        for text in row[CHATS]:
            alone = single([{CHATS: [text]}])
            length = alone["input_ids"].shape[1]
            assert batch["input_ids"][number, at : at + length].equal(alone["input_ids"][0])
            assert batch["labels"][number, at : at + length].equal(alone["labels"][0])
            with torch.no_grad():
                own = model(**{name: value for name, value in alone.items() if name != "labels"}).logits[0]
            torch.testing.assert_close(logits[number, at : at + length], own, rtol=1e-4, atol=1e-5)
            at += length
        assert set(batch["labels"][number, at:].tolist()) <= {IGNORED}


def test_packed_runs_train_and_count_their_tokens(store: Path, tmp_path: Path) -> None:
    plan = recipe(
        tiny_vlm_folder(), store, optim={"packing": True, "steps": 1, "batch": 1, "micro_batch": 1, "max_length": 2400}
    )
    model, processor = load_model(plan.model)
    rows = rows_of(store, processor, packing=True)
    trainer = sft_trainer(model, processor, rows, plan, tmp_path)
    trainer.train()
    (line,) = (line for line in trainer.state.log_history if "loss" in line)
    assert line["num_tokens"] in [row["length"] for row in rows]


def test_pictures_and_gradients_meet(store: Path, tmp_path: Path) -> None:
    plan = recipe(tiny_vlm_folder(), store, model={"freeze_vision": True}, optim={"steps": 1})
    model, processor = load_model(plan.model)
    vision = {name: value.clone() for name, value in model.state_dict().items() if ".visual." in name}
    assert vision
    mind = model.model.language_model.layers[0].mlp.up_proj.weight.clone()
    trainer = sft_trainer(model, processor, rows_of(store, processor, packing=False), plan, tmp_path)
    trainer.train()
    after = model.state_dict()
    assert all(after[name].equal(value) for name, value in vision.items())
    assert not after["model.language_model.layers.0.mlp.up_proj.weight"].equal(mind)


def test_stages_and_data_that_do_not_fit_are_told(store: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="its stage is grpo"):
        run_sft(recipe(tiny_vlm_folder(), store, stage="grpo"), tmp_path / "a")
    with pytest.raises(BadInput, match="cold start learns from trajectories"):
        run_sft(recipe(tiny_vlm_folder(), None), tmp_path / "b")
    with pytest.raises(BadInput, match="all 5 chats are longer than 40 tokens"):
        run_sft(recipe(tiny_vlm_folder(), store, optim={"max_length": 40}), tmp_path / "c")
