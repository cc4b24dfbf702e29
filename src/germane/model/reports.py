"""What learning, checking and counting return."""

from __future__ import annotations

import msgspec

from germane.model.frozen import FrozenDict


class Skipped(msgspec.Struct, frozen=True):
    r"""A path that was not learned, or learned only in part.

    Parameters
    ----------
    path : str
        The path; bytes that are no UTF-8 are written as ``\xNN``.
    reason : str
        Why.
    """

    path: str
    reason: str


class LearnReport(msgspec.Struct, frozen=True, kw_only=True):
    """What learning did, counted in sections.

    Parameters
    ----------
    added, changed, unchanged, removed : int
        Sections that are new, have a new revision (or new tags, metadata or collection from the source),
        stayed as they were, or were retired.
    documents : int
        Files that were learned or found unchanged.
    skipped : tuple of Skipped
        What is not for learning: other formats, empty files, second ways to the same folder.
    errors : tuple of Skipped
        What should have been learned and could not be, or only in part.
    took_ms : float
        Time it took, in milliseconds.
    """

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    documents: int = 0
    skipped: tuple[Skipped, ...] = ()
    errors: tuple[Skipped, ...] = ()
    took_ms: float = 0.0


class GcReport(msgspec.Struct, frozen=True):
    """What was tidied away, or would be.

    Parameters
    ----------
    base : int
        The position from which on events are kept one by one; older ones are what they came to. 0 for all.
    events : int
        Events that were replaced.
    contents : int
        Contents that went with them, since nothing refers to them any more.
    """

    base: int
    events: int
    contents: int


class ForgetReport(msgspec.Struct, frozen=True):
    """What forgetting a user did; all zeros, and the last position, when nothing was known of the user.

    Parameters
    ----------
    seq : int
        The position at which the act is on record.
    events : int
        Signals and relations of the user that were kept one by one: made anonymous, or gone.
    folded : int
        Signals of the user that a base had replaced: their numbers stay in it, nobody's.
    sketched : int
        Items of more than 64 users in whose estimate of distinct users a base still counts the user.
    files : int
        Files and checkpoints that were written anew or removed.
    """

    seq: int
    events: int = 0
    folded: int = 0
    sketched: int = 0
    files: int = 0


class Finding(msgspec.Struct, frozen=True):
    """Something that a check found wrong.

    Parameters
    ----------
    part : str
        Where: ``journal``, ``log``, ``content``, ``tables``, ``text`` or ``checkpoint``.
    detail : str
        What is wrong there.
    repaired : bool
        Whether this check mended it.
    """

    part: str
    detail: str
    repaired: bool = False


class CheckReport(msgspec.Struct, frozen=True):
    """What a check found.

    Parameters
    ----------
    ok : bool
        Whether the store is sound now: nothing was found, or all of it was repaired.
    findings : tuple of Finding
        What was wrong.
    """

    ok: bool
    findings: tuple[Finding, ...] = ()


class Stats(msgspec.Struct, frozen=True, kw_only=True):
    """Exact statistics of a store.

    Parameters
    ----------
    total_sections : int
        Live items with at least one indexed term: N in the formulas.
    total_terms : int
        Distinct terms in them.
    total_tokens : int
        Tokens in them.
    avg_section_length : float
        Mean tokens of a section.
    avg_heading_length, avg_body_length, avg_code_length : float
        Mean tokens of the field over the sections where it is not empty; 0.0 where there are none.
    items, documents : int
        Live items (findable or not) and live documents.
    events : int
        Events in the log.
    revisions : int
        Distinct contents that are kept.
    collections : dict
        Live items of each collection.
    lang : str
        The store's default language.
    bytes : int
        Size of the folder; 0 in memory.
    """

    total_sections: int
    total_terms: int
    total_tokens: int
    avg_section_length: float
    avg_heading_length: float
    avg_body_length: float
    avg_code_length: float
    items: int
    documents: int
    events: int
    revisions: int
    collections: dict[str, int]
    lang: str
    bytes: int

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "collections", FrozenDict(self.collections))
