// Raises the exceptions of faults in compiled code, at the line of the program.
#include "jit/dispatch.h"

#include <algorithm>
#include <array>

#include "backends/codegen/compile.h"
#include "core/native/foreign.h"
#include "errors.h"
#include "frontend/diagnose.h"
#include "frontend/native.h"
#include "jit/launch/launch.h"
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
        if (foreign.line > 0) raise_at(s, {.file = foreign.file, .line = foreign.line});
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

/// Where compiled code stood when it failed. `methods` may be among what it called.
static std::string place_note(const Specialisation& s, const std::string& name, ir::Line place,
                              const Dispatch::Methods& methods) {
    const std::string& file = s.files.at(place.file);
    std::string inner;
    std::string line = find_line(*s.request.source, file, place.line, inner);
    for (const auto& [method, source] : methods) {
        if (line.empty() && source) line = find_line(*source, file, place.line, inner);
    }
    // A loop that we wrote around the user's function says nothing to them.
    bool is_written = s.request.source->file.starts_with("<unisono ") && !line.empty();
    std::string note = "in compiled function " + (is_written ? inner : name) + ": " + file + ":" +
                       std::to_string(place.line);
    if (!line.empty()) note += "\n    " + line;
    return note;
}

/// Raises the error that is set, with a note that says where the compiled code stood.
void Dispatch::raise_at(const Specialisation& s, ir::Line place) const {
    add_note(place_note(s, name_, place, methods_));
    throw PythonError{};
}

namespace {

/// The exception of a fault that shows when nobody calls any more.
struct LateDetail final : PythonDetail {
    ir::FaultSite site;
    std::array<std::int64_t, 4> values{};
    std::string note;

    void set_exception() const override {
        try {
            python::set_exception(site, values);
            add_note(note);
        } catch (...) {
            PyErr_SetString(class_of(site.kind), site.message.c_str());
        }
    }
};

}  // namespace

void throw_late_fault(const Specialisation& s, const Fault& fault) {
    if (fault.site == codegen::interrupted_site)
        fail(ErrorKind::Interrupt, s.code->name + ": interrupted between two kernels");
    auto detail = std::make_shared<LateDetail>();
    detail->site = s.executable->sites()[static_cast<std::size_t>(fault.site)];
    std::copy(std::begin(fault.values), std::end(fault.values), detail->values.begin());
    detail->note = place_note(s, s.code->name, detail->site.line, {});
    const ir::FaultSite& site = detail->site;
    throw Error(site.kind, s.code->name + ": " + site.message, std::move(detail));
}

}  // namespace unisono::python
