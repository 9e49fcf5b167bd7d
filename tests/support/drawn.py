"""How many examples Hypothesis draws."""

import os

_USUALLY = 20


def examples(count: int) -> int:
    """That many where examples wander (`make test-all`), and twenty at most where they are the same every time."""
    return count if os.environ.get("HYPOTHESIS_PROFILE") == "wandering" else min(count, _USUALLY)
