"""Train the nano model from scratch to a policy that zooms, reads and searches the map, and measure every step.

    python examples/nano/train_nano.py make --out NANO                 weights drawn at random, tokens of its own
    python examples/nano/train_nano.py maps                            the world's map, once, before many ask for it
    python examples/nano/train_nano.py school --pool POOL --model NANO lessons, drawn on the CPU until stopped
    python examples/nano/train_nano.py draw --kept DIR ...             pictures for GRPO and for evaluation
    python examples/nano/train_nano.py study --stage words|base|sft|coldstart ...
    python examples/nano/train_nano.py grpo --name main ...            one run of GRPO, then its evaluation
    python examples/nano/train_nano.py evaluate --policy DIR ...
    python examples/nano/train_nano.py ceiling                         how near the teacher comes on held-out scenes

examples/nano/README.md has the order, the durations and the results.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

WORLD, LESSONS, REINFORCED, HELD_OUT = 1, 1001, 2002, 3003
"""The seed of the world, and those of the scenes of lessons, of reinforcement learning and of evaluation."""

MIXES = {
    "words": {"echo": 1.0},
    "base": {"perception": 1.0, "reading": 1.0, "format": 1.0, "copying": 1.5, "echo": 2.0, "telling": 2.0},
    "sft": {"perception": 0.7, "levels": 1.6, "reading": 0.5, "format": 0.6, "echo": 0.4, "telling": 0.6},
    "coldstart": {"trajectory": 1.0, "undrawn": 0.6, "copying": 0.2, "telling": 0.3, "levels": 0.3},
}
TURN_TOKENS = 160
"""An answer in three levels with reasons takes up to some 150."""
CONTROLS = ("none", "blank image", "other image", "other tools")
PARENT = "NANO_PIPELINE"
"""The environment's name for the process that a program ends with."""
LESSONS_A_FILE = 16
WITHOUT_PICTURES = ("echo", "copying", "telling", "undrawn")
"""Lessons without pictures are small, and go into larger files: thousands of tiny ones would take long to open."""
AT_ONCE = 128
"""Replies that are drawn together when policies are evaluated."""


def main() -> None:
    """Run the chosen stage."""
    given = parsed()
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    stages = {"make": make, "maps": maps, "school": teach, "draw": drawn, "study": studied, "grpo": reinforced}
    {**stages, "evaluate": evaluated, "ceiling": ceiling}[given.what](given)


