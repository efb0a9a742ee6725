"""How far values are from having one peak: Hartigan & Hartigan's dip."""

import numpy as np

from consilience.kernels._jit import compiled

__all__ = ["dip"]


@compiled
def dip(values):
    """Least distance of the distribution of sorted ``values`` from one with a single peak.

    The largest difference of the two distribution functions, for the single-peaked one that comes
    nearest: 1 / (2 n) at least, 1/4 at most. Hartigan & Hartigan (1985), Annals of Statistics 13.

    Between its ends a single-peaked distribution function is convex up to the peak and concave
    behind it, so it can follow the greatest convex minorant, then the least concave majorant. The
    peak is looked for in an interval that shrinks while the two lie farther apart than
    anything left outside of it.
    """
    n = len(values)
    most = 1.0
    if n < 4 or values[0] == values[n - 1]:
        return most / (2 * n)
    low, high = np.int64(0), np.int64(n - 1)
    below, above = np.empty(n, np.int64), np.empty(n, np.int64)
    while True:
        n_below = _hull(values, low, high, 1.0, below)
        n_above = _hull(values, low, high, -1.0, above)
        gap, left, right = _widest(values, below, n_below, above, n_above)
        if gap <= most:
            break
        most = max(most, _strays(values, below, n_below, low, left, 1.0))
        most = max(most, _strays(values, above, n_above, right, high, 0.0))
        if (left <= low and right >= high) or right - left < 2:
            break
        low, high = left, right
    return most / (2 * n)


@compiled
def _hull(values, low, high, side, knots):
    """Knots of the convex minorant (``side`` 1) or concave majorant (-1) of ranks; how many."""
    count = np.int64(0)
    for i in range(low, high + 1):
        while count >= 2:
            last, before = knots[count - 1], knots[count - 2]
            new = (i - last) * (values[last] - values[before])
            old = (last - before) * (values[i] - values[last])
            if side * (new - old) > 0:
                break
            count -= 1
        knots[count] = i
        count += 1
    return count


@compiled
def _height(values, first, last, at):
    """Rank at a value, on the straight line between two objects."""
    width = values[last] - values[first]
    if width <= 0:
        return np.float64(first)
    return first + (last - first) * (at - values[first]) / width


@compiled
def _widest(values, below, n_below, above, n_above):
    """Where the majorant is farthest above the minorant: by how much, and the knots around it.

    Equal values are one place, with a knot at its foot and one at its top: the minorant is seen
    from the foot, the majorant from the top, and a place that is widest is an interval by itself.
    """
    gap, left, right = 0.0, below[0], above[0]
    piece = 0
    for a in range(n_below):
        i = below[a]
        while piece + 1 < n_above and values[above[piece + 1]] < values[i]:
            piece += 1
        end = above[min(piece + 1, n_above - 1)]
        here = end + 1.0 - i
        if values[end] > values[i]:
            here = _height(values, above[piece], end, values[i]) + 1 - i
        if here > gap:
            gap, left, right = here, i, max(end, i)
    piece = 0
    for a in range(n_above):
        i = above[a]
        while piece + 1 < n_below and values[below[piece + 1]] <= values[i]:
            # The foot of the last place, not its top.
            if values[below[piece + 1]] == values[below[piece]]:
                break
            piece += 1
        end = below[min(piece + 1, n_below - 1)]
        here = i + 1 - _height(values, below[piece], end, values[i])
        if here > gap:
            gap, left, right = here, min(below[piece], i), i
    return gap, left, right


@compiled
def _strays(values, knots, count, first, last, upper):
    """How far ranks stray from a hull between two objects; ``upper`` 1 above it, 0 below."""
    most = 0.0
    for a in range(count - 1):
        start, end = knots[a], knots[a + 1]
        if end <= first or start >= last:
            continue
        for i in range(start, end + 1):
            line = _height(values, start, end, values[i])
            stray = i + 1 - line if upper > 0 else line + 1 - i
            most = max(most, stray)
    return most
