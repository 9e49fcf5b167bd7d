"""Tries of a policy, drawn as in training: the file that rows are chosen by."""

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from geosleuth.lab.train import tries as trying
from geosleuth.lab.train.models import load_model
from geosleuth.lab.train.prompts import phases, prompt_rows
from geosleuth.lab.train.recipe import DataPart, RolloutPart
from geosleuth.lab.train.tries import make_tries
from geosleuth.support.errors import BadInput
from later import later
from scripted_grpo import FAR, MIDDLE, NEAR, make_photos, make_tiny, script, tiny_recipe

later("trl")


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
@pytest.mark.usefixtures("atlas_home")
def test_tries_go_on_and_choose_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import_module("torch").set_num_threads(1)
    tiny, photos, out = (
        make_tiny(tmp_path / "model"),
        make_photos(tmp_path / "photos", 3),
        tmp_path / "t" / "tries.jsonl",
    )
    said = [[NEAR, NEAR, "No idea.", NEAR, NEAR, NEAR], [FAR, MIDDLE, FAR]]
    drawn: list[int] = []

    def scripted(part: Any) -> tuple[Any, Any]:
        model, processor = load_model(part)

        def words(rows: int) -> list[str]:
            drawn.append(rows)
            if len(drawn) == 2:
                raise KeyboardInterrupt
            return said[0] if len(drawn) == 1 else said[1]

        script(model, processor.tokenizer, words)
        return model, processor

    monkeypatch.setattr(trying, "load_model", scripted)
    recipe = tiny_recipe(Path("nowhere"), photos, RolloutPart(method="smilegeo", reward="spotagent", tools=(), group=8))
    told: list[tuple[int, int]] = []

    def go() -> Any:
        return make_tries(recipe, tiny, out, tries=3, at_once=2, progress=lambda *step: told.append(step))

    with pytest.raises(KeyboardInterrupt):
        go()
    with out.open("a", encoding="utf-8") as stream:
        stream.write('{"id": "photo-2", "dist')  # what a kill may leave
    found = go()
    assert drawn == [6, 3, 3]
    assert told == [(0, 3), (2, 3), (2, 3), (3, 3)]
    assert found.ids == ("photo-0", "photo-1", "photo-2")
    assert np.isnan(found.distances_km).tolist() == [[False, False, True], [False] * 3, [False] * 3]
    assert found.distances_km[1].tolist() == [0, 0, 0]
    assert found.distances_km[2, 1] == pytest.approx(13.06, abs=0.3)
    (kept,) = phases(prompt_rows(DataPart(photos=(str(photos),))), DataPart(tries=out))
    assert kept.tolist() == [0, 2]
    with pytest.raises(BadInput, match="has 3 tries at photo-0, not 4"):
        make_tries(recipe, tiny, out, tries=4)
