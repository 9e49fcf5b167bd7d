"""A user's own words for a method: read from a folder, filled in, and their fingerprint kept with the run."""

import asyncio
import json
import re
from pathlib import Path

import pytest

from geosleuth.agent import Task
from geosleuth.agent.methods import method
from geosleuth.agent.prompt_files import PLACEHOLDERS, read_prompts, with_prompts
from geosleuth.atlas import OfflineAtlas
from geosleuth.lab.train.recipe_files import read_recipe
from geosleuth.lab.train.rollouts import rollout_setup
from geosleuth.photo import open_photo
from geosleuth.pipeline.plan import make_plan
from geosleuth.pipeline.request import LocateRequest
from geosleuth.pipeline.run import run_plan
from geosleuth.support.errors import BadInput
from geosleuth.teams.parallel.verifier import verifier_method
from geosleuth.tools import ImageInfo
from geosleuth.tools.toolset import all_tools
from scripted import ScriptedPolicy, says
from set_files import jpeg, put

TASK = Task((ImageInfo("image-1", (640, 480), 1, (0, 0, 640, 480)),), hint="near {{tools}} and water")
ANSWER = '{"lat": 60.17, "lon": 24.94, "city": "Helsinki", "country": "Finland"}'


@pytest.fixture
def words(tmp_path: Path) -> Path:
    put(tmp_path / "twm" / "system.txt", 'You find places.\n{{tools}}\n{{schemas}}\nAnswer as {"lat": 0.0}.\n')
    put(tmp_path / "twm" / "verifier.txt", "Weigh the tries.\n{{task}}\n")
    put(tmp_path / "question.txt", "Where is it? {{ photos }} {{user}}")
    return tmp_path


def test_words_are_filled_in_and_tools_go_by_the_papers_names(words: Path) -> None:
    made = with_prompts(method("twm"), read_prompts(words, "twm"))
    tools = made.toolset(all_tools(), ["image_zoom_in_tool"])
    system = made.system(TASK, tools.names)
    assert system.startswith("You find places.\nYour tools:\n- image_zoom_tool: ")
    assert system.endswith('Answer as {"lat": 0.0}.')
    schema = json.loads(next(line for line in system.splitlines() if line.startswith('{"type"')))
    assert schema["function"]["name"] == "image_zoom_tool"
    # A hint is the user's text: what looks like a placeholder in it stays as it is.
    assert made.prompt(TASK, ()).endswith("near {{tools}} and water")
    assert "image-1 (640 x 480 pixels)" in made.prompt(TASK, ())


def test_a_verifier_has_its_own_words(words: Path) -> None:
    made = with_prompts(method("twm"), read_prompts(words, "twm"))
    told = verifier_method(made, []).system(TASK, ())
    assert told.startswith("Weigh the tries.\nYou find places.")
    ours = verifier_method(method("twm"), []).system(TASK, ())
    assert ours.startswith("Several tries were made")


def test_what_is_not_brought_stays_ours(words: Path) -> None:
    made = with_prompts(method("spotagent"), read_prompts(words, "spotagent"))
    assert made.system(TASK, ()) == method("spotagent").system(TASK, ())
    assert made.prompt(TASK, ()).startswith("Where is it?")


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no words for the method twm; looked for system.txt"):
        read_prompts(tmp_path, "twm")
    put(tmp_path / "system.txt", "See {{truth}}")
    with pytest.raises(BadInput, match=re.escape("there is no {{truth}} here")):
        read_prompts(tmp_path, "twm")
    put(tmp_path / "system.txt", "{{task}}")
    with pytest.raises(BadInput, match=re.escape("there is no {{task}} here")):
        read_prompts(tmp_path, "twm")
    (tmp_path / "system.txt").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(BadInput, match="UTF-8"):
        read_prompts(tmp_path, "twm")


def test_the_fingerprint_follows_the_words_and_is_kept_with_the_run(words: Path, atlas_home: Path) -> None:
    assert atlas_home.is_dir()
    first = read_prompts(words, "twm").sha256
    photo = put(words / "a.jpg", jpeg(1, (320, 240)))
    plan = make_plan(LocateRequest(method="twm", prompts=words, tools="none"), thinker=ScriptedPolicy([says(ANSWER)]))
    found = asyncio.run(run_plan(plan, [open_photo(photo)], OfflineAtlas())).trajectory
    assert found.started.prompts == first
    assert found.started.system.startswith("You find places.")
    put(words / "twm" / "system.txt", "Other words")
    assert read_prompts(words, "twm").sha256 != first


def test_a_recipe_has_the_fingerprint_of_its_words(words: Path) -> None:
    changes = {"rollout.prompts": str(words), "data.photos": None, "data.scenes": 2}
    recipe = read_recipe("twm-grpo", changes)
    assert recipe.rollout.prompts_sha256 == read_prompts(words, "twm").sha256
    setting = rollout_setup(recipe).setting
    assert setting.method.system(TASK, ()).startswith("You find places.")
    with pytest.raises(BadInput, match=r"others than those of rollout.prompts_sha256"):
        read_recipe("twm-grpo", {**changes, "rollout.prompts_sha256": "0" * 64})


def test_every_placeholder_is_told() -> None:
    told = (Path(__file__).parents[2] / "docs" / "how-to" / "add-a-method.md").read_text(encoding="utf-8")
    assert all(f"`{{{{{name}}}}}`" in told for name in PLACEHOLDERS)
