"""Each preset end to end: a drawn photo, the real loop and tools and atlas, a scripted model that keeps to its form."""

import asyncio
import io
import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image, ImageDraw

from geosleuth.agent.loop import run
from geosleuth.agent.method import Method
from geosleuth.agent.methods import method
from geosleuth.agent.setup import AgentSetup, PhotoQuestion
from geosleuth.agent.trajectory import Trajectory
from geosleuth.answer import Address, Answer, Candidate, Level, render, render_brief
from geosleuth.atlas import Document, OfflineAtlas
from geosleuth.geo import LatLon
from geosleuth.models import Conversation, Observed, Step, Usage
from geosleuth.models.tagged import read_reply, system_text, turns
from geosleuth.photo import Album, Photo, View, open_photo
from geosleuth.tools import Case, ImageSearch, Similar, WebSearch
from geosleuth.tools.toolset import all_tools
from homes import add_region
from scripted import ScriptedPolicy, call, calls, says

MONACO = Path(__file__).resolve().parents[2] / "examples" / "regions" / "monaco.osm.pbf"
SPOT = LatLon(43.7354, 7.4211)


@pytest.fixture(scope="module")
def regions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("regions")
    add_region(MONACO, folder)
    return folder


@pytest.fixture
def atlas(atlas_home: Path, regions: Path) -> OfflineAtlas:
    assert atlas_home.is_dir()
    return OfflineAtlas(regions)


@pytest.fixture(scope="module")
def photo() -> Photo:
    """A street sign on a wall, larger than any first view."""
    image = Image.new("RGB", (3000, 2000), (214, 196, 160))
    draw = ImageDraw.Draw(image)
    draw.rectangle((1200, 600, 1900, 800), fill=(30, 60, 140), outline=(255, 255, 255), width=8)
    draw.text((1260, 650), "RUE GRIMALDI", fill=(255, 255, 255), font_size=90)
    file = io.BytesIO()
    image.save(file, "JPEG")
    return open_photo(file.getvalue()).photo


class TaggedModel:
    """A model without tool calling of its own: it is shown plain text and writes plain text, tags and all."""

    name = "tagged-model"
    hosts: frozenset[str] = frozenset()

    def __init__(self, replies: Iterable[str], *, then: str = "I have nothing to say.") -> None:
        self._replies = list(replies)
        self._then = then
        self.read: list[str] = []
        self.seen: list[Conversation] = []
        self._calls = 0

    async def step(self, conversation: Conversation) -> Step:
        reply = self._replies[len(self.seen)] if len(self.seen) < len(self._replies) else self._then
        shown = [part if isinstance(part, str) else "<image>" for _, parts in turns(conversation) for part in parts]
        self.read.append("\n".join([system_text(conversation), *shown]))
        self.seen.append(conversation)
        taken_apart = read_reply(reply.format(turn=len(self.seen)), first_id=self._calls + 1)
        self._calls += len(taken_apart.calls)
        return Step(taken_apart.text, taken_apart.thinking, taken_apart.calls, Usage(100, 50), model=self.name)

    async def aclose(self) -> None:
        pass


class Talkative:
    """A web search that finds ten long pages."""

    name = "a talkative web"

    async def search(self, query: str, *, limit: int = 10) -> list[Document]:
        return [
            Document(f"page-{number}", f"{query}, part {number}", 80 * "All about it. ", 1.0, self.name)
            for number in range(limit)
        ]


def tool_call(name: str, **arguments: object) -> str:
    # Doubled braces: replies are formats that may name their turn.
    inside = json.dumps({"name": name, "arguments": arguments}).replace("{", "{{").replace("}", "}}")
    return f"<tool_call>{inside.replace('{{turn}}', '{turn}')}</tool_call>"


