"""`python -m nodestep.cli`: the command line where no `nodestep` is on the PATH."""

import sys

from . import main

sys.exit(main())
