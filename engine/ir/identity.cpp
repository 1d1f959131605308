// The identity of a module as bytes: every field of every table and node except the names of
// files. Lists are preceded by their lengths, so that different trees have different bytes.
#include <cstring>
#include <type_traits>

#include "ir/build.h"

namespace unisono::ir {
namespace {

class Identity {
  public:
    std::string of(const Module& module) {
        number(module.functions.size());
        for (const Function& f : module.functions) function(f);
        return std::move(out_);
    }

  private:
    template <class T>
    void raw(T value) {
        static_assert(std::is_integral_v<T> || std::is_enum_v<T>);
        char bytes[sizeof value];
        std::memcpy(bytes, &value, sizeof value);
        out_.append(bytes, sizeof value);
    }

    /// Few are large: those below 128 take a byte.
    void number(std::uint64_t value) {
        while (value >= 128) {
            out_ += static_cast<char>(value | 128);
            value >>= 7;
        }
        out_ += static_cast<char>(value);
    }

    /// Ids: mostly small, -1 and -2 mean something.
    void id(std::int32_t value) { number(static_cast<std::uint32_t>(value + 2)); }

    void text(const std::string& s) {
        number(s.size());
        out_ += s;
    }

    void flags(std::initializer_list<bool> bits) {
        unsigned all = 0;
        for (bool b : bits) all = 2 * all + b;
        number(all);
    }

    void line(Line l) {
        number(static_cast<std::uint64_t>(l.line));
        number(l.file);
        number(l.column);
    }

    void ids(std::span<const std::int32_t> list) {
        number(list.size());
        for (std::int32_t i : list) id(i);
    }

    template <class Node>
    void nodes(std::span<const Node* const> list) {
        number(list.size());
        for (const Node* n : list) node(n);
    }

    void function(const Function& f) {
        text(f.name);
        flags({f.is_kernel, f.polls, f.is_deferred, f.native != nullptr, f.body != nullptr});
        number(static_cast<std::uint64_t>(f.dimensions));
        if (f.native) text(f.native->key);
        text(f.symbol);
        number(f.params.size());
        for (const Param& p : f.params) {
            text(p.name);
            raw(p.dtype);
            id(p.array);
        }
        number(f.arrays.size());
        for (const Array& a : f.arrays) array(a);
        number(f.vars.size());
        for (const Var& v : f.vars) {
            text(v.name);
            raw(v.dtype);
        }
        number(f.results.size());
        for (DType t : f.results) raw(t);
        number(f.sites.size());
        for (const FaultSite& s : f.sites) {
            raw(s.kind);
            text(s.message);
            line(s.line);
            id(s.exception);
        }
        number(f.natives.size());
        for (const std::string& n : f.natives) text(n);
        nodes(std::span<const E>(f.grid));
        if (f.body) node(f.body);
    }

    void array(const Array& a) {
        text(a.name);
        raw(a.dtype);
        number(static_cast<std::uint64_t>(a.rank));
        raw(a.space);
        flags({a.writable, a.noalias, a.is_slot, a.offset != nullptr});
        id(a.param);
        number(a.strides.size());
        for (StrideClass s : a.strides) raw(s);
        id(a.base);
        if (a.offset) node(a.offset);
        some(a.extents);
        some(a.view_strides);
    }

    /// Expressions of which some may be missing.
    void some(const std::vector<E>& list) {
        number(list.size());
        for (E e : list) {
            flags({e != nullptr});
            if (e) node(e);
        }
    }

    void node(E e) {
        raw(e->kind);
        raw(e->dtype);
        line(e->line);
        switch (e->kind) {
            case ExprKind::Const: number(e->bits); return;
            case ExprKind::Var: id(e->id); return;
            case ExprKind::Unary:
            case ExprKind::Binary: raw(e->op); break;
            default:
                raw(e->op);
                raw(e->field);
                raw(e->query);
                raw(e->access);
                id(e->id);
                id(e->axis);
                number(e->bits);
        }
        nodes(e->args);
    }

    void node(S s) {
        raw(s->kind);
        raw(s->loop);
        raw(s->access);
        raw(s->op);
        flags({s->any_order, s->numbers, s->streaming, s->rare});
        id(s->id);
        id(s->axis);
        id(s->fault);
        line(s->line);
        nodes(s->args);
        nodes(s->body);
        nodes(s->orelse);
        number(s->reductions.size());
        for (const Reduction& r : s->reductions) {
            id(r.var);
            raw(r.op);
        }
        ids(s->arrays);
        ids(s->outs);
    }

    std::string out_;
};

}  // namespace

std::string identity(const Module& module) { return Identity().of(module); }

}  // namespace unisono::ir
