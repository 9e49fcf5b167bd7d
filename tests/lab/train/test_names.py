"""What `geosleuth.lab.train` offers, and that asking for one of it loads no more than it needs."""

import subprocess
import sys

import geosleuth.lab.train as room

HEAVY = ("torch", "transformers", "trl", "datasets", "peft", "numpy", "typer", "rich")


def test_recipes_are_read_without_anything_heavy() -> None:
    code = (
        "import sys, geosleuth.lab.train as t; t.read_recipe('twm-grpo');"
        f" print([name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_no_module_loads_torch_or_the_command_line_when_it_is_imported() -> None:
    modules = ", ".join(f"geosleuth.lab.train.{name}" for name in room._MODULES)
    heavy = [name for name in HEAVY if name not in ("numpy", "rich")]
    code = f"import sys, {modules}; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert (done.stdout, done.stderr) == ("[]\n", "")
