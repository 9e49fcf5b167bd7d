import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geosleuth.answer import (
    Address,
    Answer,
    Candidate,
    Level,
    answer_from_dict,
    answer_to_dict,
    parse_lenient,
    parse_strict,
    render,
    render_brief,
)
from geosleuth.geo import LatLon
from geosleuth.support.errors import BadInput

# Any text at all, tags, braces, quotes and line separators included; JSON can't carry half a surrogate pair faithfully.
texts = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(
    ["<answer>", "</answer>", '{"lat": 1, "lon": 2}', "\u2028", "null", "", " ", "lat: 1 lon: 2", "\\", '"', "a; b; c"]
)
maybe_texts = st.none() | texts
points = st.builds(LatLon, st.floats(-90, 90), st.floats(-180, 180))
chances = st.none() | st.floats(0, 1)
levels = st.builds(Level, maybe_texts, st.lists(texts, max_size=3).map(tuple), maybe_texts, maybe_texts)
candidates = st.builds(Candidate, maybe_texts, st.none() | points, chances, maybe_texts)
answers = st.builds(
    Answer,
    st.none() | points,
    st.builds(Address, levels, levels, levels),
    chances,
    st.none() | st.floats(1e-6, 20_000),
    maybe_texts,
    st.lists(candidates, max_size=3).map(tuple),
)


@given(answers)
def test_a_rendered_answer_reads_back_exactly(answer: Answer) -> None:
    assert answer_from_dict(json.loads(render(answer))) == answer
    if answer.located or answer.address:
        assert parse_lenient(render(answer)) == answer


@given(answers.filter(lambda answer: answer.located), texts)
def test_a_rendered_answer_reads_back_exactly_from_inside_a_reply(answer: Answer, talk: str) -> None:
    quiet = talk.replace("{", "").replace("<", "")
    assert parse_lenient(f"{quiet}\n<answer>{render(answer)}</answer>\nThat is all.") == answer
    assert parse_lenient(f"{quiet}\n```json\n{render(answer)}\n```") == answer


@given(points, maybe_texts, maybe_texts)
def test_the_brief_form_is_what_the_strict_parser_reads(point: LatLon, country: str | None, city: str | None) -> None:
    answer = Answer(point, Address.create(country=country, precise=city))
    assert parse_strict(f"I think:\n{render_brief(answer)}") == answer
    assert parse_lenient(render_brief(answer)).point == point


def test_the_brief_form_of_an_unlocated_answer_stays_unlocated() -> None:
    text = render_brief(Answer(address=Address.create("Chad")))
    assert not parse_strict(text).located
    assert not parse_lenient(text).located


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"format": "geosleuth-answer/2"}, "geosleuth-answer/2"),
        ({"lat": 1.0}, "must be given together"),
        ({"lat": 91.0, "lon": 0.0}, "91"),
        ({"lat": True, "lon": 0.0}, "not a number"),
        ({"lat": 10**400, "lon": 0.0}, "can't be read"),
        ({"probability": 1.5}, "between 0 and 1"),
        ({"country": "France"}, "can't be read"),
        ({"country": {"clues": "one"}}, "list of texts"),
        ({"candidates": [7]}, "can't be read"),
        ({"explanation": 7}, "not a text"),
    ],
)
def test_what_is_no_answer_is_refused_with_its_reason(change: dict[str, object], reason: str) -> None:
    with pytest.raises(BadInput, match=reason):
        answer_from_dict({**answer_to_dict(Answer()), **change})
