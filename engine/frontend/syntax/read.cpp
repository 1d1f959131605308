// Reads programs that serialise.cpp wrote, and checks them.
#include <charconv>
#include <vector>

#include "core/error.h"
#include "frontend/syntax/serialise.h"

namespace unisono::frontend {

namespace {

constexpr int deepest = 5000;  ///< nodes inside of one another

class Reader {
  public:
    Reader(std::string_view text, void (*adjust)(Options&)) : text_(text), adjust_(adjust) {}

    std::shared_ptr<const Source> program() {
        expect('(');
        if (word() != "unisono-tree") wrong("\"unisono-tree\"");
        if (const auto version = integer(); version != 1) wrong("version 1");
        while (peek() != ')') functions_.push_back(function());
        expect(')');
        if (peek() != '\0') wrong("the end");
        if (functions_.empty()) wrong("a function");
        for (std::size_t k = 0; k < functions_.size(); ++k) link(k);
        for (const auto& f : functions_) note_changed_lists(*f);
        return functions_.front();
    }

  private:
    [[noreturn]] void wrong(const std::string& expected) const {
        fail(ErrorKind::Value, "syntax tree: the text is damaged at byte " + std::to_string(at_) +
                                   "; expected " + expected + "; write it again");
    }

    char peek() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
        return at_ < text_.size() ? text_[at_] : '\0';
    }
    void expect(char c) {
        if (peek() != c) wrong(std::string("'") + c + "'");
        ++at_;
    }
    bool take(char c) {
        if (peek() != c) return false;
        ++at_;
        return true;
    }
    std::string_view word() {
        peek();
        const std::size_t begin = at_;
        while (at_ < text_.size() &&
               std::string_view(" \n()[]\"@:#=").find(text_[at_]) == std::string_view::npos)
            ++at_;
        if (at_ == begin) wrong("a word");
        return text_.substr(begin, at_ - begin);
    }
    template <class T = std::int64_t>
    T number_in(std::string_view digits, int base = 10) const {
        T value{};
        const auto [end, code] =
            std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
        if (code != std::errc{} || end != digits.data() + digits.size()) wrong("a number");
        return value;
    }
    std::int64_t integer() { return number_in(word()); }
    int small(std::int64_t least, std::int64_t most) {
        const std::int64_t v = integer();
        if (v < least || v > most) wrong("a smaller number");
        return static_cast<int>(v);
    }
    std::size_t count() { return static_cast<std::size_t>(small(0, 1 << 20)); }
    std::string string() {
        expect('"');
        std::string s;
        for (;;) {
            if (at_ >= text_.size()) wrong("'\"'");
            char c = text_[at_++];
            if (c == '"') return s;
            if (c == '\\') {
                if (at_ >= text_.size()) wrong("'\"'");
                c = text_[at_++];
                if (c == 'n') c = '\n';
            }
            s += c;
        }
    }
    template <class F>
    void list(F&& item) {
        expect('[');
        while (!take(']')) item();
    }
    std::vector<std::string> strings() {
        std::vector<std::string> all;
        list([&] { all.push_back(string()); });
        return all;
    }

    std::shared_ptr<Source> function(int depth = 0) {
        if (depth > 100) wrong("functions that are not so deep inside of one another");
        expect('(');
        if (word() != "function") wrong("a function");
        auto s = std::make_shared<Source>();
        s->name = string();
        s->file = string();
        s->first_line = small(0, 1 << 30);
        s->lines = strings();
        s->params = strings();
        s->positional = count();
        s->vararg = small(-1, static_cast<std::int64_t>(s->params.size()) - 1);
        s->captures = count();
        s->is_kernel = small(0, 1) != 0;
        s->self = small(-1, 1 << 20);
        if (s->positional > s->params.size() || s->captures > s->params.size())
            wrong("as many parameters as are counted");
        s->options = options();
        if (adjust_) adjust_(s->options);
        list([&] { s->declared.push_back(declared()); });
        if (s->declared.size() != s->params.size()) wrong("a type for each parameter");
        s->result = declared();
        list([&] {
            std::string name = string();
            s->locals.emplace(std::move(name), declared());
        });
        list([&] {
            Signature& signature = s->signatures.emplace_back();
            list([&] { signature.args.push_back(declared()); });
            signature.result = declared();
        });
        list([&] {
            const std::size_t index = count();
            if (index >= s->params.size()) wrong("a parameter");
            s->defaults.emplace(index, node(0));
        });
        std::vector<std::size_t>& callees = callees_[s.get()];
        list([&] { callees.push_back(count()); });
        list([&] { s->nested.push_back(function(depth + 1)); });
        s->body = node(0);
        if (s->body.kind != NodeKind::Block) wrong("a Block");
        expect(')');
        return s;
    }

