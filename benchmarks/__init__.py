"""Benchmarks: Germane measured beside others in the same run; `docs/benchmarks.md` shows the results."""
