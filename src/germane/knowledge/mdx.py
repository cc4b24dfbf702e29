"""MDX as Markdown: without its import and export statements, and with what stands between tags."""

from __future__ import annotations

import re
from collections.abc import Sequence

_ESM = re.compile(r"(?:import|export)\b(?=[\s{*\"'])")
_FENCE = re.compile(r" {0,3}(?:(`{3,})[^`\n]*|(~{3,}).*)$", re.MULTILINE)
_ATX = re.compile(r" {0,3}#{1,6}(?:\s|\Z)")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_LONE_TAG = re.compile(r"[ \t]*</?[A-Za-z][\w.:-]*(?:\s[^<>\r\n]*)?/?>[ \t]*(?=\r?\n|\Z)")
_QUOTED = re.compile(r""""(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|`(?:\\.|[^`\\])*`?|//.*""")


def drop_esm(text: str) -> str:
    r"""Blank the import and export statements of MDX; those in code blocks stay.

    A statement goes to the next blank line at which its brackets are closed.

    Examples
    --------
    >>> drop_esm("import { A } from 'a';\n\nexport const b = {\n\n  c: 1,\n};\n\ntext")
    '\n\n\n\n\n\n\ntext'
    """
    lines = _LINE.findall(text)
    fence, may_begin, closes = "", True, True
    number = 0
    while number < len(lines):
        line = lines[number]
        opening = _FENCE.match(line)
        if not fence and may_begin and _ESM.match(line):
            end, closes = _statement_end(lines, number, closes)
            for each in range(number, end):
                lines[each] = lines[each][len(lines[each].rstrip("\r\n")) :]
            number = end
            continue
        may_begin = not line.strip() or _ATX.match(line) is not None
        if fence:
            if opening and line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence, may_begin = "", True
        elif opening:
            fence = opening[1] or opening[2]
        number += 1
    return "".join(lines)


def hide_tags(text: str) -> str:
    r"""Blank the lines of MDX that hold nothing but a tag, byte for byte; those in code blocks stay.

    To CommonMark such a line begins a block of HTML, which runs to the next blank line and takes the
    headings and the fences in it along; to MDX it is a tag, and what follows is Markdown. So headings
    are looked for in this text, and lie in the source where they lie here.

    Examples
    --------
    >>> hide_tags("<Box>\n## Two\n</Box>")
    '     \n## Two\n      '
    """
    lines = _LINE.findall(text)
    fence = ""
    for number, line in enumerate(lines):
        opening = _FENCE.match(line)
        if fence:
            if opening and line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif opening:
            fence = opening[1] or opening[2]
        elif tag := _LONE_TAG.match(line):
            lines[number] = " " * len(tag[0].encode()) + line[tag.end() :]
    return "".join(lines)


def _statement_end(lines: Sequence[str], start: int, closes: bool) -> tuple[int, bool]:
    """Return the line after a statement, and whether brackets can be relied on to close."""
    depth, first_blank = 0, len(lines)
    for number in range(start, len(lines)):
        if not lines[number].strip():
            if depth <= 0 or not closes:
                return number, closes
            first_blank = min(first_blank, number)
        bare = _QUOTED.sub("", lines[number])
        depth += sum(map(bare.count, "([{")) - sum(map(bare.count, ")]}"))
    return first_blank, closes and depth <= 0
