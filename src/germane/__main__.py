"""``python -m germane``: the command line."""

import sys

from germane.faces.cli import main

sys.exit(main())
