"""The training runs that all are asked about, as plain numbers: this file is read in both environments."""

COMMON = {"sigma": 0.8, "records": 60_000, "batch": 60, "epochs": 5, "delta": 1e-6}
STEPS = COMMON["records"] // COMMON["batch"] * COMMON["epochs"]
MOST = 90  # records of a cut batch
RUNS = {  # sampler of training_report -> (the relation, more arguments)
    "poisson": ("add_remove", {}),
    "poisson_cut": ("zero_out", {"most": MOST}),
    "fixed_size": ("substitute", {}),
    "shuffle_each_epoch": ("zero_out", {}),
    "shuffle_once": ("zero_out", {}),
    "balls_in_bins": ("zero_out", {}),
    "same_bins": ("zero_out", {}),
}
