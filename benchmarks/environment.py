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


def environment(*packages: str) -> dict[str, Any]:
    """Describe the machine and the versions that take part."""
    return {
        "machine": platform.machine(),
        "system": platform.system(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "packages": {name: version(name) for name in ("germane", "numpy", "PyStemmer", *packages)},
    }


def save(name: str, results: dict[str, Any]) -> Path:
    """Write the results of a benchmark as JSON."""
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def load(name: str) -> dict[str, Any]:
    """Read the results of a benchmark."""
    results: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return results


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
