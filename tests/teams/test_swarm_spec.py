"""``team.yaml`` as people write it: what it may say, and what they are told when it is wrong."""

from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from geosleuth.agent.setup import Resources
from geosleuth.lab.teams.learning import Notebook
from geosleuth.models import Sampling
from geosleuth.support.errors import BadInput
from geosleuth.teams import StrangersSociety
from geosleuth.teams.network import TrainedSociety, load_picture_encoder
from geosleuth.teams.swarm import Surroundings, SwarmSettings, make_team, read_team

if TYPE_CHECKING:
    from geosleuth.atlas import Atlas

ROOT = Path(__file__).resolve().parents[2]
SMALL = """\
agents:
  - name: Ada
    model: server:any
    base_url: http://127.0.0.1:9/v1
"""


def team_file(folder: Path, text: str | bytes) -> Path:
    path = folder / "team.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_small_team_has_the_papers_numbers(tmp_path: Path) -> None:
    spec = read_team(team_file(tmp_path, SMALL))
    assert (spec.name, spec.names, spec.society) == ("team", ("Ada",), None)
    assert spec.beside == tmp_path / "team.db"
    assert (spec.settings.answerers, spec.settings.reviewers, spec.settings.rounds) == (2, 2, 10)
    assert spec.settings.within_km == 50.0
    assert spec.agents[0].method is None  # smileGeo's, or the one that its model learned


def test_a_whole_team_is_read(tmp_path: Path) -> None:
    spec = read_team(
        team_file(
            tmp_path,
            """\
name: mixed
society: learned/mixed.sqlite
settings:
  answerers: 3
  reviewers: 0
  rounds: 4
  within_km: 12.5
  seconds_per_reply: 60
  seconds: 600
  tokens: 100_000
  usd: 0.5
  walk: neighbours
  waits_for_news: no
agents:
  - name: Ada
    model: hf:~/weights
    method: GeoVista
    tools: [image_zoom_in_tool, search_image]
    persona: |
      You know plants.
      And soils.
    prompt: Where could this be?
    limits: {turns: 3, calls: 0, tokens: 9000, seconds: 30, usd: 0.1}
    sampling: {temperature: 0.5, top_p: 0.9, top_k: 40, max_tokens: 500, seed: 7}
  - {name: Bob, model: "openai:gpt-5"}
""",
        )
    )
    assert spec.settings == SwarmSettings(
        3, 0, 4, 12.5, 60.0, 600.0, 100_000, 0.5, walk="neighbours", waits_for_news=False
    )
    assert spec.society == tmp_path / "learned" / "mixed.sqlite"
    ada = spec.agents[0]
    assert (ada.method, ada.tools) == ("geovista", ("image_zoom_in_tool", "search_image"))
    assert ada.persona == "You know plants.\nAnd soils."
    assert ada.limits == {"turns": 3, "calls": 0, "tokens": 9000, "seconds": 30.0, "usd": 0.1}
    assert ada.sampling == {"temperature": 0.5, "top_p": 0.9, "top_k": 40, "max_tokens": 500, "seed": 7}


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("agents:\n  - name: Ada\n    modle: server:x\n", 3, "'modle'; did you mean model?"),
        (SMALL + "setings: {}\n", 5, "did you mean settings?"),
        (SMALL + "settings:\n  answerer: 2\n", 6, "did you mean answerers?"),
        (SMALL + "settings: {answerers: 0}\n", 5, "answerers must be at least 1 and at most 64, not 0"),
        (SMALL + "settings: {answerers: two}\n", 5, "answerers must be a whole number, not a text ('two')"),
        (SMALL + "settings: {within_km: .nan}\n", 5, "within_km must be"),
        (SMALL + "settings: {seconds: 1:30}\n", 5, "seconds must be a plain number"),
        (SMALL + "settings: {walk: backwards}\n", 5, "onward or neighbours"),
        (SMALL + "settings: {waits_for_news: 3}\n", 5, "must be true or false"),
        ("agents: {}\n", 1, "agents must be a list, not a mapping"),
        ("agents: []\n", 1, "list at least one agent"),
        ("agents:\n  - Ada\n", 2, "agents, entry 1 must be a mapping"),
        ("agents:\n  - {name: Ada}\n", 2, "lacks model"),
        ("agents:\n  - {model: x}\n", 2, "lacks name"),
        ("agents:\n  - {name: A, model: x}\n", 2, "at least two letters"),
        (SMALL + "  - {name: ADA, model: x}\n", 5, "of another agent"),
        (SMALL + "    name: Eve\n", 5, "has name twice"),
        (SMALL + "    method: twmm\n", 5, "choose one of default, geovista"),
        (SMALL + "    tools: [zoom_inn]\n", 5, "zoom_inn"),
        (SMALL + "    tools: read_text\n", 5, "tools must be a list"),
        (SMALL + "    limits: {turns: 0}\n", 5, "turns must be at least 1"),
        (SMALL + "    sampling: {temprature: 1}\n", 5, "did you mean temperature?"),
        (SMALL + "    persona: [a, b]\n", 5, "persona must be a text"),
        (SMALL + "    persona: &a x\n", 5, "anchors and aliases"),
        (SMALL + "    persona: !!python/object/apply:os.system [id]\n", 5, "tags (!)"),
        (SMALL + "---\nagents: []\n", 5, "is not YAML"),
        ("agents:\n\t- name: Ada\n", 2, "is not YAML"),
        ("agents: " + "[" * 5000 + "]" * 5000 + "\n", 1, "nested too deeply"),
        ("? [a, b]\n: 1\n", 1, "has no setting"),
        ("[]\n", 1, "the team must be a mapping"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_in_one_line_with_its_number(tmp_path: Path, text: str, line: int, told: str) -> None:
    path = team_file(tmp_path, text)
    with pytest.raises(BadInput) as caught:
        read_team(path)
    said = str(caught.value)
    assert said.startswith(f"{path}, line {line}: ")
    assert told in said
    assert "\n" not in said


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "is empty"),
        (b"# nothing\n", "is empty"),
        (b"\xff\xfe\x00", "is not UTF-8"),
        (b"agents: []\n" + b"#" * 300_000, "larger than 256 KiB"),
    ],
)
def test_what_is_no_team_file_is_refused(tmp_path: Path, data: bytes, told: str) -> None:
    with pytest.raises(BadInput, match=told):
        read_team(team_file(tmp_path, data))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"none\.yaml: can't be read"):
        read_team(tmp_path / "none.yaml")


