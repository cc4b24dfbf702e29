"""Machine code of the kernels: loaded when there is enough work for it, compiled beside other work."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

from germane.text import heap, kernels, pieces, plain, postings

ENOUGH = 250_000
"""Postings that take as long without machine code as it takes to load it from its cache."""
LIVELY = 100_000
"""Postings that a process has gone through without it when it is worth having it soon."""

_HELPERS = {
    postings: "tf_of found_from read_positions nearness proximity_of lists_of hits_in",
    heap: "is_worse sift_down push worst_last",
    kernels: "text_score supplemented counted_in fill_bounds starts_at best_of_one",
}
_KERNELS = {
    kernels: "best scores details",
    postings: "mark_any mark_phrase",
    pieces: "place_pieces find_pieces",
}

_logger = logging.getLogger("germane")


class Kernels:
    """The kernels, as fast as they can be had.

    Examples
    --------
    >>> Kernels().ready(10).best is plain.best
    True
    """

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._loading: threading.Thread | None = None
        self._done: Any = None
        self._passed = 0

    @property
    def done(self) -> Any:
        """The compiled ones, None until they are."""
        return self._done

    def ready(self, postings: int) -> Any:
        """Return the kernels to use for a piece of work.

        Parameters
        ----------
        postings : int
            How many it goes through at most.
        """
        found = self.at_once(postings)
        if found is not None:
            return found
        self._passed += postings
        if self._passed >= LIVELY and self._loading is None:
            # Of two threads that come here at once, one loads and the other waits for it.
            self._loading = threading.Thread(target=self._load, name="germane-kernels", daemon=True)
            self._loading.start()
        return PLAIN

    def at_once(self, postings: int) -> Any:
        """Return the compiled ones if they are there, or soon enough to be worth it; else None."""
        if self._done is None and postings >= ENOUGH and is_cached() and self._turn.acquire(blocking=False):
            try:
                self._get()
            finally:
                self._turn.release()
        return self._done

    def load(self) -> Any:
        """Return the compiled ones, once they are; compiling without a cache takes half a minute."""
        with self._turn:
            self._get()
        return self._done

    def _get(self) -> None:
        if self._done is None:
            self._done = _compiled()

    def _load(self) -> None:
        try:
            self.load()
        except Exception as error:  # without numba, or a place for its cache, queries are slower
            _logger.warning("the kernels could not be compiled, and run as they are: %s", error)


def is_cached() -> bool:
    """Tell whether machine code of every kernel lies beside the package, without importing numba."""
    named = {module.__name__.rpartition(".")[2]: names for module, names in _KERNELS.items()}
    named["machine"] = "best_of_all best_of_words"
    held = {path.name.partition("-")[0] for path in _CACHE.glob("*.nbi") if not _is_stale(path)}
    return all(f"{module}.{name}" in held for module, names in named.items() for name in names.split())


def _drop_stale() -> None:
    """Remove machine code that is older than any of its sources: numba looks at a kernel's own file alone."""
    for path in _CACHE.glob("*.nb?"):
        if _is_stale(path):
            with suppress(OSError):
                path.unlink()


def _is_stale(path: Path) -> bool:
    return path.stat().st_mtime < max(source.stat().st_mtime for source in _SOURCES)


_CACHE = Path(kernels.__file__).parent / "__pycache__"
_SOURCES = [_CACHE.parent / f"{name}.py" for name in ("kernels", "postings", "heap", "pieces", "machine")]


def warm() -> None:
    """Compile what makes searching fast, and keep it beside the package: half a minute, once.

    A process that searches much does so by itself, beside its work. This is for images and for programs that
    must not begin slowly.

    Raises
    ------
    ImportError
        numba is missing or cannot work here.
    """
    KERNEL.load()


AS_THEY_ARE = SimpleNamespace(
    best_of_all=None,
    **{name: getattr(module, name) for module, names in _KERNELS.items() for name in names.split()},
)
"""The kernels' own source."""
PLAIN = SimpleNamespace(**{**vars(AS_THEY_ARE), "best": plain.best, "mark_any": plain.mark_any})
"""The same where it goes through all postings as NumPy expressions."""


def _compiled() -> SimpleNamespace:
    import numba
    from numba import boolean, float64, int32, int64, types, uint8, uint16, uint32, void

    _drop_stale()
    # The compiled ones call each other, so they have names of their own.
    space: dict[str, Any] = {**vars(pieces), **vars(postings), **vars(heap), **vars(kernels)}

    def copy(module: ModuleType, name: str) -> Callable[..., Any]:
        plain = getattr(module, name)
        made = FunctionType(plain.__code__, space, name)
        made.__module__, made.__qualname__ = plain.__module__, plain.__qualname__
        return made

    for module, names in _HELPERS.items():
        for name in names.split():
            space[name] = numba.njit(nogil=True)(copy(module, name))
    of_postings = (
        uint32[:, ::1], uint16[::1], uint8[::1], uint32[::1], uint32[::1], uint32[::1], uint8[::1],
    )  # fmt: skip
    segment = (
        *of_postings, int32[::1], uint8[:, ::1], uint16[:, ::1], int32[:, ::1], int32[:, ::1], uint16[::1],
        int64[::1],
    )  # fmt: skip
    terms, words, rarity, numbers = int32[:, ::1], int64[:, ::1], float64[::1], float64[::1]
    mask, rows = boolean[::1], int64[::1]
    text = types.Array(uint8, 1, "C", readonly=True)
    signatures = {
        "best": int64(*segment, terms, words, rarity, numbers, mask, float64, rows, float64[::1]),
        "scores": void(*segment, terms, words, rarity, numbers, rows, boolean, float64[::1]),
        "details": void(
            *of_postings, terms, words, numbers, rows, int32[:, :, ::1], uint8[:, ::1], float64[::1]
        ),
        "mark_any": int64(uint32[:, ::1], uint16[::1], terms, words, mask, mask),
        "place_pieces": void(int32[::1], text, rows, int64, int64),
        "find_pieces": types.UniTuple(int64, 2)(  # type: ignore[no-untyped-call]
            text, rows, int32[::1], text, rows, int32[::1], rows, int64[:, ::1]
        ),
        "mark_phrase": void(*of_postings, int64[:, ::1], int64, mask),
    }
    made = {
        name: numba.njit(signatures[name], nogil=True, cache=True)(copy(module, name))
        for module, names in _KERNELS.items()
        for name in names.split()
    }
    from germane.text import machine

    machine.best = made["best"]
    machine.comes_before = numba.njit(nogil=True)(machine.comes_before)
    signature = int64(
        int64[:, ::1], int32[:, :, ::1], words, rarity, numbers, mask, boolean, rows, float64[::1]
    )
    best_of_all = machine.best_of_all = numba.njit(signature, nogil=True, cache=True)(machine.best_of_all)
    signature = types.UniTuple(int64, 2)(  # type: ignore[no-untyped-call]
        int64[:, ::1], int32[:, ::1], float64[::1], rows, words, numbers, mask, boolean, float64[::1],
        uint8[::1],
    )  # fmt: skip
    best_of_words = numba.njit(signature, nogil=True, cache=True)(machine.best_of_words)
    return SimpleNamespace(
        **made, best_of_all=best_of_all, best_of_words=best_of_words, table_of=machine.table_of
    )


KERNEL = Kernels()
"""Those of this process."""