def locate(
    preset: Method,
    policy: TaggedModel | ScriptedPolicy,
    photo: Photo,
    atlas: OfflineAtlas,
    *,
    tools: Iterable[str] | None = None,
    web: WebSearch | None = None,
    similar: ImageSearch | None = None,
    force_answer: bool = False,
) -> Trajectory:
    album = Album(preset.first_view_pixels)
    album.add(photo)
    case = Case(album, atlas, preset.box_scale, web, similar)
    toolset = preset.toolset(all_tools(), tools)
    return asyncio.run(
        run(
            case,
            AgentSetup(method=preset, policy=policy, toolset=toolset),
            question=PhotoQuestion(force_answer=force_answer),
        )
    )


def ended(trajectory: Trajectory) -> str:
    assert trajectory.ended is not None
    return trajectory.ended.reason


def by(trajectory: Trajectory) -> str:
    assert trajectory.answered is not None
    return trajectory.answered.by


SPOT_LINES = f"<answer>\nCountry: Monaco\nCity: Monaco\nLatitude: {SPOT.lat}\nLongitude: {SPOT.lon}\n</answer>"
SPOT_ANSWER = Answer(SPOT, Address.create("Monaco", None, "Monaco"))


def reasoned(act: str) -> str:
    return f"<think>1. Seen: a blue sign. 2. Missing: which town. 3. Tool: this one may tell.</think>\n{act}"


def test_spotagent_makes_six_calls_and_answers_in_four_lines(photo: Photo, atlas: OfflineAtlas) -> None:
    model = TaggedModel(
        [
            reasoned(tool_call("image_zoom_in_tool", bbox_2d=[690, 340, 1100, 470])),
            reasoned(tool_call("search_web", query="Monaco streets")),
            reasoned(tool_call("maps_geocode", address="Rue Grimaldi, Monaco")),
            reasoned(tool_call("maps_geocode", address="Monaco")),
            reasoned(tool_call("image_zoom_in_tool", bbox_2d=[10, 10, 20, 20], image="image-2")),
            reasoned(tool_call("search_web", query="Monaco French Riviera")),
            reasoned(tool_call("maps_geocode", address="one call too many")),
            f"<think>Enough.</think>\n{SPOT_LINES}",
        ]
    )
    trajectory = locate(method("spotagent"), model, photo, atlas)
    failures = [observation.failure for observation in trajectory.observations]
    assert failures == [None] * 6 + ["over_budget"]
    assert trajectory.spent.calls == 6
    assert (ended(trajectory), by(trajectory), trajectory.answer) == ("answered", "policy", SPOT_ANSWER)
    # The wire: tools as text, calls and results between tags, thoughts kept, and nothing of the history left out.
    last = model.read[-1]
    assert "<tool_call>" in last
    assert last.count("<tool_response>") >= 6 + 1
    assert last.count("1. Seen: a blue sign.") == 7
    assert last.count("<image>") == 1 + 2
    assert not model.seen[-1].may_call


def test_spotagent_without_tools_only_thinks(photo: Photo, atlas: OfflineAtlas) -> None:
    model = TaggedModel([f"<think>A blue sign.</think>{SPOT_LINES}"])
    trajectory = locate(method("spotagent"), model, photo, atlas, tools=[])
    assert trajectory.answer == SPOT_ANSWER
    assert "<tool_call>" not in model.read[0]
    assert "search_web" not in model.read[0]


def test_spotagent_is_reminded_to_close_in_its_form(photo: Photo, atlas: OfflineAtlas) -> None:
    model = TaggedModel(["<think>It is somewhere warm.</think> It must be somewhere warm.", SPOT_LINES])
    trajectory = locate(method("spotagent"), model, photo, atlas)
    assert trajectory.answer == SPOT_ANSWER
    assert "both coordinates must be numbers" in model.read[1]


NICE = (
    "<think>That settles it.</think>\n<answer>The sign names Rue Grimaldi, a main street of La Condamine.\n"
    '{{"country": "Monaco", "city": "Monaco", "address": "Rue Grimaldi"}}</answer>'
)


