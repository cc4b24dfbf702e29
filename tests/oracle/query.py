"""From what a user typed to its items: `[+|-] [field:] (word | "phrase")`."""

from dataclasses import dataclass

TEXT_FIELDS = {"title": "heading", "body": "body", "code": "code"}
FILTER_FIELDS = ("tag", "type", "doc")
FIELD_NAMES = (*TEXT_FIELDS, *FILTER_FIELDS)


@dataclass(frozen=True)
class Item:
    """One item as typed; `sign` and `field` are empty when it has none."""

    sign: str
    field: str
    value: str
    quoted: bool


def parse(text: str) -> list[Item]:
    """The items of a query in order; nothing is an error."""
    items = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        sign = text[at] if text[at] in "+-" else ""
        at += len(sign)
        field = field_at(text, at)
        at += len(f"{field}:") if field else 0
        opened = text.startswith('"', at)
        at += 1 if opened else 0
        closing = text.find('"', at) if opened else -1
        quoted = closing >= 0
        end = closing if quoted else end_of_word(text, at)
        items.append(Item(sign, field, text[at:end], quoted))
        at = end + 1 if quoted else end
    return items


def field_at(text: str, at: int) -> str:
    """The known field name that stands here before a colon, or nothing."""
    for name in FIELD_NAMES:
        if text.startswith(f"{name}:", at):
            return name
    return ""


def end_of_word(text: str, at: int) -> int:
    while at < len(text) and not text[at].isspace():
        at += 1
    return at
