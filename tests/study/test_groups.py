"""The yaml files of conf/, by group and name."""

import pytest
from configs import refused

from tcdp_sim.study.groups import named, options


def test_the_options_of_a_group_are_its_files():
    assert {"gaussian", "laplace", "sinh_normal", "truncated_laplace"} <= set(options("noise"))
    assert options("noise") == sorted(options("noise"))
    assert {"local", "serial"} <= set(options("cluster"))


def test_named_reads_a_file_of_a_group():
    assert named("noise", "gaussian")["family"] == "gaussian"
    assert named("data", "flights_dest")["domain"] == 17576


@pytest.mark.parametrize("name", ["nope", "../config", "", None, 3, "/etc/passwd"])
def test_named_refuses_what_is_no_option(name):
    refused(lambda: named("noise", name), "noise = ", ", ".join(options("noise")))
