"""``python -m unisono doctor`` tells the truth about this machine; the page of settings is fresh."""

import os
import subprocess
import sys
from pathlib import Path

import unisono as un

ROOT = Path(__file__).resolve().parents[2]


def run(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "unisono", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )


def test_doctor_reports_devices_settings_and_a_result():
    done = run("doctor", UNISONO_DEBUG="0", UNISONO_CACHE_DIR="/nowhere/at/all")
    assert done.returncode == 0, done.stderr
    for device in un.devices():
        assert f"found   {device.name} " in done.stdout
    for _, variable, _, meaning, _ in un._engine._settings():
        assert variable in done.stdout and meaning in done.stdout
    assert "UNISONO_DEBUG                0 (environment)" in done.stdout
    assert "/nowhere/at/all" in done.stdout
    assert f"sum of squares               {sum(k * k for k in range(1000))}" in done.stdout


def test_a_plugin_that_lacks_a_library_is_missing_not_broken(monkeypatch, capsys):
    from unisono import __main__ as doctor

    text = "OSError: libmpi.so.40: cannot open shared object file: No such file or directory"
    monkeypatch.setattr(doctor, "_load_apart", lambda path, *symbols: (False, text))
    doctor._plugins(Path(un.__file__).parent)
    shown = capsys.readouterr().out
    assert f"cannot be loaded: {text}; without it" in shown and "broken" not in shown


def test_doctor_names_a_folder_that_is_not_safe(tmp_path):
    tmp_path.chmod(0o777)
    done = run("doctor", UNISONO_CACHE_DIR=str(tmp_path))
    assert "not used: others may write it" in done.stdout


def test_other_commands_are_refused():
    done = run("cure")
    assert done.returncode == 2 and "usage: python -m unisono doctor" in done.stderr
    assert "no such command; got 'cure'; expected doctor, devices, include or build" in done.stderr


def test_a_reader_may_leave_early():
    made = subprocess.Popen(
        [sys.executable, "-u", "-m", "unisono", "doctor"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert made.stdout.readline().startswith("Python ")
    made.stdout.close()
    assert made.stderr.read() == ""
    made.stderr.close()
    assert made.wait() == 0


def test_the_page_of_settings_is_fresh():
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts/settings_doc.py"), "--check"],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
