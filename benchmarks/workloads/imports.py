"""W9: what the imports of the first example of the documentation cost, beside the packages that nodestep stands on."""

from __future__ import annotations

from children import import_costs
from harness import Row, workload

FIRST_EXAMPLE = "from nodestep import END, START, BaseState, Graph, InMemoryStateStore, Resume, interrupt, node"


@workload("W9")
def imports() -> list[Row]:
    return import_costs(
        {
            "graph": FIRST_EXAMPLE,
            "graph+sqlite": f"{FIRST_EXAMPLE}, SQLiteStateStore",
            "nodestep": "import nodestep",
            "base": "import asyncio, json, apsw\nfrom pydantic import BaseModel",
            "base+model": "import asyncio, json, apsw\nfrom pydantic import BaseModel\nclass Empty(BaseModel): pass",
        }
    )
