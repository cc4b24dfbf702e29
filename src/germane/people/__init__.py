"""People: how users stand to items and creators, and what they have seen."""