def parsed() -> argparse.Namespace:  # noqa: PLR0915  (a list of options)
    """Return the parsed arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(dest="what", required=True)
    made = parts.add_parser("make")
    made.add_argument("--out", type=Path, required=True)
    made.add_argument("--size", default="nano")
    parts.add_parser("maps")
    school = parts.add_parser("school")
    school.add_argument("--pool", type=Path, required=True)
    school.add_argument("--model", type=Path, required=True)
    school.add_argument("--spoken", action="store_true", help="only lessons without picture and map")
    draw = parts.add_parser("draw")
    draw.add_argument("--kept", type=Path, required=True)
    draw.add_argument("--seed", type=int, default=HELD_OUT)
    draw.add_argument("--split", default="held-out")
    draw.add_argument("--scenes", type=int, default=1000)
    for one in (school, draw):
        one.add_argument("--worker", type=int, default=0)
        one.add_argument("--of", type=int, default=1)
        one.add_argument("--seconds", type=float, default=1e9)
    study = parts.add_parser("study")
    study.add_argument("--stage", choices=list(MIXES), required=True)
    study.add_argument("--model", type=Path, required=True)
    study.add_argument("--pool", type=Path, required=True)
    study.add_argument("--out", type=Path, required=True)
    study.add_argument("--steps", type=int, required=True)
    study.add_argument("--rate", type=float, default=1e-3)
    study.add_argument("--tokens", type=int, default=65_536)
    study.add_argument("--seconds", type=float)
    study.add_argument("--enough", type=float, help="stop once this share of tokens is predicted correctly")
    study.add_argument("--limit", type=int)
    study.add_argument("--loaders", type=int, default=3)
    study.add_argument("--schedule", default="cosine")
    grpo = parts.add_parser("grpo")
    grpo.add_argument("--name", required=True)
    grpo.add_argument("--model", type=Path, required=True)
    grpo.add_argument("--out", type=Path, required=True)
    grpo.add_argument("--steps", type=int, required=True)
    grpo.add_argument("--seconds", type=float)
    grpo.add_argument("--rate", type=float, default=5e-5)
    grpo.add_argument("--fade", action="store_true", help="let the rate fall to zero in the second half of --seconds")
    grpo.add_argument("--prompts", type=int, default=16)
    grpo.add_argument("--group", type=int, default=8)
    grpo.add_argument("--micro", type=int, default=16)
    grpo.add_argument("--scenes", type=int, default=1024)
    grpo.add_argument("--reward", default="ours")
    grpo.add_argument("--options", type=json.loads, default={})
    grpo.add_argument("--failed-cost", type=float, default=0.0, help="the cost of a failed call in the reward")
    grpo.add_argument("--objective", default="grpo")
    grpo.add_argument("--tries", type=Path)
    grpo.add_argument("--no-tools", action="store_true")
    grpo.add_argument("--tools-later", action="store_true", help="evaluate with tools what was trained without")
    grpo.add_argument("--seed", type=int, default=0)
    grpo.add_argument(
        "--workers", type=int, default=0, help="processes that serve the tools; 0 serves them in this one"
    )
    evaluate = parts.add_parser("evaluate")
    evaluate.add_argument("--policy", type=Path, required=True)
    evaluate.add_argument("--out", type=Path, required=True)
    evaluate.add_argument("--no-tools", action="store_true")
    evaluate.add_argument("--control", default="none", choices=CONTROLS)
    evaluate.add_argument("--attempts", type=int, default=1)
    evaluate.add_argument("--train-scenes", action="store_true", help="tries on the scenes of GRPO, for filtering")
    evaluate.add_argument("--workers", type=int, default=0)
    best = parts.add_parser("ceiling")
    for one in (grpo, evaluate):
        one.add_argument("--pictures", type=Path)
    for one in (grpo, evaluate, best):
        one.add_argument("--held-out", type=int, default=1000)
    given = parser.parse_args()
    if given.what == "grpo" and given.fade and not given.seconds:
        parser.error("--fade needs --seconds: a rate fades by the time")
    return given


def make(given: argparse.Namespace) -> None:
    """Make an untrained model."""
    from geosleuth.lab.scenes import open_world
    from nano.nano_model import corpus, make_nano

    make_nano(given.out, size=given.size, corpus=corpus(open_world(WORLD)))


def maps(_: argparse.Namespace) -> None:
    """Build the world's map once, before several processes need it."""
    from geosleuth.lab.scenes import open_world
    from geosleuth.lab.scenes.world import world_atlas

    world_atlas(open_world(WORLD))


def teach(given: argparse.Namespace) -> None:
    """Write the lessons of this worker's scenes, until the time is up or the pool holds a file named stop."""
    from geosleuth.lab.scenes import open_world
    from nano.nano_model import load_nano_processor
    from nano.shards import ShardWriter
    from nano.teacher import Speaking, Teaching

    taught = Speaking if given.spoken else Teaching
    teaching = taught(open_world(WORLD), LESSONS, load_nano_processor(given.model))
    role = "speaker" if given.spoken else "worker"
    writers: dict[str, ShardWriter] = {}
    began = time.monotonic()
    start = number = next_scene(given.pool / ("echo" if given.spoken else "trajectory"), role, given.worker, given.of)
    while time.monotonic() - began < given.seconds and not (given.pool / "stop").exists():
        for kind, sample in teaching.encoded(number):
            if kind not in writers:
                samples = LESSONS_A_FILE * (16 if kind in WITHOUT_PICTURES else 1)
                writers[kind] = ShardWriter(given.pool, kind, f"{role}-{given.worker:02}", samples=samples)
            writers[kind].add(sample, {"scene": number})
        number += given.of
    for writer in writers.values():
        writer.flush()
    scenes = (number - start) // given.of
    print(json.dumps({"worker": given.worker, "scenes": scenes, "seconds": round(time.monotonic() - began, 1)}))


