"""Environment variables: values that the table of settings does not accept are errors of the import."""

import os
import subprocess
import sys

import pytest
import unisono as un


def outcome(program="import unisono as un; print(un.sum(un.arange(4)))", **environment):
    return subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [
        ("UNISONO_EXECUTOR", "foo", "auto, block, cpu or interp"),
        ("UNISONO_EAGER", "yes", "0 or 1"),
        ("UNISONO_NUM_THREADS", "x", "a whole number from 1 to 4096"),
        ("UNISONO_NUM_THREADS", "0", "a whole number from 1 to 4096"),
        ("UNISONO_NUM_THREADS", "2 ", "a whole number from 1 to 4096"),
        ("UNISONO_DEBUG", "6", "a whole number from 0 to 5"),
        ("UNISONO_DISABLE_JIT", "true", "0 or 1"),
        ("UNISONO_NOPYTHON", "2", "0 or 1"),
        ("UNISONO_JIT_LINES", "on", "0 or 1"),
        ("UNISONO_CACHE_SIZE", "-1", "a whole number of at least 0"),
        ("UNISONO_CACHE_SIZE", "1GB", "a whole number of at least 0"),
        ("UNISONO_COMM_TIMEOUT", "never", "a number of at least 0"),
        ("UNISONO_COMM_TIMEOUT", "inf", "a number of at least 0"),
    ],
)
def test_values_that_are_not_accepted(variable, value, expected):
    done = outcome(**{variable: value})
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.splitlines()[-1] == (
        f"ValueError: {variable}: the value is not accepted; got '{value}'; expected {expected}; "
        f"correct the environment variable or unset it"
    )


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("UNISONO_EXECUTOR", "interp"),
        ("UNISONO_EXECUTOR", ""),
        ("UNISONO_EAGER", "1"),
        ("UNISONO_NUM_THREADS", "3"),
        ("UNISONO_NUM_THREADS", ""),
        ("UNISONO_CACHE_SIZE", "0"),
        ("UNISONO_COMM_TIMEOUT", "0.5"),
    ],
)
def test_values_that_are_accepted(variable, value):
    done = outcome(**{variable: value})
    assert done.stderr == "" and done.stdout == "6\n"


def test_devices_and_schedules_are_checked_where_they_are_used():
    done = outcome(UNISONO_DEVICE="foo")
    assert done.returncode == 1 and "'foo'" in done.stderr.splitlines()[-1]
    done = outcome("import unisono as un; un.jit(lambda x: x)", UNISONO_SCHEDULE="often")
    assert done.returncode == 1 and "UNISONO_SCHEDULE" in done.stderr


def test_the_number_of_threads_is_taken():
    done = outcome("import unisono as un; print(un.get_num_threads())", UNISONO_NUM_THREADS="3")
    assert done.stdout == "3\n"


def test_settings_of_a_running_program_are_checked():
    before = un._engine._setting("executor")
    with pytest.raises(ValueError, match="UNISONO_EXECUTOR: the value is not accepted; got 'foo'"):
        un._engine._set_setting("executor", "foo")
    assert un._engine._setting("executor") == before


@pytest.mark.parametrize(
    "variable, meant",
    [("UNISONO_NUM_THREAD", "UNISONO_NUM_THREADS"), ("UNISONO_EXECUTER", "UNISONO_EXECUTOR")],
)
def test_misspelt_variables_are_named(variable, meant):
    run = subprocess.run(
        [sys.executable, "-c", "import unisono"],
        capture_output=True,
        text=True,
        env={**os.environ, variable: "1"},
    )
    assert run.returncode == 0
    assert (
        f"RuntimeWarning: unisono: the environment variable {variable} is not a setting; did you mean {meant}?"
        in run.stderr
    )


def test_variables_of_others_are_left_alone():
    environment = {**os.environ, "UNISONO_RESULTS_OF_MY_THESIS": "1", "UNISONO_FUZZ_SEEDS": "3"}
    run = subprocess.run(
        [sys.executable, "-c", "import unisono"], capture_output=True, text=True, env=environment
    )
    assert (run.returncode, run.stderr) == (0, "")
