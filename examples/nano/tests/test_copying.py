"""Look-ups without a picture: what is asked, and that the answer stands in what the map said."""

import json

import pytest

from geosleuth.lab.scenes import World
from nano_lessons import Taught, words_of


@pytest.mark.slow
def test_a_look_up_copies_a_point_that_the_map_has_shown(taught: list[Taught], few_towns: World) -> None:
    known = {town.name_on_signs for town in few_towns.towns if town.split == "train"}
    made = [lesson for one in taught for lesson in one.of("copying", tools=True)]
    assert len(made) > len(taught)
    used, forms = set(), set()
    for lesson in made:
        _, question, call, shown, answer = lesson.messages
        made_call = call["tool_calls"][0]["function"]
        (asked,) = made_call["arguments"].values()
        used.add(made_call["name"])
        if made_call["name"] == "clues":
            assert words_of(question) == f"Where is {asked} from?"
        else:
            name, combined, town = asked.rpartition(", ")
            assert words_of(question).startswith(f"Where is {name or town} in ")
            assert any(words_of(question).endswith(f" in {one}?") for one in ({town} if combined else known))
            forms.add(bool(combined))
        told = json.loads(words_of(answer))
        assert f"{told['lat']:.5f}, {told['lon']:.5f}" in words_of(shown)
    assert used == {"geocode", "clues"}
    assert forms == {True, False}
