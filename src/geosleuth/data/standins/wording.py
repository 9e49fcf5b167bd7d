"""The words of a stand-in caller: what was seen, what is missing, why this tool; said in more than one way."""

import json
import random
from collections.abc import Mapping, Sequence

from geosleuth.answer.wording import whole_percent
from geosleuth.names import country_name

from .noted import Noted
from .weighing import SAYS_ITSELF, Candidate, clues_in

_MOST_LINES = 4
_CLEAR = 0.85
_LIKELY = 0.5
_NO_COUNTRY = ("That fits many countries.", "The look of it alone does not tell the country.")
_NOTHING_READ = ("No lettering that I could read so far.", "Nothing is legible yet.")


def quoted(text: str) -> str:
    """A text in quotation marks, on one line."""
    return json.dumps(" ".join(text.split()), ensure_ascii=False)


def reasons(seen: str, missing: str, tool: str) -> str:
    """The three things that are said before a call."""
    return f"1. Seen: {seen}\n2. Missing: {missing}\n3. Tool: {tool}"


def seen_words(noted: Noted, odds: Mapping[str, float], found: Sequence[Candidate], chance: random.Random) -> str:
    """What is known by now, in a few sentences."""
    boards: dict[str, list[str]] = {}
    for board, line in noted.texts[-_MOST_LINES:]:
        boards.setdefault(board, []).append(quoted(line))
    lines = [f"the {board} {chance.choice(('says', 'reads'))} {', '.join(texts)}" for board, texts in boards.items()]
    parts = [f"{_capital(_joined(lines))}."] if lines else [chance.choice(_NOTHING_READ)]
    parts += [country_words(noted, odds, chance), aside_words(noted, odds, chance)]
    if found and found[0].how == SAYS_ITSELF:
        parts.append(
            chance.choice(
                (
                    f"{quoted(found[0].of)} is a number of {found[0].name}.",
                    f"By {quoted(found[0].of)}, {found[0].name} is likely.",
                )
            )
        )
    elif found:
        parts.append(
            chance.choice(
                (
                    f"On the map, {quoted(found[0].of)} leads to {found[0].name}.",
                    f"The best match by now is {found[0].name}, found by {quoted(found[0].of)}.",
                )
            )
        )
        if found[0].borne_out:
            other = " and ".join(map(quoted, found[0].borne_out[:2]))
            parts.append(
                chance.choice((f"Its address has {other}, which I read as well.", f"{other} fit its address."))
            )
        elif found[0].fuzzy:
            parts.append(
                chance.choice(
                    (
                        "I may have misread the name: the map has a slightly other one.",
                        "The spelling differs a little, so that I must have misread a letter.",
                    )
                )
            )
    if noted.made and noted.made[-1].is_empty:
        parts.append(chance.choice(("The last question brought nothing.", "Nothing came of the last question.")))
    return " ".join(part for part in parts if part)


def aside_words(noted: Noted, odds: Mapping[str, float], chance: random.Random) -> str:
    """What speaks for another country than the rest, and why it is left aside."""
    first, share = next(iter(odds.items()))
    if share < _LIKELY:
        return ""
    for clue in clues_in(noted.texts):
        other = max(clue.countries, key=lambda code: (clue.countries[code], code), default=first)
        if clue.countries.get(first, 0.0) < 0.01 and clue.countries.get(other, 0.0) > _LIKELY:
            return chance.choice(
                (
                    f"{quoted(clue.seen)} speaks for {country_name(other)}, but such things travel.",
                    f"Only {quoted(clue.seen)} would be from {country_name(other)}; I leave it aside.",
                )
            )
    return ""


def country_words(noted: Noted, odds: Mapping[str, float], chance: random.Random) -> str:
    """Which countries the evidence speaks for, as surely as it does."""
    (first, share), (second, _) = list(odds.items())[:2]
    if not noted.texts:
        return chance.choice(_NO_COUNTRY)
    why = next(
        (clue.says.partition(":")[0] for clue in clues_in(noted.texts) if clue.countries.get(first, 0) > 0.2), None
    )
    because = f", going by {why}" if why else ""
    if share >= _CLEAR:
        words = (
            f"Nearly all of it speaks for {country_name(first)}{because}.",
            f"This is {country_name(first)}, as good as certain{because}.",
        )
    elif share >= _LIKELY:
        words = (
            f"{country_name(first)} is likeliest{because}, {country_name(second)} possible.",
            f"It looks like {country_name(first)}{because}; I can't rule out {country_name(second)}.",
        )
    else:
        words = (
            f"The country is open: {country_name(first)} ({whole_percent(share)} %), {country_name(second)}{because}.",
            f"I can't tell the country yet; {country_name(first)} leads with {whole_percent(share)} %{because}.",
        )
    return chance.choice(words)


def _joined(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