    Options options() {
        Options o;
        expect('[');
        for (bool* set : {&o.checks_bounds, &o.numpy_errors, &o.fastmath, &o.runs_serially,
                          &o.refuses_interpreter, &o.by_elements, &o.counts_from_end})
            *set = small(0, 1) != 0;
        o.schedule = string();
        o.chunk = integer();
        o.threads = small(0, 1 << 20);
        expect(']');
        return o;
    }

    DType dtype() {
        bool found = false;
        const DType t = dtype_from_name(std::string(word()), found);
        if (!found) wrong("a dtype");
        return t;
    }
    Weak weak() { return static_cast<Weak>(small(0, static_cast<int>(Weak::Complex))); }

    Declared declared() {
        Declared d;
        const std::string_view kind = word();
        if (kind == "-") return d;
        d.is_given = true;
        if (kind == "none") return d;
        if (kind == "scalar") {
            const DType t = dtype();
            const Weak w = weak();
            d.type = w == Weak::None ? Type::numpy(t) : Type::python(w);
            return d;
        }
        if (kind != "array") wrong("a type");
        const DType t = dtype();
        const bool writable = small(0, 1) != 0;
        std::vector<ir::StrideClass> strides(static_cast<std::size_t>(small(0, 64)));
        for (ir::StrideClass& c : strides)
            c = static_cast<ir::StrideClass>(small(0, static_cast<int>(ir::StrideClass::Other)));
        d.type = Type::array(t, std::move(strides), writable);
        return d;
    }

    Node node(int depth) {
        if (depth > deepest) wrong("nodes that are not so deep inside of one another");
        expect('(');
        Node n;
        const auto kind = kind_named(word());
        if (!kind) wrong("a kind of node");
        n.kind = *kind;
        place(n.place);
        if (peek() == '"') n.text = string();
        if (peek() == '"') n.note = string();
        if (take('#')) n.index = small(-(1 << 20), 1 << 20);
        if (n.kind == NodeKind::Const) {
            expect('=');
            n.value.dtype = dtype();
            expect(':');
            n.value.bits = number_in<std::uint64_t>(word(), 16);
            n.weak = weak();
        }
        while (!take(')')) n.children.push_back(node(depth + 1));
        return n;
    }

    /// @line:column-line:column
    void place(Place& p) {
        expect('@');
        auto digits = [&] {
            const std::size_t begin = at_;
            while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
            return number_in<int>(text_.substr(begin, at_ - begin));
        };
        p.line = digits();
        expect(':');
        p.column = digits();
        expect('-');
        p.end_line = digits();
        expect(':');
        p.end_column = digits();
    }

    /// A function owns those that are written behind it; those before own it, directly or not.
    void link(std::size_t k) {
        Source& s = *functions_[k];
        for (const std::size_t callee : callees_[&s]) {
            if (callee >= functions_.size()) wrong("a function that is there");
            const bool owns = callee > k;
            if (!owns) s.callers[s.callees.size()] = functions_[callee];
            s.callees.push_back(owns ? functions_[callee] : nullptr);
        }
        if (s.self >= static_cast<int>(s.callees.size())) wrong("itself among its callees");
        link_nested(s);
    }

    std::string_view text_;
    void (*adjust_)(Options&);
    std::size_t at_ = 0;
    std::vector<std::shared_ptr<Source>> functions_;
    std::map<const Source*, std::vector<std::size_t>> callees_;
};

}  // namespace

std::shared_ptr<const Source> read_program(std::string_view text, void (*adjust)(Options&)) {
    return Reader(text, adjust).program();
}

}  // namespace unisono::frontend
