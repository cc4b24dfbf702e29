"""The pipeline: request, candidates, score, order, page; one stage a file, in the order they run."""
