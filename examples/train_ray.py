"""Train on the machines of a Ray cluster, one task a machine; each starts its processes with accelerate.

    ray job submit --working-dir . -- python examples/train_ray.py grpo lab-32x80gb-zero3-grpo runs/grpo

The recipe's ``run.machines`` and ``run.devices`` say how many machines, and how many GPUs of each. Give the model and
the data as further arguments: ``--set model.path=/models/qwen3-vl-30b``. All machines must see the files under the same
paths. Without GPUs in the cluster, processes train on CPUs.
"""

import json
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import ray
from ray.util.placement_group import placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy


def meeting_point() -> tuple[str, int]:
    """Return the address of the machine that this runs on, and a port that is free there."""
    with socket.socket() as one:
        one.bind(("", 0))
        return ray.util.get_node_ip_address(), int(one.getsockname()[1])


def launch(rank: int, meet: tuple[str, int], spread: dict[str, Any], words: list[str]) -> None:
    """Train on the machine that this runs on.

    Raises:
        RuntimeError: a process failed; the message has its last words.
    """
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "spread.json"
        config.write_text(json.dumps(spread), encoding="utf-8")
        start = [sys.executable, "-m", "accelerate.commands.launch", "--config_file", str(config)]
        where = ["--machine_rank", str(rank), "--main_process_ip", meet[0], "--main_process_port", str(meet[1])]
        command = shutil.which("geosleuth") or "geosleuth"
        done = subprocess.run(
            [*start, *where, command, *words], stdout=sys.stdout, stderr=subprocess.PIPE, text=True, check=False
        )
    sys.stderr.write(done.stderr)
    if done.returncode:
        raise RuntimeError(f"machine {rank} ended with {done.returncode}: {done.stderr[-2000:]}")


def main(stage: str, recipe: str, out: str, *changes: str) -> None:
    """Plan the run, reserve the machines, and train on all of them at once."""
    planned = subprocess.run(
        ["geosleuth", "train", "dry-run", recipe, *changes, "--json"], stdout=subprocess.PIPE, text=True, check=False
    )
    if planned.returncode:
        # A plan that can't work ends the job here; its reason is on stderr, or in the plan.
        sys.exit(planned.stdout or planned.returncode)
    spread = json.loads(planned.stdout)["accelerate"]
    machines = spread["num_machines"]
    ray.init()
    needs = {"CPU": 1.0}
    if ray.cluster_resources().get("GPU"):
        needs["GPU"] = spread["num_processes"] / machines
    places = placement_group([needs] * machines, strategy="STRICT_SPREAD")
    ray.get(places.ready())

    def on(rank: int) -> dict[str, Any]:
        there = PlacementGroupSchedulingStrategy(places, placement_group_bundle_index=rank)
        return {"scheduling_strategy": there, "num_cpus": 1, "num_gpus": needs.get("GPU", 0), "max_retries": 0}

    meet = ray.get(ray.remote(**on(0))(meeting_point).remote())
    words = ["train", stage, "--config", recipe, "--out", out, *changes]
    ray.get([ray.remote(**on(rank))(launch).remote(rank, meet, spread, words) for rank in range(machines)])


if __name__ == "__main__":
    main(*sys.argv[1:])
