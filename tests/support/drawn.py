"""How many examples Hypothesis draws."""

import os

_USUALLY = 20


def examples(count: int, usually: int = _USUALLY) -> int:
    """That many where examples wander (`make test-all`), and few where they are the same every time (`make test`)."""
    return count if os.environ.get("HYPOTHESIS_PROFILE") == "wandering" else min(count, usually)
