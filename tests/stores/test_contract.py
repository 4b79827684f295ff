"""The contract of stores, on each of them. Its tests stand in `nodestep.testing.contract`, for stores of other people too."""

from __future__ import annotations

from nodestep.testing.contract.test_audits import *  # noqa: F403
from nodestep.testing.contract.test_branch_rows import *  # noqa: F403
from nodestep.testing.contract.test_deletes import *  # noqa: F403
from nodestep.testing.contract.test_guards import *  # noqa: F403
from nodestep.testing.contract.test_ids import *  # noqa: F403
from nodestep.testing.contract.test_leases import *  # noqa: F403
from nodestep.testing.contract.test_lineage import *  # noqa: F403
from nodestep.testing.contract.test_numbers import *  # noqa: F403
from nodestep.testing.contract.test_prunes import *  # noqa: F403
from nodestep.testing.contract.test_questions import *  # noqa: F403
from nodestep.testing.contract.test_reading import *  # noqa: F403
from nodestep.testing.contract.test_thread_rows import *  # noqa: F403
from nodestep.testing.contract.test_threads import *  # noqa: F403
