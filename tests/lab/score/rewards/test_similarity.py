"""Names are alike by their tables first and by an encoder second."""

from collections.abc import Sequence

import numpy as np
import pytest

from geosleuth.lab.score import AnswerNames, TruthNames
from geosleuth.lab.score.rewards import similarities
from geosleuth.lab.score.rewards.encoders import equal_texts


class Letters:
    """A stand-in for an encoder: how often each letter occurs. It counts what it is asked."""

    name = "letters"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        self.asked += texts
        return np.array(
            [[text.casefold().count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts], dtype=float
        )


@pytest.mark.parametrize(
    ("truth", "answer", "expected"),
    [
        (TruthNames("Germany", "Bavaria", "Munich"), AnswerNames("Deutschland", "Bayern", "München"), (1, 1, 1)),
        (TruthNames("Russia", "Moscow", "Moscow"), AnswerNames("Россия", "Москва", "Москва"), (1, 1, 1)),
        (TruthNames("Japan", "Kyoto", "Kyoto"), AnswerNames("日本", "京都府", "Kyoto City"), (1, 1, 1)),
        (TruthNames("Czechia", None, "Prague"), AnswerNames("Czech Republic", "Prague", "Praha"), (1, 0, 1)),
        (TruthNames("Niger", None, None), AnswerNames("Nigeria", None, None), (0, 0, 0)),
        (TruthNames("North Korea", None, None), AnswerNames("South Korea", None, None), (0, 0, 0)),
        (TruthNames("France", None, "Paris"), AnswerNames("France", None, "Rue de Rivoli, Paris"), (1, 0, 1)),
        (TruthNames("France", "Normandie", "Caen"), AnswerNames(None, None, None), (0, 0, 0)),
        (TruthNames("France", "Normandie", "Caen"), AnswerNames("unknown", "", "?"), (0, 0, 0)),
    ],
)
def test_tables_alone(truth: TruthNames, answer: AnswerNames, expected: tuple[int, int, int]) -> None:
    assert similarities([truth], [answer]).tolist() == [list(expected)]


def test_the_encoder_is_asked_only_for_what_the_tables_do_not_know() -> None:
    encoder = Letters()
    truths = [TruthNames("Niger", None, "Niamey"), TruthNames("Germany", "Bavaria", "Oberaudorf am Inn")]
    answers = [AnswerNames("Nigeria", "Niger State", "Niamey"), AnswerNames("Germany", "Bayern", "Inn Audorf, Ober")]
    found = similarities(truths, answers, encoder)
    assert sorted(encoder.asked) == ["Inn Audorf, Ober", "Oberaudorf am Inn"]
    assert found[0].tolist() == [0, 0, 1]
    assert found[1, :2].tolist() == [1, 1]
    assert 0.9 < found[1, 2] < 1


def test_without_tables_everything_is_the_encoders() -> None:
    encoder = Letters()
    found = similarities([TruthNames("Niger")], [AnswerNames("Nigeria")], encoder, names=None)
    # Letters: n i g e r against n i i g e r a, so (1 + 2 + 1 + 1 + 1) / (sqrt 5 * sqrt 9).
    assert found[0, 0] == pytest.approx(6 / (5**0.5 * 3), abs=1e-12)


def test_equal_text_is_letter_for_letter() -> None:
    truths = [TruthNames("Germany", None, "Munich"), TruthNames("Germany", "Bavaria", "Munich")]
    answers = [AnswerNames("germany", None, " Munich "), AnswerNames("Germany", "Bayern", None)]
    assert equal_texts(truths, answers).tolist() == [[False, False, True], [True, False, False]]
    assert equal_texts([], []).shape == (0, 3)
