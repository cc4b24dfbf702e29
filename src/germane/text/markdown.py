"""Markdown as text to search and to show: its prose, and its fenced code."""

from __future__ import annotations

import re
from typing import Any

import pyromark

OPTIONS = (
    pyromark.Options.ENABLE_TABLES
    | pyromark.Options.ENABLE_STRIKETHROUGH
    | pyromark.Options.ENABLE_TASKLISTS
    | pyromark.Options.ENABLE_FOOTNOTES
    | pyromark.Options.ENABLE_WIKILINKS
    | pyromark.Options.ENABLE_HEADING_ATTRIBUTES
)

# Apart, so that each search is one for a class of characters or for line breaks, which are quick.
_MARKUP = re.compile(r"[`*_\[\]<>#~\\&|]")
_START = r"(?:[ \t]*(?:\d+[.)]|[-+=:])| {4}|\t)"
_FIRST_LINE, _NEXT_LINE = re.compile(_START), re.compile(rf"\n{_START}")
_TAG = re.compile(r"<!--.*?(?:-->|\Z)|<(/?)([A-Za-z][A-Za-z0-9.]*)(\s[^<>]*?)?(/?)>", re.DOTALL)
_QUOTED = re.compile(r"\"([^\"]*)\"|'([^']*)'")
_INCLUDE = re.compile(r"^[ \t]*\{\{#\w+[^{}\n]*\}\}[ \t]*$\n?", re.MULTILINE)
_ELEMENTS = frozenset(
    """
    a abbr address article aside audio b blockquote body br button canvas caption center cite code col
    colgroup dd del details dfn dialog div dl dt em embed fieldset figcaption figure font footer form h1
    h2 h3 h4 h5 h6 head header hr html i iframe img input ins kbd label legend li link main map mark
    meta nav ol optgroup option p picture pre progress q rp rt ruby s samp script section select slot
    small source span strike strong style sub summary sup svg table tbody td template textarea tfoot th
    thead time title tr track u ul var video wbr
    """.split()
)


def prose_and_code(source: str) -> tuple[str, str]:
    r"""Split Markdown into its prose as plain text, and its fenced code.

    Prose is what a reader sees: text, inline code, link texts, image descriptions; not addresses, nor
    the tags of HTML elements. Of a component's tag the quoted values stay; a bare tag of another name in
    the middle of a line stays whole, for ``Vec<T>`` is no markup. Lines that only include another file,
    as mdBook has them, are left out.

    Parameters
    ----------
    source : str
        Markdown, with no front matter.

    Returns
    -------
    tuple of (str, str)
        Prose and code; each with its blocks on lines of their own.

    Examples
    --------
    >>> prose_and_code("See **[ownership](ch04.html)**:\n```rust\nlet x = 1;\n```")
    ('See ownership:\n\n', 'let x = 1;\n')
    """
    if not has_markup(source):
        return source, ""
    prose: list[str] = []
    code: list[str] = []
    out = prose
    for event in pyromark.events(
        source, options=OPTIONS, merge_text=True, broken_link_callback=_full_reference
    ):
        if isinstance(event, str):  # a break, a rule
            prose.append("\n")
            continue
        name, value = next(iter(event.items()))
        if name in ("Text", "Code", "InlineMath", "DisplayMath"):
            out.append(str(value))
        elif name in ("Html", "InlineHtml"):
            out.append(without_tags(str(value)) if name == "InlineHtml" else _TAG.sub(_values, str(value)))
        elif name == "Start":
            if isinstance(value, dict):
                if isinstance(value.get("CodeBlock"), dict):
                    out = code
                elif isinstance(value.get("List"), int) and value["List"] != 1:
                    # "1984. A novel" is a list to Markdown, not to a reader.
                    prose.append(f"{value['List']}. ")
        elif name == "End" and value not in _INLINE_ENDS:
            if value == "CodeBlock" and out is code:
                out = prose
            prose.append("\n")
    return "".join(prose), _INCLUDE.sub("", "".join(code))


def has_markup(source: str) -> bool:
    r"""Tell whether any of a text could be markup.

    Examples
    --------
    >>> has_markup("a - b"), has_markup("a\n- b")
    (False, True)
    """
    return bool(_MARKUP.search(source) or _FIRST_LINE.match(source) or _NEXT_LINE.search(source))


def without_tags(html: str) -> str:
    """Return what a reader sees of HTML in a line of text.

    Examples
    --------
    >>> without_tags("<b>Vec</b><T>")
    'Vec<T>'
    """
    return _TAG.sub(_as_read, html)


_INLINE_ENDS = ("Emphasis", "Strong", "Strikethrough", "Link", "Image")


def _full_reference(link: Any) -> tuple[str, str] | None:
    """Take ``[text][name]`` for a link though its definition lies in another section."""
    return ("", "") if link["link_type"] == "Reference" else None


def _as_read(tag: re.Match[str]) -> str:
    closing, name, attributes, closed = tag.groups()
    is_bare = name is not None and not closing and not attributes and not closed
    return tag[0] if is_bare and name.lower() not in _ELEMENTS else _values(tag)


def _values(tag: re.Match[str]) -> str:
    """Return the quoted values of a component's tag; of an HTML element's nothing, or the space it makes."""
    _, name, attributes, _ = tag.groups()
    if name is None:
        return ""
    if name.lower() in _ELEMENTS:
        return " " if name.lower() in ("br", "p", "td", "th") else ""
    values = (first or second for first, second in _QUOTED.findall(attributes or ""))
    return " ".join(value for value in values if value)
