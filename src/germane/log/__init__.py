"""The truth: typed events in an SQLite journal, the tables folded from them, checkpoints of other views."""
