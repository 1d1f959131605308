"""Functions of the engine as the libraries in Python name them."""


def engine_function(name):
    """A function that the front end knows by that name; it does nothing in Python."""

    def called(*values):
        pass

    called.__name__ = called.__qualname__ = name
    called.__module__ = "unisono"
    return called
