"""Text: analysis, index, query language, matching, scoring, snippets."""
