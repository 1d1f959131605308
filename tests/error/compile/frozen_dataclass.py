import dataclasses


@dataclasses.dataclass(frozen=True)
class Point:
    x: float
    y: float


def f(p):
    p.x = 3.0
    return p


args = (Point(1.0, 2.0),)
