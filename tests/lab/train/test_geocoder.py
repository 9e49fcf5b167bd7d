"""Rewards that place answers by a map service: recorded and repeated; where it fails, counted, and no atlas instead."""

import re
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from geosleuth.lab.train.grpo import grpo_trainer
from geosleuth.lab.train.models import load_model
from geosleuth.lab.train.prompts import prompt_rows
from geosleuth.lab.train.recipe import Recipe, RolloutPart
from geosleuth.lab.train.rollouts import GEOCODER_FAILED, rollout_setup
from geosleuth.lab.train.services import answers_served
from geosleuth.support.errors import BadInput, NotRecorded, ServiceFault
from later import later
from scripted_grpo import make_photos, make_tiny, script, tiny_recipe
from search_server import Asked, SearchServer, serving

later("trl")
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning"),
    pytest.mark.usefixtures("atlas_home"),
]
DOWN: Any = (404, {}, b"gone")  # not to be tried again


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import_module("torch").set_num_threads(1)
    return make_tiny(tmp_path_factory.mktemp("geocoder") / "model")


def knows(asked: Asked) -> Any:
    """Know Paris, and any bar so many tenths of a degree north of Monaco as its number says; fail for closed ones."""
    name, _, country = asked.params["q"].partition(", ")
    number = re.fullmatch(r"Bar (\d)", name)
    if name.startswith("Closed"):
        return DOWN
    if number is None and name != "Paris":
        return []
    lat, lon = (48.85, 2.35) if number is None else (43.7384 + int(number[1]) / 10, 7.4246)
    return [{
        "place_id": 1, "osm_type": "node", "osm_id": 1, "lat": str(lat), "lon": str(lon), "category": "amenity",
        "type": "bar", "importance": 0.4, "name": name, "display_name": asked.params["q"],
        "boundingbox": [str(lat - 0.01), str(lat + 0.01), str(lon - 0.01), str(lon + 0.01)],
        "address": {"country_code": "mc" if country == "Monaco" else "fr"},
    }]  # fmt: skip


def recipe_of(tiny: Path, folder: Path, server: SearchServer, **changes: Any) -> Recipe:
    usual: dict[str, Any] = {
        "tools": (), "group": 4, "method": "geoagent", "reward": "geoagent-spatial", "reply_tokens": 400,
        "geocoder": f"nominatim:{server.url}", "answers": folder / "answers.sqlite",
    }  # fmt: skip
    return tiny_recipe(tiny, make_photos(folder / "photos", 1), RolloutPart(**usual | changes))


def rewarded(recipe: Recipe, folder: Path, *said: str, steps: int = 1) -> tuple[list[float], float]:
    """The spatial rewards of the replies of the last step, and the share that the service failed to place."""
    model, processor = load_model(recipe.model)
    with answers_served(recipe):
        trainer = grpo_trainer(model, processor, prompt_rows(recipe.data), recipe, folder)
        script(model, processor.tokenizer, lambda _rows: said)
        trainer.model.train()
        try:
            for _ in range(steps):
                trainer._generate_and_score_completions([trainer.train_dataset[0]] * len(said))
        finally:
            trainer.close_workers()
    earned = trainer.rollouts.newest.parts["spatial"].tolist()
    return earned, trainer._metrics["train"][GEOCODER_FAILED][-1]


def test_a_service_places_answers_once_and_a_rerun_asks_nobody(tiny: Path, tmp_path: Path) -> None:
    # The atlas knows Monaco, and this service does not.
    said = ("Monaco; ; Bar 0", "Monaco; ; Bar 9", "Monaco; ; Bar 9", "Monaco; ; Monaco")
    with serving() as maps:
        maps.answer("/search", knows)
        recipe = recipe_of(tiny, tmp_path, maps)
        first = rewarded(recipe, tmp_path / "first", *said)
        near, far, again, unknown = first[0]
        assert near == pytest.approx(1.0, abs=1e-6)
        assert far == again < 0.7
        assert unknown == first[1] == 0.0
        queries = [one.params["q"] for one in maps.asked]
        assert len(queries) == len(set(queries)), "each question is paid once"
        maps.answer("/search", DOWN)
        rerun = replace(recipe, rollout=replace(recipe.rollout, replay=True))
        assert rewarded(rerun, tmp_path / "again", *said) == first
        assert len(maps.asked) == len(queries)
        with pytest.raises(NotRecorded, match="holds no answer to"):
            rewarded(rerun, tmp_path / "other", "Monaco; ; Bar 5", *said[1:])


def test_what_a_service_fails_to_place_is_counted_and_earns_nothing(tiny: Path, tmp_path: Path) -> None:
    said = ("Monaco; ; Bar 0", "Monaco; ; Closed 1", "Monaco; ; Closed 1", "Monaco; ; Bar 1")
    with serving() as maps:
        maps.answer("/search", knows)
        recipe = recipe_of(tiny, tmp_path, maps, geocoder_limit=0.5)
        earned, failed = rewarded(recipe, tmp_path / "run", *said, steps=5)
        assert [value > 0 for value in earned] == [True, False, False, True]
        assert failed == pytest.approx(1 / 3)
        strict = replace(recipe, rollout=replace(recipe.rollout, geocoder_limit=0.3))
        with pytest.raises(ServiceFault, match=r"failed for 4 of the last 12 answers, more than rollout\.geocoder_lim"):
            rewarded(strict, tmp_path / "strict", *said, steps=4)


@pytest.mark.slow
def test_a_service_that_is_down_stops_training_before_the_first_step(tiny: Path, tmp_path: Path) -> None:
    with serving() as maps:
        for number, (answer, said) in enumerate(((DOWN, "404"), ([], "does not know Paris"))):
            maps.answer("/search", answer)
            recipe = recipe_of(tiny, tmp_path / str(number), maps)
            with pytest.raises(ServiceFault, match=rf"rollout\.geocoder can't place answers: .*{said}"):
                rewarded(recipe, tmp_path / "run", *["Monaco; ; Bar 0"] * 4)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"answers": None}, r"rollout\.answers: name the file"),
        ({"reward": "twm"}, r"rollout\.geocoder: the reward twm takes points that replies give"),
        ({"geocoder": "nowhere"}, "no online service"),
        ({"geocoder": "nowhere", "answers": None}, "no online service"),
        ({"geocoder": "opencage"}, "add --allow"),
        ({"geocoder": "opencage", "allow": ("api.opencagedata.com",)}, "OPENCAGE_KEY"),
        ({"geocoder_limit": 2.0}, r"rollout\.geocoder_limit: must lie between 0 and 1"),
        ({"geocoder": "atlas"}, r"rollout\.answers: is about online services"),
    ],
)
def test_fields_about_the_geocoder_go_together(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], said: str
) -> None:
    monkeypatch.delenv("OPENCAGE_KEY", raising=False)
    if changes.get("geocoder") == "opencage" and "allow" not in changes:
        monkeypatch.setenv("OPENCAGE_KEY", "sesame-open")
    with serving() as maps, pytest.raises(BadInput, match=said):
        rollout_setup(recipe_of(tiny, tmp_path, maps, **changes))
