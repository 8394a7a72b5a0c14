"""Colours as people with dichromacy see them, and distances of colours.

The matrices are those of Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color Vision
Deficiency", IEEE Transactions on Visualization and Computer Graphics 15(6), 2009, for severity 1. They act on linear
RGB. We copied them from programs that cite the paper, all of which agree; the paper itself was not at hand.
"""

from functools import cache

import numpy as np
from matplotlib.colors import to_rgb

SIGHTS = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
    "grey": np.tile([0.2126, 0.7152, 0.0722], (3, 1)),  # the luminance of print without colours
}
DICHROMATS = ("normal", "protanopia", "deuteranopia", "tritanopia")
# XYZ of linear sRGB, white D65 (IEC 61966-2-1)
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)


@cache
def lab(colour, sight="normal"):
    """Return a colour in CIE Lab (white D65) as somebody with a kind of sight sees it."""
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(SIGHTS[sight] @ linear, 0, 1)
    share = XYZ @ seen / XYZ.sum(axis=1)
    x, y, z = np.where(share > (6 / 29) ** 3, np.cbrt(share), share / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@cache
def distance(one, other, sights=DICHROMATS):
    """Return the least distance of two colours (CIE 1976) over kinds of sight."""
    return min(float(np.linalg.norm(lab(one, sight) - lab(other, sight))) for sight in sights)
