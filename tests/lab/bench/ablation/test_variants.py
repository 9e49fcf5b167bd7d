"""From the words of a command or a file to named variants."""

from pathlib import Path

import pytest

from geosleuth.lab.bench.ablation import Variant, parse_vary, read_variants, variants_of
from geosleuth.lab.bench.ablation.variants import AblationPlan, begin_plan, read_plan
from geosleuth.support.errors import BadInput


def varied(*words: str, one_at_a_time: bool = False) -> list[tuple[str, dict[str, object]]]:
    found = variants_of([parse_vary(word) for word in words], one_at_a_time=one_at_a_time)
    return [(one.name, dict(one.changes)) for one in found]


def test_tool_sets_are_joined_by_plus_and_parted_by_commas() -> None:
    assert varied("tools=search_web+maps_geocode,image_zoom_in_tool,none,usual") == [
        ("search_web+maps_geocode", {"tools": "search_web,maps_geocode"}),
        ("image_zoom_in_tool", {"tools": "image_zoom_in_tool"}),
        ("none", {"tools": "none"}),
        ("usual", {"tools": None}),
    ]


def test_several_settings_make_every_combination() -> None:
    assert varied("parallel=1,4", "method=twm,default") == [
        ("parallel=1,method=twm", {"parallel": 1, "method": "twm"}),
        ("parallel=1,method=default", {"parallel": 1, "method": "default"}),
        ("parallel=4,method=twm", {"parallel": 4, "method": "twm"}),
        ("parallel=4,method=default", {"parallel": 4, "method": "default"}),
    ]


def test_one_at_a_time_changes_one_setting_of_the_first_variant() -> None:
    names = [name for name, _ in varied("wire=native,tagged", "temperature=0,0.5,1", one_at_a_time=True)]
    assert names == [
        "wire=native,temperature=0",
        "wire=tagged,temperature=0",
        "wire=native,temperature=0.5",
        "wire=native,temperature=1",
    ]


def test_backends_and_policies_can_be_varied() -> None:
    assert varied("web-search=offline,tavily") == [
        ("offline", {"web-search": None}),
        ("tavily", {"web-search": "tavily"}),
    ]
    (first, second) = variants_of([parse_vary("model=hf:/models/before,hf:/models/after")])
    assert (first.changes["model"], first.folder) == ("hf:/models/before", "hf-models-before")
    assert second.folder == "hf-models-after"
    assert varied("force_answer=yes,no")[0][1] == {"force-answer": True}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["tols=a,b"], "'tols' can't be varied; choose from tools, method, model"),
        (["tools"], "takes SETTING=VALUE"),
        (["tools=a,,b"], "takes SETTING=VALUE"),
        (["tools=a+,b"], "join the names of tools by"),
        (["tools=a,a"], "a appears twice"),
        (["tools=a"], "needs at least two variants"),
        (["parallel=1,many"], "parallel takes whole numbers, not 'many'"),
        (["parallel=1,-2"], "whole numbers"),
        (["temperature=nan,1"], "temperature takes numbers"),
        (["force-answer=perhaps,no"], "yes or no"),
        (["turns=1,2", "turns=3,4"], "--vary turns is given twice"),
        (["model=hf:a/b,hf:a:b"], "would share the folder hf-a-b"),
        (["turns=" + ",".join(map(str, range(30))), "calls=" + ",".join(map(str, range(30)))], "900 combinations"),
    ],
)
def test_words_that_can_not_be_meant_are_told(words: list[str], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        variants_of([parse_vary(word) for word in words])


def test_a_file_names_variants(tmp_path: Path) -> None:
    path = tmp_path / "variants.yaml"
    path.write_text(
        "variants:\n"
        "  - name: as it is\n"
        "  - name: without the web\n"
        "    tools: [image_zoom_in_tool, maps_geocode]\n"
        "  - name: four tries\n"
        "    parallel: 4\n"
        "    verifier: same\n"
        "  - {name: bare, tools: [], method: usual}\n"
    )
    assert read_variants(path) == (
        Variant("as it is", {}),
        Variant("without the web", {"tools": "image_zoom_in_tool,maps_geocode"}),
        Variant("four tries", {"parallel": 4, "verifier": "same"}),
        Variant("bare", {"tools": "none", "method": None}),
    )
    assert [one.folder for one in read_variants(path)] == ["as-it-is", "without-the-web", "four-tries", "bare"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("variants: []", "needs at least two variants"),
        ("variants:\n  - name: a\n  - name: b\n    tols: x", "line 4: .*did you mean tools"),
        ("variants:\n  - name: a\n  - name: b\n    parallel: some", "line 4: parallel can't be read"),
        ("variants:\n  - name: a\n  - name: a", "would share the folder"),
        ("variants:\n  - tools: none\n  - name: a", "line 2: .*lacks name"),
    ],
)
def test_a_file_that_can_not_be_meant_is_told_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "variants.yaml"
    path.write_text(text)
    with pytest.raises(BadInput, match=said):
        read_variants(path)


A, B, C = Variant("a", {"tools": "none"}), Variant("b", {"parallel": 2}), Variant("c", {"tools": None})


def test_what_is_varied_is_kept_and_may_grow(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    assert begin_plan(folder, AblationPlan((A, B))) == AblationPlan((A, B))
    assert begin_plan(folder, AblationPlan((A, C))) == AblationPlan((A, B, C))
    assert read_plan(folder) == AblationPlan((A, B, C))


def test_a_folder_is_not_mixed_with_another_ablation(tmp_path: Path) -> None:
    begin_plan(tmp_path / "out", AblationPlan((A, B)))
    with pytest.raises(BadInput, match="'b' was begun with parallel 2, now it is parallel 3"):
        begin_plan(tmp_path / "out", AblationPlan((A, Variant("b", {"parallel": 3}))))
    with pytest.raises(BadInput, match="compared with 'a'"):
        begin_plan(tmp_path / "out", AblationPlan((B, A)))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("mine")
    with pytest.raises(BadInput, match=r"holds 'notes\.txt' and is not an ablation"):
        begin_plan(tmp_path / "other", AblationPlan((A, B)))
    with pytest.raises(BadInput, match=r"has no ablation\.json"):
        read_plan(tmp_path / "other")


@pytest.mark.parametrize("text", ["{", "[]", '{"format": "geosleuth-ablation", "version": 1, "variants": [{}, {}]}'])
def test_a_damaged_plan_is_told_in_a_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "ablation.json").write_text(text)
    with pytest.raises(BadInput, match=r"ablation\.json: (not|can't|names)"):
        read_plan(tmp_path)
