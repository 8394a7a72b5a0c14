"""Noises that do not say their closed forms, so that the quadrature of every noise computes them."""

from tcdp_sim.noise import Noise


def open_form(noise: Noise) -> Noise:
    """The same noise, whose closed forms of divergence and profile are not known."""
    silent = {"closed_renyi": lambda *_: None, "closed_hockey_stick": lambda *_: None}
    out = object.__new__(type(f"Open{type(noise).__name__}", (type(noise),), silent))
    out.__dict__.update(noise.__dict__)
    return out


def of_any_noise(function):
    """A function of a noise, without its closed forms."""
    return lambda noise, *arguments: function(open_form(noise), *arguments)
