"""Noises without their closed forms, so that the quadrature for any noise computes them."""

from tcdp_sim.noise import Noise


def open_form(noise: Noise) -> Noise:
    """Return the same noise without its closed forms of divergence and privacy profile."""
    silent = {"closed_renyi": lambda *_: None, "closed_hockey_stick": lambda *_: None}
    out = object.__new__(type(f"Open{type(noise).__name__}", (type(noise),), silent))
    out.__dict__.update(noise.__dict__)
    return out


def of_any_noise(function):
    """Return the function applied to the noise without its closed forms."""
    return lambda noise, *arguments: function(open_form(noise), *arguments)
