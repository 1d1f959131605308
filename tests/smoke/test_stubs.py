"""The type stubs are fresh and name what the extension has."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
import unisono as un

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="Python's own classes have other signatures there"
)
@pytest.mark.slow
def test_stubs_are_fresh():
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts/stubs.py"), "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_stubs_name_every_public_function_and_class():
    tree = ast.parse((ROOT / "python/unisono/_engine.pyi").read_text())
    named = {n.name for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    named |= {n.target.id for n in tree.body if isinstance(n, ast.AnnAssign)}
    assert {n for n in vars(un._engine) if not n.startswith("_")} <= named


def test_the_page_of_names_claims_nothing_that_is_missing():
    page = (ROOT / "docs/namespace.md").read_text()
    listed = page.split("## `unisono`:")[1].split("| missing | why")[0]
    names = re.findall(r"`(\w+)`", listed)
    assert len(names) > 400
    assert [name for name in names if not hasattr(un, name)] == []


def test_the_page_of_names_sends_nobody_to_names_that_are_missing():
    page = (ROOT / "docs/namespace.md").read_text()
    named = {
        name
        for row in re.findall(r"^\|.*\|$", page, re.MULTILINE)
        for name in re.findall(r"`un\.(\w+)", row)
    }
    assert named
    assert [name for name in sorted(named) if not hasattr(un, name)] == []
    refused = re.findall(
        r"^\| (`.*?) \| (.*?) \| (.*?) \|$", page.split("## `unisono.linalg`")[0], re.MULTILINE
    )
    assert [row for row in refused if row[1] != "not supported yet" and not row[2]] == []
