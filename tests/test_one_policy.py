"""One policy, six commands: what it was trained with is what it is played with, to the letter.

For every paper's method a run is made and learned from. Then the same policy is reinforced, evaluated, tried several
times, and asked to locate, alone and in a benchmark. What it is shown first is compared as text, as its chat template
writes it: system words, tools with their schemas, captions, question. Servers are real ones on loopback; what they were
sent is written by the same template, as they would do. Nothing but the number of tokens of a picture is evened out.
"""

import asyncio
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from geosleuth.agent.locate import locate
from geosleuth.agent.methods import method
from geosleuth.agent.policy_card import PolicyCard, read_card
from geosleuth.agent.setup import AgentSetup, Resources
from geosleuth.atlas import OfflineAtlas
from geosleuth.geo import LatLon
from geosleuth.lab.score import Truth
from geosleuth.lab.traces import Sample, Store, write_store
from geosleuth.lab.train.grpo import run_grpo
from geosleuth.lab.train.masks import Writer
from geosleuth.lab.train.models import open_processor
from geosleuth.lab.train.recipe import DataPart, ModelPart, Recipe, RolloutPart
from geosleuth.lab.train.rollouts import rollout_setup
from geosleuth.lab.train.samples import store_chats
from geosleuth.lab.train.sft import build_card
from geosleuth.photo import BoxScale, encode, open_photo
from geosleuth.tools.toolset import all_tools
from in_process import whole_command
from later import later
from openai_server import Request, chat_reply, openai_server
from scripted import ScriptedPolicy, says
from scripted_grpo import make_photos, make_tiny, tiny_recipe
from stored import about
from tiny_vlm import make_tiny_vlm

later("torch")
later("trl")
later("pydantic_ai")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")

METHODS = ("smilegeo", "geoagent", "spotagent", "geovista", "twm")
ANSWER = (
    '{"lat": 43.7384, "lon": 7.4246, "city": "Monaco", "country": "Monaco", "location": {"country": "Monaco"}}\n'
    "<answer>Country: Monaco\nCity: Monaco\nLatitude: 43.7384\nLongitude: 7.4246</answer>"
)
WITHOUT_TOOLS = """\
{%- macro show(content) -%}
  {%- if content is string -%}{{ content }}
  {%- else -%}
    {%- for part in content -%}
      {%- if part.type == 'image' -%}<|vision_start|><|image_pad|><|vision_end|>
      {%- elif part.type == 'text' -%}{{ part.text }}
      {%- endif -%}
    {%- endfor -%}
  {%- endif -%}
{%- endmacro -%}
{%- for message in messages -%}
  {{- '<|im_start|>' + message.role + '\\n' + show(message.content) + '<|im_end|>\\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}
"""
"""A chat template that knows no tools: calls travel as tagged text."""


@dataclass(frozen=True)
class Scenery:
    """The photos, the two models by their wire, and the home with the atlas."""

    photos: Path
    models: dict[str, Path]
    home: Path

    @property
    def photo(self) -> Path:
        return self.photos.parent / "0.png"


@pytest.fixture
def scenery(models: dict[str, Path], atlas_home: Path, tmp_path: Path) -> Scenery:
    return Scenery(make_photos(tmp_path / "photos", 1), models, atlas_home)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    import_module("torch").set_num_threads(1)
    folder = tmp_path_factory.mktemp("models")
    tagged = make_tiny_vlm(folder / "tagged", chat_template=WITHOUT_TOOLS)
    return {"native": make_tiny(folder / "native"), "tagged": tagged}


def shown(text: str) -> str:
    """What a policy is shown; a picture is one token, however many its size makes of it."""
    return re.sub(r"(?:<\|image_pad\|>)+", "<|image_pad|>", text)


@contextmanager
def heard(policy: Path) -> Iterator[list[str]]:
    """What models in memory are shown meanwhile, by the tokens that they really get; they say nothing."""
    torch, mixin = import_module("torch"), import_module("transformers").generation.GenerationMixin
    tokenizer = open_processor(ModelPart(path=str(policy))).tokenizer
    seen: list[str] = []

    def silent(_self: Any, *, input_ids: Any, **_options: Any) -> Any:
        seen.extend(map(shown, tokenizer.batch_decode(input_ids)))
        return torch.cat([input_ids, torch.full_like(input_ids[:, :1], tokenizer.eos_token_id)], dim=1)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mixin, "generate", silent)
        yield seen


def recipe_of(name: str, model: Path, scenery: Scenery) -> Recipe:
    return tiny_recipe(
        model, scenery.photos, RolloutPart(method=name, reward="spotagent", reply_tokens=4, group=2), save_steps=1
    )


