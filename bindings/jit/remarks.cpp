// Gathers facts about specialisations into Python's lists, tuples and dicts.
#include "jit/remarks.h"

#include <set>

#include "backends/listing.h"
#include "errors.h"
#include "frontend/scope.h"
#include "ir/build.h"
#include "ir/kernel_memory.h"

namespace unisono::python {

namespace {

PyObject* text_of(const std::string& text) {
    return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
}

/// A list of make(item), each a new reference.
template <class List, class F>
Ref list_of(const List& items, F&& make) {
    Ref list(PyList_New(0));
    if (!list) throw PythonError{};
    for (const auto& item : items) {
        Ref made(make(item));
        if (!made || PyList_Append(list.get(), made.get()) < 0) throw PythonError{};
    }
    return list;
}

void put(PyObject* dict, const char* key, Ref value) {
    if (!value || PyDict_SetItemString(dict, key, value.get()) < 0) throw PythonError{};
}

PyObject* remark_tuple(const Remark& r) {
    return Py_BuildValue("(ssOssis)", r.pass.c_str(), r.name.c_str(), r.done ? Py_True : Py_False,
                         r.function.c_str(), r.file.c_str(), r.line, r.text.c_str());
}

PyObject* facts_dict(const ir::LineFacts& f, const std::vector<std::string>& files) {
    const std::string& file = files.at(f.file);
    return Py_BuildValue("{sssisisisisisisisisisisisisissss}", "file", file.c_str(), "line", f.line,
                         "depth", f.depth, "accesses", f.accesses, "tested", f.tested, "tests",
                         f.tests, "test_depth", f.test_depth, "arithmetic", f.arithmetic, "costly",
                         f.costly, "calls", f.calls, "natives", f.natives, "interpreted",
                         f.interpreted, "arrays", f.arrays, "computed", f.computed, "loops",
                         f.loops.c_str(), "why", f.why.c_str());
}

/// What a kernel takes; its arrays as its text has them where the back end does not tell.
Ref resources_dict(const Resources& told, const ir::Module& module) {
    const ir::KernelMemory memory = ir::kernel_memory(module);
    auto or_text = [&](int bytes, std::int64_t text) {
        return static_cast<long long>(bytes ? bytes : text);
    };
    return Ref(Py_BuildValue("{sisLsLsisisisi}", "registers", told.registers, "shared_bytes",
                             or_text(told.shared_bytes, memory.group), "local_bytes",
                             or_text(told.local_bytes, memory.item), "constant_bytes",
                             told.constant_bytes, "most_items", told.most_items, "code_version",
                             told.code_version, "text_version", told.text_version));
}

/// The function's own text first, then those of what it calls.
void gather(const frontend::Source& source, std::set<const frontend::Source*>& seen,
            std::vector<const frontend::Source*>& all) {
    if (!seen.insert(&source).second) return;
    if (!source.lines.empty()) all.push_back(&source);
    for (const auto& callee : source.callees) {
        if (callee) gather(*callee, seen, all);
    }
}

PyObject* source_tuple(const frontend::Source* s) {
    Ref lines = list_of(s->lines, [](const std::string& line) { return text_of(line); });
    return Py_BuildValue("(ssiO)", s->name.c_str(), s->file.c_str(), s->first_line, lines.get());
}

PyObject* facts_of(const Dispatch& d, const Specialisation& s) {
    Ref dict(PyDict_New());
    if (!dict) throw PythonError{};
    const ir::Module module = frontend::compile(s.request).module;
    const Listing listing = s.executable->listing();
    auto facts = [&](const std::vector<ir::LineFacts>& list) {
        return list_of(list, [&](const ir::LineFacts& f) { return facts_dict(f, s.files); });
    };
    std::set<const frontend::Source*> seen;
    std::vector<const frontend::Source*> sources;
    gather(*s.request.source, seen, sources);
    put(dict.get(), "signature", Ref(text_of(signature(d, s))));
    put(dict.get(), "report", Ref(text_of(s.report)));
    put(dict.get(), "types", Ref(text_of(types_of_names(s))));
    put(dict.get(), "ir", Ref(text_of(ir::print(module))));
    put(dict.get(), "lowered", Ref(text_of(listing.lowered)));
    put(dict.get(), "llvm", Ref(text_of(listing.ir)));
    put(dict.get(), "asm", Ref(text_of(listing.assembly)));
    put(dict.get(), "files", list_of(s.files, [](const std::string& f) { return text_of(f); }));
    put(dict.get(), "sources", list_of(sources, source_tuple));
    put(dict.get(), "remarks", list_of(listing.remarks, remark_tuple));
    put(dict.get(), "built", facts(ir::line_facts(module)));
    put(dict.get(), "made", facts(listing.facts));
    put(dict.get(), "resources", resources_dict(listing.resources, module));
    return dict.release();
}

}  // namespace

std::string signature(const Dispatch& d, const Specialisation& s) {
    std::string text = d.name() + "(";
    for (std::size_t i = 0; i < s.request.args.size(); ++i) {
        text += (i ? ", " : "") + s.request.source->params[i] + ": " + describe(s.request.args[i]);
    }
    return text + (s.request.noalias ? ")" : "), arrays overlap");
}

std::string types_of_names(const Specialisation& s) {
    const ir::Module module = frontend::compile(s.request).module;
    const ir::Function& f = module.functions.front();
    std::set<std::string> lines;
    for (std::size_t i = 0; i < s.request.args.size(); ++i)
        lines.insert(s.request.source->params[i] + ": " + describe(s.request.args[i]));
    std::set<std::string> locals;
    frontend::walk(s.request.source->body, [&](const frontend::Node& n) {
        if (n.kind == frontend::NodeKind::Name) locals.insert(n.text);
    });
    for (const ir::Var& v : f.vars) {
        if (locals.count(v.name.substr(0, v.name.find('.'))))
            lines.insert(v.name + ": " + std::string(name(v.dtype)));
    }
    std::string text;
    for (const std::string& line : lines) text += "  " + line + "\n";
    return text;
}

PyObject* remarks_of(Dispatch& d) {
    return list_of(d.specialisations(), [&](const auto& s) { return facts_of(d, *s); }).release();
}

}  // namespace unisono::python