def next_scene(shards: Path, role: str, worker: int, of: int) -> int:
    """Return the first scene of a worker after those of its shards."""
    from nano.shards import SUFFIX, Shard

    written = sorted(shards.glob(f"{role}-{worker:02}-*{SUFFIX}"))
    if not written:
        return worker
    last = Shard(written[-1])
    scene = int(last.about(len(last) - 1)["scene"])
    return scene + of - (scene - worker) % of


def drawn(given: argparse.Namespace) -> None:
    """Draw pictures of scenes, each once."""
    from geosleuth.lab.scenes import open_world
    from geosleuth.lab.scenes.design import design_scene
    from geosleuth.lab.scenes.environment.episode import draw_stored_scene as draw_one

    world, began = open_world(WORLD), time.monotonic()
    for number in range(given.worker, given.scenes, given.of):
        draw_one(design_scene(world, given.seed, number, split=given.split), given.kept)
        if time.monotonic() - began > given.seconds:
            break


def studied(given: argparse.Namespace) -> None:
    """Train one stage on lessons."""
    model, processor = loaded(given.model)
    from geosleuth.lab.train.models import save_policy
    from nano.trainer import Study, study

    how = Study(
        weights=MIXES[given.stage],
        steps=given.steps,
        learning_rate=given.rate,
        tokens=given.tokens,
        seconds=given.seconds,
        enough=given.enough,
        limit={"trajectory": given.limit} if given.limit else {},
        loaders=given.loaders,
        schedule=given.schedule,
    )
    with watched() as busy:
        figures = study(model, processor, given.pool, how, given.out)
    save_policy(model, processor, given.out / "policy")
    figures |= busy | {"stage": given.stage, "limit": given.limit, "rate": given.rate, **mfu(model, figures)}
    report(given.out / "study.json", figures)


def reinforced(given: argparse.Namespace) -> None:
    """Run GRPO on scenes of the world, then evaluate it."""
    import transformers

    from geosleuth.agent.methods import method
    from geosleuth.lab.score.rewards import read_reward
    from geosleuth.lab.train.generator import shrinking
    from geosleuth.lab.train.grpo import grpo_trainer
    from geosleuth.lab.train.models import save_policy
    from geosleuth.lab.train.prompts import prompt_rows
    from geosleuth.lab.train.recipe import DataPart, ModelPart, OptimPart, Recipe, RolloutPart, RunPart
    from geosleuth.lab.train.run_folder import TrainingFolder, last_checkpoint
    from geosleuth.lab.train.sft import pacing
    from geosleuth.tools.toolset import all_tools
    from nano.fast_grpo import quicken, ready_images
    from nano.shards import final_shrink
    from nano.vision import patch_vision_attention, patch_vision_inputs
    from nano_callbacks import fading

    if (given.out / "grpo.json").is_file():  # it was trained, and stopped while it was evaluated
        evaluated_after(given)
        return
    model, processor = loaded(given.model)
    patch_vision_attention(model)
    patch_vision_inputs(model, processor.image_processor)
    tools = () if given.no_tools else None
    recipe = Recipe(
        name=given.name,
        stage="grpo",
        model=ModelPart(path=str(given.model)),
        data=DataPart(scenes=given.scenes, world=WORLD, seed=REINFORCED, tries=given.tries, kept=given.pictures),
        optim=OptimPart(
            learning_rate=given.rate, schedule="constant", warmup_share=0.0, steps=given.steps, batch=given.prompts,
            micro_batch=given.micro, gradient_checkpointing=False,
        ),
        rollout=RolloutPart(
            method="nano", tools=tools, group=given.group, prompt_tokens=512, reply_tokens=1400,
            turn_tokens=TURN_TOKENS, reward=given.reward, reward_options=given.options, objective=given.objective,
            failed_call_cost=given.failed_cost, judge="rules" if read_reward(given.reward).needs_judge else None,
        ),
        run=RunPart(seed=given.seed, save_steps=10**6, tensorboard=False),
    )  # fmt: skip
    names = () if given.no_tools else method("nano").toolset(all_tools()).names
    trainer = grpo_trainer(
        model,
        processor,
        prompt_rows(recipe.data),
        recipe,
        given.out,
        workers=given.workers,
        wrap=partial(shrinking, shrink=final_shrink(processor), tools=names),
    )
    quicken(trainer, turn_tokens=TURN_TOKENS, max_batch=max(64, given.prompts * given.group))
    trainer.add_callback(pacing(transformers.TrainerCallback, saying(given.name), given.seconds))
    if given.fade:
        trainer.add_callback(fading(transformers.TrainerCallback, given.rate, given.seconds))
    trainer.remove_callback(transformers.PrinterCallback)
    began = time.monotonic()
    try:
        with watched() as busy, ready_images(processor):
            start = last_checkpoint(TrainingFolder(given.out))
            trainer.train(resume_from_checkpoint=None if start is None else str(start))
    finally:
        trainer.close_workers()
    seconds = time.monotonic() - began
    history = [line for line in trainer.state.log_history if "reward" in line]
    trained = trainer.accelerator.unwrap_model(trainer.model)
    save_policy(trained, processor, given.out / "policy")
    report(
        given.out / "grpo.json",
        {
            "name": given.name, "steps": trainer.state.global_step, "seconds": round(seconds, 1), "rate": given.rate,
            "group": given.group, "prompts": given.prompts, "scenes": given.scenes, "reward": given.reward,
            "options": given.options, "failed_cost": given.failed_cost, "objective": given.objective,
            "filtered": given.tries is not None,
            "workers": given.workers, **busy,
            "drawing_seconds": round(trainer.drawing_seconds, 1), "drawn_tokens": trainer.drawn_tokens,
            "history": history,
        },
    )  # fmt: skip
    del trainer
    evaluated_after(given)


