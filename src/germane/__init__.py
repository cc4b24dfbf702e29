"""Germane: an embedded ranking database."""

from germane.database import Database, open
from germane.model.documents import Document, Placement
from germane.model.errors import (
    Busy,
    Conflict,
    Corruption,
    CursorExpired,
    Error,
    InvalidArgument,
    NotFound,
    PolicyViolation,
    QuerySyntaxError,
    ReadOnly,
    SchemaError,
    SessionClosed,
)
from germane.model.items import Item, Receipt
from germane.model.pages import Degradation, Page, Reason, Result, SearchStats, TermStat
from germane.model.plain import to_json, to_plain
from germane.model.reports import CheckReport, Finding, LearnReport, Skipped, Stats
from germane.model.schema import Schema
from germane.model.weights import SearchWeights
from germane.version import __version__

__all__ = [
    "Busy", "CheckReport", "Conflict", "Corruption", "CursorExpired", "Database", "Degradation", "Document",
    "Error", "Finding", "InvalidArgument", "Item", "LearnReport", "NotFound", "Page", "Placement",
    "PolicyViolation", "QuerySyntaxError", "ReadOnly", "Reason", "Receipt", "Result", "Schema", "SchemaError",
    "SearchStats", "SearchWeights", "SessionClosed", "Skipped", "Stats", "TermStat", "__version__", "open",
    "to_json", "to_plain",
]  # fmt: skip
