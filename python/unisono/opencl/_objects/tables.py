"""Classes of constants and attributes of objects, made of tables."""


def constants(name, table, bits=False):
    """Class with the constants of a table "NAME=number ..." and `to_string`."""
    values = {}
    for entry in table.split():
        key, number = entry.split("=")
        values[key] = int(number, 0)

    def to_string(cls, value, default_format=None):
        """Name of a value; of flags the names of all that are set."""
        if bits and value not in values.values():
            set_bits = [key for key, flag in values.items() if value & flag]
            return " | ".join(set_bits) if set_bits else "0"
        for key, number in values.items():
            if number == value:
                return key
        if default_format is None:
            raise ValueError(
                f"{name}.to_string: there is no such constant; got {value}; expected one of {', '.join(values)}"
            )
        return default_format % value

    members = {**values, "_is_bitfield": bits, "to_string": classmethod(to_string)}
    return type(name, (), {"__module__": "unisono.opencl", **members})


def add_attributes(cls, names, prefix=""):
    """Gives a class a property, in lower case, for each constant that its get_info takes."""

    def attribute(what):
        return property(lambda self: self.get_info(what))

    for key, what in vars(names).items():
        name = prefix + key.lower()
        if isinstance(what, int) and not key.startswith("_") and name not in vars(cls):
            setattr(cls, name, attribute(what))
