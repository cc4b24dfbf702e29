"""Tools that several tests use."""