def run_of(name: str, scenery: Scenery, boxes: BoxScale) -> Sample:
    """A run of the method with the tools that a drawn or offline world has."""
    tools = rollout_setup(recipe_of(name, scenery.models["native"], scenery)).setting.toolset.names
    way = method(name, box_scale=boxes)
    setup = AgentSetup(method=way, policy=ScriptedPolicy([says(ANSWER)]), toolset=way.toolset(all_tools(), tools))
    finding = asyncio.run(locate([open_photo(scenery.photo)], setup, Resources(OfflineAtlas())))
    album, run = finding.album, finding.trajectory
    assert album is not None
    pictures = {image.handle: encode(album[image.handle]) for image in run.images}
    truth = Truth(LatLon(43.7384, 7.4246))
    return Sample(key="one", trajectory=run, images=pictures, scene="one", source="test", split="train", truth=truth)


def learned(model: Path, run: Sample, folder: Path) -> tuple[str, PolicyCard]:
    """What fine-tuning shows before the first reply, and the card that it writes."""
    write_store(folder, [run], about())
    part = ModelPart(path=str(model))
    writer = Writer(open_processor(part))
    card = build_card(Recipe(name="cold", stage="coldstart", model=part, data=DataPart(store=folder)), writer)
    assert card is not None
    (chat,) = store_chats(Store(folder), wire=card.wire)
    parts = writer.parts(chat)
    first = next(number for number, one in enumerate(parts) if one.learned)
    return shown("".join(one.text for one in parts[:first])), card


def written(request: Request, policy: Path) -> str:
    """What a request comes to, as the policy's template writes it behind a server."""
    messages = []
    for message in request.json["messages"]:
        parts = message["content"]
        if not isinstance(parts, str):
            parts = [{"type": "image"} if one["type"] == "image_url" else one for one in parts]
        messages.append({**message, "content": parts})
    template = open_processor(ModelPart(path=str(policy))).apply_chat_template
    return shown(template(messages, tools=request.json.get("tools"), add_generation_prompt=True, tokenize=False))


def commanded(scenery: Scenery, *words: object) -> None:
    done = whole_command(*words, GEOSLEUTH_HOME=str(scenery.home), COLUMNS="200")
    assert done.returncode in (0, 1), done.stderr  # who says nothing finds no place


def first_shown(policy: Path, scenery: Scenery, out: Path) -> dict[str, str]:
    """What each command shows the policy first: as weights, or behind a server with its card."""
    found = {}
    for name, words in {
        "train evaluate": ("train", "evaluate", policy, "--data", scenery.photos),
        "locate hf:": ("locate", scenery.photo, "--model", f"hf:{policy}"),
    }.items():
        with heard(policy) as seen:
            commanded(scenery, *words)
        found[name] = seen[0]
    with openai_server([chat_reply(ANSWER)]) as url:
        at = ("--model", "server:policy", "--base-url", url, "--policy-card", policy / "policy_card.json")
        for name, words in {
            "locate": ("locate", scenery.photo, *at),
            "bench run": ("bench", "run", "--data", scenery.photos, *at, "--out", out / "run"),
        }.items():
            before = len(url.requests)
            commanded(scenery, *words)
            found[name] = written(url.requests[before], policy)
    return found


def reinforced(policy: Path, name: str, scenery: Scenery, folder: Path) -> tuple[str, PolicyCard]:
    """What a rollout shows, and the card of the run."""
    with heard(policy) as seen:
        run_grpo(recipe_of(name, policy, scenery), folder, environment_workers=0)
    return seen[0], read_card(folder)


@pytest.mark.parametrize(
    ("name", "wire", "boxes"),
    [
        # A cold start in pixels: its model's family gives thousandths otherwise.
        ("spotagent", "native", "pixels"),
        ("twm", "tagged", "thousandths"),
        *(
            pytest.param(name, wire, "thousandths", marks=pytest.mark.slow)
            for name in METHODS
            for wire in ("native", "tagged")
            if (name, wire) != ("twm", "tagged")
        ),
    ],
)
def test_a_policy_is_shown_the_same_in_every_command(
    scenery: Scenery, tmp_path: Path, name: str, wire: str, boxes: BoxScale
) -> None:
    learns, card = learned(scenery.models[wire], run_of(name, scenery, boxes), tmp_path / "store")
    assert (card.method, card.wire, card.box_scale) == (name, wire, boxes)
    assert ("You may call these functions" in learns) == (wire == "tagged" and bool(card.tools))
    assert bool(re.search(rf"{boxes} of (?:its|that)", learns)) == bool(card.tools)
    policy = Path(shutil.copytree(scenery.models[wire], tmp_path / "policy"))
    card.write(policy)
    found = first_shown(policy, scenery, tmp_path)
    if wire == "native":  # GRPO refuses templates that write no calls
        found["train grpo"], reinforces = reinforced(policy, name, scenery, tmp_path / "grpo")
        assert reinforces == card
    for command, text in found.items():
        assert text == learns, command
