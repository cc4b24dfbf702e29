"""All that the page of quality says: weights, real logs and simulated worlds, measured and written anew.

python -m benchmarks.people --data PATH
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path


def main() -> None:
    """Run one benchmark after the other, then write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.people", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the logs")
    data = ["--data", str(parser.parse_args().data)]
    for module, *given in (
        ("weights", *data),
        ("recommend", *data),
        ("simulator", "--choose"),
        ("simulator",),
        ("report",),
    ):
        subprocess.run([sys.executable, "-m", f"benchmarks.{module}", *given], check=True)


if __name__ == "__main__":
    main()
