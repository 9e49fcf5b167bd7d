"""Who derives places from reasonings, and what counts as the same place."""

from collections.abc import Sequence

import pytest

from geosleuth.answer import Address, Level
from geosleuth.lab.score import AnswerNames
from geosleuth.lab.score.rewards import Reasoning, agreements, judge_consistency, without_conclusions


@pytest.mark.parametrize(
    ("own", "derived", "expected"),
    [
        (("Germany", "Bavaria", "Munich"), ("Deutschland", "Bayern", "München"), (True, True, True)),
        (("Germany", "Bavaria", "Munich"), ("Austria", "Bavaria", "Munich"), (False, True, True)),
        (("Germany", "Bavaria", "Munich"), (None, None, None), (False, False, False)),
        ((None, None, None), ("Germany", "Bavaria", "Munich"), (False, False, False)),
        (("Monaco", None, "12 Rue Grimaldi, Monaco"), ("Monaco", None, "Monaco"), (True, False, True)),
        (("France", None, "Rue de Rivoli, Paris"), ("France", None, "Paris, France"), (True, False, True)),
        (("France", None, "Paris, France"), ("France", None, "Lyon, France"), (True, False, False)),
        (("France", "Normandie", "Caen, Normandie"), ("France", None, "Rouen, Normandy, France"), (True, False, False)),
        (("Japan", "Kyoto", "Gion, Kyoto"), ("Japan", "Kyoto", "Kyoto"), (True, True, True)),
        (("Ukraine", "Zhytomyr Oblast", "Савчук, Zhytomyr"), (None, None, "Житомир"), (False, False, True)),
    ],
)
def test_agreement_is_by_meaning(
    own: tuple[str | None, ...], derived: tuple[str | None, ...], expected: tuple[bool, ...]
) -> None:
    assert agreements([AnswerNames(*own)], [AnswerNames(*derived)]).tolist() == [list(expected)]


def test_the_judge_sees_clues_and_reasoning_and_no_conclusion() -> None:
    address = Address(
        Level("Italy", ("signs in Italian", "Italia on a plate"), "So it must be Italy.", "low"),
        Level("Tuscany", (), "Cypresses, as in Toscana and around Florence."),
        Level("Florence", ("Firenze 2 km",), None),
    )
    assert without_conclusions(address) == Reasoning(
        "signs in Italian\n… on a plate\nSo it must be ….", "Cypresses, as in … and around ….", "… 2 km"
    )


def test_a_judge_that_loses_replies_is_told_off() -> None:
    class Loser:
        def derive(self, reasonings: Sequence[Reasoning]) -> list[AnswerNames]:
            return [AnswerNames() for _ in reasonings[1:]]

    with pytest.raises(ValueError, match="derived 0 places from 1 reasonings"):
        judge_consistency([Address.create("Italy")], Loser())
