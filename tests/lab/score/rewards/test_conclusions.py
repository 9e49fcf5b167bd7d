"""No conclusion stays in a reasoning, however it is written; what is evidence stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geosleuth.lab.score import AnswerNames
from geosleuth.lab.score.rewards.conclusions import Unnamer

ULM = AnswerNames("Germany", "Baden-Württemberg", "12 Hirschstraße, Ulm")


@pytest.mark.parametrize(
    "leak",
    [
        "Germany", "GERMANY", "germany", "Deutschland", "Allemagne", "Германия", "德国", "ドイツ",
        "Federal Republic of Germany",
        "G e r m a n y", "G.e.r.m.a.n.y", "Ger\u200bmany", "🇩🇪", "Ulm", "ulm", "U l m", "乌尔姆", "Ulmer", "Ulms",
        "Hirschstraße", "Hirschstrasse", "12 Hirschstraße", "Baden-Württemberg", "Baden-Wuerttemberg",
        "BADEN-WÜRTTEMBERG",
    ],
)  # fmt: skip
@pytest.mark.parametrize("frame", ["So it is {}.", "({})", 'The sign says "{}"', "look: {}, surely", "{}"])
def test_every_way_to_write_it_goes(leak: str, frame: str) -> None:
    left = Unnamer(ULM)(frame.format(leak))
    kept = frame.format("")
    assert sorted(filter(str.isalnum, left)) == sorted(filter(str.isalnum, kept))


@pytest.mark.parametrize(
    "evidence",
    [
        "The shop signs are in German.",
        "The number begins with +49 731.",
        "The address ends in .de.",
        "Austria and Switzerland drive on the right, too.",
        "Postcode 89073, prices in euros.",
        "A bakery, a church and the river.",
    ],
)
def test_evidence_stays(evidence: str) -> None:
    assert Unnamer(ULM)(evidence) == evidence


def test_words_that_are_codes_too_stay() -> None:
    unname = Unnamer(AnswerNames("United States", "Indiana", "Gary"))
    assert (
        unname("Tell us: in which state is it? It is in IN 46402, USA.")
        == "Tell us: in which state is it? It is in … 46402, …."
    )


def test_runs_without_spaces_are_searched() -> None:
    unname = Unnamer(AnswerNames("Japan", "Kyoto", "Kyoto"))
    assert unname("看板に京都と書いてある。日本の道路。") == "看板に…と書いてある。…の道路。"


def test_what_was_read_may_be_kept() -> None:
    unname = Unnamer(ULM, keep_evidence=True)
    assert unname("The plate reads Hirschstraße, so this is Ulm.") == "The plate reads Hirschstraße, so this is …."


@pytest.mark.parametrize("nothing", [AnswerNames(), AnswerNames("unknown", "", "n/a")])
def test_who_concludes_nothing_loses_nothing(nothing: AnswerNames) -> None:
    text = "The sign is in German; unknown town."
    assert Unnamer(nothing)(text) == text


@given(text=st.text(max_size=200))
def test_any_text_is_borne(text: str) -> None:
    assert isinstance(Unnamer(ULM)(text), str)
