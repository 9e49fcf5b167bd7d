"""Fine-tuning on photos: the chats are those of `traces import-photos`, shares are stable, a run learns them."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from geosleuth.agent.policy_card import read_card
from geosleuth.atlas import OfflineAtlas
from geosleuth.lab.bench.sets import open_set
from geosleuth.lab.traces import Store, StoreWriter
from geosleuth.lab.traces.photo_chats import photo_chats as imported
from geosleuth.lab.train.dryrun import as_lines, dry_run
from geosleuth.lab.train.prompts import photo_items, prompt_rows
from geosleuth.lab.train.recipe import DataPart
from geosleuth.lab.train.recipe_files import build_recipe
from geosleuth.lab.train.samples import photo_chats, store_chats
from geosleuth.lab.train.sft import run_sft
from geosleuth.support.errors import BadInput
from later import later
from scripted_grpo import make_photos
from stored import about
from tiny_vlm import tiny_vlm_folder

later("torch")
later("trl")


def texts(messages: Any) -> list[tuple[str, str]]:
    return [(one["role"], "".join(block.get("text", "<image>") for block in one["content"])) for one in messages]


@pytest.mark.parametrize("way", ["spotagent", "twm"])
def test_a_photo_makes_the_chat_that_an_import_of_it_makes(tmp_path: Path, way: str) -> None:
    photos = make_photos(tmp_path / "photos", 2)

    async def fill() -> None:
        with StoreWriter(tmp_path / "store", about()) as writer:
            async for made in imported(open_set(str(photos)), way, OfflineAtlas(), is_known=lambda _: False):
                writer.add(made)

    asyncio.run(fill())
    kept = [texts(chat.messages) for chat in store_chats(Store(tmp_path / "store"))]
    own = [texts(chat.messages) for chat in photo_chats(photo_items(DataPart(photos=(str(photos),))), way)]
    assert own == kept
    assert len(own) == 2
    assert own[0][-1][0] == "assistant"
    assert "43.7384" in own[0][-1][1]


def test_a_share_takes_the_same_photos_again_and_about_so_many(tmp_path: Path) -> None:
    photos = str(make_photos(tmp_path / "photos", 200))
    data = DataPart(photos=(photos, photos), shares=(0.05, 1.0), seed=3)
    names = [name for name, _ in photo_items(data)]
    assert names == [name for name, _ in photo_items(data)]
    assert 200 + 2 <= len(names) <= 200 + 25
    others = [name for name, _ in photo_items(DataPart(photos=(photos, photos), shares=(0.05, 1.0), seed=4))]
    assert others != names
    assert len(prompt_rows(DataPart(photos=(photos,), shares=(0.05,), seed=3))) == len(names) - 200
    for shares in ((0.5,), (0.0, 1.0), (1.0, 1.5)):
        with pytest.raises(BadInput, match="for each of the 2 sets"):
            list(photo_items(DataPart(photos=(photos, photos), shares=shares)))


def words(photos: Path, **data: Any) -> dict[str, Any]:
    return {
        "name": "places", "stage": "sft", "model": {"path": str(tiny_vlm_folder()), "dtype": "float32"},
        "data": {"photos": str(photos), **data},
        "optim": {"steps": 2, "batch": 2, "learning_rate": 1e-3, "gradient_checkpointing": False},
    }  # fmt: skip


def test_a_run_learns_photos_and_a_dry_run_says_so(tmp_path: Path) -> None:
    photos = make_photos(tmp_path / "photos", 4)
    recipe = build_recipe(words(photos, limit=3))
    assert any("asked as spotagent does; the first 3 photos" in line for line in as_lines(dry_run(recipe)))
    done = run_sft(recipe, tmp_path / "run")
    assert done.complete
    assert done.figures["chats"] == 3
    assert json.loads((tmp_path / "run" / "done.json").read_text())["steps"] == 2
    # It was asked spotagent's question without tools, and is played so.
    card = read_card(done.policy)
    assert (card.method, card.tools, card.wire, card.box_scale) == ("spotagent", (), "native", "thousandths")
