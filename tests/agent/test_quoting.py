"""Lines of signs quoted by number: what is looked up, what counts as the same call, and what stays as it is."""

import asyncio
from dataclasses import replace

import pytest

from geosleuth.agent import Budget, Method, Trajectory, first_difference, replay, resume, run
from geosleuth.agent.setup import AgentSetup
from geosleuth.agent.turns import Quotes, quote, spell_out_calls
from geosleuth.models import Prompt
from geosleuth.photo import View
from geosleuth.photo.text import TextLine
from geosleuth.teams.parallel.chains import collect_facts
from geosleuth.tools import Observation, ToolCall, Toolset
from geosleuth.tools.image_tools import image_zoom_in_tool, read_text
from scripted import Line, ScriptedPolicy, answers, call, calls
from small_runs import look_up, small_case, small_method

TOOLS = Toolset([read_text, image_zoom_in_tool, look_up])
WHOLE, CLOSE = ("Café Grimaldi", "Rue Grimaldi 7"), ("98000 Monaco",)


def reader(view: View) -> list[TextLine]:
    """Two lines on the photo; another one on its cuts."""
    texts = WHOLE if view.handle == "image-1" else CLOSE if view.size[0] > 50 else ()
    box = ((0.0, 0.0), (9.0, 0.0), (9.0, 9.0), (0.0, 9.0))
    return [TextLine(text, box, 1.0, "latin", "tesseract") for text in texts]


def go(script: list[Line], method: Method) -> Trajectory:
    case = replace(small_case(), reader=reader)
    return asyncio.run(run(case, AgentSetup(method=method, policy=ScriptedPolicy(script), toolset=TOOLS)))


QUOTING = small_method(quotes_lines=True, budget=Budget(turns=9))
READ, ZOOM = calls(call("read_text")), calls(call("image_zoom_in_tool", bbox_2d=[0, 0, 100, 80]))
READ_CLOSE = calls(call("read_text", image="image-2"))


def looked_up(trajectory: Trajectory) -> list[str]:
    return [one.data["query"] for one in trajectory.observations if one.name == "look_up" and one.failure is None]


def ask(query: str) -> Line:
    return calls(call("look_up", query=query))


def test_lines_are_looked_up_by_their_numbers() -> None:
    script = [READ, ask("#1, #2"), ZOOM, READ_CLOSE, ask("image-1#1, #1"), answers(1, 2)]
    found = go(script, QUOTING)
    assert looked_up(found) == ["Café Grimaldi\nRue Grimaldi 7", "Café Grimaldi\n98000 Monaco"]
    # The recording holds what the policy said.
    assert [one.arguments for step in found.steps for one in step.calls if one.name == "look_up"] == [
        {"query": "#1, #2"}, {"query": "image-1#1, #1"},
    ]  # fmt: skip


def test_all_lines_stand_one_under_the_other() -> None:
    assert looked_up(go([READ, ask("#*"), answers(1, 2)], QUOTING)) == ["\n".join(WHOLE)]
    both = [READ, ZOOM, READ_CLOSE, ask("image-1#*, #*"), ask("#1, Monaco"), ask("in #1,#1"), answers(1, 2)]
    assert looked_up(go(both, QUOTING)) == [
        "\n".join((*WHOLE, *CLOSE)), "98000 Monaco, Monaco", "in 98000 Monaco\n98000 Monaco",
    ]  # fmt: skip
    # What is of no line stays as it is written, and so does what stands beside it.
    odd = [READ, ask("Apt #7, #8"), ask("12, #2"), ask("#1, #9"), answers(1, 2)]
    assert looked_up(go(odd, QUOTING)) == ["Apt #7, #8", "12, Rue Grimaldi 7", "Café Grimaldi, #9"]


@pytest.mark.parametrize("said", ["#0", "#3", "#999", "image-7#1", "# 1", "Apt #"])
def test_what_no_line_has_stays_as_it_is(said: str) -> None:
    assert looked_up(go([READ, ask(said), answers(1, 2)], QUOTING)) == [said]


def test_nothing_is_quoted_before_it_was_read() -> None:
    assert looked_up(go([ask("#1"), ask("#*"), answers(1, 2)], QUOTING)) == ["#1", "#*"]


def test_other_methods_write_house_numbers_so() -> None:
    assert looked_up(go([READ, ask("Carrera 7 #1-16"), answers(1, 2)], small_method())) == ["Carrera 7 #1-16"]


