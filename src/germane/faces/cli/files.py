"""Bodies from files: what type they have, and whether they are text."""

from __future__ import annotations

import mimetypes
from pathlib import Path

from germane.model.errors import NotFound

# Ahead of the system's table, which lacks some and calls others what no index takes for code.
_TYPES = {
    ".md": "text/markdown", ".markdown": "text/markdown", ".mdx": "text/markdown", ".txt": "text/plain",
    ".text": "text/plain", ".rst": "text/x-rst", ".adoc": "text/x-asciidoc", ".org": "text/x-org",
    ".py": "text/x-python", ".pyi": "text/x-python", ".rs": "text/x-rust", ".go": "text/x-go",
    ".c": "text/x-c", ".h": "text/x-c", ".cc": "text/x-c++", ".cpp": "text/x-c++", ".hpp": "text/x-c++",
    ".java": "text/x-java", ".kt": "text/x-kotlin", ".swift": "text/x-swift", ".rb": "text/x-ruby",
    ".php": "text/x-php", ".lua": "text/x-lua", ".sh": "text/x-sh", ".bash": "text/x-sh",
    ".js": "text/javascript", ".mjs": "text/javascript", ".cjs": "text/javascript", ".jsx": "text/jsx",
    ".ts": "text/typescript", ".mts": "text/typescript", ".tsx": "text/tsx", ".css": "text/css",
    ".json": "application/json", ".toml": "application/toml", ".yaml": "application/yaml",
    ".yml": "application/yaml", ".xml": "application/xml", ".sql": "application/sql",
}  # fmt: skip


def read(path: Path) -> str | bytes:
    """Return a file's content: text where it is UTF-8, else bytes.

    Raises
    ------
    NotFound
        There is no such file.
    OSError
        It cannot be read.
    """
    try:
        return decoded(path.read_bytes())
    except FileNotFoundError:
        raise NotFound(f"there is no file {str(path)!r}: --file takes the path of one") from None


def decoded(data: bytes) -> str | bytes:
    r"""Return text where the data is UTF-8 without null characters, else the data.

    Examples
    --------
    >>> decoded(b"caf\xc3\xa9"), decoded(b"caf\xe9"), decoded(b"a\0b")
    ('café', b'caf\xe9', b'a\x00b')
    """
    try:
        return data if b"\0" in data else data.decode()
    except UnicodeDecodeError:
        return data


def type_of(path: Path, content: str | bytes) -> str:
    """Return a file's MIME type by its suffix, or by whether it is text.

    Examples
    --------
    >>> type_of(Path("main.py"), ""), type_of(Path("photo.jpg"), b""), type_of(Path("x.unheard"), "text")
    ('text/x-python', 'image/jpeg', 'text/plain')
    """
    suffix = path.suffix.lower()
    known = _TYPES.get(suffix) or mimetypes.types_map.get(suffix)
    return known or ("text/plain" if isinstance(content, str) else "application/octet-stream")
