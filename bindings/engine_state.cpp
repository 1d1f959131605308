// Settings, counters, the flush log: what a program asks the engine about itself.
#include "engine_state.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "array/object.h"
#include "backends/codegen/put_off.h"
#include "backends/timeline.h"
#include "comm/mesh.h"
#include "context/context.h"
#include "core/layout.h"
#include "core/pool.h"
#include "core/settings.h"
#include "core/threads/threads.h"
#include "primitives/row.h"
#include "tape/launch.h"
#include "tape/record/float_errors.h"
#include "tape/tape.h"

namespace nb = nanobind;

namespace unisono::python {

namespace {

PyObject* float_error_handler = nullptr;

/// Calls the Python handler, which may warn or raise.
void report_float_errors(unsigned flags, std::string_view name) {
    nb::gil_scoped_acquire locked;
    PyObject* done =
        PyObject_CallFunction(float_error_handler, "Is", flags, std::string(name).c_str());
    if (!done) throw PythonError{};
    Py_DECREF(done);
}

nb::dict stats_dict() {
    const Context& context = Context::current();
    const pool::Usage memory = pool::usage();
    nb::dict d;
    auto put = [&](const char* key, std::atomic<std::int64_t> Counters::*counter) {
        d[key] = context.total(counter);
    };
    put("kernels_launched", &Counters::kernels_launched);
    put("kernels_compiled", &Counters::kernels_compiled);
    put("launches_proven", &Counters::launches_proven);
    put("bytes_allocated", &Counters::bytes_allocated);
    d["bytes_fresh"] = memory.fresh;
    d["bytes_in_use"] = memory.in_use;
    d["peak_bytes"] = memory.peak;
    put("bytes_copied", &Counters::bytes_copied);
    put("bytes_read", &Counters::bytes_read);
    put("bytes_written", &Counters::bytes_written);
    put("flushes", &Counters::flushes);
    put("flushes_that_waited", &Counters::flushes_that_waited);
    put("plans_formed", &Counters::plans_formed);
    put("messages_sent", &Counters::messages_sent);
    const comm::Mesh* mesh = comm::Mesh::current();
    d["bytes_gathered"] = mesh ? mesh->bytes_gathered() : 0;
    d["bytes_in_panels"] = mesh ? mesh->bytes_in_panels() : 0;
    d["pending_operations"] = Tape::current().length();
    d["layouts"] = Layout::interned();
    return d;
}

nb::list flush_log() {
    nb::list rows;
    const Tape& tape = Tape::current();
    for (const FlushRecord& r : tape.log()) {
        const auto& launch = r.launch;
        const LineRef last = launch.code ? launch.line : r.line;
        SourcePlace place = tape.hooks.decode_line ? tape.hooks.decode_line(last) : SourcePlace{};
        nb::dict row;
        row["reason"] = text(r.reason);
        row["operations"] = r.entries + (launch.code ? 1 : 0);
        row["kernels"] = r.kernels;
        row["bytes"] = r.bytes + launch.bytes;
        row["file"] = place.file;
        row["line"] = place.line;
        nb::list calls;
        for (const std::string& name : r.calls) calls.append(name);
        if (launch.code) calls.append("launch " + launch.code->name);
        row["calls"] = calls;
        rows.append(row);
    }
    return rows;
}

std::string explain(nb::handle array, bool code) {
    if (!is_array(array.ptr()) && !is_value_object(array.ptr()))
        fail(ErrorKind::Type,
             "explain: expected an array; got " + std::string(Py_TYPE(array.ptr())->tp_name));
    const Array a = array_in(array.ptr());
    if (a.is_known())
        return "a value known on the host: " + std::to_string(a.scalar().as<double>()) + "\n";
    return Tape::current().describe(a.view().storage, code);
}

/// Tapes look again whether small statements may go without a plan.
void reread_settings() { Tape::current().set_eager(Tape::current().eager()); }

void start_profile() {
    Tape::current().synchronize();
    timeline::start();
    reread_settings();
}

/// (kind, name, device, lane, file, line, begin and end in ns, bytes), by their beginning.
nb::list stop_profile() {
    nb::list rows;
    for (const timeline::Span& s : timeline::stop()) {
        rows.append(nb::make_tuple(nb::str(std::string(timeline::text(s.kind)).c_str()), s.name,
                                   s.device, s.lane, s.place.file, s.place.line, s.begin, s.end,
                                   s.bytes));
    }
    reread_settings();
    return rows;
}

}  // namespace

void add_engine_state(nb::module_& m) {
    m.def("_backend_reports", [] {
        nb::dict d;
        for (Backend* b : backends()) d[nb::str(std::string(b->name()).c_str())] = b->report();
        return d;
    });
    m.def("_stats", stats_dict, "Counters of what the engine did since it was loaded, as a dict.");
    m.def("_flush_log", flush_log,
          "The last evaluations, oldest first: reason, operations, kernels, bytes, file, line, "
          "calls.");
    m.def("_explain", explain);
    // Most of the time that a process may be kept from its end.
    m.def("_store_what_was_put_off",
          [] { codegen::store_what_was_put_off(std::chrono::milliseconds(500)); });
    m.def("_note_end", [] { is_ending = true; });
    for (const char* name : {"_store_what_was_put_off", "_note_end"})
        nb::module_::import_("atexit").attr("register")(m.attr(name));
    m.def("_synchronize", [] { Tape::current().synchronize(); });
    m.def("_start_profile", start_profile);
    m.def("_stop_profile", stop_profile);
    m.def("_watch_float_errors", &float_errors::watch);
    m.def("_set_float_error_handler", [](nb::object handler) {
        float_error_handler = handler.release().ptr();  // kept for good
        float_errors::set_handler(report_float_errors);
    });
    m.def("_set_eager", [](bool on) { Tape::current().set_eager(on); });
    m.def("_is_eager", [] { return Tape::current().eager(); });
    m.def("_set_num_threads", &set_thread_count, nb::arg("n"),
          "Sets how many threads parallel work uses.");
    m.def("_get_num_threads", &thread_count, "How many threads parallel work uses.");
    m.def("_set_setting", [](const std::string& n, const std::string& v) { set_setting(n, v); });
    m.def("_setting", [](const std::string& n) { return setting(n); });
    m.def("_settings", [] {
        nb::list rows;
        for (const SettingInfo& s : setting_infos) {
            rows.append(nb::make_tuple(std::string(s.name), std::string(s.variable),
                                       std::string(s.fallback), std::string(s.meaning),
                                       setting(s.name)));
        }
        return rows;
    });
    m.def("_primitives", [] {
        nb::list rows;
        for (const Primitive* p : primitives::all()) {
            const bool is_new = p->effect == Primitive::Effect::New;
            const char* peeks[] = {"no", "errors", "a count"};
            rows.append(nb::make_tuple(std::string(p->id), std::string(p->meaning),
                                       is_new ? "new memory" : "parts of memory that exists",
                                       std::string(p->signature),
                                       peeks[static_cast<int>(p->peeks)]));
        }
        return rows;
    });
    m.def("_trim", [] { pool::trim(); });
    m.def("_set_memory_limit", [](std::int64_t n) { pool::set_limit(n); });
    m.def("_cached_bytes", [] { return pool::cached_bytes(); });
    m.def("_memory_limit", [] { return pool::limit(); });
}

}  // namespace unisono::python