def evaluated_after(given: argparse.Namespace) -> None:
    """Evaluate the policy of a GRPO run."""
    given.policy, given.attempts, given.train_scenes = given.out / "policy", 1, False
    given.control, given.no_tools = "none", given.no_tools and not given.tools_later
    given.out = given.out / "evaluation"
    evaluated(given)


def evaluated(given: argparse.Namespace) -> None:
    """Evaluate a policy on held-out scenes, or make tries on the scenes of reinforcement learning."""
    from geosleuth.lab.train.evaluation import EvaluationSettings, PlaySettings, evaluate
    from geosleuth.lab.train.generator import Replier, fast_generate
    from geosleuth.models import Sampling
    from nano.fast import FastGenerator, image_ids

    model, processor = loaded(given.policy)
    model.eval()
    ends = model.generation_config.eos_token_id
    pad = processor.tokenizer.pad_token_id
    fast = FastGenerator(
        model,
        eos_ids=ends if isinstance(ends, list) else [ends],
        pad_id=pad,
        max_batch=AT_ONCE,
        max_tokens=4096,
        banned_ids=image_ids(model),
    )
    replier = Replier(
        model, processor, name=given.policy.parent.name, generate=fast_generate(fast.generate, pad),
        max_new_tokens=TURN_TOKENS,
    )  # fmt: skip
    several = given.attempts > 1
    settings = EvaluationSettings(
        scenes=given.held_out,
        seed=REINFORCED if given.train_scenes else HELD_OUT,
        split="train" if given.train_scenes else "held-out",
        with_tools=not given.no_tools,
        control=given.control,
        method="nano",
        tries=given.attempts,
        verified=not given.train_scenes,
        sampling=Sampling(temperature=1.0, top_p=1.0) if several else None,
        max_new_tokens=TURN_TOKENS,
    )
    # While some are drawn, the tools of the others are served.
    at_once = 2 * AT_ONCE if given.workers else AT_ONCE
    playing = PlaySettings(workers=given.workers, at_once=at_once, batch=AT_ONCE)
    found = evaluate(replier, settings, playing=playing, folder=given.out, pictures=given.pictures)
    if given.train_scenes:
        from geosleuth.lab.train.prompts import scene_id

        lines = [
            json.dumps({"id": scene_id(scene.number), "distances_km": [one.distance_km for one in scene.tries]})
            for scene in found.scenes
        ]
        (given.out / "tries.jsonl").write_text("\n".join(lines) + "\n")
    drawing = {name: getattr(replier.drawn, name) for name in replier.drawn.__slots__}
    report(given.out / "drawn.json", drawing)
    print(json.dumps(found.figures["within"]), flush=True)


