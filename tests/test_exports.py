"""The public names: declared, typed and found alike, and imported only when asked for."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import germane


def typed_names() -> set[str]:
    """Return the names that a type checker sees."""
    tree = ast.parse(Path(germane.__file__).read_text())
    guarded = next(node for node in tree.body if isinstance(node, ast.If))
    return {alias.name for node in guarded.body if isinstance(node, ast.ImportFrom) for alias in node.names}


def test_every_public_name_is_typed_and_can_be_had() -> None:
    assert typed_names() | {"__version__"} == set(germane.__all__)
    assert germane.__all__ == sorted(germane.__all__, key=lambda name: (name.strip("_").islower(), name))
    for name in germane.__all__:
        assert getattr(germane, name) is not None
    assert set(germane.__all__) <= set(dir(germane))


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        germane.nothing  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(ImportError):
        from germane import nothing  # type: ignore[attr-defined]  # noqa: F401


def test_importing_the_package_imports_no_database() -> None:
    code = (
        "import sys, germane; assert 'numpy' not in sys.modules; germane.open; assert 'numpy' in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 0


def test_star_import_gives_the_public_names() -> None:
    names: dict[str, object] = {}
    exec("from germane import *", names)
    assert set(germane.__all__) <= set(names)