def test_aliases_can_not_make_a_small_file_grow(tmp_path: Path) -> None:
    bomb = "a: &a [x,x]\n" + "".join(f"{b}: &{b} [*{a},*{a}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True))
    with pytest.raises(BadInput, match="line 1: anchors"):
        read_team(team_file(tmp_path, bomb))


def test_the_example_is_a_team_that_can_begin() -> None:
    pytest.importorskip("pydantic_ai")
    team = make_team(read_team(ROOT / "examples" / "team.yaml"))
    assert team.name == "three-views"
    assert len(team.seats) == 3
    # One model for all three, on this machine.
    assert len(team.policies) == 1
    assert team.hosts == frozenset()
    assert team.consent_lines() == (
        "server:qwen3-vl keeps the photo on this machine: the server at 127.0.0.1:8000 gets it",
    )
    assert team.tools == {"image_zoom_in_tool", "read_text", "maps_geocode", "nearby"}
    surveyor = team.seats[2]
    assert (surveyor.budget.turns, surveyor.budget.calls, surveyor.budget.seconds) == (6, 8, 90)
    assert surveyor.sampling.temperature == 0.7


def test_agents_own_words_go_before_the_users_and_those_before_the_methods(tmp_path: Path) -> None:
    pytest.importorskip("pydantic_ai")
    agents = SMALL + "    method: twm\n" + SMALL.removeprefix("agents:\n").replace("Ada", "Bob")
    own = "    sampling: {temperature: 0.2}\n    limits: {seconds: 9}\n"
    text = f"settings: {{seconds_per_reply: 100}}\n{agents}{own}"
    ada, bob = make_team(read_team(team_file(tmp_path, text))).members(
        Surroundings(Resources(cast("Atlas", None))), sampling=Sampling(temperature=0.9, seed=3)
    )
    assert ada.sampling == Sampling(temperature=0.9, seed=3, max_tokens=4096)
    assert bob.sampling == Sampling(temperature=0.2, seed=3)
    # Each ends by itself before the team calls it off.
    assert ada.budget is not None
    assert bob.budget is not None
    assert (ada.budget.seconds, bob.budget.seconds) == (95, 9)


def test_a_team_that_has_not_learned_yet_is_one_of_strangers(tmp_path: Path) -> None:
    pytest.importorskip("pydantic_ai")
    team = make_team(read_team(team_file(tmp_path, "society: later.sqlite\n" + SMALL)))
    assert (team.society, team.learned) == (StrangersSociety(1), False)


def test_a_society_of_none_switches_off_what_was_learned(tmp_path: Path) -> None:
    spec = read_team(team_file(tmp_path, "society: none\n" + SMALL))
    assert (spec.society, spec.beside) == (None, None)


def test_what_lies_beside_the_file_is_used_once_something_was_learned_by_the_same_agents(tmp_path: Path) -> None:
    pytest.importorskip("pydantic_ai")
    path = team_file(tmp_path, SMALL)
    with Notebook.open(tmp_path / "team.db", ["Ada"], load_picture_encoder()):
        pass
    team = make_team(read_team(path))
    assert isinstance(team.society, TrainedSociety)
    assert not team.learned
    path.write_text(SMALL.replace("Ada", "Eve"))
    assert make_team(read_team(path)).society == StrangersSociety(1)
    (tmp_path / "team.db").write_text("some other thing")
    assert make_team(read_team(path)).society == StrangersSociety(1)


def test_offline_teams_refuse_models_over_the_network(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="--offline"):
        make_team(read_team(team_file(tmp_path, SMALL)), offline=True)