def test_a_number_means_another_line_after_another_reading() -> None:
    found = go([READ, ask("#1"), ask("Café Grimaldi"), ZOOM, READ_CLOSE, ask("#1"), answers(1, 2)], QUOTING)
    assert looked_up(found) == ["Café Grimaldi", "98000 Monaco"]
    assert [one.failure for one in found.observations].count("repeated") == 1  # the same line, spelled


def test_a_run_that_is_taken_up_knows_what_was_read() -> None:
    first = go([READ, answers(1, 2)], QUOTING)
    cut = replace(first, events=first.events[:4], torn=True)
    policy = ScriptedPolicy([ask("#2"), answers(1, 2)])
    case = replace(small_case(), reader=reader)
    again = asyncio.run(
        resume(cut, Prompt("Go on."), case=case, setup=AgentSetup(method=QUOTING, policy=policy, toolset=TOOLS))
    )
    assert looked_up(again) == ["Rue Grimaldi 7"]


def test_lines_with_numbers_of_their_own_are_quoted_once() -> None:
    quotes = Quotes()
    data = {"image": "image-1", "lines": [{"text": "#2"}, {"text": "Shop"}]}
    quotes.hear(Observation("1", "read_text", "", data))
    filled = quotes.fill_quotes(ToolCall("2", "look_up", {"query": f"{quote(1)} {quote(2, 'image-1')}", "lat": 1.0}))
    assert filled.arguments == {"query": "#2 Shop", "lat": 1.0}
    assert quotes.fill_quotes(ToolCall("3", "look_up", "#1")).arguments == "#1"


def test_what_is_shown_again_is_quoted_again() -> None:
    script = [READ, ZOOM, READ_CLOSE, READ, ask("#1"), answers(1, 2)]
    found = go(script, QUOTING)
    assert found.observations[3].failure == "repeated"
    assert "Café Grimaldi" in found.observations[3].text
    assert looked_up(found) == ["Café Grimaldi"]
    again = asyncio.run(replay(found, method=QUOTING))
    assert first_difference(found, again) is None


def test_calls_of_one_reply_quote_what_was_read_before_it() -> None:
    both = calls(call("read_text"), call("look_up", query="#1"))
    found = go([READ, ZOOM, READ_CLOSE, both, ask("#1"), answers(1, 2)], replace(QUOTING, name="nano"))
    assert [one.failure for one in found.observations][3:] == ["repeated", None, None]
    assert looked_up(found) == ["98000 Monaco", "Café Grimaldi"]
    asked = [one.arguments for step in spell_out_calls(found).steps for one in step.calls if one.name == "look_up"]
    assert [one["query"] for one in asked if isinstance(one, dict)] == looked_up(found)


def test_a_part_without_lines_takes_nothing_away() -> None:
    empty = calls(call("read_text", bbox_2d=[0, 0, 5, 5]))
    assert looked_up(go([READ, empty, ask("#2, image-1#1"), answers(1, 2)], QUOTING)) == [
        "Rue Grimaldi 7\nCafé Grimaldi"
    ]


def test_whoever_shows_a_run_shows_what_was_looked_up() -> None:
    method = replace(QUOTING, name="nano")
    script = [READ, ask("#1"), ZOOM, READ_CLOSE, ask("#1"), answers(1, 2)]
    found = go(script, method)
    asked = [one.arguments for step in spell_out_calls(found).steps for one in step.calls if one.name == "look_up"]
    assert asked == [{"query": "Café Grimaldi"}, {"query": "98000 Monaco"}]
    assert spell_out_calls(replace(found, events=found.events[:1])).events == found.events[:1]
    texts = [fact.text for fact in collect_facts([found])]
    assert any("look_up(Café Grimaldi)" in text for text in texts)
    assert not any("#1" in text for text in texts)
    plain = go([READ, ask("Apt #1"), answers(1, 2)], small_method())
    assert spell_out_calls(plain) is plain


def test_readings_that_failed_are_none() -> None:
    quotes = Quotes()
    quotes.hear(Observation("1", "read_text", "", {"image": "image-1", "lines": [{"text": "A"}]}, failure="service"))
    quotes.hear(Observation("1", "other", "", {"image": "image-1", "lines": [{"text": "A"}]}))
    assert quotes.fill_quotes(ToolCall("2", "look_up", {"query": "#1"})).arguments == {"query": "#1"}
