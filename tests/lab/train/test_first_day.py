"""Every command of docs/tutorials/training-from-photos.md: run on a few photos, dry-run, or read by its own parser."""

import csv
import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest

from geosleuth.lab.train.prompts import prompt_rows
from geosleuth.lab.train.recipe import DataPart
from geosleuth.lab.train.recipe_files import parse_override, read_recipe
from geosleuth.support.errors import BadInput
from in_process import geosleuth, parsed
from later import later
from tool_cases import sign

later("torch")
later("trl")
ROOT = Path(__file__).parents[3]
TUTORIAL = (ROOT / "docs" / "tutorials" / "training-from-photos.md").read_text(encoding="utf-8")
PAGE = TUTORIAL.partition("\n## On eight GPUs\n")[2]
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
COMMANDS = [line for language, text in BLOCKS if not language for line in text.splitlines()]
PLACES = [(44.5 + row, 0.5 + column) for row in range(5) for column in range(6)]  # thirty cells of France


@pytest.fixture
def day(tmp_path: Path, atlas_home: object) -> Iterator[Path]:
    """A folder with photos of thirty places and the page's recipes; neither weights nor trajectories."""
    assert atlas_home
    folder = tmp_path / "day"
    folder.mkdir()
    for language, text in BLOCKS:
        if language == "yaml":
            (folder / text.partition("\n")[0].removeprefix("# ")).write_text(text)
    with (folder / "photos.csv").open("w", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(["image", "lat", "lon"])
        for number, (lat, lon) in enumerate(PLACES * 2):
            sign(f"Rue {number}", size=(96, 64), letter=12).save(folder / f"{number}.png")
            table.writerow([f"{number}.png", lat, lon])
    # What an earlier run would have recorded.
    (folder / "answers.sqlite").touch()
    with pytest.MonkeyPatch.context() as patch, chdir(folder):
        for line in COMMANDS:
            if line.startswith("export "):
                name, _, value = line.removeprefix("export ").partition("=")
                assert value == "...", "no key is written down"
                patch.setenv(name, "no-real-key")
        yield folder


def words_of(line: str) -> list[str]:
    """The words of a command of geosleuth, whoever starts it, without what comes after a pipe."""
    words = shlex.split(line.partition(" | ")[0])
    if words[:2] == ["accelerate", "launch"]:
        return words[words.index("geosleuth)") + 1 :]
    assert words[0] == "geosleuth", line
    return words[1:]


STARTS = ("export ", "geosleuth ", "accelerate launch ")
OURS = [line for line in COMMANDS if line.startswith(STARTS[1:])]
DRY = [line for line in OURS if re.search(r"\btrain (dry-run|sft|coldstart|grpo)\b", line)]
RUN = [line for line in OURS if line.startswith("geosleuth dataset ")]


def test_the_page_has_commands_of_known_kinds_only() -> None:
    assert [line for line in COMMANDS if not line.startswith(STARTS)] == []
    assert len(DRY) >= 9
    assert len(RUN) >= 3
    stages = {re.search(r"train (sft|coldstart|grpo) ", line)[1] for line in DRY if line.startswith("accelerate")}  # type: ignore[index]
    assert stages == {"sft", "coldstart", "grpo"}


def test_the_extras_are_there() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    (line,) = [line for line in TUTORIAL.splitlines() if line.startswith("python -m pip ")]
    (wanted,) = re.findall(r"\[(.*?)\]", line)
    assert set(wanted.split(",")) <= set(extras)


@pytest.mark.parametrize("line", OURS)
def test_every_command_is_understood(line: str) -> None:
    assert parsed(words_of(line))


def test_a_word_that_there_is_not_is_noticed() -> None:
    with pytest.raises(Exception, match="No such option"):
        parsed(["train", "evaluate", "runs/grpo/", "--best", "1"])


def test_commands_about_data_work_in_their_order(day: Path) -> None:
    for line in RUN:
        done = geosleuth(*words_of(line))
        assert done.returncode == 0, f"{line}: {done.stderr}"
    for part in ("train", "val", "test"):
        assert (day / "splits" / f"{part}.csv").is_file()
    with pytest.raises(BadInput, match="these are test photos"):
        prompt_rows(DataPart(photos=("splits/test.csv",)))


def test_every_stage_is_dry_run_and_fits_eight_gpus(day: Path) -> None:
    """In the page's order, since later commands use what earlier ones write."""
    accelerate: Any = pytest.importorskip("accelerate.commands.launch")
    test_commands_about_data_work_in_their_order(day)
    known: dict[str, Any] = {}
    for line in DRY:
        words = words_of(line)
        given = parsed(words)
        recipe = str(given.get("config") or given.get("recipe"))
        changes = [str(one) for one in given["changes"]]
        resolved = read_recipe(recipe, dict(map(parse_override, changes)))
        assert words[1] in ("dry-run", resolved.stage), line
        key = repr(resolved)
        if key not in known:
            sets = [word for one in changes for word in ("--set", one)]
            done = geosleuth("train", "dry-run", recipe, *sets, "--json")
            assert done.returncode == 0, f"{line}: {done.stderr}{done.stdout[-2000:]}"
            known[key] = json.loads(done.stdout)
        report = known[key]
        assert report["ok"]
        assert not [
            one for one in report["absent"] if not one.startswith(("weights", "data: there is no trajectories"))
        ]
        if " | jq .accelerate > " in line:
            (day / line.rpartition(" > ")[2]).write_text(json.dumps(report["accelerate"]))
        if line.startswith("accelerate"):
            estimate = report["estimate"]
            said = f"| `{resolved.stage}` | {estimate['memory']['peak']:.1f} |"
            assert resolved.model.tuned == "lora" or said in PAGE, said
            launch = shlex.split(line)[2:]
            file = day / launch[launch.index("--config_file") + 1]
            assert json.loads(file.read_text())["num_processes"] == resolved.run.devices == 8
            accelerate.launch_command_parser().parse_args([*launch[:2], "geosleuth", *words])