def ceiling(given: argparse.Namespace) -> None:
    """Measure the teacher's own answers on the scenes of evaluation: the ceiling of a policy that copies it."""
    from geosleuth.geo import LatLon, distance_km
    from geosleuth.lab.scenes import open_world
    from geosleuth.lab.scenes.design import design_scene
    from geosleuth.lab.score.metrics import wilson
    from nano.teacher import Teaching

    world = open_world(WORLD)
    teaching = Teaching(world, HELD_OUT, None, split="held-out")
    errors = []
    for number in range(given.held_out):
        lesson = next(one for one in teaching.lessons(number) if one.kind == "trajectory")
        answer = json.loads(lesson.messages[-1]["content"][0]["text"])
        truth = design_scene(world, HELD_OUT, number, split="held-out").spot.point
        errors.append(distance_km(LatLon(answer["lat"], answer["lon"]), truth))
        if sys.stderr.isatty():
            print(f"\r{number + 1} of {given.held_out} scenes", end="", file=sys.stderr)
    for km in (0.5, 25.0, 200.0, 750.0):
        share = wilson(sum(error <= km for error in errors), len(errors))
        print(f"within {km:g} km: {share.value:.1%} ({share.low:.1%} to {share.high:.1%})")


def leave_with_parent() -> None:
    """End with `nano_pipeline.py` if it started this program, even if it is killed."""
    parent = int(os.environ.get(PARENT, "0"))

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    if parent:
        Thread(target=watch, daemon=True).start()


def warm_up() -> None:
    """Import slow modules and open the GPU ahead of time."""
    from importlib import import_module

    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    torch: Any = import_module("torch")
    for name in ("datasets", "trl", "geosleuth.lab.train.evaluation", "nano.fast_grpo"):
        import_module(name)
    for name in ("SFTTrainer", "GRPOTrainer"):
        getattr(import_module("trl"), name)
    if torch.cuda.is_available():
        torch.zeros(1, device="cuda")


def loaded(folder: Path) -> tuple[Any, Any]:
    """Return a model on the available device, and its processor."""
    from importlib import import_module

    from nano.nano_model import load_nano_processor

    torch: Any = import_module("torch")
    transformers: Any = import_module("transformers")

    torch.set_num_threads(1)
    transformers.utils.logging.disable_progress_bar()
    transformers.utils.logging.set_verbosity_error()
    model = transformers.Qwen3VLForConditionalGeneration.from_pretrained(
        folder, dtype=torch.float32, local_files_only=True, attn_implementation="sdpa"
    )
    return model.to("cuda" if torch.cuda.is_available() else "cpu"), load_nano_processor(folder)


def mfu(model: Any, figures: dict[str, Any]) -> dict[str, float]:
    """Return 6 N operations a token as a share of the H200's dense bf16 peak (989 TFLOP/s), without the encoder."""
    weights = sum(one.numel() for one in model.model.language_model.parameters())
    return {"mfu_percent": round(100 * 6 * weights * figures["tokens_per_s"] / 989e12, 2)}


@contextmanager
def watched() -> Iterator[dict[str, float | None]]:
    """Watch the GPU; at the end the figures hold the mean share of time in which it was busy."""
    from geosleuth.lab.train.training_log import GPU_UTILISATION, watch_gpu

    figures: dict[str, float | None] = {"gpu_busy_percent": None}
    watch = watch_gpu()
    if watch is None:
        yield figures
        return
    watch.start()
    try:
        yield figures
    finally:
        watch.stop()
        share = watch().get(GPU_UTILISATION)
        figures["gpu_busy_percent"] = None if share is None else round(100 * share, 1)


def saying(name: str) -> Any:
    """Return a function that prints progress on stderr."""
    return lambda done, total: print(f"{time.strftime('%X')} {name} {done}/{total}", file=sys.stderr, flush=True)


def report(path: Path, figures: dict[str, Any]) -> None:
    """Write figures, and print them without their history."""
    from geosleuth.support.files import write_text_atomically

    path.parent.mkdir(parents=True, exist_ok=True)
    write_text_atomically(path, json.dumps(figures, default=str))
    print(json.dumps({key: value for key, value in figures.items() if key != "history"}, default=str), flush=True)


if __name__ == "__main__":
    leave_with_parent()
    main()
