"""GeoSeek-CoT's chains as figure 10 prints them, and photos with points as SpotAgent learns from them."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from geosleuth.atlas import OfflineAtlas
from geosleuth.lab.bench.sets import open_set
from geosleuth.lab.traces import Store
from geosleuth.lab.traces.annotations import ByRules, read_notes
from geosleuth.lab.traces.photo_chats import photo_chats
from geosleuth.lab.traces.rows import Sample
from geosleuth.lab.train.samples import store_chats
from geosleuth.support.errors import BadInput
from set_files import jpeg, put, put_jsonl

CHAIN: dict[str, Any] = {
    "ChainOfThought": {
        "CountryIdentification": {
            "Clues": ["prayer flags", "sand dunes"], "Reasoning": "Flags of that kind.", "Conclusion": "China",
            "Uncertainty": "Low",
        },
        "RegionalGuess": {
            "Clues": ["snow peaks"], "Reasoning": "High land.", "Conclusion": "Tibet", "Uncertainty": "Moderate",
        },
        "PreciseLocalization": {"Clues": [], "Reasoning": "", "Conclusion": "", "Uncertainty": "High"},
    },
    "FinalAnswer": "China; Tibet",
}  # fmt: skip


@pytest.mark.parametrize(
    "cell",
    [
        {"output": f"```json\n{json.dumps(CHAIN)}\n```"},
        {"cot": CHAIN},
        {"messages": [{"role": "user", "content": "?"}, {"role": "assistant", "content": json.dumps(CHAIN)}]},
        {"conversations": [{"from": "gpt", "value": f"```json {json.dumps(CHAIN)} ```"}]},
    ],
)
def test_chains_of_geoseek_are_read_as_they_are_printed(tmp_path: Path, cell: dict[str, Any]) -> None:
    table = put_jsonl(tmp_path / "GeoSeek-CoT.jsonl", [{"image": "a.jpg", **cell}])
    (note,) = read_notes(table)
    assert (note.country, note.region, note.precise) == ("CN", "Tibet", None)
    record = asyncio.run(ByRules()(note))
    assert record.conclusions == ("China", "Tibet", "")
    assert record.country["Clues"] == ["prayer flags", "sand dunes"]
    assert (record.country["Uncertainty"], record.region["Uncertainty"]) == ("low", "moderate")


def test_photos_with_points_become_chats(atlas_home: Path, tmp_path: Path) -> None:
    assert atlas_home.is_dir()
    put(tmp_path / "a.jpg", jpeg(1, (320, 240)))
    put(tmp_path / "broken.jpg", b"no photo")
    put(tmp_path / "photos.csv", "image,lat,lon\na.jpg,48.8584,2.2945\nbroken.jpg,1,2\n")

    async def made() -> list[Any]:
        chats = photo_chats(
            open_set(str(tmp_path / "photos.csv")), "spotagent", OfflineAtlas(), is_known=lambda _: False
        )
        return [one async for one in chats]

    sample, rejected = asyncio.run(made())
    assert isinstance(sample, Sample)
    assert sample.truth is not None
    assert (sample.truth.country, sample.truth.city) == ("France", "Paris")
    said = sample.trajectory.answered
    assert said is not None
    assert said.answer.point is not None
    assert (said.answer.point.lat, said.answer.address.country.conclusion) == (48.8584, "France")
    assert rejected.reason == "unusable_photo"


def test_test_photos_are_no_chats(atlas_home: Path, tmp_path: Path) -> None:
    assert atlas_home.is_dir()
    put_jsonl(tmp_path / "test_metadata.jsonl", [{"image": "a.jpg", "latitude": 31.2, "longitude": 121.4}])

    async def made() -> list[Any]:
        data = open_set(f"mapbench:{tmp_path}")
        return [one async for one in photo_chats(data, "twm", OfflineAtlas(), is_known=lambda _: False)]

    with pytest.raises(BadInput, match="these are test photos"):
        asyncio.run(made())


def test_the_command_fills_a_store_that_fine_tuning_reads(atlas_home: Path, tmp_path: Path) -> None:
    from geosleuth.lab.cli.handlers.traces import import_photos_into

    assert atlas_home.is_dir()
    put(tmp_path / "set" / "a.jpg", jpeg(1, (320, 240)))
    put(tmp_path / "set" / "photos.csv", "image,lat,lon,country,city\na.jpg,60.17,24.94,Finland,Helsinki\n")
    spec = str(tmp_path / "set" / "photos.csv")
    for _ in range(2):
        words = {"method": "twm", "prompts": None, "limit": None, "split": "train"}
        import_photos_into(spec, tmp_path / "store", words, as_json=True)
    store = Store(tmp_path / "store")
    assert len(store) == 1
    (chat,) = store_chats(store, split=None, limit=5)
    assert "Helsinki" in json.dumps(chat, default=str)
    (tmp_path / "words").mkdir()
    (tmp_path / "words" / "question.txt").write_text("Where, by the kerbs?")
    own = {"method": "twm", "prompts": tmp_path / "words", "limit": None, "split": "train"}
    import_photos_into(spec, tmp_path / "own", own, as_json=True)
    (chat,) = store_chats(Store(tmp_path / "own"), split=None)
    assert "Where, by the kerbs?" in json.dumps(chat, default=str)
