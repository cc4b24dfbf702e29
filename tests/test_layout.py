"""The house: which package may import which, no circles, no long modules, nothing undocumented."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import germane

SOURCE = Path(germane.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))
LONGEST = 600

# Arrows point down: a package imports from its own floor or a lower one. On one floor no circle may arise.
FLOORS = (
    ("model",),
    ("log", "cluster"),
    ("text", "knowledge", "vectors", "signals", "people", "sessions"),
    ("ranking",),
    ("upkeep",),
    ("database",),
    ("evaluation",),
    ("faces",),
    ("__main__",),
)
FLOOR = {package: floor for floor, packages in enumerate(FLOORS) for package in packages}

# On one floor only these pairs: learning cuts files with the parser that text is indexed with, tastes are
# made of items' vectors and decay as signals do, and the log reads as well from a cluster as from a file.
BESIDE = {
    ("knowledge", "text"),
    ("people", "vectors"),
    ("people", "signals"),
    ("cluster", "log"),
    ("people", "sessions"),
    ("sessions", "signals"),
    ("sessions", "knowledge"),
}

# The version is a constant that every package may read. The package itself holds the public names and
# nothing else: it imports from everywhere, and nobody below the faces imports from it.
EXEMPT = ("__init__", "version")


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def package_of(module: str) -> str:
    """The folder, or the single module, right below the root; the root itself is ``__init__``."""
    _, first, *_ = (*module.split("."), "__init__")
    return first


def imported(path: Path) -> Iterator[tuple[str, int]]:
    """Modules of this project that a file imports, wherever in it: in functions, and only for types too."""
    known = {module_name(each) for each in MODULES}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative imports hide where they lead"
            parent = node.module or ""
            names = [
                inner if (inner := f"{parent}.{alias.name}") in known else parent for alias in node.names
            ]
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in (
            "import_module",
            "importlib.import_module",
        ):
            names = [
                arg.value
                for arg in node.args[:1]
                if isinstance(arg, ast.Constant) and isinstance(arg.value, str)
            ]
        else:
            continue
        for name in names:
            if name.split(".")[0] == "germane":
                yield name, node.lineno


def is_allowed(importer: str, wanted: str) -> bool:
    if importer == "__init__" or wanted in ("version", importer):
        return True
    if wanted == "__init__":
        return importer == "faces"
    if importer == "version":
        return False
    return FLOOR[wanted] < FLOOR[importer] or (importer, wanted) in BESIDE


def test_every_package_has_a_floor() -> None:
    packages = {package_of(module_name(path)) for path in MODULES}
    assert packages <= {*FLOOR, *EXEMPT}


@pytest.mark.parametrize("path", MODULES, ids=[str(path.relative_to(SOURCE)) for path in MODULES])
def test_imports_point_down(path: Path) -> None:
    """Fails when any module imports from a floor above, or beside where that is not allowed."""
    importer = package_of(module_name(path))
    wrong = [
        f"{path}:{line} imports {name}: {importer} may not import {package_of(name)}"
        for name, line in imported(path)
        if not is_allowed(importer, package_of(name))
    ]
    assert not wrong, "\n".join(wrong)


def test_modules_go_in_no_circle() -> None:
    edges = {
        module_name(path): {name for name, _ in imported(path)} - {module_name(path)}
        for path in MODULES
        if path.parent != SOURCE or path.stem != "__init__"
    }
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        pytest.fail(f"these import each other in a circle: {' -> '.join(error.args[1])}")


def test_the_rules_see_what_they_should() -> None:
    """The house's own rules, one by one."""
    assert is_allowed("faces", "database")
    assert is_allowed("faces", "__init__")
    assert is_allowed("database", "knowledge")
    assert is_allowed("ranking", "text")
    assert is_allowed("ranking", "log")
    assert is_allowed("knowledge", "text")
    assert is_allowed("log", "model")
    assert is_allowed("log", "version")
    for importer, wanted in (
        ("text", "knowledge"), ("text", "ranking"), ("model", "log"), ("log", "text"), ("log", "cluster"),
        ("ranking", "database"), ("database", "faces"), ("knowledge", "ranking"), ("text", "signals"),
        ("sessions", "people"), ("version", "model"), ("text", "__init__"), ("database", "__init__"),
    ):  # fmt: skip
        assert not is_allowed(importer, wanted)


def test_imports_are_seen_wherever_they_stand(tmp_path: Path) -> None:
    path = tmp_path / "example.py"
    path.write_text(
        "from typing import TYPE_CHECKING\n"
        "import germane.log.fold\n"
        "from germane.text import bm25f\n"
        "from germane.model.errors import Error\n"
        "if TYPE_CHECKING:\n    from germane import open\n"
        "def f():\n    import germane.faces as faces\n    import_module('germane.ranking')\n"
    )
    assert [name for name, _ in imported(path)] == [
        "germane.log.fold", "germane.text.bm25f", "germane.model.errors", "germane",
        "germane.faces", "germane.ranking",
    ]  # fmt: skip


@pytest.mark.parametrize("path", MODULES, ids=[str(path.relative_to(SOURCE)) for path in MODULES])
def test_no_module_is_long(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST


def undocumented(path: Path) -> list[str]:
    """Public modules, classes, functions and methods of a file that say nothing about themselves."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    silent = [] if ast.get_docstring(tree) else [f"{path}: the module"]
    pending: list[tuple[str, ast.stmt]] = [("", node) for node in tree.body]
    while pending:
        prefix, node = pending.pop()
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        if node.name.startswith("_"):
            continue
        if not ast.get_docstring(node):
            silent.append(f"{path}:{node.lineno}: {prefix}{node.name}")
        if isinstance(node, ast.ClassDef):
            pending += [(f"{node.name}.", inner) for inner in node.body]
    return silent


@pytest.mark.parametrize("path", MODULES, ids=[str(path.relative_to(SOURCE)) for path in MODULES])
def test_everything_public_says_what_it_is(path: Path) -> None:
    silent = undocumented(path)
    assert not silent, "\n".join(silent)


def test_what_is_undocumented_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "example.py"
    path.write_text(
        '"""Doc."""\nclass A:\n    def b(self): ...\n    def _c(self): ...\ndef d(): ...\ndef _e(): ...\n'
    )
    assert [entry.rpartition(": ")[2] for entry in undocumented(path)] == ["d", "A", "A.b"]
