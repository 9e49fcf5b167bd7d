"""All of examples/nano/README.md on one machine, unattended: lessons, stages, runs of GRPO side by side, evaluations.

    python examples/nano/nano_pipeline.py ROOT                    for one H200 with 16 cores, about 25 minutes
    python examples/nano/nano_pipeline.py ROOT --plan plan.json   other lengths and sizes; --show-plan prints all
    python examples/nano/nano_results.py ROOT/runs               tables of what came of it

ROOT/log tells what happens, ROOT/logs/NAME what each program said. What is done is not done again: after a kill the
same command goes on. Programs are started before their turn and wait with everything imported: no GPU waits for that.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import train_nano
from geosleuth.support.files import lock_file, write_text_atomically
from nano_cores import cores, pin
from nano_plan import EARLY, KEPT, LATE, NEEDED, PLAN, changed

SCRIPT = Path(__file__).with_name("train_nano.py")
_TICK_S = 0.5
_EARLY_SHARE = 2 / 3  # of a stage's time: when school may end, and those of the next stage be started
_WORDS_ALONE = 0.4  # of the stage's time, before teachers begin and slow it
# How fast other stages are by the base stage's speed: fine-tuning opens shards of its own first; photos of the cold
# start are of one size, and few teach beside it.
_SLOWER, _FASTER = 0.7, 1.3
_ENDING_S = 10.0
_PATIENCE_S = 120.0  # for the first lessons of a kind


def main() -> None:
    """Run the plan, or wait as one of its programs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path, nargs="?", default=Path("nano-run"))
    parser.add_argument("--plan", type=Path, help="JSON with what differs from the plan that --show-plan prints")
    parser.add_argument("--show-plan", action="store_true")
    parser.add_argument("--wait-as", help=argparse.SUPPRESS)
    given = parser.parse_args()
    plan = changed(PLAN, json.loads(given.plan.read_text()) if given.plan else {})
    if given.show_plan:
        print(json.dumps(plan, indent=1))
    elif given.wait_as:
        wait_as(given.root, given.wait_as)
    else:
        # What ends this program ends those that it started.
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: sys.exit(1))
        given.root.mkdir(parents=True, exist_ok=True)
        with (given.root / "lock").open("wb") as lock:
            if lock_file(lock.fileno()) is False:
                sys.exit(f"nano_pipeline: another one is at work in {given.root}")
            Pipeline(given.root.absolute(), plan).run()


def wait_as(root: Path, name: str) -> None:
    """Import what takes long, wait for the arguments of `train_nano.py`, and run it."""
    train_nano.leave_with_parent()
    train_nano.warm_up()
    asked = root / "asked" / name
    while not asked.exists():
        time.sleep(_TICK_S / 2)
    sys.argv = [SCRIPT.name, *json.loads(asked.read_text())]
    began = time.monotonic()
    train_nano.main()
    (root / "done" / name).write_text(f"{time.monotonic() - began:.1f}")


