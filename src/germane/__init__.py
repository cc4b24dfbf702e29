"""Germane: an embedded ranking database."""

from importlib import import_module
from typing import TYPE_CHECKING

from germane.version import __version__

if TYPE_CHECKING:
    from germane.database import Database, open
    from germane.model.diversity import Diversity
    from germane.model.documents import Document, Placement
    from germane.model.errors import (
        BeyondRetention,
        Busy,
        Conflict,
        Corruption,
        CursorExpired,
        Error,
        Interrupted,
        InvalidArgument,
        NotFound,
        PolicyViolation,
        QuerySyntaxError,
        ReadOnly,
        SchemaError,
        SessionClosed,
    )
    from germane.model.filters import Filter
    from germane.model.items import Item, Receipt
    from germane.model.pages import Degradation, Explanation, Page, Reason, Result, SearchStats, TermStat
    from germane.model.people import UserState
    from germane.model.plain import to_json, to_plain
    from germane.model.policies import Policy
    from germane.model.profiles import Profile
    from germane.model.reports import (
        CheckReport,
        Finding,
        ForgetReport,
        GcReport,
        LearnReport,
        Skipped,
        Stats,
    )
    from germane.model.schema import Schema
    from germane.model.sessions import (
        Annotation,
        AuditEntry,
        SessionReading,
        SessionSnapshot,
        SessionSummary,
    )
    from germane.model.signals import Signal
    from germane.model.weights import SearchWeights, SessionWeights
    from germane.model.where import where
    from germane.sessions.session import Session
    from germane.text.compiled import warm

__all__ = [
    "Annotation", "AuditEntry", "BeyondRetention", "Busy", "CheckReport", "Conflict", "Corruption",
    "CursorExpired", "Database",
    "Degradation", "Diversity", "Document", "Error", "Explanation", "Filter", "Finding", "ForgetReport",
    "GcReport", "Interrupted", "InvalidArgument", "Item", "LearnReport", "NotFound", "Page", "Placement",
    "Policy", "PolicyViolation", "Profile", "QuerySyntaxError", "ReadOnly", "Reason", "Receipt", "Result",
    "Schema",
    "SchemaError", "SearchStats", "SearchWeights", "Session", "SessionClosed", "SessionReading",
    "SessionSnapshot", "SessionSummary", "SessionWeights", "Signal", "Skipped", "Stats", "TermStat",
    "UserState", "__version__", "open", "to_json", "to_plain", "warm", "where",
]  # fmt: skip

# Imported when first asked for, so that what needs no database does not wait for NumPy.
_HOME = {
    "database": "Database open",
    "model.diversity": "Diversity",
    "model.documents": "Document Placement",
    "model.errors": "BeyondRetention Busy Conflict Corruption CursorExpired Error Interrupted"
    " InvalidArgument NotFound PolicyViolation QuerySyntaxError ReadOnly SchemaError SessionClosed",
    "model.filters": "Filter",
    "model.items": "Item Receipt",
    "model.pages": "Degradation Explanation Page Reason Result SearchStats TermStat",
    "model.people": "UserState",
    "model.plain": "to_json to_plain",
    "model.policies": "Policy",
    "model.profiles": "Profile",
    "model.reports": "CheckReport Finding ForgetReport GcReport LearnReport Skipped Stats",
    "model.schema": "Schema",
    "model.sessions": "Annotation AuditEntry SessionReading SessionSnapshot SessionSummary",
    "model.signals": "Signal",
    "model.weights": "SearchWeights SessionWeights",
    "model.where": "where",
    "sessions.session": "Session",
    "text.compiled": "warm",
}
_HOME_OF = {name: f"germane.{home}" for home, names in _HOME.items() for name in names.split()}


if not TYPE_CHECKING:  # to a type checker this would mean that any name exists

    def __getattr__(name: str) -> object:
        if name not in _HOME_OF:
            raise AttributeError(f"module 'germane' has no attribute {name!r}")
        value = getattr(import_module(_HOME_OF[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
