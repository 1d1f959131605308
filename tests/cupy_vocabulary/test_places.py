"""What CuPy's functions make lies on the current device."""

import pickle

import numpy as np
import pytest
import unisono as un
import unisono.cupy as cp


@pytest.fixture(autouse=True)
def chosen(device):
    with cp.cuda.Device(device.name):
        yield device


MAKERS = {
    "rand": lambda: cp.random.rand(3),
    "integers": lambda: cp.random.randint(0, 5, 3),
    "permutation": lambda: cp.random.permutation(5),
    "generator": lambda: cp.random.default_rng(1).normal(size=3),
    "Philox": lambda: cp.random.Generator(un.random.Philox(1)).random(4),
    "state": lambda: cp.random.RandomState(3).rand(2),
    "window": lambda: cp.hanning(5),
    "indices": lambda: cp.indices((2, 2)),
    "grid": lambda: cp.mgrid[0:3],
    "row": lambda: cp.r_[1:3, 7],
    "class": lambda: cp.ndarray((2, 3), "float32", order="F"),
    "diagonal": lambda: cp.diag([1, 2]),
    "triangle": lambda: cp.tril_indices(3)[1],
    "bytes": lambda: cp.frombuffer(b"abcd", "uint8"),
    "function": lambda: cp.fromfunction(lambda i: i, (3,)),
    "frequencies": lambda: cp.fft.fftfreq(5),
}


@pytest.mark.parametrize("name", MAKERS)
def test_new_arrays(chosen, name):
    made = MAKERS[name]()
    assert made.device == chosen
    assert (made + cp.zeros(made.shape, made.dtype)).device == chosen


def test_spacing_with_its_step(chosen):
    made, step = cp.linspace(0, 10, 5, retstep=True)
    assert made.device == chosen and made.tolist() == [0, 2.5, 5, 7.5, 10] and step == 2.5


def test_parameters_may_be_arrays(chosen):
    low, high = cp.full(3, 2.0), cp.full((2, 1), 5.0)
    philox = cp.random.Generator(cp.random.Philox4x3210(1))
    for draws in (cp.random, cp.random.RandomState(1), cp.random.default_rng(1), philox):
        assert {draws.beta(low, high).device, draws.normal(low, scale=high).device} == {chosen}
        assert draws.chisquare(low, size=(2, 3)).shape == (2, 3)
    here = un.random.RandomState(7).gamma(un.full(4, 3.0, device="cpu")).tolist()
    assert cp.random.RandomState(7).gamma(cp.full(4, 3.0)).tolist() == here


def test_bytes_and_numbers_of_numpy(chosen):
    x = cp.zeros((2, 2), "complex64")
    x.fill(np.ones((), "complex64"))
    assert x.device == chosen and bytes(x.T) == np.ones((2, 2), "complex64").tobytes()
    assert bytes(cp.asarray(2.5)) == np.float64(2.5).tobytes() and bytes(cp.asarray(3)) == bytes(3)
    assert bytes(cp.zeros((3, 0))) == b""


def test_dtypes_without_a_name_behind_the_size():
    state = cp.random.RandomState(1)
    assert state.lognormal(0.0, 1.0, (2,), np.float32).dtype == np.float32
    assert cp.random.normal(0.0, 1.0, None, "f4").dtype == np.float32
    assert cp.random.binomial(5, 0.5, 3, "i2").dtype == np.int16
    with pytest.raises(TypeError):
        cp.random.beta(1.0, 2.0, 3, "f4", "f4")


def test_draws_are_those_of_the_host():
    assert cp.random.default_rng(5).integers(0, 9, 6).tolist() == (
        un.random.default_rng(5).integers(0, 9, 6).tolist()
    )
    assert cp.random.RandomState(5).rand(2).tolist() == un.random.RandomState(5).rand(2).tolist()
    made = cp.random.default_rng(5)
    assert isinstance(made, un.random.Generator) and cp.random.default_rng(made) is made
    again = pickle.loads(pickle.dumps(made))
    assert type(again) is type(made) and again.random(3).tolist() == made.random(3).tolist()
    for number in (
        made.random(),
        cp.random.rand(),
        cp.random.randint(0, 9),
        cp.random.RandomState(1).normal(),
    ):
        assert isinstance(number, cp.ndarray) and number.shape == ()
    cp.random.seed(4)
    first = cp.random.rand(3).tolist()
    cp.random.seed(4)
    assert cp.random.rand(3).tolist() == first
    assert "normal" in dir(cp.random) and "fftfreq" in dir(cp.fft)
    np.testing.assert_allclose(cp.fft.fft(cp.ones(4)).get(), [4, 0, 0, 0], atol=1e-15)


@pytest.mark.parametrize("seed", [None, 3])
def test_arrays_are_permuted_and_chosen_from_where_they_lie(chosen, seed):
    cp.random.seed(seed)
    x = cp.arange(12).reshape(6, 2)
    for draws in (cp.random, cp.random.default_rng(seed), cp.random.RandomState(seed)):
        y = x.copy()
        draws.shuffle(y)
        for made in (draws.permutation(x), y):
            assert made.device == chosen
            assert sorted(made.tolist()) == x.tolist()
        some = draws.choice(x[:, 0], 4, replace=False, p=cp.full(6, 1 / 6))
        assert some.device == chosen and len(set(some.tolist())) == 4
        assert draws.choice(x[:, 0], size=(2, 2)).shape == (2, 2)
    made = cp.random.default_rng(3).permutation(x, axis=1)
    assert made.shape == x.shape and cp.sort(made, axis=1).tolist() == x.tolist()
    plain = [1, 2, 3]
    cp.random.shuffle(plain)
    assert sorted(plain) == [1, 2, 3]
    ours = cp.random.RandomState(3).permutation(cp.arange(9)).tolist()
    assert ours == un.random.RandomState(3).permutation(un.arange(9)).tolist()


def test_devices_of_arrays(chosen):
    x = cp.arange(3)
    assert cp.cuda.Device(chosen.name) == x.device and x.device == cp.cuda.Device(chosen.name)
    assert x.device != 3 and x.device.id == cp.cuda.Device(chosen.name).id
    with cp.cuda.Device("cpu"):
        assert cp.zeros(1).device == "cpu"
        with x.device as d:
            assert d == chosen and cp.zeros(1).device == un.zeros(1).device == chosen
        assert cp.zeros(1).device == "cpu"


def test_arrays_of_another_gpu_are_copied_to_the_current_one():
    found = [d for d in un.devices() if d.name.startswith("cuda:")]
    if len(found) < 2:
        pytest.skip("one GPU at most")
    with found[1]:
        x = cp.arange(3)
    with found[0]:
        assert cp.asarray(x).device == cp.array(x).device == found[0]
        assert cp.zeros_like(x).device == found[0] and x.device == found[1]


def test_lists_of_objects_are_refused(chosen):
    with pytest.raises(ValueError, match="array: Unsupported dtype; got object; expected numbers"):
        cp.array([None])
    for given in (["a"], np.zeros(2, "q,O")):
        with pytest.raises(ValueError, match="asarray: Unsupported dtype"):
            cp.asarray(given)
    assert cp.array(np.zeros(2, "i4,f8"))["f1"].tolist() == [0, 0]
    if chosen.name == "cpu":  # where they are NumPy's
        assert cp.asarray(np.zeros(2, "M8[s]")).dtype == "M8[s]"
