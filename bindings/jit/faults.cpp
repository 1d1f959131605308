// Raises the exceptions of faults in compiled code, at the line of the program.
#include "jit/dispatch.h"

#include <algorithm>

#include "core/native/foreign.h"
#include "errors.h"
#include "frontend/diagnose.h"
#include "frontend/native.h"
#include "jit/values/text.h"

namespace unisono::python {

/// The source line `line` of the file, from the function or whatever it calls.
static std::string find_line(const frontend::Source& source, const std::string& file, int line,
                             std::string& function) {
    if (source.file == file) {
        std::string text = frontend::line_text(source, line);
        function = source.name;
        if (!text.empty()) return text.substr(std::min(text.size(), text.find_first_not_of(" \t")));
    }
    for (const auto& inner : source.nested) {
        std::string text = find_line(*inner, file, line, function);
        if (!text.empty()) return text;
    }
    for (const auto& callee : source.callees) {
        std::string text = callee ? find_line(*callee, file, line, function) : std::string();
        if (!text.empty()) return text;
    }
    return {};
}

void Dispatch::raise_fault(const Specialisation& s, const Fault& fault) const {
    const ir::FaultSite& site = s.executable->sites()[static_cast<std::size_t>(fault.site)];
    bool is_print = site.kind == ErrorKind::Runtime && restore_print_error();
    ForeignError foreign;
    if (site.message == frontend::cpp_exception && take_foreign_error(foreign)) {
        ir::FaultSite reported = site;
        reported.kind = foreign.kind;
        reported.message = foreign.text;
        set_exception(reported, fault.values);
    } else if (!is_print) {
        set_exception(site, fault.values);
    }
    raise_at(s, site.line);
}

/// What the signal's handler raised is set already.
void Dispatch::raise_interrupt(const Specialisation& s, const Fault& fault) const {
    if (!PyErr_Occurred()) PyErr_SetNone(PyExc_KeyboardInterrupt);
    ir::Line line;
    line.line = static_cast<std::int32_t>(fault.values[0]);
    line.file = static_cast<std::uint16_t>(fault.values[1]);
    if (line.line == 0) line.line = s.request.source->first_line;
    raise_at(s, line);
}

/// Raises the error that is set, with a note that says where the compiled code stood.
void Dispatch::raise_at(const Specialisation& s, ir::Line place) const {
    const std::string& file = s.files.at(place.file);
    std::string inner;
    std::string line = find_line(*s.request.source, file, place.line, inner);
    for (const auto& [method, source] : methods_) {
        if (line.empty() && source) line = find_line(*source, file, place.line, inner);
    }
    // A loop that we wrote around the user's function says nothing to them.
    bool is_written = s.request.source->file.starts_with("<unisono ") && !line.empty();
    std::string note = "in compiled function " + (is_written ? inner : name_) + ": " + file + ":" +
                       std::to_string(place.line);
    if (!line.empty()) note += "\n    " + line;
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    Ref done(PyObject_CallMethod(value, "add_note", "s", note.c_str()));
    if (!done) PyErr_Clear();
    PyErr_Restore(type, value, trace);
    throw PythonError{};
}

}  // namespace unisono::python
