"""Where a benchmark ran, and the files that hold its results."""

from __future__ import annotations

import json
import os
import platform
import sqlite3
from importlib.metadata import version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def load() -> float:
    """Return how many processes wanted a core over the last minute: above 0, others work beside."""
    return round(os.getloadavg()[0], 2)


def environment(load_before: float, *packages: str) -> dict[str, Any]:
    """Describe the machine, what else it was doing when the run began, and the versions that take part."""
    return {
        "machine": platform.machine(),
        "system": platform.system(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "load_before": load_before,
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "packages": {name: version(name) for name in ("germane", "numpy", "PyStemmer", *packages)},
    }


def save(name: str, found: dict[str, Any]) -> Path:
    """Write the results of a benchmark as JSON."""
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def results(name: str) -> dict[str, Any]:
    """Read the results of a benchmark."""
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
