// Queues of devices and the place that a thread chose, for Python.
#include "queues.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <vector>

#include "array/object.h"
#include "backends/stream_source.h"
#include "errors.h"
#include "tape/outside_engine.h"
#include "tape/tape.h"

namespace nb = nanobind;

namespace unisono::python {

namespace {

/// Queues that no handle refers to any more: they live as long as the process.
std::vector<Queue*>& idle_queues() {
    static auto& idle = *new std::vector<Queue*>;
    return idle;
}

/// Python's handle on a queue.
struct PyQueue {
    explicit PyQueue(Queue& q, bool is_of_others = false) : queue(&q), is_of_others(is_of_others) {}
    PyQueue(const PyQueue&) = delete;
    PyQueue& operator=(const PyQueue&) = delete;
    ~PyQueue() {
        if (!is_of_others) idle_queues().push_back(queue);
    }
    Queue* const queue;
    const bool is_of_others;
};

/// What `with un.device(...)` chooses.
struct PyPlace {
    Device* device = nullptr;
    Queue* queue = nullptr;
};

/// A context variable, so that neither threads nor tasks mix; it holds a PyPlace or None.
PyObject* place_variable = nullptr;

Places::Choice chosen_place() {
    PyObject* value = nullptr;
    if (PyContextVar_Get(place_variable, nullptr, &value) != 0) throw PythonError{};
    const nb::object held = nb::steal(value);
    if (!held.is_valid() || held.is_none()) return {};
    const auto* place = nb::inst_ptr<PyPlace>(held);
    return {true, place->device, place->queue};
}

/// From now on the engine asks for each array and statement.
void ask_for_places(const nb::object& variable) {
    if (!place_variable) place_variable = nb::object(variable).release().ptr();  // for good
    current<Places>().chosen = chosen_place;
    Tape::current().ask_for_queues();
}

Device* device_of(const nb::object& name) {
    try {
        return to_device_pointer(name.ptr());
    } catch (const PythonError&) {
        throw nb::python_error();
    }
}

Device& device_with_queues(const nb::object& name) {
    Device* device = device_of(name);
    if (!device || !device->own_queue()) {
        fail(ErrorKind::Device, "Queue: '" + device_name(device) +
                                    "' has no queues, since its work ends before a statement "
                                    "returns; expected another device (see unisono.devices())");
    }
    return *device;
}

Queue& queue_with(Device& device, const QueueOptions& options) {
    auto& idle = idle_queues();
    const auto found = std::find_if(idle.begin(), idle.end(), [&](Queue* q) {
        return &q->device() == &device && q->options() == options;
    });
    if (found == idle.end()) return device.make_queue(options);
    Queue& queue = **found;
    idle.erase(found);
    return queue;
}

/// Waits without the lock; Ctrl-C ends the wait.
void wait_for(const PyQueue& q, std::uint64_t number) {
    run_outside(Tape::current().hooks, true, [&] { Completion{q.queue, number}.wait(); });
}

void define_classes(nb::module_ m) {
    nb::class_<PyQueue>(m, "_Queue")
        .def(
            "__init__",
            [](PyQueue* self, const nb::object& device, bool in_order, bool profiling) {
                new (self) PyQueue(queue_with(device_with_queues(device), {in_order, profiling}));
            },
            nb::arg("device").none(), nb::arg("in_order"), nb::arg("profiling"))
        .def_static(
            "of_handle",
            [](const nb::object& name, std::uintptr_t handle) {
                Device& device = device_with_queues(name);
                auto* source = dynamic_cast<StreamSource*>(&device);
                if (!source) {
                    fail(ErrorKind::Device, "Queue.from_handle: queues of '" + device.info().name +
                                                "' are not taken from others; expected a CUDA "
                                                "device; use un.Queue(device)");
                }
                return new PyQueue(source->adopt_queue(reinterpret_cast<void*>(handle)), true);
            },
            nb::arg("device").none(), nb::arg("handle"), nb::rv_policy::take_ownership)
        .def_prop_ro("device", [](const PyQueue& q) { return q.queue->device().info().name; })
        .def_prop_ro("in_order", [](const PyQueue& q) { return q.queue->options().in_order; })
        .def_prop_ro("address",  // the driver's
                     [](const PyQueue& q) {
                         QueueScope scope(*q.queue, {});
                         return reinterpret_cast<std::uintptr_t>(q.queue->device().native().queue);
                     })
        .def_prop_ro("profiling", [](const PyQueue& q) { return q.queue->options().profiling; })
        .def("synchronize",
             [](const PyQueue& q) {
                 Tape::current().submit(*q.queue);
                 Tape::current().synchronize(*q.queue);
             })
        .def("record",
             [](const PyQueue& q) {
                 Tape::current().submit(*q.queue);
                 return q.queue->record();
             })
        .def("wait_on",
             [](const PyQueue& q, const PyQueue& other, std::uint64_t number) {
                 Tape::current().submit(*q.queue);
                 const Completion c{other.queue, number};
                 run_outside(Tape::current().hooks, true, [&] { q.queue->wait_on(c); });
             })
        .def("has_passed",
             [](const PyQueue& q, std::uint64_t number) {
                 return q.queue->has_passed(number) ||
                        (q.queue->device().is_usable() && q.queue->wait_for(number, {}));
             })
        .def("wait", wait_for)
        .def("times",
             [](const PyQueue& q, std::uint64_t number) {
                 const QueueTimes t = q.queue->times(number);
                 return nb::make_tuple(t.queued, t.submit, t.start, t.end);
             })
        .def("forget_times",
             [](const PyQueue& q, std::uint64_t number) { q.queue->forget_times(number); });
    nb::class_<PyPlace>(m, "_Place")
        .def(
            "__init__",
            [](PyPlace* self, const nb::object& device, const nb::object& queue) {
                Queue* q = queue.is_none() ? nullptr : nb::cast<PyQueue&>(queue).queue;
                Device* d = q && device.is_none() ? &q->device() : device_of(device);
                if (q && d != &q->device()) {
                    fail(ErrorKind::Value, "device: the queue belongs to another device; got '" +
                                               device_name(d) + "' and a queue of '" +
                                               q->device().info().name + "'");
                }
                new (self) PyPlace{d, q};
            },
            nb::arg("device").none(), nb::arg("queue").none());
}

}  // namespace

void add_queues(nb::module_& m) {
    // Most programs use none of the classes: defining them would cost each one's start.
    m.def("_define_queues", define_classes);
    m.def("_ask_for_places", ask_for_places);
}

}  // namespace unisono::python
