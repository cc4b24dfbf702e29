"""Vectors: what items were given as embeddings, as one matrix."""
