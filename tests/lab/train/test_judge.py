"""A model as judge of a training run, over real servers: one that thinks too long, that fails midway, that answers."""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from geosleuth.lab.scenes.consistency import PolicyJudge
from geosleuth.lab.train.grpo import grpo_trainer
from geosleuth.lab.train.models import load_model
from geosleuth.lab.train.prompts import prompt_rows
from geosleuth.lab.train.recipe import RolloutPart
from geosleuth.lab.train.recipe_files import read_recipe
from geosleuth.lab.train.rollouts import JUDGE_FAILED, JUDGE_UNREAD, build_judge
from geosleuth.lab.train.training_log import part_name
from geosleuth.support.errors import BadInput, ServiceFault
from later import later
from openai_server import Reply, Request, chat_reply, failure, openai_server
from scripted_grpo import make_photos, make_tiny, script, tiny_recipe

later("trl")
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning"),
    pytest.mark.usefixtures("atlas_home"),
]
LONG = "A blue van beside the bakery carries a telephone number in large white digits on its door, and begins with"
PLACES = {"Boulangerie": "France", "hiragana": "Japan", "+34": "Spain"}


def judges(request: Request) -> Reply:
    """Name the country whose clue is in the notes."""
    content = request.json["messages"][-1]["content"]
    asked = json.loads(content if isinstance(content, str) else content[0]["text"])
    found = next((place for clue, place in PLACES.items() if clue in asked["notes"]), "")
    return chat_reply(json.dumps({asked["reply"]: found if asked["reply"] == "country" else ""}))


def thinks(request: Request) -> Reply:
    """Judge as Qwen3 does: think aloud until the tokens are used up, unless the template is told not to."""
    if request.json.get("chat_template_kwargs") == {"enable_thinking": False}:
        return judges(request)
    words = "<think>\nOkay, the user wants " + json.dumps({"country": "France"}) + " or so. Let me see. "
    if request.json["max_tokens"] < 2000:
        return chat_reply(words * 20, finish="length")
    return chat_reply(f"{words}</think>\n\n{json.loads(judges(request).body)['choices'][0]['message']['content']}")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import_module("torch").set_num_threads(1)
    return make_tiny(tmp_path_factory.mktemp("grpo") / "model")


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_photos(tmp_path_factory.mktemp("photos"), 3)


def trained(tiny: Path, photos: Path, folder: Path, judge_url: str, *, steps: int = 1, **judge: Any) -> Any:
    """A trainer after its steps; half of the replies lead to their conclusion."""
    options = {"aliases": True, "withhold": "names"}
    rollout = RolloutPart(
        tools=(), group=4, method="geoagent", reward="geoagent", reward_options=options, reply_tokens=400,
        judge="server:Qwen3-32B", judge_url=judge_url, **judge,
    )  # fmt: skip
    recipe = tiny_recipe(tiny, photos, rollout)
    model, processor = load_model(recipe.model)
    trainer = grpo_trainer(model, processor, prompt_rows(recipe.data), recipe, folder)
    turn = 0

    def said(_rows: Any) -> list[str]:
        nonlocal turn
        turn += 1
        return [
            json.dumps(
                {
                    "lat": 41.8,
                    "lon": -2.5,
                    "country": {"conclusion": "Spain", "reasoning": f"{LONG}: photo {turn}.{number}, {phone}."},
                }
            )
            for number, phone in enumerate(("+34 975", "+34 976", "+81 33", "+81 34"))
        ]

    script(model, processor.tokenizer, said)
    trainer.model.train()
    trainer.told = {}
    try:
        for _ in range(steps):
            trainer._generate_and_score_completions([trainer.train_dataset[0]] * 4)
            trainer.told = {name: values[-1] for name, values in trainer._metrics["train"].items()}
    finally:
        trainer.close_workers()
    return trainer


def test_a_judge_that_answers_is_probed_and_its_shares_are_logged(tiny: Path, photos: Path, tmp_path: Path) -> None:
    with openai_server([judges]) as url:
        trainer = trained(tiny, photos, tmp_path, url, judge_at_once=1, judge_tokens=333)
        assert url.most_at_once == 1
        assert {request.json["max_tokens"] for request in url.requests} == {333}
        assert len(url.requests) == 2 + 4
    assert list(trainer.rollouts.newest.parts["consistency"] > 0) == [True, True, False, False]
    assert trainer.told[JUDGE_UNREAD] == trainer.told[JUDGE_FAILED] == 0
    assert 0 < trainer.told[part_name("consistency")] < 1


@pytest.mark.slow
def test_a_judge_that_thinks_too_long_stops_training_before_the_first_step(
    tiny: Path, photos: Path, tmp_path: Path
) -> None:
    with openai_server([thinks]) as url:
        with pytest.raises(ServiceFault, match=r"could not be read.*cut at 200 tokens.*enable_thinking: false") as told:
            trained(tiny, photos, tmp_path, url, judge_tokens=200)
        assert len(str(told.value).splitlines()) == 1
        assert len(url.requests) == 2
        quiet = trained(
            tiny, photos, tmp_path, url, judge_tokens=200,
            judge_extra_body={"chat_template_kwargs": {"enable_thinking": False}},
        )  # fmt: skip
        patient = trained(tiny, photos, tmp_path, url, judge_tokens=4000)
    for trainer in (quiet, patient):
        assert list(trainer.rollouts.newest.parts["consistency"] > 0) == [True, True, False, False]


def test_a_judge_that_fails_midway_stops_training_when_it_passes_the_limit(
    tiny: Path, photos: Path, tmp_path: Path
) -> None:
    script = [judges] * 8 + [failure(404, "no such model")] * 3 + [judges] + [failure(404, "no such model")]
    with openai_server(script) as url:
        trainer = trained(tiny, photos, tmp_path, url, steps=2, judge_at_once=1, judge_limit=0.4)
        assert trainer.told[JUDGE_FAILED] == 0.5
        assert trainer.told[JUDGE_UNREAD] == 0
    with (
        openai_server(script) as url,
        pytest.raises(ServiceFault, match=r"last 18 verdicts 0 could not be read and 9 failed.*no such model.*resume"),
    ):
        trained(tiny, photos, tmp_path, url, steps=9, judge_at_once=1, judge_limit=0.4)


def test_settings_of_the_judge_are_read_from_a_recipe_and_checked() -> None:
    values = {
        "rollout.judge": "server:Qwen3-32B",
        "rollout.judge_url": "http://127.0.0.1:9/v1",
        "rollout.judge_extra_body": {"chat_template_kwargs": {"enable_thinking": False}},
        "rollout.judge_limit": 0.25,
    }
    rollout = read_recipe("geoagent-grpo", values).rollout
    assert rollout.judge_extra_body["chat_template_kwargs"] == {"enable_thinking": False}
    assert (rollout.judge_limit, rollout.judge_at_once, rollout.judge_tokens) == (0.25, 4, 1024)
    judge = build_judge(rollout)
    assert isinstance(judge, PolicyJudge)
    judge.close()
    for wrong in ({"judge_limit": 1.5}, {"judge_tokens": 0}, {"judge_at_once": 0}):
        with pytest.raises(BadInput, match=r"rollout: judge_tokens"):
            build_judge(RolloutPart(judge="server:m", judge_url="http://127.0.0.1:9/v1", **wrong))
    with pytest.raises(BadInput, match="goes to a judge that is served"):
        build_judge(RolloutPart(judge="hf:/nowhere", judge_extra_body={"a": 1}))
