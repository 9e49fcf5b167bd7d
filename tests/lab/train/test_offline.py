"""Training tells nobody: no host of the hub hears of it."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("huggingface_hub")

TOLD = """
import sys, threading
import huggingface_hub.constants
from huggingface_hub.utils import send_telemetry
from geosleuth.photo.runtime import stay_offline

if sys.argv[1] == "offline":
    stay_offline()
send_telemetry("trl/SFTTrainer", library_name="trl", library_version="1")
sys.exit(threading.active_count() - 1)
"""


@pytest.mark.parametrize(("how", "threads"), [("offline", 0), ("as it comes", 1)])
def test_trl_tells_the_hub_nothing_even_if_its_library_was_there_before(how: str, threads: int) -> None:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    # A proxy that is not there: should the library tell after all, nothing leaves this machine.
    nowhere = dict.fromkeys(("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"), "http://127.0.0.1:9")
    done = subprocess.run([sys.executable, "-c", TOLD, how], env=plain | nowhere, check=False, capture_output=True)
    assert done.returncode == threads, done.stderr
