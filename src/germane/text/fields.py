"""From an item's content to the texts of its fields."""

from __future__ import annotations

from typing import NamedTuple

from germane.text.markdown import prose_and_code

FIELDS = ("heading", "body", "code")

_CODE_TYPES = frozenset(
    """
    text/javascript text/typescript text/css text/ecmascript text/jsx text/tsx text/rust
    application/json application/ld+json application/javascript application/ecmascript
    application/typescript application/x-javascript application/x-typescript application/xml
    application/toml application/x-toml application/yaml application/x-yaml application/sql
    application/x-sh application/x-python application/x-httpd-php application/graphql
    application/x-ipynb+json
    """.split()
)
_TEXT_TYPES = frozenset(
    """
    text/x-markdown text/x-rst text/x-asciidoc text/x-org
    """.split()
)


class FieldTexts(NamedTuple):
    """The texts that are analysed, in the order of their positions.

    Parameters
    ----------
    heading, description, body, code : str
        ``description`` counts as field ``body``, ahead of it.
    """

    heading: str
    description: str
    body: str
    code: str


def is_code(type: str) -> bool:
    """Tell whether a MIME type is one of code.

    Examples
    --------
    >>> is_code("text/x-python"), is_code("text/markdown")
    (True, False)
    """
    return type in _CODE_TYPES or (type.startswith("text/x-") and type not in _TEXT_TYPES)


def field_texts(type: str, title: str | None, description: str | None, body: str | bytes) -> FieldTexts:
    """Return the texts of an item's fields.

    Parameters
    ----------
    type : str
        MIME type of the body.
    title, description : str or None
        As put.
    body : str or bytes
        Bytes are not indexed.

    Returns
    -------
    FieldTexts
        Its texts; empty strings for what it lacks.
    """
    prose, code = "", ""
    if isinstance(body, str):
        if type in ("text/markdown", "text/x-markdown"):
            prose, code = prose_and_code(body)
        elif is_code(type):
            code = body
        elif type.startswith("text/"):
            prose = body
    return FieldTexts(title or "", description or "", prose, code)
