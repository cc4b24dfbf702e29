"""The log: the journal, its durability and its failures, checkpoints."""
