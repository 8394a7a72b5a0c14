"""Adapters: mechanisms of privacy libraries in the form that an audit takes, with the claims that they make themselves.

Each adapter imports its library when it is called.
"""

from tcdp_sim.audits.adapters.diffprivlib import from_diffprivlib
from tcdp_sim.audits.adapters.dp_accounting import claim_of_event
from tcdp_sim.audits.adapters.opendp import from_opendp
from tcdp_sim.audits.adapters.pipelinedp import from_pipelinedp
from tcdp_sim.audits.adapters.tmlt_core import from_tmlt_core

__all__ = ["claim_of_event", "from_diffprivlib", "from_opendp", "from_pipelinedp", "from_tmlt_core"]
