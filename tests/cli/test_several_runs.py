"""`--multirun` over experiments and mechanisms: each run has its own axes, and a failed one does not end the others."""

import tcdp_sim

SMALL = ("also=null", "trials=200", "chunk=100", "cluster=serial", "sweep.noise=gaussian", "sweep.k=100")


def test_experiments_with_different_axes_get_the_same_words(command, tmp_path):
    words = ("--multirun", "experiment=histogram,gap_max", "sweep.rho=0.1", "sweep.gap=50")
    code, out, err = command(*words, "sweep.algorithm=generalized_histogram", *SMALL)
    assert code == 0, err
    assert "sweep.gap, sweep.algorithm" in out
    joined = tcdp_sim.open_results(tmp_path / "results")
    assert joined["trials"].to_pandas().to_dict() == {"gap_max": 200, "histogram": 200}
    assert joined["gap"].sel(mechanism="gap_max") == 50


def test_an_axis_of_no_run_is_still_a_mistake(command, tmp_path):
    code, _, err = command("--multirun", "experiment=histogram,gap_max", "sweep.gapp=50", *SMALL)
    assert (code, err.count("\n")) == (2, 1)
    assert "2 of 2 runs failed" in err
    assert "sweep.gapp is not an axis" in err
    code, _, err = command("experiment=histogram", "sweep.gap=50", *SMALL)  # one run has nothing to leave out
    assert (code, "sweep.gap is not an axis" in err) == (2, True)


def test_a_failed_run_does_not_end_the_others(command, tmp_path):
    words = ("--multirun", "experiment=gap_max,histogram", "sweep.rho=0.1", "sweep.gap=-5")
    code, out, err = command(*words, "sweep.algorithm=generalized_histogram", *SMALL)
    assert (code, err.count("\n")) == (2, 1)
    assert "1 of 2 runs failed, and the others are done: gap_max (" in err
    assert "gap = -5" in err
    assert "gap_max failed: " in out
    assert tcdp_sim.open_results(tmp_path / "results" / "histogram")["trials"] == 200
    assert command("--multirun", "experiment=histogram,gap_max", "sweep.rho=0.1", *SMALL)[0] == 0


def test_a_sweep_over_mechanisms_is_told_the_group_to_sweep(command, tmp_path):
    code, _, err = command("--multirun", "mechanism=gap_max,histogram", "sweep.rho=0.1", *SMALL)
    assert (code, err.count("\n")) == (2, 1)
    assert "histogram-mechanism=gap_max (sweep.algorithm is missing; " in err
    assert err.endswith("--multirun experiment=gap_max,histogram\n")
    assert "experiment instead of mechanism" in err
    assert tcdp_sim.open_results(tmp_path / "results" / "histogram-mechanism=histogram")["trials"] == 200
