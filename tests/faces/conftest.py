from __future__ import annotations

from pathlib import Path

import pytest

from faces.running import Cli

GUIDE = """# Guide

Everything about lamps.

## Red lamps

A red lamp glows red, and needs a bulb.

### Bulbs

Screw the bulb in.

## Blue lamps

```python
lamp.colour = "blue"
```
"""


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    for name in ("GERMANE_DB", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return Cli(tmp_path, capsys, monkeypatch)


@pytest.fixture
def docs(cli: Cli) -> Path:
    """A folder with one document of four sections, learned into the store beside it."""
    folder = cli.folder / "docs"
    folder.mkdir()
    (folder / "guide.md").write_text(GUIDE)
    cli.good("learn", folder)
    return folder
