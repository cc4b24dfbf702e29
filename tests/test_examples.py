"""The examples run, and show what they say."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_reading_list() -> None:
    """Fails if the next search of the agent is not another one, or says nothing of why."""
    ran = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "reading_list.py")],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    first, second = ran.stdout.split("The same search, for the session")
    orders = [re.findall(r"^  \d\. +[\d.]+  (.*)$", part, re.MULTILINE) for part in (first, second)]
    assert len(orders[0]) == len(orders[1]) == 5
    assert orders[1][0] == orders[0][1] and orders[0] != orders[1]
    assert "SessionContext: +" in second and "SessionEntity: +" in second
    assert "reward velocity of" in second and "annotate  ok" in second
