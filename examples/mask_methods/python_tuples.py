"""The function of the slides, run by CPython for one point after the other."""

import numpy as np

from ._method import Method


def inside_polygon(vertices, point, border_value=True):
    counter = 0
    for i, polypoint1 in enumerate(vertices):
        if (polypoint1[0] == point[0]) and (polypoint1[1] == point[1]):
            return border_value
        polypoint2 = vertices[(i + 1) % len(vertices)]
        if point[1] > min(polypoint1[1], polypoint2[1]):
            if point[1] <= max(polypoint1[1], polypoint2[1]):
                if point[0] <= max(polypoint1[0], polypoint2[0]):
                    if polypoint1[1] != polypoint2[1]:
                        xinters = (point[1] - polypoint1[1]) * (polypoint2[0] - polypoint1[0]) / (
                            polypoint2[1] - polypoint1[1]
                        ) + polypoint1[0]
                        if (polypoint1[0] == polypoint2[0]) or (point[0] <= xinters):
                            counter += 1
    if counter % 2 == 0:
        return False
    else:
        return True


class PythonTuples(Method):
    """Loops over all points in Python; the polygon is a list of tuples."""

    name = "Python with tuples"
    repeats = 0

    def mask(self, vertices, shape):
        corners = [tuple(v) for v in vertices.tolist()]
        rows, columns = shape
        return np.array(
            [[inside_polygon(corners, (i, j)) for j in range(columns)] for i in range(rows)],
            dtype=np.uint8,
        )
