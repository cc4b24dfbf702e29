"""Benchmarks: what Germane is measured by, against others in the same run. `docs/benchmarks.md` shows the results."""
