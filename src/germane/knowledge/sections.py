"""Cutting a source into sections: Markdown at its headings, plain text as one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, time

import pyromark

from germane.knowledge.frontmatter import read_front_matter
from germane.knowledge.mdx import drop_esm, hide_tags
from germane.model.errors import InvalidArgument
from germane.model.items import check_lang
from germane.model.values import Value, check_id
from germane.text.markdown import OPTIONS, without_tags

VERSION = "1"
"""Rises when the same source would be cut otherwise, so that files are learned anew."""

_BLANK_LINES = re.compile(r"\A(?:[ \t]*\r?\n)+")


@dataclass(frozen=True)
class Cut:
    """A section as its source has it.

    Parameters
    ----------
    title : str or None
        Its heading as plain text.
    body : str
        The source under the heading, up to the next heading.
    level : int
        Depth of the heading; 0 for text under none.
    parent : int or None
        Which of the sections encloses it.
    heading_path : tuple of str
    lines : tuple of (int, int)
        Counted from 1.
    description : str or None
    """

    title: str | None
    body: str
    level: int
    parent: int | None
    heading_path: tuple[str, ...]
    lines: tuple[int, int]
    description: str | None = None


@dataclass(frozen=True)
class Source:
    """A file, or a text, cut into sections.

    Parameters
    ----------
    title : str or None
        What it calls itself.
    type : str
        MIME type of the sections' bodies.
    metadata : dict
    tags : tuple of str
    lang : str or None
    sections : tuple of Cut
    problem : str or None
        What of it could not be used.
    """

    title: str | None
    type: str
    metadata: dict[str, Value]
    tags: tuple[str, ...]
    lang: str | None
    sections: tuple[Cut, ...]
    problem: str | None = None


def cut_plain(text: str, title: str | None = None) -> Source:
    """Cut plain text: one section, with a title only if one is given."""
    last = text.count("\n") + (not text.endswith("\n"))
    path = (title,) if title else ()
    sections: tuple[Cut, ...] = ()
    if path or text.strip():
        sections = (Cut(title or None, text, len(path), None, path, (1, max(last, 1))),)
    return Source(title or None, "text/plain", {}, (), None, sections)


def cut_markdown(text: str, is_mdx: bool = False, title: str | None = None) -> Source:
    r"""Cut Markdown at the headings that stand in no list and no quote.

    A text that has a title, but no heading of the first level, begins with a section of that title; so does
    one whose front matter has a title that is no such heading, for it would not be found by it otherwise.

    Parameters
    ----------
    text : str
        The source.
    is_mdx : bool
        Whether to drop import and export lines.
    title : str, optional
        Goes before the one that the text gives itself.

    Examples
    --------
    >>> for cut in cut_markdown("intro\n\n# One\n\n## Two\ntext\n").sections:
    ...     print(cut.level, cut.heading_path, repr(cut.body), cut.lines)
    0 () 'intro' (1, 1)
    1 ('One',) '' (3, 3)
    2 ('One', 'Two') 'text' (5, 6)
    """
    text = text.removeprefix("\ufeff")
    if "\n" not in text:
        text = text.replace("\r", "\n")  # lines of an old Macintosh, which the parser does not see
    front = read_front_matter(text)
    metadata = front.metadata
    own = _said(metadata.get("title"))
    title = title or own
    description = _said(metadata.get("description"))
    first_line = text.count("\n", 0, front.length) + 1
    rest = text[front.length :]
    if is_mdx:
        rest = drop_esm(rest)
    headings = _headings(hide_tags(rest) if is_mdx else rest)
    chapters = [name for level, name, _, _ in headings if level == 1]
    is_missing = title is not None and (not chapters or title == own) and title not in chapters
    sections = _at_headings(rest, headings, first_line, title, description, is_missing)
    if title is None:
        title = next((cut.title for cut in sections if cut.level == 1 and cut.title), None)
    return Source(
        title, "text/markdown", metadata, _tags(metadata), _lang(metadata), tuple(sections), front.problem
    )


Heading = tuple[int, str, int, int]
"""Level, text, and byte range of a heading."""


def _at_headings(
    text: str,
    headings: Sequence[Heading],
    first_line: int,
    title: str | None,
    description: str | None,
    has_title: bool,
) -> list[Cut]:
    data = text.encode()
    starts = [start for _, _, start, _ in headings]
    bodies_end = [*starts, len(data)][1:]
    preamble = _trim(data[: starts[0] if starts else len(data)].decode())
    sections: list[Cut] = []
    stack: list[tuple[int, int]] = []
    if preamble or has_title or (description and not headings):
        path: tuple[str, ...] = (title,) if title is not None else ()
        last = first_line + data[: starts[0] if starts else len(data)].decode().rstrip().count("\n")
        sections.append(Cut(title, preamble, len(path), None, path, (first_line, last), description))
        if path:
            stack.append((1, 0))
    line, counted = first_line, 0
    for (level, name, start, end), stop in zip(headings, bodies_end, strict=True):
        line += data.count(b"\n", counted, start)
        counted = start
        source = data[start:stop].decode()
        while stack and stack[-1][0] >= level:
            stack.pop()
        parent = stack[-1][1] if stack else None
        above = sections[parent].heading_path if parent is not None else ()
        path = (*above, name) if name else above
        sections.append(
            Cut(
                title=name or None,
                body=_trim(data[end:stop].decode()),
                level=level,
                parent=parent,
                heading_path=path,
                lines=(line, line + source.rstrip().count("\n")),
                description=description if not sections else None,
            )
        )
        stack.append((level, len(sections) - 1))
    return sections


def _headings(text: str) -> list[Heading]:
    """Return the headings that stand in no other block."""
    found: list[Heading] = []
    depth = 0
    words: list[str] | None = None
    for event, span in pyromark.events_with_range(text, options=OPTIONS):
        if isinstance(event, str):
            if words is not None:
                words.append(" ")
            continue
        name, value = next(iter(event.items()))
        if name == "Start":
            if depth == 0 and isinstance(value, dict) and "Heading" in value:
                words = []
            depth += 1
        elif name == "End":
            depth -= 1
            if depth == 0 and words is not None:
                level = int(value["Heading"][1])  # type: ignore[index]
                found.append((level, " ".join("".join(words).split()), span["start"], span["end"]))
                words = None
        elif words is not None and name in ("Text", "Code"):
            words.append(str(value))
        elif words is not None and name == "InlineHtml":
            words.append(without_tags(str(value)))
    return found


def _trim(body: str) -> str:
    return _BLANK_LINES.sub("", body).rstrip()


def _said(value: Value | None) -> str | None:
    """Return what front matter says, as text: parsers take some titles for numbers or dates."""
    if isinstance(value, datetime):
        return str(value.date() if value.time() == time() else value)
    if value is None or isinstance(value, (bool, tuple)):
        return None
    return str(value).strip() or None


def _tags(metadata: dict[str, Value]) -> tuple[str, ...]:
    value = metadata.get("tags", ())
    if isinstance(value, str):
        value = tuple(value.split(",") if "," in value else value.split())
    names: dict[str, None] = {}
    for each in value if isinstance(value, tuple) else (value,):
        name = str(each).strip().lstrip("#")
        if name:
            with suppress(InvalidArgument):
                names[check_id(name, "tags")] = None
    return tuple(names)


def _lang(metadata: dict[str, Value]) -> str | None:
    try:
        return check_lang(metadata.get("lang"))
    except InvalidArgument:
        return None
