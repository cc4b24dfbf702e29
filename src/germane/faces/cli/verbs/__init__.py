"""The verbs: each reads its options, calls the database, and prints what came back."""
