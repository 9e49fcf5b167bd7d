"""The plain form of a name."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geosleuth.names.folding import fold


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Île-de-France", "ile de france"),
        ("U.S.A.", "usa"),
        ("Washington, D.C.", "washington dc"),
        ("St.Louis", "st louis"),
        ("Xi’an", "xian"),
        ("Łódź", "lodz"),
        ("Straße", "strasse"),
        ("Tromsø", "tromso"),
        ("Đà Nẵng", "da nang"),
        ("Iğdır", "igdir"),
        ("İzmir", "izmir"),
        ("Reykjavík & Þórshöfn", "reykjavik and thorshofn"),
        ("ＴＯＫＹＯ", "tokyo"),
        ("ガーナ", "ガーナ"),
        ("서울", "서울"),
        ("ഗിനിയ", "ഗിനിയ"),
        ("  a \n\t b  ", "a b"),
        ("?!", ""),
    ],
)
def test_fold(text: str, folded: str) -> None:
    assert fold(text) == unicodedata.normalize("NFC", folded)


@given(st.text(st.characters()))
def test_fold_twice_is_fold_once(text: str) -> None:
    once = fold(text)
    assert fold(once) == once
