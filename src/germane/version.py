"""The version of the package, and of the folder format that it reads and writes."""

__version__ = "0.1.0"

FORMAT = 1
"""Version of the folder format; it rises only when an older reader would misread a newer folder."""
