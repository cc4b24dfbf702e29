"""Content as it comes in: items, documents, and files cut into sections."""