def test_geovista_answers_in_words_within_six_turns(photo: Photo, atlas: OfflineAtlas) -> None:
    model = TaggedModel(
        [
            "<think>Writing on the wall.</think>" + tool_call("image_zoom_in_tool", bbox_2d=[690, 340, 1100, 470]),
            "<think>RUE GRIMALDI.</think>" + tool_call("search_web", query="Rue Grimaldi Monaco"),
            NICE,
        ]
    )
    trajectory = locate(method("geovista"), model, photo, atlas)
    assert trajectory.answer == Answer(
        None,
        Address.create("Monaco", None, "Rue Grimaldi, Monaco"),
        explanation="The sign names Rue Grimaldi, a main street of La Condamine.",
    )
    assert (ended(trajectory), trajectory.spent.turns) == ("answered", 3)
    width, height = trajectory.task.images[0].size
    assert 1_900_000 < width * height <= 2_000_000
    cut = trajectory.observations[0].images[0]
    assert cut.box_in_original[2] - cut.box_in_original[0] > 410, "the crop comes from the original's pixels"


def test_geovista_never_takes_a_seventh_turn(photo: Photo, atlas: OfflineAtlas) -> None:
    model = TaggedModel([], then="<think>More.</think>" + tool_call("search_web", query="Monaco {turn}"))
    trajectory = locate(method("geovista"), model, photo, atlas)
    assert len(model.seen) == trajectory.spent.turns == 6
    assert [one.may_call for one in model.seen] == [True] * 5 + [False]
    assert (ended(trajectory), by(trajectory)) == ("turns", "nobody")


def test_geovista_keeps_within_its_context(photo: Photo, atlas: OfflineAtlas) -> None:
    searches = "".join(tool_call("search_web", query=f"{{turn}}-{number}") for number in range(8))
    model = TaggedModel([f"<think>More.</think>{searches}"] * 5 + [NICE])
    trajectory = locate(method("geovista"), model, photo, atlas, web=Talkative())
    assert sum(len(observation.text) for observation in trajectory.observations) > 4 * 32_768
    assert max(map(len, model.read)) < 4 * 32_768 + 10_000
    assert "part 9" in model.read[1]
    newest = model.seen[-1].messages[-2]
    assert isinstance(newest, Observed)
    assert all("part 9" in observation.text for observation in newest.observations)
    oldest = next(message for message in model.seen[-1].messages if isinstance(message, Observed))
    assert not any("part 9" in observation.text for observation in oldest.observations)
    assert ended(trajectory) == "answered"


def test_twm_has_eight_turns_and_no_ninth(photo: Photo, atlas: OfflineAtlas) -> None:
    def goes_on(conversation: Conversation) -> Step:
        return calls(call("poi_keyword_search", keyword=f"Rue {len(conversation.messages)}"))

    model = ScriptedPolicy([], then=goes_on)
    trajectory = locate(method("twm"), model, photo, atlas)
    assert len(model.seen) == trajectory.spent.turns == 8
    assert ended(trajectory) == "turns"
    assert model.seen[0].sampling.max_tokens == 4096
    assert model.seen[0].wire == "native"


def test_twm_checks_on_the_map_and_gives_its_object(photo: Photo, atlas: OfflineAtlas) -> None:
    model = ScriptedPolicy(
        [
            calls(call("image_zoom_tool", bbox_2d=[690, 340, 1100, 470])),
            calls(call("poi_input_tips", text="Rue Grim"), call("poi_keyword_search", keyword="RUE GRlMALDI")),
            calls(call("static_map_query", centre=f"{SPOT.lat},{SPOT.lon}", zoom=16)),
            says(f"One candidate is left.\n{render_brief(SPOT_ANSWER)}"),
        ]
    )
    trajectory = locate(method("twm"), model, photo, atlas)
    assert [observation.failure for observation in trajectory.observations] == [None] * 4
    assert trajectory.observations[0].name == "image_zoom_tool"
    assert "Grimaldi" in trajectory.observations[2].text
    assert len(trajectory.observations[3].images) == 1
    assert (ended(trajectory), trajectory.answer) == ("answered", SPOT_ANSWER)
    assert {one.name for one in model.seen[0].tools} == set(trajectory.started.tools)
    assert "image_zoom_tool" in trajectory.started.system


