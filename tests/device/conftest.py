"""Devices compute their own arrays here: the host would do the first runs of statements otherwise."""

import pytest
import unisono as un


@pytest.fixture(autouse=True)
def placement(monkeypatch):
    """Of this process, and of those that the test starts."""
    un._engine._set_setting("placement", "device")
    monkeypatch.setenv("UNISONO_PLACEMENT", "device")
    yield
    un._engine._set_setting("placement", "auto")
