"""The module random in compiled functions: after the same seed Python's numbers."""

import random

import numpy as np
import pytest
import unisono as un


def numbers(n):
    random.seed(n)
    first = random.random(), random.uniform(1, 10), random.getrandbits(5), random.getrandbits(40)
    return first, random.randint(1, 6), random.randrange(100), random.randrange(30, 3, -7)


def lists(n):
    random.seed(n)
    items = [1, 2, 3, 4, 5]
    random.shuffle(items)
    drawn = random.choice(items), random.choice("abc"), random.choice((1.5, 2.5))
    return items, drawn, random.sample(items, 3), random.sample(range(1000), 8)


def with_weights(n):
    random.seed(n)
    plain = random.choices([1, 2, 3], k=4)
    return plain, random.choices("xyz", [1, 1, 5], k=5), random.choices([7, 8], cum_weights=[1, 4])


def normals(n):
    random.seed(n)
    made = [random.gauss(0, 1) for _ in range(3)]
    random.seed(n + 1)
    return made, random.gauss(2.0, 0.5), random.gauss()


def distributions(n):
    random.seed(n)
    made = [random.normalvariate(0, 1), random.expovariate(2.0), random.triangular(0, 1, 0.5)]
    made += [random.gammavariate(a, 2.0) for a in (0.5, 1.0, 3.0)]
    made += [random.betavariate(1.0, 2.0), random.lognormvariate(0.0, 1.0)]
    return [*made, random.paretovariate(2.0), random.weibullvariate(1.0, 2.0)]


def empty(n):
    if n == 0:
        return random.randint(3, 2)
    return random.choice([1, 2][2:])


@pytest.mark.parametrize("seed", [0, 42, -5, 2**40 + 3])
@pytest.mark.parametrize("function", [numbers, lists, with_weights, normals])
def test_as_python(function, seed):
    assert un.jit(function)(seed) == function(seed)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_distributions_to_the_last_places(seed):
    assert un.jit(distributions)(seed) == pytest.approx(distributions(seed), rel=1e-14)


@pytest.mark.parametrize("n", [0, 1])
def test_nothing_to_draw_from(n):
    with pytest.raises((ValueError, IndexError)) as expected:
        empty(n)
    with pytest.raises(expected.type) as raised:
        un.jit(empty)(n)
    assert str(raised.value) == str(expected.value)


def test_the_interpreter_keeps_its_own():
    random.seed(3)
    expected = [random.random(), random.random()]
    random.seed(3)
    first = random.random()
    un.jit(numbers)(5)
    assert [first, random.random()] == expected


def in_turn(n, count):
    random.seed(n)
    made, sums = [], 0.0
    for i in range(count):
        made.append(random.getrandbits(i % 64))
        if i % 3 == 0:
            sums += random.random()
        made.append(random.getrandbits(32))
    return made, sums


def of_numpy(n, count):
    np.random.seed(n)
    sums = []
    for i in range(count):
        sums.append(np.random.random())
        if i % 5 == 0:
            sums.append(np.random.normal())
        if i % 7 == 0:
            sums.append(float(np.random.randint(0, 10)))
    return sums


@pytest.mark.parametrize("f", [in_turn, of_numpy])
def test_across_the_words_that_are_drawn_at_once(f):
    compiled = un.jit(f)
    for seed in (0, 5):
        assert compiled(seed, 1500) == f(seed, 1500)


@un.jit
def goes_on(count):
    x = 0
    for _ in range(count):
        x ^= random.getrandbits(32)
    return x


@un.jit
def seeded(n):
    random.seed(n)


def test_one_stream_for_all_functions():
    seeded(3)
    made = [goes_on(k) for k in (1, 2, 700, 1)]
    random.seed(3)
    assert made == [goes_on.py_func(k) for k in (1, 2, 700, 1)]