def test_twm_shows_1024_characters_of_a_result_and_marks_the_cut(photo: Photo, atlas: OfflineAtlas) -> None:
    model = ScriptedPolicy([calls(call("web_search_tool", query="Monaco")), says('{"lat": 43.7, "lon": 7.4}')])
    tools = ["image_zoom_tool", "web_search_tool"]
    trajectory = locate(method("twm"), model, photo, atlas, tools=tools, web=Talkative())
    whole = trajectory.observations[0].text
    results = model.seen[1].messages[-1]
    assert isinstance(results, Observed)
    shown = results.observations[0].text
    assert len(whole) > 1024 >= len(shown)
    assert "left out" in shown
    assert shown[:800] == whole[:800]


LEVELS = """{"ChainOfThought": {
 "CountryIdentification": {"Clues": ["a French street sign"], "Reasoning": "French is spoken", "Conclusion": "Monaco",
  "Uncertainty": "moderate"},
 "RegionalGuess": {"Clues": [], "Reasoning": "it has no regions", "Conclusion": "Monaco", "Uncertainty": "low"},
 "PreciseLocalization": {"Clues": ["RUE GRIMALDI"], "Reasoning": "the name of the ruling house",
  "Conclusion": "Rue Grimaldi", "Uncertainty": "low"}},
 "FinalAnswer": "Monaco; Monaco; Rue Grimaldi"}"""


def test_geoagent_fills_three_levels_in_one_reply_without_tools(photo: Photo, atlas: OfflineAtlas) -> None:
    model = ScriptedPolicy([says(LEVELS)])
    trajectory = locate(method("geoagent"), model, photo, atlas)
    assert model.seen[0].tools == ()
    assert (len(model.seen), ended(trajectory), by(trajectory)) == (1, "answered", "policy")
    assert trajectory.answer == Answer(
        None,
        Address(
            Level("Monaco", ("a French street sign",), "French is spoken", "moderate"),
            Level("Monaco", (), "it has no regions", "low"),
            Level("Rue Grimaldi", ("RUE GRIMALDI",), "the name of the ruling house", "low"),
        ),
    )


def test_geoagent_gets_no_second_reply_and_no_call(photo: Photo, atlas: OfflineAtlas) -> None:
    model = ScriptedPolicy([calls(call("search_web", query="Rue Grimaldi"))], then=says(LEVELS))
    trajectory = locate(method("geoagent"), model, photo, atlas)
    assert len(model.seen) == 1
    assert trajectory.spent.calls == 0
    assert by(trajectory) == "nobody"


class LooksLike:
    """An image search that knows one picture."""

    name = "an album of Monaco"

    async def search(self, view: View, *, limit: int = 10) -> list[Similar]:
        return [Similar("Rue Grimaldi in spring", 0.9, self.name, place=f"Monaco, {view.size[0]} pixels wide")][:limit]


def test_smilegeo_states_its_confidence_in_percent(photo: Photo, atlas: OfflineAtlas) -> None:
    reply = {
        "location": {"country": "Monaco", "city": "Monaco"},
        "confidence": "85%",
        "explanation": "The street sign.",
    }
    model = ScriptedPolicy([says(json.dumps(reply))])
    trajectory = locate(method("smilegeo"), model, photo, atlas)
    assert trajectory.answer == Answer(None, Address.create("Monaco", None, "Monaco"), 0.85, None, "The street sign.")
    assert model.seen[0].tools == ()


