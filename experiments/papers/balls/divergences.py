"""Divergences of an additive noise from its shifted self, in ball arithmetic: P = law of Z, Q = law of Z + shift."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tcdp_sim.experiments.papers.balls.arithmetic import (
    CLOSE,
    REST,
    Function,
    Given,
    ball,
    between,
    far_enough,
    flint,
    integral,
    precise,
)
from tcdp_sim.experiments.papers.balls.laws import BoundedLoss, Law, SinhNormal

if TYPE_CHECKING:
    from flint import acb, arb

Integrand = Callable[["acb", "acb", bool], "acb"]  # (|x|, |x - shift|, whether it must be analytic) -> its value


@precise
def renyi(law: Law, shift: Given, order: Given, rest: Given = REST) -> "arb":
    """Return D_order(Z || Z + shift) in nats; shift > 0, order > 1."""
    shift, order = ball(shift), ball(order)
    return moment(law, shift, order, rest).log() / (order - 1)


@precise
def moment(law: Law, shift: "arb", order: "arb", rest: Given = REST) -> "arb":
    """Return the integral of f(x)^order f(x - shift)^(1 - order), including the omitted part of at most `rest`."""
    density = law.log_density()

    def integrand(p: "acb", q: "acb", analytic: bool) -> "acb":
        return (order * density(p, analytic) + (1 - order) * density(q, analytic)).exp()

    def beyond(reach: "arb") -> "arb":
        return law.tilted_tails(reach, shift, order)

    return _both(integrand, shift, beyond, rest)


@precise
def kullback_leibler(law: Law, shift: Given, rest: Given = REST) -> "arb":
    """Return D_1(Z || Z + shift) in nats.

    Where the loss L is above 0, L <= e^L bounds that tail by the one of order 2. If D_2 is infinite, the `order` just
    above 1 is used with L <= e^(tL)/t. Where the loss is below 0, f log(g/f) <= g.
    """
    shift = ball(shift)
    density, tilt = law.log_density(), _tilt(law, shift)

    def integrand(p: "acb", q: "acb", analytic: bool) -> "acb":
        log_p, log_q = density(p, analytic), density(q, analytic)
        return log_p.exp() * (log_p - log_q)

    def beyond(reach: "arb") -> "arb":
        return law.tilted_tails(reach, shift, 1 + tilt) / tilt + 2 * law.tail(reach)

    return _both(integrand, shift, beyond, rest, signed=True)


def _tilt(law: Law, shift: "arb") -> "arb":
    """Return t in (0, 1] at which D_(1+t) is finite: below 1/(e^2h - 1) for sinh-normal noise."""
    if isinstance(law, SinhNormal):
        return (1 / (4 * ((2 * shift / ball(law.knee)).exp() - 1))).min(ball(1))
    return ball(1)


@precise
def hockey_stick(law: Law, shift: Given, epsilon: Given, rest: Given = REST) -> "arb":
    """Return δ(ε), the integral of (f(x) - e^ε f(x - shift))_+, for shift > 0 and ε >= 0 in nats.

    The omitted part lies between 0 and P[|Z| > reach], which is at most `rest`. Choose a larger `rest` for heavy tails,
    where both densities are hard to distinguish far out.
    """
    shift, density = ball(shift), law.log_density()
    factor = ball(epsilon).exp()
    zero = flint().acb(0)

    def integrand(p: "acb", q: "acb", analytic: bool) -> "acb":
        excess = density(p, analytic).exp() - factor * density(q, analytic).exp()
        return excess.real_max(zero, analytic=analytic)

    return _both(integrand, shift, lambda reach: 2 * law.tail(reach), rest, right=not isinstance(law, BoundedLoss))


def _both(
    integrand: Integrand,
    shift: "arb",
    beyond: Callable[["arb"], "arb"],
    rest: Given,
    signed: bool = False,
    right: bool = True,
) -> "arb":
    """Return the integral over all x of a function of |x| and |x - shift|, with edges at its kinks.

    `rest` bounds the part beyond the reach. That part lies between 0 and `beyond`, or has either sign if `signed`. The
    function is 0 right of the shift unless `right`.
    """
    reach = far_enough(beyond, rest, start=shift)
    zero = ball(0)
    parts = [
        integral(lambda x, analytic: integrand(x, x + shift, analytic), [zero, reach], CLOSE, rest),
        integral(lambda x, analytic: integrand(x, shift - x, analytic), [zero, shift], CLOSE, rest),
    ]
    if right:
        parts.append(integral(lambda x, analytic: integrand(x + shift, x, analytic), [zero, reach], CLOSE, rest))
    most = beyond(reach).upper()
    return sum(parts, between(-most if signed else 0, most))


@precise
def expectation(law: Law, value: Function, reach: Given, beyond: "arb", edges: Sequence[Given] = ()) -> "arb":
    """Return E g(|Z|) for g(x) = value(x, analytic) on x > 0.

    The ball `beyond` contains the part where |Z| > reach. `edges` are the places where g is not analytic, ascending.
    """
    density = law.log_density()
    places = [ball(0), *map(ball, edges), ball(reach)]
    half = integral(lambda x, analytic: value(x, analytic) * density(x, analytic).exp(), places, absolute=REST)
    return 2 * half + beyond
