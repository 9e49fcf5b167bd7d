"""Find the script of a strip by trying: the models of other scripts are unsure of what is not theirs."""

from collections.abc import Sequence
from time import thread_time

from .strips import Pixels
from .tesseract import MODELS, Guess, guess, refine

SURE = 0.88
"""No model was so sure of another script's text, look-alikes aside."""

LOOKALIKES = ({"cyrillic", "greek", "armenian"}, {"telugu", "kannada"})
"""Scripts with letters in common: one is not sure before the others have been asked."""

GLANCE_TIMES_AS_WIDE = 7
"""A script shows in the first few letters: long lines are cut for the search."""

RETRIED = 4
HINT = 0.1


def pick(strips: Sequence[Pixels], likely: Sequence[str], until: float, *, hinted: str = "") -> Guess | None:
    """The best reading of a line over all scripts, the likely ones asked first; None where none reads anything.

    Stops early at a sure reading, and when this thread's own clock reaches ``until``, with what it has. The line comes
    in several heights: the first is for the search, the others for a second look where no script was sure. A script
    that another engine hinted at wins against its look-alikes.
    """
    first = strips[0]
    glance = first[:, : GLANCE_TIMES_AS_WIDE * first.shape[0]]
    guesses: dict[str, Guess] = {}
    queue = list(dict.fromkeys([*([hinted] if hinted else []), *likely, *MODELS]))

    def worth(found: Guess) -> float:
        return found.score + (HINT if found.script == hinted else 0.0)

    while queue and (not guesses or thread_time() < until):
        script = queue.pop(0)
        guesses[script] = guess(script, glance)
        best = max(guesses.values(), key=worth)
        rivals = [rival for group in LOOKALIKES if best.script in group for rival in group if rival not in guesses]
        queue = rivals if worth(best) >= SURE else [*rivals, *(script for script in queue if script not in rivals)]
    ranked = sorted(guesses.values(), key=worth, reverse=True)
    if glance.shape[1] < first.shape[1]:
        ranked[0] = guess(ranked[0].script, first)
    if worth(ranked[0]) < SURE:
        again = [guess(found.script, strip) for strip in strips[1:] for found in ranked[:RETRIED]]
        again += [guess(found.script, first, raw=True) for found in ranked if not found.text]
        ranked = sorted([*ranked, *again], key=worth, reverse=True)
    return refine(ranked[0], first) if ranked[0].score else None