def test_smilegeo_reasons_with_similar_pictures_where_they_are_on(photo: Photo, atlas: OfflineAtlas) -> None:
    model = ScriptedPolicy(
        [
            calls(call("search_image")),
            says("Location: Rue Grimaldi, Monaco\nConfidence: 60%\nExplanation: Two pictures agree."),
        ]
    )
    trajectory = locate(method("smilegeo"), model, photo, atlas, tools=["search_image"], similar=LooksLike())
    assert "Rue Grimaldi in spring" in trajectory.observations[0].text
    found = model.seen[1].messages
    assert any(isinstance(one, Observed) and "Rue Grimaldi in spring" in one.observations[0].text for one in found)
    assert trajectory.answer == Answer(
        None, Address.create("Monaco", None, "Rue Grimaldi"), 0.6, None, "Two pictures agree."
    )


OURS = Answer(
    SPOT,
    Address(Level("Monaco", ("street sign",), "the ruling house", "low"), Level(), Level("Rue Grimaldi, Monaco")),
    0.8,
    0.5,
    "The sign can be read, and the map has the street.",
    (Candidate("Menton", LatLon(43.77, 7.5), 0.1, "has French signs too"),),
)


def test_ours_keeps_a_pool_and_answers_in_full(photo: Photo, atlas: OfflineAtlas) -> None:
    model = ScriptedPolicy(
        [
            calls(
                call("image_zoom_in_tool", bbox_2d=[690, 340, 1100, 470]),
                call("note_hypothesis", place="Monaco", confidence=0.6, evidence_for=["RUE GRIMALDI"]),
            ),
            calls(call("poi_keyword_search", keyword="Rue Grimaldi", near="Monaco")),
            says(f"The map agrees.\n```json\n{render(OURS)}\n```"),
        ]
    )
    trajectory = locate(method("default"), model, photo, atlas)
    assert (ended(trajectory), trajectory.answer) == ("answered", OURS)
    assert [one.place for one in trajectory.pool] == ["Monaco"]
    assert trajectory.pool[0].evidence_for == ("RUE GRIMALDI",)
    assert {one.name for one in model.seen[0].tools} == set(method("default").tools)


def test_ours_answers_from_the_pool_when_its_budget_ends(photo: Photo, atlas: OfflineAtlas) -> None:
    note = call("note_hypothesis", place="La Condamine, Monaco", confidence=0.6, latitude=43.735, longitude=7.42)
    model = ScriptedPolicy([calls(note)], then=calls(call("country_facts", country="Monaco")))
    preset = method("default")
    trajectory = locate(replace(preset, budget=replace(preset.budget, turns=3)), model, photo, atlas)
    assert by(trajectory) == "pool"
    assert trajectory.answer is not None
    assert trajectory.answer.point == LatLon(43.735, 7.42)
    assert trajectory.answer.probability == 0.6


CANNOT_TELL = says(render(Answer(explanation="Only a wall; a second photo would help.")))


def test_ours_may_say_that_it_cannot_tell(photo: Photo, atlas: OfflineAtlas) -> None:
    trajectory = locate(method("default"), ScriptedPolicy([CANNOT_TELL]), photo, atlas)
    assert (ended(trajectory), by(trajectory)) == ("answered", "policy")
    assert trajectory.answer == Answer(explanation="Only a wall; a second photo would help.")


def test_ours_guesses_honestly_where_it_must(photo: Photo, atlas: OfflineAtlas) -> None:
    guess = Answer(LatLon(45.0, 5.0), probability=0.05, radius_km=500.0)
    model = ScriptedPolicy([CANNOT_TELL, says(render(guess))])
    trajectory = locate(method("default"), model, photo, atlas, force_answer=True)
    assert trajectory.answer == guess
    assert len(model.seen) == 2
    assert "a point is wanted in any case" in model.seen[0].system
