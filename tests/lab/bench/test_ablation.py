"""From the words of a command to named variants; the papers' tool sets in our names, and their rows."""

from dataclasses import fields

import pytest

from geosleuth.agent.methods import method
from geosleuth.lab.bench.ablation import MASK, PRESETS, SETTINGS, expand_variants
from geosleuth.pipeline.request import LocateRequest
from geosleuth.support.errors import BadInput
from geosleuth.tools.toolset import all_tools


def varied(*words: str) -> list[tuple[str, dict[str, object]]]:
    return [(variant.name, dict(variant.changes)) for variant in expand_variants(words)]


def test_varies_only_options_of_a_run() -> None:
    names = {option.name for option in fields(LocateRequest)}
    assert {setting.replace("-", "_") for setting in SETTINGS} - {MASK} <= names


def test_reads_values_by_their_setting() -> None:
    assert varied("tools=search_web+maps_geocode,none,usual") == [
        ("search_web+maps_geocode", {"tools": "search_web,maps_geocode"}),
        ("none", {"tools": "none"}),
        ("usual", {"tools": None}),
    ]
    assert varied("web-search=offline,tavily")[0] == ("offline", {"web-search": None})
    assert varied("mask=none,text") == [("none", {"mask": None}), ("text", {"mask": "text"})]
    assert varied("force_answer=yes,no")[0] == ("yes", {"force-answer": True})
    assert [variant.folder for variant in expand_variants(["model=hf:/models/a,hf:/models/b"])] == [
        "hf-models-a",
        "hf-models-b",
    ]


def test_makes_every_combination_of_several_settings() -> None:
    assert varied("parallel=1,4", "temperature=0,0.5") == [
        ("parallel=1,temperature=0", {"parallel": 1, "temperature": 0.0}),
        ("parallel=1,temperature=0.5", {"parallel": 1, "temperature": 0.5}),
        ("parallel=4,temperature=0", {"parallel": 4, "temperature": 0.0}),
        ("parallel=4,temperature=0.5", {"parallel": 4, "temperature": 0.5}),
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["tols=a,b"], "'tols' can't be varied; choose from tools, method, model"),
        (["tools=a,,b"], "takes SETTING=VALUE"),
        (["tools=a+,b"], "join the names of tools by"),
        (["tools=a"], "takes 2 to 256 variants, not 1"),
        (["parallel=1,many"], "parallel takes whole numbers, not 'many'"),
        (["temperature=nan,1"], "temperature takes numbers"),
        (["turns=1,2", "turns=3,4"], "a setting is given twice"),
        (["model=hf:a/b,hf:a:b"], "would share the folder hf-a-b"),
        (["turns=" + ",".join(map(str, range(30))), "calls=" + ",".join(map(str, range(30)))], "not 900"),
    ],
)
def test_refuses_words_that_can_not_be_meant(words: list[str], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        expand_variants(words)


@pytest.mark.parametrize("name", PRESETS)
def test_maps_a_papers_tools_and_rows_to_ours(name: str) -> None:
    preset = PRESETS[name]
    assert {tool for tools in preset.tools.values() for tool in tools} <= set(all_tools().names)
    assert len(preset.rows) == len(preset.variants)
    assert all(f"acc@{km}km" in row.values for row in preset.rows for km in preset.within.split(","))
    assert method(preset.method).paper is not None


def test_has_every_choice_of_spotagents_tools() -> None:
    sets = {frozenset(tools) for tools in PRESETS["spotagent-tools"].tools.values()}
    assert len(sets) == 7
    assert frozenset(method("spotagent").tools) == frozenset().union(*sets)
    # Table 3 of the paper, within 25 km.
    printed = [row.values["acc@25km"] for row in PRESETS["spotagent-tools"].rows]
    assert printed == [40.36, 38.10, 36.93, 37.03, 38.82, 38.07, 38.47]
