"""What a model is sent before it has done anything: the default prompt and the schemas of the tools that it is offered.

Counted with o200k_base, the tokenizer of GPT-4o and later, as the package bpe-openai carries it. Texts are counted as
they are, schemas as the JSON that is sent.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from geosleuth.agent.methods import method
from geosleuth.tools.calls import OFFLINE
from geosleuth.tools.toolset import all_tools
from later import later
from locating import FINAL, at, locate_here, photo_file, texts
from openai_server import openai_server

later("pydantic_ai")
bpe_openai = later("bpe_openai")

MOST_TOKENS = 2800
Count = Callable[[object], int]


@pytest.fixture(scope="module")
def count() -> Count:
    encoding = bpe_openai.get_encoding("o200k_base")

    def tokens(sent: object) -> int:
        text = sent if isinstance(sent, str) else json.dumps(sent, ensure_ascii=False, separators=(",", ":"))
        return len(encoding.encode(text))

    return tokens


@pytest.mark.usefixtures("atlas_home")
def test_the_default_prompt_and_schemas_are_short(tmp_path: Path, count: Count) -> None:
    with openai_server([FINAL]) as url:
        assert locate_here(photo_file(tmp_path), *at(url)).code == 0
    (request,) = url.requests
    words, schemas = count(texts(request.json["messages"])), count(request.json["tools"])
    assert words > 300
    assert schemas > 1000
    assert words + schemas <= MOST_TOKENS, f"the prompt has {words} tokens, the schemas have {schemas}"
    preset = method("default")
    offered = {one["function"]["name"] for one in request.json["tools"]}
    with_region = preset.toolset(all_tools(), have=OFFLINE)
    added = [one for one in with_region if one.name not in offered]
    assert {one.name for one in added} >= {"find_colocated", "find_crossing"}
    more = [{"type": "function", "function": one.schema()} for one in added]
    assert words + schemas + count(more) <= MOST_TOKENS, "with a region in the atlas"
