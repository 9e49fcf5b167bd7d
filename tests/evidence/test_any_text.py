"""Whatever text is read: no exception, and shares that add up."""

import math

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from drawn import examples
from geosleuth.evidence import TextSeen, distances, lookups, text_clues

PIECES = st.sampled_from(
    [
        "+377 93 15 26 00", "98000 Monaco", "www.", "@", "€", "12,50", "A8", "km", "Rue", "東京", "ไทย", "Аптека", "½",
        "00",
        "\u200f", "\ud800", "\x00", "٣٤", "ßẞ", "ﬁ", "İ", "𝐀𝟏", "1/0", "--", "((", "R$", "〒",
        "AB-123-CD", "12/31/2024", "mi",
    ]
)  # fmt: skip
TEXTS = st.one_of(
    st.text(max_size=60), st.lists(PIECES, max_size=8).map(" ".join), st.lists(PIECES, max_size=8).map("".join)
)
EDGES = st.floats(-1e4, 1e4, allow_nan=False)
LINES = st.builds(
    TextSeen,
    TEXTS,
    st.sampled_from(["image-1", "image-2"]),
    st.tuples(EDGES, EDGES, EDGES, EDGES),
    st.floats(0, 1),
    st.sampled_from(["latin", "thai", "none"]),
)


@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(LINES, max_size=8))
def test_any_lines_give_sound_clues_and_questions(lines: list[TextSeen]) -> None:
    for clue in text_clues(lines):
        assert 0 <= clue.reliability <= 1
        assert clue.where is not None
        assert clue.seen
        assert clue.says
        assert not clue.countries or math.isclose(sum(clue.countries.values()), 1, rel_tol=1e-9)
        assert all(share > 0 for share in clue.countries.values())
    for lookup in lookups(lines):
        assert lookup.text.strip()
        assert 0 < lookup.worth <= 1
    for one in distances(lines):
        assert 0 < one.distance <= 3000


def test_very_long_lines_are_cut_not_chewed() -> None:
    monster = [
        TextSeen("1 " * 200_000, "image-1", (0, 0, 1, 1), 0.9, "latin"),
        TextSeen("a." * 200_000, "image-1", (0, 0, 1, 1), 0.9, "latin"),
    ]
    assert text_clues(monster) == []
    assert lookups(monster) == []
