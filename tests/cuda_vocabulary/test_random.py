"""Generators of kernels with Numba's names, compared with numbers that Numba draws."""

import numpy as np
from unisono import cuda
from unisono.cuda.random import (
    create_xoroshiro128p_states,
    init_xoroshiro128p_states,
    xoroshiro128p_normal_float32,
    xoroshiro128p_normal_float64,
    xoroshiro128p_uniform_float32,
    xoroshiro128p_uniform_float64,
)


@cuda.jit
def draw(states, u32, u64, n32, n64):
    i = cuda.grid(1)
    if i < u32.size:
        u32[i] = xoroshiro128p_uniform_float32(states, i)
        u64[i] = xoroshiro128p_uniform_float64(states, i)
        n32[i] = xoroshiro128p_normal_float32(states, i)
        n64[i] = xoroshiro128p_normal_float64(states, i)


def test_numbers_are_numbas(chosen):
    states = create_xoroshiro128p_states(3, seed=12345, subsequence_start=2)
    assert states.copy_to_host().tolist() == [
        [12450507556815911167, 5622044111047719174],
        [9324555019279687623, 7696903391206363659],
        [13761353337285614527, 7814504211893331843],
    ]
    drawn = [cuda.device_array(3, d) for d in ("f4", "f8", "f4", "f8")]
    draw[1, 32](states, *drawn)
    u32, u64, n32, n64 = (x.copy_to_host() for x in drawn)
    assert u32.tolist() == [0.9797149896621704, 0.9227350950241089, 0.16962958872318268]
    assert u64.tolist() == [0.9564476697600136, 0.6592114979913283, 0.9227937199496237]
    np.testing.assert_allclose(n32, [-0.03901963, 2.3893194, -1.9889553], rtol=1e-6)
    np.testing.assert_allclose(
        n64, [2.101764555308799, 0.37750651917254174, -0.6760186005218629], rtol=1e-14
    )


def test_states_begin_anew(chosen):
    states = create_xoroshiro128p_states(4, seed=7)
    first = states.copy_to_host()
    draw[1, 4](states, *(cuda.device_array(4, d) for d in ("f4", "f8", "f4", "f8")))
    assert (states.copy_to_host() != first).all()
    init_xoroshiro128p_states(states, seed=7)
    assert (states.copy_to_host() == first).all()


def test_pi(chosen):
    @cuda.jit
    def count(states, turns, hits):
        i = cuda.grid(1)
        if i < hits.size:
            inside = 0
            for _ in range(turns):
                x = xoroshiro128p_uniform_float32(states, i)
                y = xoroshiro128p_uniform_float32(states, i)
                if x * x + y * y <= 1:
                    inside += 1
            hits[i] = inside

    hits = np.zeros(64, np.int32)
    count[2, 32](create_xoroshiro128p_states(64, seed=1), 100, hits)
    assert abs(4 * hits.sum() / 6400 - np.pi) < 0.1
