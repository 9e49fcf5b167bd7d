"""Names as a browser's map can draw them.

MapLibre draws letter by letter from the fonts of the reader's machine, which is right for most scripts. It neither
turns round what is written from right to left nor joins letters nor sets marks on them. So Arabic and Hebrew are laid
out here, letters in their joined forms, and names with marks that must sit on a letter are spelled in Latin letters.
"""

import unicodedata
from functools import cache, lru_cache
from itertools import groupby

from geosleuth.atlas.maps.lettering import MAX_LETTERS, clean, wrapped

_ISOLATED, _FINAL, _INITIAL, _MEDIAL = "<isolated>", "<final>", "<initial>", "<medial>"
_FORMS_BLOCKS = (range(0xFB50, 0xFDD0), range(0xFE80, 0xFEFD))
_JOINED_ELSEWHERE = (range(0x0700, 0x0750), range(0x07C0, 0x0800), range(0x1800, 0x18B0))
_TATWEEL = "\u0640"
_RIGHT = frozenset({"R", "AL"})
_LEFT = frozenset({"L", "EN", "AN"})


def written(name: str, *, in_lines: bool = True) -> dict[str, str]:
    """Properties of a feature with that name: ``name`` as it is, and ``label`` where it must be drawn otherwise.

    Nothing in either can break a line, turn the text round it or go on without end. Empty where nothing is left.
    """
    text, label = _written(name[: 8 * MAX_LETTERS], in_lines)
    if not text:
        return {}
    return {"name": text} if label == text else {"name": text, "label": label}


@lru_cache(maxsize=8192)
def _written(name: str, in_lines: bool) -> tuple[str, str]:  # noqa: FBT001
    text = clean(name)
    return text, _label(text, in_lines=in_lines)


def _label(text: str, *, in_lines: bool) -> str:
    if text.isascii():
        return text
    sides = {unicodedata.bidirectional(char) for char in text}
    if sides & _RIGHT:
        bare = "".join(char for char in text if unicodedata.category(char) != "Mn")
        lines = wrapped(bare) if in_lines else [bare]
        return "\n".join(_visual(_joined(line)) for line in lines)
    if any(unicodedata.category(char)[0] == "M" or _is_joined(char) for char in text):
        from anyascii import anyascii

        return clean(anyascii(text)) or text
    return text


def _is_joined(char: str) -> bool:
    return any(ord(char) in block for block in _JOINED_ELSEWHERE)


def _joined(text: str) -> str:
    """Arabic letters in the form that their neighbours ask for, lam and alef as one."""
    forms = _forms()
    out = []
    at = 0
    before = False  # whether the letter before reaches out to this one
    while at < len(text):
        unit = text[at : at + 2] if text[at : at + 2] in forms else text[at]
        own = forms.get(unit, {})
        after = text[at + len(unit)] if at + len(unit) < len(text) else ""
        reaches = unit == _TATWEEL or _INITIAL in own
        joins_after = reaches and (after == _TATWEEL or _FINAL in forms.get(after, {}))
        wanted = (_ISOLATED, _INITIAL, _FINAL, _MEDIAL)[2 * before + joins_after]
        out.append(own.get(wanted, unit))
        before = joins_after
        at += len(unit)
    return "".join(out)


def _visual(text: str) -> str:
    """Letters in the order in which they stand from left to right, for a text that begins either way."""
    sides = [unicodedata.bidirectional(char) for char in text]
    base = next((side in _RIGHT for side in sides if side in _RIGHT or side == "L"), False)
    turned = [True if side in _RIGHT else False if side in _LEFT else None for side in sides]
    for at, own in enumerate(turned):
        if own is None:
            previous = turned[at - 1] if at else base
            following = next((one for one in turned[at + 1 :] if one is not None), base)
            turned[at] = previous if previous == following else base
    runs = [[char for char, _ in run] for _, run in groupby(zip(text, turned, strict=True), key=lambda pair: pair[1])]
    order = [own for own, _ in groupby(turned)]
    laid = [[_mirrored(char) for char in reversed(run)] if own else run for run, own in zip(runs, order, strict=True)]
    return "".join(char for run in (reversed(laid) if base else laid) for char in run)


def _mirrored(char: str) -> str:
    return {"(": ")", ")": "(", "[": "]", "]": "[", "«": "»", "»": "«"}.get(char, char)


@cache
def _forms() -> dict[str, dict[str, str]]:
    """By letter, or by lam and alef together, the forms that Unicode keeps of it."""
    forms: dict[str, dict[str, str]] = {}
    for code in (code for block in _FORMS_BLOCKS for code in block):
        form, _, rest = unicodedata.decomposition(chr(code)).partition(" ")
        base = "".join(chr(int(part, 16)) for part in rest.split())
        if form in (_ISOLATED, _FINAL, _INITIAL, _MEDIAL) and (len(base) == 1 or base.startswith("\u0644")):
            if len(base) == 2 and base[1] not in "\u0622\u0623\u0625\u0627":
                continue
            forms.setdefault(base, {}).setdefault(form, chr(code))
    return forms
