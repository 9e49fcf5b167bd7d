"""Parts of a picture to look at from near: few, in the picture, and around what is looked for."""

from hypothesis import given
from hypothesis import strategies as st

from geosleuth.tools.image_tools import MAX_SUGGESTED_PARTS, around, choose_looks, holds, thousandths

SIZE = (1632, 1224)
Box = tuple[int, int, int, int]
boxes = st.builds(
    lambda left, top, wide, high: (left, top, min(SIZE[0], left + wide), min(SIZE[1], top + high)),
    st.integers(0, SIZE[0] - 1), st.integers(0, SIZE[1] - 1), st.integers(1, SIZE[0]), st.integers(1, SIZE[1]),
)  # fmt: skip


@given(boxes)
def test_a_look_holds_its_box_and_stays_in_the_picture(box: Box) -> None:
    look = around(box, SIZE)
    assert holds(look, thousandths(box, SIZE))
    assert 0 <= look[0] < look[2] <= 1000
    assert 0 <= look[1] < look[3] <= 1000
    assert not any(side % 10 for side in look)


@given(st.lists(boxes, max_size=8))
def test_few_looks_hold_all_boxes_unless_they_are_spread_wide(wanted: list[Box]) -> None:
    looks = choose_looks(wanted, SIZE)
    held = [[holds(look, thousandths(box, SIZE)) for box in wanted] for look in looks]
    assert len(looks) <= MAX_SUGGESTED_PARTS
    assert len(looks) == MAX_SUGGESTED_PARTS or all(any(column) for column in zip(*held, strict=True))
    # Each adds something, and the first is the fullest.
    assert all(any(row) for row in held)
    assert not held or sum(held[0]) == max(map(sum, held))
