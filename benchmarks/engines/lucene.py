"""Lucene, where there is Java: finds both, and says how the program beside this file is run.

The jars of `lucene-core` and `lucene-analysis-common` (10 or newer) are looked for in the folder that the
variable ``LUCENE`` names, then in an installed package that carries them, then asked of Maven.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

from benchmarks.engines import worker

VERSION = "10.5.1"
WARM_S = 6.0
"""Java compiles what is called often, and needs longer for it than others to warm up."""
_PARTS = ("lucene-core", "lucene-analysis-common")
_CARRIER = "nlp4j_local_search"
_KEPT = Path.home() / ".cache" / "germane-benchmarks" / f"lucene-{VERSION}"
_SOURCE = Path(__file__).with_name("Lucene.java")
_OLDEST_JAVA = 21


class NoLucene(Exception):
    """Why Lucene cannot take part."""


@cache
def _command() -> tuple[str, ...]:
    java = _java()
    _KEPT.mkdir(parents=True, exist_ok=True)
    path = os.pathsep.join(map(str, (*_jars(), _KEPT)))
    compiled = subprocess.run(
        [java.with_name("javac"), "-cp", path, "-d", _KEPT, _SOURCE],
        capture_output=True,
        text=True,
        check=False,
    )
    if compiled.returncode:
        raise NoLucene(f"{_SOURCE.name} does not compile: {compiled.stderr.strip()}")
    # With vectors by the machine's own instructions, and the collector that costs one thread least.
    vectors = ("--add-modules", "jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED")
    return (str(java), "-Xmx2g", "-XX:+UseSerialGC", *vectors, "-cp", path, _SOURCE.stem)


def command(task: str, given: Sequence[str]) -> list[str]:
    """Return what to run for a task of the worker."""
    limits: tuple[object, ...] = ()
    if task == "ask":
        limits = (worker.TOP, WARM_S, worker.TIMED_S, worker.CHECKED, worker.PHRASE, worker.ADDED)
    return [*_command(), task, *given, *map(str, limits)]


def _java() -> Path:
    """Return the newest Java that there is."""
    homes = [*Path("/usr/lib/jvm").glob("*"), Path(os.environ.get("JAVA_HOME", "/nowhere"))]
    found = [home / "bin" / "java" for home in homes]
    if on_path := shutil.which("java"):
        found.append(Path(on_path).resolve())
    versions = {_java_version(java): java for java in found if java.with_name("javac").is_file()}
    newest = max(versions, default=0)
    if newest < _OLDEST_JAVA:
        raise NoLucene(f"Lucene {VERSION} needs Java {_OLDEST_JAVA}, and there is {newest or 'none'}")
    return versions[newest]


def _java_version(java: Path) -> int:
    told = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    match = re.search(r'version "(\d+)', told)
    return int(match[1]) if match else 0


def _jars() -> list[Path]:
    """Return the jars of Lucene, fetched once."""
    if given := os.environ.get("LUCENE"):
        jars = _found(Path(given))
        if not jars:
            raise NoLucene(f"no jars of {' and '.join(_PARTS)} in {given}")
        return jars
    for fetch in (_from_package, _from_maven):
        if not _found(_KEPT):
            fetch()
    if jars := _found(_KEPT):
        return jars
    raise NoLucene(f"no jars: set LUCENE to a folder with {' and '.join(_PARTS)} {VERSION}")


def _found(folder: Path) -> list[Path]:
    jars = [next(iter(sorted(folder.glob(f"{part}-1*.jar"))), None) for part in _PARTS]
    return [jar for jar in jars if jar is not None] if all(jars) else []


def _from_package() -> None:
    """Take them out of the jar of a package for Python that is made with Lucene."""
    spec = find_spec(_CARRIER)
    for place in (spec and spec.submodule_search_locations) or ():
        for path in Path(place).rglob("*.jar"):
            with ZipFile(io.BytesIO(path.read_bytes())) as jar:
                for name in jar.namelist():
                    if name.startswith(_PARTS):
                        jar.extract(name, _KEPT)


def _from_maven() -> None:
    if not (maven := shutil.which("mvn")):
        return
    for part in _PARTS:
        artifact = f"-Dartifact=org.apache.lucene:{part}:{VERSION}"
        # What goes wrong is seen by what is missing afterwards.
        subprocess.run(
            [maven, "-q", "-B", "dependency:copy", artifact, f"-DoutputDirectory={_KEPT}"],
            capture_output=True,
            check=False,
        )
