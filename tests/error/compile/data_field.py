from dataclasses import dataclass


@dataclass
class Particle:
    x: float
    hits: int = 0


def f(p):
    p.hits = p.x
    return p


args = (Particle(1.5),)
