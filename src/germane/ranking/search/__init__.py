"""SEARCH: the stages in the order in which they run."""
