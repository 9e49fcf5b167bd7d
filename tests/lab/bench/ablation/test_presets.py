"""The papers' ablations: their tool sets in our names, and their rows."""

import pytest

from geosleuth.agent.methods import method
from geosleuth.lab.bench.ablation import PRESETS, preset
from geosleuth.support.errors import BadInput
from geosleuth.tools.toolset import all_tools


def sets(name: str) -> dict[str, frozenset[str]]:
    return {one.name: frozenset(str(one.changes["tools"]).split(",")) for one in preset(name).variants}


@pytest.mark.parametrize("name", PRESETS)
def test_every_tool_of_a_preset_is_one_of_ours_and_every_row_is_published(name: str) -> None:
    found = preset(name)
    ours = {*all_tools().names, "none"}
    for variant in found.variants:
        assert set(str(variant.changes["tools"]).split(",")) <= ours
        row = found.row(variant.name)
        assert row is not None
        assert all(f"acc@{km:g}km" in row.values for km in found.thresholds_km)
    assert method(found.method).paper is not None
    mapped = {tool for tools in found.mapping.values() for tool in tools}
    assert mapped == {tool for tools in sets(name).values() for tool in tools} - {"none"}


def test_spotagents_seven_sets_are_every_choice_of_its_three_tools() -> None:
    found = sets("spotagent-tools")
    assert len(found) == len(set(found.values())) == 7
    assert found["full"] == frozenset(method("spotagent").tools) == frozenset().union(*found.values())
    printed = {one.name: preset("spotagent-tools").row(one.name) for one in preset("spotagent-tools").variants}
    # Table 3 of the paper, within 25 km.
    assert {name: row.values["acc@25km"] for name, row in printed.items() if row} == {
        "full": 40.36, "web": 38.10, "zoom": 36.93, "geocode": 37.03, "web+zoom": 38.82, "geocode+zoom": 38.07,
        "web+geocode": 38.47,
    }  # fmt: skip


def test_thinking_with_maps_types_of_tools() -> None:
    found = sets("twm-tools")
    assert found["none"] == {"none"}
    assert found["zoom"] | found["map"] == frozenset(method("twm").tools)
    assert [row.values["acc@0.5km"] for one in found if (row := preset("twm-tools").row(one))] == [
        1.12, 1.48, 1.77, 16.16,
    ]  # fmt: skip


def test_an_unknown_preset_is_told_which_there_are() -> None:
    with pytest.raises(BadInput, match="choose from spotagent-tools, twm-tools"):
        preset("geovista-tools")
