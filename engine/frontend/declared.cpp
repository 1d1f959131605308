// What programs declare: types of parameters, locals and results, and eager signatures.
#include <algorithm>

#include "frontend/bindings.h"
#include "frontend/tables.h"

namespace unisono::frontend {

std::string describe(const Declared& d) {
    std::string text;
    if (d.type.is_tuple()) {
        text = "tuple (";
        for (std::size_t i = 0; i < d.items.size(); ++i)
            text += (i ? ", " : "") + describe(d.items[i]);
        text += d.items.size() == 1 ? ",)" : ")";
    } else {
        text = d.is_given ? describe(d.type) : "anything";
        bool is_contiguous =
            d.type.is_array() && std::any_of(d.type.strides.begin(), d.type.strides.end(),
                                             [](auto s) { return s == ir::StrideClass::One; });
        if (is_contiguous) text += " whose elements lie side by side";
    }
    return d.is_optional ? text + " or None" : text;
}

/// Python's kinds of numbers in the order in which each holds the ones before it.
static int kind_of(const Type& t) {
    return is_bool(t.dtype) ? 0 : is_complex(t.dtype) ? 3 : is_float(t.dtype) ? 2 : 1;
}

/// A list of numbers for a declared list of them: it stays as it came, which is the faster form.
static bool is_declared_list(const Type& from, const Type& to) {
    if (!to.is_object_list() || !from.is_list()) return false;
    const Type& item = to.items.at(0);
    return item.is_scalar() && item.dtype == from.dtype;
}

/// 0: the type itself; more: a conversion of numbers; nothing: it does not fit. Whether the
/// elements of an array lie side by side is certain of what Python gives, and often unknown in
/// compiled code.
static std::optional<int> distance(const Type& from, const Declared& to, bool is_certain) {
    if (!to.is_given || from == to.type || is_declared_list(from, to.type)) return 0;
    if (from.kind == Type::Kind::None && to.is_optional) return 0;
    if (from.is_optional()) return distance(from.items[1], to, is_certain);
    if (to.type.is_complex() && from.is_scalar()) return from == to.type ? 0 : 8;
    if (from.kind != to.type.kind) return std::nullopt;
    if (from.is_scalar()) {
        int a = kind_of(from), b = kind_of(to.type);
        if (a > b) return std::nullopt;
        bool is_narrower = a == b && size_of(from.dtype) > size_of(to.type.dtype);
        return 1 + 2 * (b - a) + (is_narrower ? 10 : 0);
    }
    if (from.is_array()) {
        if (from.dtype != to.type.dtype || from.rank != to.type.rank) return std::nullopt;
        int unknown = 0;
        for (std::size_t k = 0; k < from.strides.size(); ++k) {
            bool wants_one = to.type.strides[k] == ir::StrideClass::One;
            if (wants_one && from.strides[k] != ir::StrideClass::One) ++unknown;
        }
        return unknown > 0 && is_certain ? std::nullopt : std::optional(unknown);
    }
    if (!from.is_tuple() || from.items.size() != to.items.size()) return std::nullopt;
    int sum = 0;
    for (std::size_t i = 0; i < from.items.size(); ++i) {
        auto d = distance(from.items[i], to.items[i], is_certain);
        if (!d) return std::nullopt;
        sum += *d;
    }
    return sum;
}

Value Objects::declared_value(const Value& value, const Declared& wanted, const Place& place,
                              const std::string& role) {
    if (!wanted.is_given) return value;
    bool may_become = wanted.type.is_object_list() && value.type.is_list();
    if (may_become)
        return declared_value(Tables(*this, place).storable(value), wanted, place, role);
    if (wanted.type.is_table() && value.type.is_table())
        return Tables(*this, place).declared(value, wanted.type, role);
    const bool is_truth = role == "the result" && value.type.is_scalar() &&
                          !is_complex(value.type.dtype) && wanted.type.is_scalar() &&
                          is_bool(wanted.type.dtype);
    if (!is_truth && !distance(value.type, wanted, false)) {
        refuse(place,
               role + " is declared as " + describe(wanted) + "; got " + describe(value.type),
               value.type.is_scalar() ? "convert it, as in int(x) or np.float32(x)"
                                      : "convert what is given, or change the declaration");
    }
    if (value.type.is_optional() && wanted.is_optional) {
        Value there = declared_value(value.items[1], wanted, place, role);
        return as_optional(value, Type::optional(there.type));
    }
    Value v = present(value, role + " is declared as " + describe(wanted) + "; got None", place);
    if (v.type.is_scalar()) {
        v.type = wanted.type;
        v.expr = cast(v.expr, wanted.type.dtype);
    }
    for (std::size_t i = 0; i < wanted.items.size() && i < v.items.size(); ++i) {
        v.items[i] = declared_value(v.items[i], wanted.items[i], place, role);
        v.type.items[i] = v.items[i].type;
    }
    return v;
}

const Signature* find_signature(const Source& source, const std::vector<Type>& args,
                                bool is_entry) {
    const Signature* best = nullptr;
    int least = 0;
    const std::size_t own = args.size() - source.captures;  // behind them, captured arrays
    for (const Signature& s : source.signatures) {
        if (s.args.size() != own) continue;
        int sum = 0;
        bool fits = true;
        for (std::size_t i = 0; i < own && fits; ++i) {
            auto d = distance(args[i], s.args[i], is_entry);
            fits = d.has_value();
            sum += d.value_or(0);
        }
        if (fits && (!best || sum < least)) {
            best = &s;
            least = sum;
        }
    }
    return best;
}

static std::string listed(const std::vector<Type>& types) {
    std::string text;
    for (const Type& t : types) text += (text.empty() ? "" : ", ") + describe(t);
    return "(" + text + ")";
}

/// Converts the parameters as the signature and the annotations say.
void Bindings::declare_parameters() {
    const Signature* signature = nullptr;
    if (!source_.signatures.empty()) {
        signature = find_signature(source_, instance_.args, module_.is_entry(instance_));
        if (!signature) {
            std::string known;
            for (const Signature& s : source_.signatures) {
                std::string args;
                for (const Declared& d : s.args) args += (args.empty() ? "" : ", ") + describe(d);
                known += (known.empty() ? "(" : ", (") + args + ")";
            }
            refuse(definition_place(source_),
                   "no signature takes " + listed(instance_.args) + "; it is declared for " + known,
                   "convert the arguments, add a signature, or leave the signatures out");
        }
        result_wanted_ = signature->result;
    }
    if (source_.result.is_given) result_wanted_ = source_.result;
    for (std::size_t i = 0; i < source_.params.size(); ++i) {
        const std::string& name = source_.params[i];
        Binding& b = env_.names[name];
        std::string role = "parameter '" + name + "'";
        if (b.value.type.is_table()) {
            bool is_said = i < source_.declared.size() && source_.declared[i].is_given;
            const Type* wanted = is_said ? &source_.declared[i].type : nullptr;
            b.value = Tables(*this, b.origin).opened(b.value, &name, wanted);
        }
        if (signature && i < signature->args.size() &&
            !is_declared_list(b.value.type, signature->args[i].type))
            b.value = declared_value(b.value, signature->args[i], b.origin, role);
        if (i < source_.declared.size())
            b.value = declared_value(b.value, source_.declared[i], b.origin, role);
    }
    // A number that is declared is known before the first return: a recursion needs no other.
    bool is_number =
        result_wanted_.is_given && result_wanted_.type.is_scalar() && !result_wanted_.is_optional;
    if (!is_number || instance_.has_result) return;
    instance_.result = result_wanted_.type;
    instance_.shape = {};
    instance_.shape.kind = ResultShape::Kind::Scalar;
    instance_.shape.dtype = result_wanted_.type.dtype;
    instance_.has_result = true;
}

/// The value in the form of a type that holds it.
Value Objects::converted_value(const Value& value, const Type& type) {
    if (type.is_optional()) return as_optional(value, type);
    if (type.is_instance() && value.type.kind == Type::Kind::None) {
        std::int32_t slot = b_->slot("none", DType::Int64, true);
        emit(b_->adopt(slot, i64(0), i64(0)));
        return object_in(slot, type);
    }
    Value v = value;
    v.type = type;
    if (type.is_scalar()) v.expr = cast(value.expr, type.dtype);
    for (std::size_t i = 0; i < v.items.size(); ++i)
        v.items[i] = converted_value(v.items[i], type.items[i]);
    return v;
}

/// The value with its numbers in temporaries, where later statements may change what they read.
Value Objects::kept_apart(Value value) {
    if (value.type.is_instance()) value = held_object(value);
    if (value.type.is_word() && value.expr && !is_invariant(value.expr))
        value.expr = temporary(value.expr);
    for (Value& item : value.items) item = kept_apart(item);
    return value;
}

Value Objects::kept(const Value& value, const Effects& effects) {
    Value v = value;
    if (v.type.is_word() && v.expr && (has_load(v.expr) || effects.change(v.expr)))
        v.expr = temporary(v.expr);
    if (v.lazy && !source_.is_kernel && effects.any()) v = made(v, {});
    if (v.type.is_array() && !v.lazy && !source_.is_kernel) {
        Descriptor d = describe_array(v.array);
        auto changes = [&](E e) { return effects.change(e); };
        if (effects.all || effects.slots.count(d.root) || changes(d.offset) ||
            std::any_of(d.extents.begin(), d.extents.end(), changes) ||
            std::any_of(d.strides.begin(), d.strides.end(), changes))
            v = snapshot(v);
    }
    if (v.type.is_instance() && (effects.all || effects.slots.count(describe_array(v.array).root)))
        v = held_object(v);
    for (Value& item : v.items) item = kept(item, effects);
    return v;
}

/// The value, apart from whatever may change.
Value Objects::held(const Value& value) {
    Effects anything;
    anything.all = true;
    return kept(value, anything);
}

}  // namespace unisono::frontend
