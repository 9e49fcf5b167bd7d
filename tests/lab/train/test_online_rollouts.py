"""Reinforcement learning with a map service and a web search, recorded once and run again without them."""

import asyncio
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from geosleuth.lab.train.evaluation import photo_rows
from geosleuth.lab.train.grpo import grpo_trainer
from geosleuth.lab.train.models import load_model
from geosleuth.lab.train.play import PlayedScene, SceneTable, Stage
from geosleuth.lab.train.prompts import prompt_rows
from geosleuth.lab.train.recipe import EvaluationPart, OptimPart, Recipe, RolloutPart
from geosleuth.lab.train.rollouts import rollout_setup
from geosleuth.lab.train.services import answers_served
from geosleuth.lab.train.validation import evaluation_settings
from geosleuth.support.errors import BadInput, NotRecorded
from later import later
from scripted import ScriptedPolicy, answers, call, calls
from scripted_grpo import called, make_photos, make_tiny, script_by_prompt, tiny_recipe
from search_server import Asked, SearchServer, serving

later("trl")
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning"),
    pytest.mark.usefixtures("atlas_home"),
]
POINT = re.compile(r"(-?\d+\.\d+), (-?\d+\.\d+)")
GROUP, STEPS = 3, 2


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import_module("torch").set_num_threads(1)
    return make_tiny(tmp_path_factory.mktemp("online") / "model")


@pytest.fixture
def services(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[SearchServer, SearchServer]]:
    """A map service that knows a place for each name, and a web search."""
    with serving() as maps, serving() as web:
        monkeypatch.setenv("GEOSLEUTH_SEARXNG_URL", web.url)
        yield maps, web


def place(degrees: float) -> Any:
    """A map service for which a name's number is its distance from Monaco."""

    def find(asked: Asked) -> Any:
        number = int(re.sub(r"\D", "", asked.params["q"]) or 0)
        lat, lon = 43.7384 + degrees * number, 7.4246
        box = [str(lat - 0.01), str(lat + 0.01), "7.41", "7.43"]
        return [{
            "place_id": number, "osm_type": "node", "osm_id": number + 1, "lat": str(lat), "lon": str(lon),
            "category": "amenity", "type": "bar", "importance": 0.4, "name": asked.params["q"],
            "display_name": asked.params["q"], "boundingbox": box, "address": {"country_code": "fr"},
        }]  # fmt: skip

    return find


def found(asked: Asked) -> Any:
    query = asked.params["q"]
    return {"results": [{"title": query, "content": f"{query} is a bar", "url": "https://example.org/"}]}


def online(tiny: Path, folder: Path, server: SearchServer, **changes: Any) -> Recipe:
    usual: dict[str, Any] = {
        "method": "spotagent", "reward": "spotagent", "reply_tokens": 4000, "group": GROUP,
        "tools": ("maps_geocode", "search_web"), "maps": "nominatim", "maps_url": (server.url,), "web": "searxng",
        "allow": ("127.0.0.1",), "answers": folder / "answers.sqlite",
    }  # fmt: skip
    optim = OptimPart(
        batch=1, micro_batch=GROUP, steps=STEPS, learning_rate=1e-3, warmup_share=0, gradient_checkpointing=False
    )
    return tiny_recipe(tiny, make_photos(folder / "photos", 3), RolloutPart(**usual | changes), optim=optim)


def rewards(recipe: Recipe, folder: Path, workers: int = 0) -> tuple[list[float], list[list[float]], list[float]]:
    """The rewards of every reply, the losses, of a run whose policy answers with what the map says."""
    turn = {"of": 0}

    def say(prompts: Sequence[str]) -> list[str]:
        said = []
        for number, prompt in enumerate(prompts):
            results = prompt.split("<tool_response>")[1:]
            name = f"Bar {number + turn['of'] // 3 % 2}"  # the second step asks some of the first's again
            points = POINT.findall(results[1]) if len(results) > 1 else []
            if not results:
                said.append(called("search_web", query=name))
            elif len(results) == 1:
                said.append(called("maps_geocode", address=name))
            else:
                lat, lon = map(float, points[0])
                said.append(json.dumps({"lat": lat, "lon": lon, "country": "France"}))
        turn["of"] += 1
        return said

    model, processor = load_model(recipe.model)
    with answers_served(recipe):
        trainer = grpo_trainer(model, processor, prompt_rows(recipe.data), recipe, folder, workers=workers)
        script_by_prompt(model, processor.tokenizer, say)
        every: list[list[float]] = []
        score = trainer.rollouts.__class__.__call__

        def noted(*given: Any, **named: Any) -> Any:
            earned = score(*given, **named)
            every.append(earned)
            return earned

        trainer.rollouts.__class__.__call__ = noted
        try:
            trainer.train()
        finally:
            trainer.rollouts.__class__.__call__ = score
            trainer.close_workers()
    history = [line for line in trainer.state.log_history if "reward" in line]
    return [line["reward"] for line in history], every, [line["loss"] for line in history]


