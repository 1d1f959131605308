"""Children of fork: arrays work while threads of the parent computed, and what these were writing is an error."""

import os
import subprocess
import sys

import pytest

SAFETY_NET = 300  # seconds; what hangs would hang for ever

BACKGROUND = """
import os, sys, threading
import unisono as un

def work():
    return float((un.ones(200000) * 2).sum())

def background():
    while True:
        work()

for _ in range(3):
    threading.Thread(target=background, daemon=True).start()
for _ in range(20):
    child = os.fork()
    if child == 0:
        fine = work() == 400000.0
        os._exit(0 if fine else 3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
print("done")
sys.stdout.flush()
os._exit(0)
"""

INTERRUPTED = """
import os, threading
import unisono as un

x = un.ones(1_000_000)
other = un.ones(1000) * 3
un.eval(x, other)
z = x
for _ in range(60):
    z = un.sin(z) * un.cos(z) + un.exp(z) - un.log1p(z * z)
started = threading.Event()

def background():
    started.set()
    un.eval(z)

def child():
    if float(other.sum()) != 3000.0 or float((un.arange(100000) + 1).sum()) != 5000050000.0:
        return 3
    try:
        float(z.sum())
        return 5  # the thread had not begun, or was done
    except RuntimeError as error:
        known = "another thread was computing this array when the process was forked" in str(error)
        return 0 if known else 4

t = threading.Thread(target=background, daemon=True)
t.start()
started.wait()
seen = set()
while t.is_alive() and 0 not in seen:
    number = os.fork()
    if number == 0:
        os._exit(child())
    seen.add(os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]))
t.join()
float(z.sum())  # the parent is not disturbed
print(0 in seen, seen <= {0, 5})
"""

LOST = """
import os, threading, time
import unisono as un

y = un.ones(100_000)
un.eval(y)
has_begun = threading.Event()

def background():
    global y
    while True:
        for _ in range(6):
            y = un.cumsum(un.sin(y)) * 1e-3  # each step depends on the one before
        has_begun.set()
        un.eval(y)

def child():
    a = un.arange(1000) * 2.0
    a += 1
    un.eval()  # all that is recorded
    return 0 if float(a.sum()) == 1000000.0 else 3

threading.Thread(target=background, daemon=True).start()
has_begun.wait()
for _ in range(10):
    number = os.fork()
    if number == 0:
        try:
            os._exit(child())
        except RuntimeError:
            os._exit(4)
    code = os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])
    assert code == 0, code
print("done", flush=True)
os._exit(0)
"""


def run(program):
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        capture_output=True,
        text=True,
        timeout=SAFETY_NET,
        env={**os.environ, "UNISONO_NUM_THREADS": "2"},
    )


def test_children_compute_while_threads_of_the_parent_do():
    done = run(BACKGROUND)
    assert done.stdout == "done\n", done.stderr


def test_what_a_lost_thread_had_recorded_is_no_error_of_others():
    done = run(LOST)
    assert done.stdout == "done\n", done.stderr


@pytest.mark.slow
def test_what_another_thread_was_computing_is_an_error():
    done = run(INTERRUPTED)
    assert done.stdout == "True True\n", done.stdout + done.stderr
