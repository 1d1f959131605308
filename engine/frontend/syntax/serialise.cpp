// Writes programs.
#include "frontend/syntax/serialise.h"

#include <charconv>
#include <map>
#include <vector>

#include "core/error.h"

namespace unisono::frontend {

namespace {

class Writer {
  public:
    std::string program(const Source& entry) {
        number(entry);
        out_ = "(unisono-tree 1";
        // Callees are numbered while those that call them are written.
        for (std::size_t k = 0; k < functions_.size(); ++k) {
            out_ += "\n  ";
            function(*functions_[k], *functions_[k]);
        }
        return std::move(out_) + ")\n";
    }

  private:
    std::size_t number(const Source& source) {
        const auto [at, is_new] = numbers_.emplace(&source, functions_.size());
        if (is_new) functions_.push_back(&source);
        return at->second;
    }

    void word(std::string_view text) { (out_ += ' ') += text; }
    void integer(std::int64_t v) { word(std::to_string(v)); }
    void text(std::string_view s) {
        out_ += " \"";
        for (const char c : s) {
            if (c == '\n') {
                out_ += "\\n";
            } else {
                if (c == '"' || c == '\\') out_ += '\\';
                out_ += c;
            }
        }
        out_ += '"';
    }
    void texts(const std::vector<std::string>& all) {
        out_ += " [";
        for (const std::string& s : all) text(s);
        out_ += ']';
    }

    /// `outer`: the function whose callees those inside share.
    void function(const Source& s, const Source& outer) {
        if (s.native)
            fail(ErrorKind::Unsupported, s.name +
                                             ": a function of C text cannot be serialised; "
                                             "serialise the functions that call it without it");
        if (!s.classes.empty())
            fail(ErrorKind::Unsupported,
                 s.name +
                     ": a function that names a class cannot be serialised; give its fields "
                     "as arguments");
        out_ += "(function";
        text(s.name);
        text(s.file);
        integer(s.first_line);
        texts(s.lines);
        texts(s.params);
        integer(static_cast<std::int64_t>(s.positional));
        integer(s.vararg);
        integer(static_cast<std::int64_t>(s.captures));
        integer(s.is_kernel);
        integer(s.self);
        options(s.options);
        out_ += " [";
        for (const Declared& d : s.declared) declared(d);
        out_ += ']';
        declared(s.result);
        out_ += " [";
        for (const auto& [name, type] : s.locals) {
            text(name);
            declared(type);
        }
        out_ += "] [";
        for (const Signature& signature : s.signatures) {
            out_ += " [";
            for (const Declared& d : signature.args) declared(d);
            out_ += ']';
            declared(signature.result);
        }
        out_ += "] [";
        for (const auto& [index, value] : s.defaults) {
            integer(static_cast<std::int64_t>(index));
            node(value);
        }
        out_ += "] [";
        for (std::size_t k = 0; &s == &outer && k < s.callees.size(); ++k) {
            const Source* callee = callee_of(s, k);
            if (!callee) fail(ErrorKind::Value, s.name + ": a function that it calls is gone");
            integer(static_cast<std::int64_t>(number(*callee)));
        }
        out_ += "] [";
        for (const auto& inner : s.nested) {
            out_ += "\n    ";
            function(*inner, outer);
        }
        out_ += "]\n   ";
        node(s.body);
        out_ += ')';
    }

    void options(const Options& o) {
        out_ += " [";
        for (const bool set : {o.checks_bounds, o.numpy_errors, o.fastmath, o.runs_serially,
                               o.refuses_interpreter, o.by_elements, o.counts_from_end})
            integer(set);
        text(o.schedule);
        integer(o.chunk);
        integer(o.threads);
        out_ += ']';
    }

    void declared(const Declared& d) {
        if (!d.is_given) return word("-");
        if (d.is_optional || !d.items.empty()) refuse_type(d.type);
        const Type& t = d.type;
        switch (t.kind) {
            case Type::Kind::None: return word("none");
            case Type::Kind::Scalar:
                word("scalar");
                word(name(t.dtype));
                return integer(static_cast<int>(t.weak));
            case Type::Kind::Array:
                word("array");
                word(name(t.dtype));
                integer(t.writable);
                integer(t.rank);
                for (const ir::StrideClass c : t.strides) integer(static_cast<int>(c));
                return;
            default: refuse_type(t);
        }
    }
    [[noreturn]] static void refuse_type(const Type& t) {
        fail(ErrorKind::Unsupported,
             "a function with a declared type of " + describe(t) +
                 " cannot be serialised; declare numbers and arrays only, or nothing");
    }

    void node(const Node& n) {
        (out_ += " (") += name_of(n.kind);
        out_ += '@' + std::to_string(n.place.line) + ':' + std::to_string(n.place.column) + '-' +
                std::to_string(n.place.end_line) + ':' + std::to_string(n.place.end_column);
        if (!n.text.empty() || !n.note.empty()) text(n.text);
        if (!n.note.empty()) text(n.note);
        if (n.index != 0) (out_ += " #") += std::to_string(n.index);
        if (n.kind == NodeKind::Const) {
            (out_ += " =") += name(n.value.dtype);
            char digits[16];
            const auto end = std::to_chars(digits, digits + sizeof digits, n.value.bits, 16).ptr;
            (out_ += ':').append(digits, end);
            integer(static_cast<int>(n.weak));
        }
        for (const Node& child : n.children) node(child);
        out_ += ')';
    }

    std::string out_;
    std::vector<const Source*> functions_;
    std::map<const Source*, std::size_t> numbers_;
};

}  // namespace

std::string serialise(const Source& source) { return Writer().program(source); }

}  // namespace unisono::frontend
