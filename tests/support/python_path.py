"""Where a Python that a test starts finds its modules."""

import os
from pathlib import Path


def python_path(*folders: Path) -> str:
    """PYTHONPATH with these folders first; what it holds already stays, such as the source that is tested."""
    return os.pathsep.join([*map(str, folders), *filter(None, [os.environ.get("PYTHONPATH")])])
