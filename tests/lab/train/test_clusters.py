"""The scripts for several machines, each with two processes on this one: Slurm, a stand-in for it, and Ray."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from later import later
from own_venv import ROOT
from ray_nodes import ray_nodes
from scripted_grpo import make_photos
from slurm_nodes import free_ports, slurm_nodes, why_no_slurm
from tiny_vlm import make_tiny_vlm

for needed in ("torch", "trl"):
    later(needed)

SLURM, RAY = ROOT / "examples" / "train.slurm", ROOT / "examples" / "train_ray.py"
RECIPE = """\
name: two
stage: sft
model: {{path: {0}/model, dtype: float32}}
data: {{photos: {0}/photos/photos.csv}}
optim: {{steps: 2, batch: 4, micro_batch: 1, learning_rate: 1.0e-3, warmup_share: 0, gradient_checkpointing: false}}
run: {{tensorboard: false, save_steps: 100}}
"""
TWO = ("--set", "run.devices=2", "--set", "run.machines=2")
# Starts the command as Slurm does on two machines: at once, each with its number.
SRUN = """\
#!/bin/bash
# A stand-in for srun.
for node in 0 1; do SLURM_NODEID=$node "$@" & tasks+=($!); done
for task in "${tasks[@]}"; do wait "$task" || exit 1; done
"""
SCONTROL = """\
#!/bin/bash
# A stand-in for scontrol, which names the machines of a job.
[ "$*" = "show hostnames here[0-1]" ] && printf '127.0.0.1\\n127.0.0.2\\n'
"""


@dataclass(frozen=True)
class Place:
    """A folder with a model, photos and a recipe; and an environment with the command on its path."""

    folder: Path
    environment: dict[str, str]
    alone: list[float]

    def run(self, *command: object, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(word) for word in command], env=self.environment | more, cwd=self.folder,
            capture_output=True, text=True, check=False, timeout=600,
        )  # fmt: skip


def losses(folder: Path) -> list[float]:
    lines = (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["loss"] for line in lines]


def script(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("clusters")
    make_tiny_vlm(folder / "model")
    make_photos(folder / "photos", 8)
    (folder / "sft.yaml").write_text(RECIPE.format(folder), encoding="utf-8")
    script(folder / "bin" / "geosleuth", f"#!{sys.executable}\nfrom geosleuth.cli import main\n\nmain()\n")
    path = os.pathsep.join((str(folder / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]))
    environment = {**os.environ, "PATH": path, "OMP_NUM_THREADS": "1", "MASTER_PORT": str(free_ports(1)[0])}
    made = Place(folder, environment, [])
    done = made.run("geosleuth", "train", "sft", "--config", "sft.yaml", "--out", "alone")
    assert done.returncode == 0, done.stderr[-2000:]
    return Place(folder, environment, losses(folder / "alone"))


def stand_ins(place: Place, srun: str) -> Callable[..., subprocess.CompletedProcess[str]]:
    """What ``bash train.slurm`` needs of a job."""
    for name, text in (("srun", srun), ("scontrol", SCONTROL)):
        script(place.folder / "stand-ins" / name, text)
    job = {"SLURM_SUBMIT_DIR": str(place.folder), "SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "here[0-1]"}
    path = f"{place.folder / 'stand-ins'}{os.pathsep}{place.environment['PATH']}"
    return lambda *words: place.run("bash", SLURM, *words, PATH=path, **job)


@pytest.mark.slow
def test_a_plan_that_can_not_work_starts_nothing(place: Place) -> None:
    asked = stand_ins(place, "#!/bin/bash\ntouch started\n")
    done = asked("sft", "sft.yaml", "none", *TWO, "--set", "run.device_gb=0.001")
    assert done.returncode == 1
    assert not (place.folder / "started").exists()
    plan = json.loads((place.folder / "plan-7.json").read_text(encoding="utf-8"))
    assert plan["ok"] is False
    ended = place.run(sys.executable, RAY, "sft", "sft.yaml", "none", *TWO, "--set", "run.device_gb=0.001")
    assert ended.returncode == 1
    assert '"ok": false' in ended.stderr


@pytest.mark.slow
def test_the_slurm_script_trains_on_two_machines_by_a_stand_in_for_srun(place: Place) -> None:
    done = stand_ins(place, SRUN)("sft", "sft.yaml", "stood-in", *TWO)
    assert done.returncode == 0, done.stderr[-3000:]
    assert losses(place.folder / "stood-in") == pytest.approx(place.alone, abs=1e-4)


@pytest.mark.slow
@pytest.mark.skipif(why_no_slurm() is not None, reason=str(why_no_slurm()))
def test_slurm_trains_on_two_nodes(place: Place) -> None:
    with slurm_nodes(place.environment) as environment:
        there = Place(place.folder, environment, place.alone)
        # Both nodes are on this machine, which has no GPU.
        wanted = ("--wait", "--nodes=2", "--gpus-per-node=0", "--cpus-per-task=1", "--output=job.txt")
        done = there.run("sbatch", *wanted, SLURM, "sft", "sft.yaml", "slurm", *TWO, MASTER_ADDR="127.0.0.1")
        assert done.returncode == 0, (place.folder / "job.txt").read_text(encoding="utf-8")[-3000:]
    assert losses(place.folder / "slurm") == pytest.approx(place.alone, abs=1e-4)


@pytest.mark.slow
def test_ray_trains_on_two_nodes(place: Place) -> None:
    known = {name: value for name, value in place.environment.items() if os.environ.get(name) != value}
    with ray_nodes(**known) as nodes:
        out = place.folder / "ray"
        # The cluster lets nobody in without its token.
        joining = {name: value for name, value in os.environ.items() if name.startswith("RAY_")}
        words = (sys.executable, RAY, "sft", place.folder / "sft.yaml", out, *TWO)
        done = place.run(*words, **joining | {"RAY_ADDRESS": nodes.address})
    assert done.returncode == 0, done.stderr[-3000:]
    assert losses(out) == pytest.approx(place.alone, abs=1e-4)
