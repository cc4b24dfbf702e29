"""What is indexed of a section: the terms of each field with their positions."""

from collections.abc import Iterable
from dataclasses import dataclass

from .words import analyse, count_tokens

FIELDS = ("heading", "body", "code")
MARKDOWN = "text/markdown"
CODE_TYPES = {
    "text/x-python",
    "text/javascript",
    "text/typescript",
    "application/javascript",
    "application/typescript",
    "application/json",
}
FENCE = "```"


@dataclass(frozen=True)
class Section:
    """What a caller puts into the store; `created_at` is in seconds."""

    id: str
    title: str | None
    description: str | None
    body: str
    type: str
    lang: str
    tags: tuple[str, ...]
    docids: tuple[str, ...]
    collection: str
    created_at: float


@dataclass(frozen=True)
class Indexed:
    """A section with the positions of every term of every field in its one position stream."""

    section: Section
    postings: dict[str, dict[str, list[int]]]
    lengths: dict[str, int]
    terms: frozenset[str]

    @property
    def token_count(self) -> int:
        return sum(self.lengths.values())

    def positions(self, terms: Iterable[str], fields: Iterable[str]) -> list[int]:
        """Where any of the terms stands in any of the fields, once for every occurrence."""
        lists = [self.postings[field].get(term, []) for field in fields for term in terms]
        return sorted(position for positions in lists for position in positions)


def index(section: Section) -> Indexed:
    """Heading, description, body and code, analysed one after the other into one stream."""
    postings: dict[str, dict[str, list[int]]] = {field: {} for field in FIELDS}
    lengths = dict.fromkeys(FIELDS, 0)
    for field, text in field_texts(section):
        words = analyse(text, section.lang)
        offset = sum(lengths.values())
        for word in words:
            postings[field].setdefault(word.term, []).append(offset + word.position)
        lengths[field] += count_tokens(words)
    terms = frozenset(term for field in FIELDS for term in postings[field])
    return Indexed(section, postings, lengths, terms)


def field_texts(section: Section) -> list[tuple[str, str]]:
    """The texts of a section with the field of each, in the order of the position stream."""
    prose, code = body_texts(section)
    description = section.description or ""
    return [("heading", section.title or ""), ("body", description), ("body", prose), ("code", code)]


def body_texts(section: Section) -> tuple[str, str]:
    """The prose and the code of a body."""
    if section.type == MARKDOWN:
        return split_fences(section.body)
    if section.type in CODE_TYPES:
        return "", section.body
    if section.type.startswith("text/"):
        return section.body, ""
    return "", ""


def split_fences(body: str) -> tuple[str, str]:
    """The lines outside and inside of fences; the fence lines themselves are in neither."""
    prose: list[str] = []
    code: list[str] = []
    inside = False
    for line in body.split("\n"):
        if inside and line == FENCE:
            inside = False
        elif not inside and line.startswith(FENCE):
            inside = True
        elif inside:
            code.append(line)
        else:
            prose.append(line)
    return "\n".join(prose), "\n".join(code)