@pytest.mark.slow
def test_a_rerun_from_the_record_earns_the_same_and_asks_nobody(
    tiny: Path, tmp_path: Path, services: tuple[SearchServer, SearchServer]
) -> None:
    maps, web = services
    busy: object = (503, {}, b"busy")
    maps.answer("/search", place(0.05), busy, place(0.05))
    web.answer("/search", found, found, busy, found)
    recipe = online(tiny, tmp_path, maps)
    first = rewards(recipe, tmp_path / "first")
    assert len({value for step in first[1] for value in step}) > 2, "rewards hang on what the map says"
    names = {f"Bar {number}" for number in range(GROUP + 1)}
    for server in (maps, web):
        assert {one.params["q"] for one in server.asked} == names
        assert len(server.asked) == len(names) + 1, "each call is paid once, beside the one that failed"

    # Whoever asks now is told something else.
    maps.answer("/search", place(2.0))
    web.answer("/search", {"results": []})
    sent = len(maps.asked), len(web.asked)
    rerun = replace(recipe, rollout=replace(recipe.rollout, replay=True, allow=()))
    assert rewards(rerun, tmp_path / "again") == first
    assert (len(maps.asked), len(web.asked)) == sent


@pytest.mark.slow
def test_a_rerun_in_other_processes_earns_the_same(
    tiny: Path, tmp_path: Path, services: tuple[SearchServer, SearchServer]
) -> None:
    maps, web = services
    maps.answer("/search", place(0.05))
    web.answer("/search", found)
    recipe = online(tiny, tmp_path, maps)
    first = rewards(recipe, tmp_path / "first", workers=2)
    assert len(maps.asked) == len(web.asked) == GROUP + 1
    rerun = replace(recipe, rollout=replace(recipe.rollout, replay=True))
    assert rewards(rerun, tmp_path / "again", workers=2) == first
    assert len(maps.asked) == len(web.asked) == GROUP + 1


def test_a_call_that_was_not_recorded_ends_the_rerun(
    tiny: Path, tmp_path: Path, services: tuple[SearchServer, SearchServer]
) -> None:
    maps, web = services
    maps.answer("/search", place(0.05))
    web.answer("/search", found)
    recipe = online(tiny, tmp_path, maps)
    (row, *_) = prompt_rows(recipe.data)

    def play(recipe: Recipe, name: str) -> str:
        environment = rollout_setup(recipe).environment()()
        environment.reset(**row)
        said = str(environment.maps_geocode(address=name))  # type: ignore[attr-defined]
        environment._end(None)
        return said

    with answers_served(recipe):
        known = play(recipe, "Bar 1")
    rerun = replace(recipe, rollout=replace(recipe.rollout, replay=True))
    assert "Bar 1" in known
    assert play(rerun, "Bar 1") == known
    # The offline atlas knows it; in a rerun it may not stand in for the service.
    with pytest.raises(NotRecorded, match=r"holds no answer to GET .*/search\?q=Monaco"):
        play(rerun, "Monaco")
    assert len(maps.asked) == 1


def test_evaluations_ask_the_same_services_and_are_repeated_from_the_same_record(
    tiny: Path, tmp_path: Path, services: tuple[SearchServer, SearchServer]
) -> None:
    maps, web = services
    maps.answer("/search", place(0.05))
    web.answer("/search", found)
    recipe = online(tiny, tmp_path, maps)
    recipe = replace(recipe, evaluation=EvaluationPart(every=1, scenes=1, photos=str(recipe.data.photos[0])))  # type: ignore[index]

    def play(recipe: Recipe, name: str) -> PlayedScene:
        settings = evaluation_settings(recipe)
        assert settings.setting is not None
        table = SceneTable(Stage(setting=settings.setting, photos=photo_rows(settings)))
        policy = ScriptedPolicy([calls(call("maps_geocode", address=name)), answers(43.7, 7.4)])
        return asyncio.run(table.play(0, policy))

    with answers_served(recipe):
        first = play(recipe, "Bar 1")
    assert first.tries[0].tools == {"maps_geocode": 1}
    assert first.tries[0].failures == {}
    rerun = replace(recipe, rollout=replace(recipe.rollout, replay=True))
    again = play(rerun, "Bar 1")
    assert (again.tries[0].distance_km, again.tries[0].failures) == (first.tries[0].distance_km, {})
    with pytest.raises(NotRecorded, match="holds no answer to"):
        play(rerun, "Bar 2")
    assert len(maps.asked) == 1


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"answers": None}, "rollout.answers: name the file"),
        ({"replay": True}, "rollout.answers: there is no"),
        ({"maps": None, "web": None}, "rollout.maps_url: is about online services"),
        ({"maps": None, "web": None, "maps_url": (), "allow": ()}, "rollout.answers: is about online services"),
        ({"allow": ()}, "add --allow"),
        ({"maps": "nowhere"}, "no online service"),
    ],
)
def test_fields_about_services_go_together(
    tiny: Path, tmp_path: Path, services: tuple[SearchServer, SearchServer], changes: dict[str, Any], said: str
) -> None:
    maps, _ = services
    with pytest.raises(BadInput, match=said):
        rollout_setup(online(tiny, tmp_path, maps, **changes))
