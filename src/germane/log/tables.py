"""The tables of the journal: the log, the content it points to, and what is folded from them.

``log`` and ``content`` are the truth, and ``base`` where a log begins with one. The others are a view of them
that anyone can inspect with any SQLite tool; they can be dropped and folded again.
"""

from __future__ import annotations

APPLICATION_ID = 0x6765726D  # "germ"

TRUTH = """
CREATE TABLE IF NOT EXISTS log (
  seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, recorded_at INTEGER NOT NULL,
  type TEXT NOT NULL, data ANY NOT NULL, checksum INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS content (
  rev TEXT NOT NULL UNIQUE, type TEXT NOT NULL, lang TEXT, title TEXT, description TEXT, body ANY NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS base (
  part TEXT NOT NULL, number INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (part, number)
) STRICT;
CREATE TABLE IF NOT EXISTS store (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
"""

FOLDED = """
CREATE TABLE item (
  ordinal INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, rev TEXT NOT NULL, type TEXT NOT NULL,
  creator TEXT, metadata TEXT NOT NULL, tags TEXT NOT NULL, collection TEXT NOT NULL, kind TEXT NOT NULL,
  created_at INTEGER NOT NULL, live INTEGER NOT NULL, seq INTEGER NOT NULL
) STRICT;
CREATE INDEX item_by_seq ON item (seq);
CREATE INDEX item_by_type ON item (type);
CREATE INDEX item_by_creator ON item (creator);
CREATE TABLE version (
  ordinal INTEGER NOT NULL, seq INTEGER NOT NULL, rev TEXT NOT NULL, PRIMARY KEY (ordinal, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE tag (
  tag TEXT NOT NULL, ordinal INTEGER NOT NULL, PRIMARY KEY (tag, ordinal)
) STRICT, WITHOUT ROWID;
CREATE TABLE vector (ordinal INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT;
CREATE TABLE document (
  docid TEXT PRIMARY KEY, title TEXT NOT NULL, root TEXT, source TEXT, digest TEXT, metadata TEXT NOT NULL,
  tags TEXT NOT NULL, collection TEXT NOT NULL, live INTEGER NOT NULL, seq INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX document_by_source ON document (root, source);
CREATE TABLE section (
  docid TEXT NOT NULL, position INTEGER NOT NULL, ordinal INTEGER NOT NULL, level INTEGER NOT NULL,
  parent TEXT, heading_path TEXT NOT NULL, first_line INTEGER, last_line INTEGER,
  PRIMARY KEY (docid, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX section_by_item ON section (ordinal, docid);
CREATE TABLE root (name TEXT PRIMARY KEY, location TEXT NOT NULL UNIQUE) STRICT, WITHOUT ROWID;
CREATE TABLE event_id (
  id TEXT PRIMARY KEY, seq INTEGER NOT NULL, row INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE relation (
  user TEXT NOT NULL, relation TEXT NOT NULL, target TEXT NOT NULL, seq INTEGER NOT NULL,
  PRIMARY KEY (user, relation, target)
) STRICT, WITHOUT ROWID;
CREATE TABLE declared (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE view (name TEXT PRIMARY KEY, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO view VALUES ('tables', 0);
"""

SESSIONS = """
CREATE TABLE session (
  id TEXT PRIMARY KEY, user TEXT, agent TEXT NOT NULL, policy TEXT NOT NULL, metadata TEXT NOT NULL,
  started_at INTEGER NOT NULL, ends_at INTEGER, ended_at INTEGER, ended_by TEXT, retention INTEGER,
  swept INTEGER NOT NULL, due INTEGER, signals INTEGER NOT NULL, annotations INTEGER NOT NULL,
  refused INTEGER NOT NULL, tokens REAL NOT NULL, filled_at INTEGER NOT NULL, seq INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX session_by_user ON session (user);
CREATE INDEX session_by_due ON session (due) WHERE due IS NOT NULL;
CREATE TABLE session_signal (
  session TEXT NOT NULL, seq INTEGER NOT NULL, name TEXT NOT NULL, item INTEGER NOT NULL,
  weight REAL NOT NULL, at INTEGER NOT NULL, recorded_at INTEGER NOT NULL, PRIMARY KEY (session, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE annotation (
  session TEXT NOT NULL, seq INTEGER NOT NULL, text TEXT NOT NULL, at INTEGER NOT NULL,
  PRIMARY KEY (session, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE refusal (
  session TEXT NOT NULL, minute INTEGER NOT NULL, action TEXT NOT NULL, cause TEXT NOT NULL,
  count INTEGER NOT NULL, first_at INTEGER NOT NULL, last_at INTEGER NOT NULL,
  PRIMARY KEY (session, minute, action, cause)
) STRICT, WITHOUT ROWID;
"""
"""Tables that stores of earlier versions do not have."""
FOLDED += SESSIONS

DIMENSION = "dimension"
"""The declaration that says how many numbers the store's vectors have."""

FOLDED_NAMES = (
    "item", "version", "tag", "vector", "document", "section", "root", "event_id", "relation", "session",
    "session_signal", "annotation", "refusal", "declared", "view",
)  # fmt: skip
