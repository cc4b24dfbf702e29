"""Three trees of real documentation, laid out as files."""

from __future__ import annotations

import gzip
import json
import tarfile
from collections.abc import Mapping
from pathlib import Path

_FRONT_MATTER = ("title", "description", "status", "type", "category", "created", "requires")


def rust_book(data: Path, to: Path) -> Path:
    """Unpack the Rust book."""
    return _unpack(data / "docs-trees" / "rust-book.tar.gz", to / "rust-book")


def astro_docs(data: Path, to: Path) -> Path:
    """Unpack Astro's docs."""
    return _unpack(data / "docs-trees" / "astro-docs-en.tar.gz", to / "astro-docs")


def eips(data: Path, to: Path) -> Path:
    """Write the EIPs as Markdown files with front matter; a proposal's id is its path."""
    folder = to / "eips"
    with gzip.open(data / "eips" / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            proposal = json.loads(line)
            path = folder / proposal["id"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(front_matter(proposal) + proposal["markdown"], encoding="utf-8")
    return folder


TREES = {"rust-book": rust_book, "astro-docs": astro_docs, "eips": eips}
"""Name to the function that lays the tree out."""


def front_matter(proposal: Mapping[str, str]) -> str:
    r"""Return a proposal's fields as YAML; every value is a quoted string, whatever it looks like.

    Examples
    --------
    >>> front_matter({"title": 'The "A: B" rule', "created": "2020-01-01", "requires": ""})
    '---\ntitle: "The \\"A: B\\" rule"\ncreated: "2020-01-01"\n---\n\n'
    """
    # A JSON string is a double-quoted scalar of YAML.
    lines = [
        f"{name}: {json.dumps(proposal[name], ensure_ascii=False)}\n"
        for name in _FRONT_MATTER
        if proposal.get(name)
    ]
    return f"---\n{''.join(lines)}---\n\n"


def _unpack(archive: Path, folder: Path) -> Path:
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    return folder
