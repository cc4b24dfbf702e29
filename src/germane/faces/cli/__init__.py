"""The command line: one verb a file under `verbs`, each the twin of a method of the database."""

from germane.faces.cli.app import main

__all__ = ["main"]
