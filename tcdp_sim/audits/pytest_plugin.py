"""The fixture `assert_private` for pytest. This module imports nothing heavy before the fixture is used."""

from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest


@pytest.fixture
def assert_private(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """A function that fails the test if two independent audits refute a privacy claim.

    Call it as assert_private(mechanism, claim, *, neighbours, seconds=20, level=0.999). The seed follows from the name
    of the test. See `tcdp_sim.audits.assert_private`.
    """  # noqa: D401 (a fixture is named for what it yields)
    from tcdp_sim.audits import assertion

    seed = int(sha256(request.node.nodeid.encode()).hexdigest()[:16], 16)

    def called(mechanism: Callable[..., Any], claim: Any, **settings: Any) -> Any:
        __tracebackhide__ = True
        return assertion.assert_private(mechanism, claim, **{"seed": seed, **settings})

    return called
