"""Devices compute their own arrays here: the host would do the first runs of statements otherwise."""

import pytest
import unisono as un


@pytest.fixture(autouse=True, scope="session")
def placement():
    un._engine._set_setting("placement", "device")
    yield
    un._engine._set_setting("placement", "auto")
