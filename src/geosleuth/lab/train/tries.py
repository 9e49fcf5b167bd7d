"""Tries of a policy at the rows of a recipe: how far off each was, for choosing the rows that teach something.

Replies are drawn as in training, by the same code and on the same setup; nothing is learned.
"""

import json
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from geosleuth.lab.traces.filtering import PAPER_TRIES, StoredTries, build_tries, read_tries
from geosleuth.support.errors import BadInput, require
from geosleuth.support.files import write_bytes_atomically

from .grpo import grpo_trainer
from .models import load_model
from .prompts import Row, prompt_rows
from .recipe import Recipe
from .run_folder import Progress, no_progress
from .services import answers_served


def make_tries(
    recipe: Recipe,
    policy: Path,
    out: Path,
    *,
    tries: int = PAPER_TRIES,
    at_once: int = 8,
    progress: Progress = no_progress,
) -> StoredTries:
    """Let a policy try the rows of a recipe, and write a file that the recipe's ``data.tries`` can name.

    The file has a line a row, ``{"id": ..., "distances_km": [...]}``, null where a try gave no point. Rows that are in
    it already are kept, so a killed run resumes, and more rows can be added later.

    Args:
        recipe: of reinforcement learning; its data, method, tools, temperature and lengths count.
        policy: a folder of weights, such as what fine-tuning came to.
        out: the file.
        tries: how many replies are drawn for a row; at least 2.
        at_once: rows of one generation.
        progress: hears how many rows are done.

    Raises:
        BadInput: too few tries, or something can't be read or written.
        MissingExtra: TRL is not installed.
    """
    if tries < 2:
        raise BadInput("a row teaches something where some tries succeed and some fail; draw at least 2")
    asked = prompt_rows(recipe.data)
    known = _read_known_rows(out, tries)
    missing = [row for row in asked if str(row["id"]) not in known]
    progress(len(asked) - len(missing), len(asked))
    if missing:
        plan = replace(
            recipe,
            model=replace(recipe.model, path=str(policy), tuned="full"),
            data=replace(recipe.data, tries=None, phases_km=()),
            optim=replace(recipe.optim, batch=at_once, mini_batch=0, micro_batch=tries, steps=1),
            rollout=replace(recipe.rollout, group=tries, kl=0.0, objective="grpo"),
        )
        with tempfile.TemporaryDirectory() as scratch, answers_served(recipe):
            known_rows = len(asked) - len(missing)
            _draw(plan, missing, Path(scratch), out, lambda done: progress(done + known_rows, len(asked)))
    return build_tries(read_tries([out]))


def _read_known_rows(out: Path, tries: int) -> set[str]:
    """Return the rows that a file has already; a line that a killed run left half-written is cut off.

    Raises:
        BadInput: it is no such file, or has other numbers of tries.
    """
    if not out.exists():
        out.parent.mkdir(parents=True, exist_ok=True)
        return set()
    whole = out.read_bytes().rpartition(b"\n")[0]
    write_bytes_atomically(out, whole + b"\n" if whole else b"")
    found = read_tries([out]) if whole else {}
    if others := [one for one, values in found.items() if len(values) != tries]:
        raise BadInput(f"{out}: has {len(found[others[0]])} tries at {others[0]}, not {tries}; give another file")
    return set(found)


def _draw(plan: Recipe, rows: Sequence[Row], scratch: Path, out: Path, done: Callable[[int], None]) -> None:
    torch = require("torch", extra="train")
    model, processor = load_model(plan.model)
    trainer = grpo_trainer(model, processor, rows, plan, scratch)
    prompt, first = trainer.train_dataset[0]["prompt"], 0
    while first < len(rows):
        some = rows[first : first + plan.optim.batch]
        # Seeded by row, so that a resumed run draws as it would have.
        torch.manual_seed(_seed(plan.run.seed, str(some[0]["id"])))
        outcome = trainer.play([{"prompt": prompt, **row} for row in some for _ in range(plan.rollout.group)])
        _add(out, [str(row["id"]) for row in some], outcome.distances_km.reshape(len(some), -1))
        first += len(some)
        done(first)


def _seed(seed: int, text: str) -> int:
    return crc32(f"{seed} {text}".encode())


def _add(out: Path, ids: Sequence[str], distances_km: NDArray[np.float64]) -> None:
    lines = [
        json.dumps({"id": one, "distances_km": [None if np.isnan(km) else round(float(km), 4) for km in row]})
        for one, row in zip(ids, distances_km, strict=True)
    ]
    with out.open("ab", buffering=0) as stream:
        stream.write("".join(f"{line}\n" for line in lines).encode())
        os.fsync(stream.fileno())
