// Devices, for Python: what they are, their parts and their memory.
#include "devices.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <charconv>

#include "array/object.h"
#include "backends/backend.h"
#include "backends/parts.h"
#include "backends/properties.h"
#include "tape/run/holders.h"
#include "tape/storage.h"

namespace nb = nanobind;

namespace unisono::python {

namespace {

/// Python's handle on a device. The host has device null in the engine; its name is that of the cpu
/// back end.
struct PyDevice {
    Device* device;
    const std::string& name() const { return info().name; }
    const DeviceInfo& info() const { return device->info(); }
};

PyDevice python_device(Device* d) { return {d ? d : &find_device("cpu")}; }

nb::dict properties(const PyDevice& d) {
    nb::dict all;
    for (const DeviceProperty& p : d.device->properties()) all[p.name.c_str()] = nb::cast(p.value);
    return all;
}

/// Names as SYCL's aspects have them, where it has them.
nb::object aspects(const PyDevice& d) {
    nb::set names;
    names.add(d.info().kind);
    if (d.info().has_float64) names.add("fp64");
    if (d.info().has_int64_atomics) names.add("atomic64");
    for (const DeviceProperty& p : d.device->properties()) {
        if (p.name != "aspects") continue;
        for (const std::string& name : std::get<std::vector<std::string>>(p.value)) names.add(name);
    }
    return nb::steal(PyFrozenSet_New(names.ptr()));
}

/// Of so many compute units each, or as many of one size as there are units for.
std::vector<PyDevice> create_sub_devices(const PyDevice& d, nb::handle partition) {
    const int all = d.info().compute_units;
    std::vector<int> units;
    if (nb::isinstance<nb::int_>(partition)) {
        const int each = nb::cast<int>(partition);
        if (each > 0) units.assign(static_cast<std::size_t>(all / each), each);
    } else if (!nb::try_cast(partition, units)) {
        fail(ErrorKind::Type,
             "create_sub_devices: partition is neither a number of compute units nor a list of "
             "such numbers; got " +
                 std::string(Py_TYPE(partition.ptr())->tp_name));
    }
    int sum = 0;
    for (const int n : units) sum = n > 0 && sum <= all - n ? sum + n : all + 1;
    if (units.empty() || sum > all) {
        fail(ErrorKind::Value,
             "create_sub_devices: device '" + d.name() + "' has " + std::to_string(all) +
                 " compute units; got partition=" + nb::cast<std::string>(nb::repr(partition)) +
                 "; expected positive numbers whose sum is at most " + std::to_string(all));
    }
    std::vector<PyDevice> parts;
    for (Device* part : divide(*d.device, units)) parts.push_back({part});
    return parts;
}

nb::dict memory(const std::string& name) {
    const DevicePool::Usage usage = find_device(name).pool().usage();
    nb::dict d;
    d["in_use"] = usage.in_use;
    d["peak"] = usage.peak;
    d["cached"] = usage.cached;
    d["limit"] = usage.limit;
    d["total_allocated"] = usage.total;
    return d;
}

nb::list memory_holders(const std::string& name) {
    nb::list rows;
    for (const Holder& h : holders(find_device(name))) {
        nb::dict row;
        row["bytes"] = h.bytes;
        row["file"] = h.written.file;
        row["line"] = h.written.line;
        rows.append(row);
    }
    return rows;
}

/// Number behind the last colon of its name, 0 where there is none.
int number_of(const PyDevice& d) {
    const std::string& name = d.name();
    const std::size_t at = name.rfind(':');
    int number = 0;
    if (at != std::string::npos)
        std::from_chars(name.data() + at + 1, name.data() + name.size(), number);
    return number;
}

nb::module_ choices() { return nb::module_::import_("unisono.cuda.devices"); }

/// What DeviceInfo has of that name.
template <auto Member>
auto info() {
    return [](const PyDevice& d) { return d.info().*Member; };
}

}  // namespace

PyObject* device_object(Device* device) {
    if (PyObject* mesh = device ? mesh_object(device) : nullptr) return mesh;
    return nb::cast(python_device(device)).release().ptr();
}

void add_devices(nb::module_& m) {
    nb::class_<PyDevice>(m, "Device", "A processor that arrays can live on; equal to its name.")
        .def_prop_ro("name", info<&DeviceInfo::name>(), "Name, as accepted by ``device=``.")
        .def_prop_ro("id", number_of, "Its number among the devices of its back end and kind.")
        .def_prop_ro("kind", info<&DeviceInfo::kind>(), "cpu, gpu or accelerator")
        .def_prop_ro("vendor", info<&DeviceInfo::vendor>())
        .def_prop_ro("description", info<&DeviceInfo::description>())
        .def_prop_ro("compute_units", info<&DeviceInfo::compute_units>())
        .def_prop_ro("memory_bytes", info<&DeviceInfo::memory_bytes>())
        .def_prop_ro("local_memory_bytes", info<&DeviceInfo::local_memory_bytes>())
        .def_prop_ro("max_work_group_size", info<&DeviceInfo::max_work_group_size>())
        .def_prop_ro("max_work_item_sizes",
                     [](const PyDevice& d) {
                         const auto& sizes = d.info().max_work_item_sizes;
                         return nb::make_tuple(sizes[0], sizes[1], sizes[2]);
                     })
        .def_prop_ro("has_float64", info<&DeviceInfo::has_float64>())
        .def_prop_ro("has_int64_atomics", info<&DeviceInfo::has_int64_atomics>())
        .def_prop_ro("properties", properties,
                     "What the driver tells, as a dict by the driver's names in lower case.")
        .def_prop_ro("aspects", aspects,
                     "Names of what it is and can: \"gpu\", \"fp64\", \"atomic64\", \"image\"...")
        .def_prop_ro(
            "parent",
            [](const PyDevice& d) -> nb::object {
                Device* whole = whole_of(*d.device);
                return whole ? nb::cast(python_device(whole)) : nb::none();
            },
            "The device that it is a part of, or None.")
        .def("create_sub_devices", create_sub_devices, nb::arg("partition"),
             R"(Divide the device into parts that are devices.

Parameters
----------
partition : int or list of int
    Compute units of each part: a number for as many equal parts as there are units for, or a list.

Returns
-------
list of Device

Raises
------
ValueError
    If there are not so many compute units.
DeviceError
    If the driver cannot divide the device.

Examples
--------
>>> import unisono as un
>>> for d in un.devices(lambda d: "sub_devices" in d.aspects)[:1]:
...     parts = d.create_sub_devices(1)
...     assert len(parts) == d.compute_units and parts[0].parent == d
)")
        .def("__copy__", [](nb::object d) { return d; })
        .def(
            "__deepcopy__", [](nb::object d, nb::handle) { return d; }, nb::arg("memo").none())
        .def("__reduce__",
             [](const PyDevice& d) {
                 nb::object named = nb::module_::import_("unisono._runtime.devices").attr("named");
                 return nb::make_tuple(named, nb::make_tuple(d.name()));
             })
        .def("__repr__", [](const PyDevice& d) { return "Device('" + d.name() + "')"; })
        .def("__str__", &PyDevice::name)
        .def("__hash__", [](const PyDevice& d) { return nb::hash(nb::str(d.name().c_str())); })
        .def(
            "__eq__",
            [](const PyDevice& d, nb::handle o) -> nb::object {
                if (nb::isinstance<PyDevice>(o))
                    return nb::bool_(nb::cast<const PyDevice&>(o).device == d.device);
                if (!nb::isinstance<nb::str>(o)) return nb::borrow(Py_NotImplemented);
                return nb::bool_(d.name() == nb::str(o).c_str());
            },
            nb::arg("other").none())
        .def(
            "__enter__",
            [](nb::object d) {
                choices().attr("enter")(d);
                return d;
            },
            "Choose it for the block, for `unisono.device` and for CUDA's words alike.")
        .def("__exit__", [](const PyDevice&, const nb::args&) { choices().attr("leave")(); });
    m.def("_devices", [] {
        std::vector<PyDevice> all;
        for (Device* d : all_devices()) all.push_back(python_device(d));
        return all;
    });
    m.def("_find_device",
          [](const std::string& name) { return python_device(&find_device(name)); });
    m.def("_device_memory", memory);
    m.def("_device_holders", memory_holders);
    m.def("_trim_device", [](const std::string& name) { find_device(name).pool().trim(); });
    m.def("_set_device_memory_limit", [](const std::string& name, std::int64_t bytes) {
        find_device(name).pool().set_limit(bytes);
    });
}

}  // namespace unisono::python