class Pipeline:
    """Starts programs, tells them what to do, and waits for them."""

    def __init__(self, root: Path, plan: Mapping[str, Any]) -> None:
        self.root, self.plan, self.began = root, plan, time.monotonic()
        for part in ("asked", "done", "logs", "runs"):
            (root / part).mkdir(parents=True, exist_ok=True)
        self.nano, self.pool, self.pictures = root / "nano", root / "pool", root / "pictures"
        self._programs: dict[str, subprocess.Popen[bytes]] = {}
        self._failed: set[str] = set()
        self._ending = False
        self._all, own = cores(), plan["own_cores"]
        self._own, self._rest = (self._all[:own], self._all[own:]) if len(self._all) > own else (self._all, self._all)

    def run(self) -> None:
        """All of it."""
        self._start("maps", "maps")
        try:
            with self._told("learning"):
                self.learn()
            with self._told("reinforcing"):
                self.reinforce()
        finally:
            self._end()
        if self._failed:
            sys.exit(f"nano_pipeline: failed: {', '.join(sorted(self._failed))}; see {self.root / 'logs'}")

    def learn(self) -> None:
        """From random weights, or those of an earlier run, to the cold start."""
        if self._done("cold"):
            return
        if self.plan["start"]:
            self._take("words", Path(self.plan["start"]))
            shutil.copytree(self._policy("words"), self.nano, dirs_exist_ok=True)
            if not any(self.plan[stage]["seconds"] for stage in ("base", "sft", "coldstart")):
                self._take("cold", self._policy("words"))
                return
        self._ready("words", "base", own=True)
        if not (self.nano / "config.json").is_file():
            self._start("make", "make", "--out", self.nano, "--size", self.plan["size"])
            self._wait("make")
        self.pool.mkdir(exist_ok=True)
        stop = self.pool / "stop"
        stop.unlink(missing_ok=True)
        with self._told("words"):
            self._school("speaker", self.plan["speakers"], "--spoken", "--seconds", self.plan["words"]["seconds"])
            self._study("words", "words", self.nano)
            self._wait("words", most=self.plan["words"]["seconds"] * _WORDS_ALONE)
            self._wait("maps")
            self._school("teacher", self.plan["teachers"])
            self._stage_ends("words")
        self._beside(self._watch_pool)
        self._paint("train", "held-out")
        with self._told("base"):
            self._ready("sft", own=True)
            if not self._left_out("base", "base", after="words"):
                self._study("base", "base", self._policy("words"))
                self._stage_ends("base")
        with self._told("sft"):
            self._ready("cold", own=True)
            if not self._left_out("sft", "sft", after="base"):
                self._study("sft", "sft", self._policy("base"), steps=self._planned_steps("sft", _SLOWER))
                self._stage_ends("sft", shards="levels")
        with self._told("cold start"):
            if not self._left_out("cold", "coldstart", after="sft"):
                self._study("cold", "coldstart", self._policy("sft"), steps=self._planned_steps("coldstart", _FASTER))
                self._wait("cold", most=self.plan["coldstart"]["seconds"] * _EARLY_SHARE)
            stop.touch()
            self._ready_to_reinforce()
            if not self._done("cold"):
                self._stage_ends("cold", shards="trajectory")

    def _ready_to_reinforce(self) -> None:
        self._ready("g-main", *(f"g-{name}" for name in self._beside_main()), *(("tries",) if self._tried() else ()))

    def _beside_main(self) -> list[str]:
        return [name for name, how in self.plan["runs"].items() if how.get("beside_main")]

    def _tried(self) -> bool:
        """Whether a run wants to know which scenes teach something."""
        common = self.plan["grpo"]["tries"]
        return any(how.get("tries", common) for how in self.plan["runs"].values())

    def _left_out(self, name: str, stage: str, *, after: str) -> bool:
        """Whether a stage has no time; its policy is then that of the one before."""
        if self.plan[stage]["seconds"]:
            return False
        self._take(name, self._policy(after))
        return True

    def _take(self, name: str, policy: Path) -> None:
        """Let a stage have had a policy as its outcome."""
        if not self._done(name):
            shutil.copytree(policy, self._policy(name), dirs_exist_ok=True)
            (self.root / "done" / name).touch()

    def _planned_steps(self, stage: str, times: float) -> float:
        """Those that the plan says, or as many as fit by the speed of the stage "base"."""
        steps = float(self.plan[stage]["steps"] or times * self._speed("base") * self.plan[stage]["seconds"])
        if not steps:
            self._give_up(f"the plan must say the steps of {stage}: no stage base tells how many fit into its time")
        return steps

    def reinforce(self) -> None:
        """GRPO first; then most runs that are compared, beside evaluations of the stages and of control conditions."""
        self._ready_to_reinforce()
        self._wait("maps", *self._started("teacher", "speaker"))
        for folder in self.pool.iterdir() if self.pool.is_dir() else ():
            if folder.is_dir() and folder.name not in KEPT:
                shutil.rmtree(folder)
        self._paint("train", *(("held-out",) if self.plan["early"] else ()))
        self._wait(*self._started("painter"))
        self._paint("held-out")  # beside the rest, where nothing is evaluated yet
        self._own = self._rest = self._all
        for program in self._programs.values():
            pin(program, self._all)
        if self._tried():
            spread = ("--workers", self.plan["grpo"]["tries_workers"])
            self._evaluate("tries", "cold", "--attempts", 4, "--train-scenes", *spread, scenes=self.plan["tried"])
            self._wait("tries")
        with self._told("main"):
            self._reinforce("main")
            for name in self._beside_main():
                self._reinforce(name)
            self._wait_for_file(self.root / "runs" / "g-main" / "grpo.json", "g-main")
        early, arms = self._early(), [name for name in self.plan["runs"] if name not in ("main", *self._beside_main())]
        late = () if self._dead("g-main") else LATE
        measured = (*early, *late)
        self._ready(*(f"g-{name}" for name in arms), *(name for name, *_ in measured))
        for name in arms:
            self._reinforce(name)
        for name, of, *options in measured:
            self._evaluate(name, of, *options, scenes=None if name == "e-cold" else self.plan["compared"])
        self._wait(*(f"g-{name}" for name in self.plan["runs"]), *(name for name, *_ in measured))

    def _early(self) -> list[tuple[Any, ...]]:
        """Evaluations of the stages that were taught, and of the cold start wherever it comes from."""
        if not self.plan["early"]:
            return []
        return [one for one in EARLY if one[1] == "cold" or self._studied(one[1])]

    def _paint(self, *splits: str) -> None:
        """Draw the pictures of reinforcement learning ("train") and of evaluation; those that are there stay."""
        measured = (train_nano.HELD_OUT, "held-out", self.plan["held_out"])
        for seed, split, scenes in (measured, (train_nano.REINFORCED, "train", self.plan["scenes"])):
            if split not in splits:
                continue
            for worker in range(self.plan["painters"]):
                name = f"painter-{split}-{worker}"
                if name in self._programs:
                    continue
                which = ("--seed", seed, "--split", split, "--scenes", scenes)
                spread = ("--worker", worker, "--of", self.plan["painters"])
                self._start(name, "draw", "--kept", self.pictures, *which, *spread, low=True)

    def _reinforce(self, name: str) -> None:
        how, common = self.plan["runs"][name], self.plan["grpo"]
        options = {
            key: how.get(key, common.get(key))
            for key in (
                "prompts",
                "group",
                "reward",
                "objective",
                "seed",
                "failed_cost",
                "steps",
                "rate",
                "micro",
                "seconds",
            )
        }
        if isinstance(options["reward"], Mapping):
            written = self.root / "rewards" / f"{name}.yaml"
            written.parent.mkdir(exist_ok=True)
            write_text_atomically(written, json.dumps(options["reward"]))
            options["reward"] = written
        said = [
            part
            for key, value in options.items()
            if value is not None
            for part in (f"--{key.replace('_', '-')}", value)
        ]
        if "options" in how:
            said += ["--options", json.dumps(how["options"])]
        if how.get("fade"):
            said.append("--fade")
        if how.get("bare") or how.get("toolless"):
            said += ["--no-tools", *(["--tools-later"] if how.get("bare") else [])]
        if how.get("tries", common["tries"]):
            said += ["--tries", self.root / "runs" / "tries" / "tries.jsonl"]
        self._ask(
            f"g-{name}", "grpo", "--name", name, "--model", self._policy(how.get("from", "cold")),
            "--out", self.root / "runs" / f"g-{name}", "--scenes", self.plan["scenes"],
            "--held-out", self.plan["held_out" if name == "main" else "compared"], "--pictures", self.pictures,
            "--workers", how.get("workers", 0), *said,
        )  # fmt: skip

    def _started(self, *roles: str) -> list[str]:
        return [name for name in self._programs if name.startswith(roles)]

    def _evaluate(self, name: str, of: str, *options: object, scenes: int | None = None) -> None:
        where = ("--policy", self._policy(of), "--out", self.root / "runs" / name, "--pictures", self.pictures)
        self._ask(name, "evaluate", *where, "--held-out", scenes or self.plan["held_out"], *options)

    def _study(self, name: str, stage: str, model: Path, *, steps: float | None = None) -> None:
        how = self.plan[stage]
        steady = ("--schedule", "constant_with_warmup") if steps is None else ()
        enough = ("--enough", how["enough"]) if "enough" in how else ()
        self._ask(
            name, "study", "--stage", stage, "--model", model, "--pool", self.pool, "--out", self.root / "runs" / name,
            "--steps", max(2, int(how["steps"] if steps is None else steps)), "--rate", how["rate"],
            "--tokens", how["tokens"], "--loaders", self.plan["loaders"], "--seconds", how["seconds"], *steady, *enough,
        )  # fmt: skip

    def _school(self, role: str, count: int, *options: object) -> None:
        for worker in range(count):
            spread = ("--worker", worker, "--of", count)
            self._start(
                f"{role}-{worker}", "school", "--pool", self.pool, "--model", self.nano, *spread, *options, low=True
            )

    def _policy(self, name: str) -> Path:
        """That of a stage, or of a run of GRPO."""
        return self.root / "runs" / name / "policy"

    def _speed(self, name: str) -> float:
        """Steps a second of a stage; none where it was left out."""
        if not self._studied(name):
            return 0.0
        figures = json.loads((self.root / "runs" / name / "study.json").read_text())
        return float(figures["steps"] / figures["seconds"])

    def _studied(self, name: str) -> bool:
        return (self.root / "runs" / name / "study.json").is_file()

    def _watch_pool(self) -> None:
        stop = self.pool / "stop"
        while not stop.exists():
            size = sum(path.stat().st_size for path in self.pool.glob("*/*.shard"))
            if size > self.plan["pool_gb"] * 1e9:
                self._say(f"the pool is full: {size / 1e9:.0f} GB")
                stop.touch()
            time.sleep(10 * _TICK_S)

    def _ready(self, *names: str, own: bool = False) -> None:
        """Start programs that wait for their turn; those of stages have processors of their own."""
        for name in names:
            program = self._programs.get(name)
            if (program is None or program.poll() is not None) and not self._done(name):
                (self.root / "asked" / name).unlink(missing_ok=True)
                program = self._popen(name, [__file__, str(self.root), "--wait-as", name], low=False)
                pin(program, self._own if own else self._rest)

    def _start(self, name: str, *arguments: object, low: bool = False) -> None:
        program = self._popen(name, [str(SCRIPT), *map(str, arguments)], low=low)
        pin(program, self._rest)

    def _popen(self, name: str, arguments: Sequence[str], *, low: bool) -> "subprocess.Popen[bytes]":
        nice = ["nice", "-n", "5"] if low else []
        # There is a process for every core already: threads of OpenCV and of sums would only get in each other's way.
        few = {"OPENCV_FOR_THREADS_NUM": "1", "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
        if self._ending:
            sys.exit(1)
        with (self.root / "logs" / name).open("wb") as log:
            self._programs[name] = subprocess.Popen(
                [*nice, sys.executable, *arguments], stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                env={**os.environ, **few, train_nano.PARENT: str(os.getpid())},
            )  # fmt: skip
        return self._programs[name]

    def _ask(self, name: str, *arguments: object) -> None:
        if self._done(name):
            return
        self._ready(name)
        write_text_atomically(self.root / "asked" / name, json.dumps([str(argument) for argument in arguments]))
        self._say(f"begins: {name}")

    def _done(self, name: str) -> bool:
        return (self.root / "done" / name).exists()

    def _dead(self, name: str) -> bool:
        program = self._programs.get(name)
        return program is not None and program.poll() not in (None, 0)

    def _over(self, name: str) -> bool:
        program = self._programs.get(name)
        return self._done(name) or (program is not None and program.poll() is not None)

    def _stage_ends(self, name: str, shards: str | None = None) -> None:
        """Wait for a stage, but not forever: one without lessons would wait for them and hold the GPU.

        Raises:
            SystemExit: it failed, nobody teaches, or it takes far longer than planned.
        """
        patience = time.monotonic() + _PATIENCE_S
        while shards and not any((self.pool / shards).glob("*.shard")):
            if time.monotonic() > patience:
                self._give_up(f"there are no lessons of the kind {shards}")
            time.sleep(_TICK_S)
        planned = self.plan["coldstart" if name == "cold" else name]["seconds"]
        until = time.monotonic() + 2 * planned + 180
        while not self._over(name):
            for role in ("speaker", "teacher"):
                members = [one for one in self._programs if one.startswith(role)]
                if members and all(map(self._dead, members)):
                    self._give_up(f"every {role} failed")
            if time.monotonic() > until:
                self._give_up(f"{name} takes far longer than {planned} s")
            time.sleep(_TICK_S)
        self._wait(name)

    def _give_up(self, why: str) -> None:
        self._say(why)
        sys.exit(f"nano_pipeline: {why}; see {self.root / 'logs'}")

    def _wait(self, *names: str, most: float | None = None) -> None:
        """Until all are over, or for some seconds at most.

        Raises:
            SystemExit: one failed without which nothing can go on.
        """
        until = None if most is None else time.monotonic() + most
        while not all(map(self._over, names)) and (until is None or time.monotonic() < until):
            time.sleep(_TICK_S)
        for name in filter(self._dead, names):
            if name not in self._failed:
                self._say(f"failed: {name}; see {self.root / 'logs' / name}")
            self._failed.add(name)
            if name in NEEDED:
                self._give_up(f"{name} failed")

    def _beside(self, work: Callable[[], None]) -> Thread:
        """Let something go on beside; what goes wrong in it is told."""

        def told() -> None:
            try:
                work()
            except Exception:  # noqa: BLE001  (a thread that dies silently would be waited for)
                self._say(traceback.format_exc())
                self._failed.add("a thread of the pipeline")

        thread = Thread(target=told, daemon=True)
        thread.start()
        return thread

    def _end(self) -> None:
        """End all that was started and still runs."""
        self._ending = True
        running = [program for program in list(self._programs.values()) if program.poll() is None]
        for program in running:
            program.terminate()
        until = time.monotonic() + _ENDING_S
        for program in running:
            try:
                program.wait(max(0.0, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                program.kill()

    def _wait_for_file(self, path: Path, name: str) -> None:
        while not path.is_file() and not self._over(name):
            time.sleep(_TICK_S)

    @contextmanager
    def _told(self, what: str) -> Iterator[None]:
        self._say(what)
        began = time.monotonic()
        yield
        self._say(f"{what}: {time.monotonic() - began:.0f} s")

    def _say(self, words: str) -> None:
        line = f"{time.monotonic() - self.began:7.1f} {words}"
        print(line, file=sys.stderr, flush=True)
        with (self.root / "log").open("a") as log:
            log.write(line + "\n")


if __name__ == "__main__":
    main()
