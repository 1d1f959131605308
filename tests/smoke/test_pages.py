"""The programs on the pages of docs/ and in the README run and print what their comments say."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "docs/tape.md",
    ROOT / "docs/libraries.md",
    ROOT / "docs/decorators.md",
]
PROGRAMS = [
    pytest.param(code, id=f"{page.stem}-{n}")
    for page in PAGES
    for n, code in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL))
]


@pytest.mark.parametrize("code", PROGRAMS)
def test_program(code, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(code)
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    promised = re.findall(r"^print\(.*\) +# (.*)$", code, re.MULTILINE)
    assert promised == done.stdout.splitlines()[: len(promised)]
