// Lowers comparisons, and, or, not, and conditional expressions: only what Python would evaluate is
// evaluated.
#include <algorithm>
#include <sstream>
#include <tuple>

#include "frontend/operators.h"
#include "frontend/tables.h"
#include "frontend/texts.h"

namespace unisono::frontend {

E Operators::truth(const Value& v, const Place& place) {
    if (auto set = special_method(nullptr, "__bool__", {v}, place)) return truth(*set, place);
    if (auto size = special_method(nullptr, "__len__", {v}, place)) return truth(*size, place);
    if (v.type.is_record()) return b_->boolean(true);
    if (v.type.is_instance())
        return v.type.rank ? op_binary(Op::Ne, object_address(v), i64(0)) : b_->boolean(true);
    if (v.type.is_tuple()) return b_->boolean(!v.items.empty());
    if (v.type.kind == Type::Kind::None) return b_->boolean(false);
    if (v.type.is_optional()) {
        auto value = [&] { return scalar(truth(v.items[1], place), Weak::Bool); };
        auto none = [&] { return scalar(b_->boolean(false), Weak::Bool); };
        return choose(v.items[0].expr, value, none, place).expr;
    }
    if (v.type.is_function()) return b_->boolean(true);
    if (v.type.is_complex()) return b_->cast(v.expr, DType::Bool);
    if (v.type.is_list()) return op_binary(Op::Ne, b_->extent(v.array, 0), i64(0));
    if (v.type.is_table()) return op_binary(Op::Ne, Tables(*this, place).size(v), i64(0));
    if (v.type.is_text()) return op_binary(Op::Ne, Texts(*this, place).length(v), i64(0));
    if (v.type.is_array() && v.type.rank == 0) return truth(element_of(v, {}, {}, false), place);
    want_scalar(v, place, "a condition");
    return cast(v.expr, DType::Bool);
}

Value Operators::equal_bytes(const Value& a, const Value& b, bool wanted, const Place& place) {
    const Value x = made(a, place), y = made(b, place);
    E count = temporary(b_->extent(x.array, 0), "count");
    std::int32_t same = declared("same", op_binary(Op::Eq, count, b_->extent(y.array, 0)));
    std::vector<S> look = collect([&] {
        list_loop(i64(0), count, [&](E k) {
            E differs = op_binary(Op::Ne, b_->load(x.array, {k}, ir::Access::Inside),
                                  b_->load(y.array, {k}, ir::Access::Inside));
            emit(b_->branch(differs,
                            b_->block({b_->assign(same, b_->boolean(false)), b_->leave()})));
        });
    });
    emit(b_->branch(b_->read(same), b_->block(look)));
    E found = b_->read(same);
    return scalar(wanted ? found : op_unary(Op::Not, found), Weak::Bool);
}

Value Operators::compare_two(const std::string& op, const Value& a, const Value& b,
                             const Place& place) {
    static const std::map<std::string, Op> ops = {{"<", Op::Lt},  {"<=", Op::Le}, {">", Op::Gt},
                                                  {">=", Op::Ge}, {"==", Op::Eq}, {"!=", Op::Ne}};
    if (auto v = compare_optional(op, a, b, place)) return *v;
    if (auto v = compare_identity(op, a, b, place)) return *v;
    bool is_none = a.type.kind == Type::Kind::None || b.type.kind == Type::Kind::None;
    bool is_identity = op == "is" || op == "is not";
    auto is_dtype = [](const Value& v) { return v.type.kind == Type::Kind::DTypeName; };
    if (is_dtype(a) && is_dtype(b) && (is_identity || op == "==" || op == "!="))
        return scalar(b_->boolean((a.type.dtype == b.type.dtype) == (op == "is" || op == "==")),
                      Weak::Bool);
    if (is_none && (is_identity || op == "==" || op == "!=")) {
        bool is_equal = a.type.kind == b.type.kind;
        return scalar(b_->boolean(is_equal == (op == "is" || op == "==")), Weak::Bool);
    }
    if (op == "in" && a.type.is_optional()) {
        auto none = [&] { return contains({}, b, place); };
        return choose(
            a.items[0].expr, [&] { return contains(a.items[1], b, place); }, none, place);
    }
    if (op == "in") return contains(a, b, place);
    if (op == "not in") {
        E found = compare_two("in", a, b, place).expr;
        if (auto known = constant_int(found)) return scalar(b_->boolean(*known == 0), Weak::Bool);
        return scalar(op_unary(Op::Not, found), Weak::Bool);
    }
    if ((op == "==" || op == "!=") && are_bytes(a.type) && are_bytes(b.type))
        return equal_bytes(as_array(a), as_array(b), op == "==", place);
    if (auto v = Tables(*this, place).compare(op, a, b)) return *v;
    if (auto v = compare_objects(op, a, b, place)) return *v;
    auto is_flag = [](const Value& v) { return v.type.is_scalar() && v.type.weak == Weak::Bool; };
    if (is_identity && is_flag(a) && is_flag(b))
        return compare_two(op == "is" ? "==" : "!=", a, b, place);
    if (is_identity && (is_flag(a) || is_flag(b)))  // True is no other object
        return scalar(b_->boolean(op == "is not"), Weak::Bool);
    auto it = ops.find(op);
    if (it == ops.end()) {
        refuse(place, "'" + op + "' is not supported in a compiled function",
               "compare numbers with < <= > >= == !=");
    }
    bool are_known = a.type.is_text() && b.type.is_text() && !a.expr && !b.expr;
    if (are_known && (op == "==" || op == "!="))
        return scalar(b_->boolean((a.text == b.text) == (op == "==")), Weak::Bool);
    if (a.type.is_text() || b.type.is_text()) return Texts(*this, place).compare(op, a, b);
    if (a.type.is_tuple() && b.type.is_tuple() && !is_identity) {
        // The first items that differ decide, else the lengths do.
        std::size_t common = std::min(a.items.size(), b.items.size());
        bool is_equality = op == "==" || op == "!=";
        auto size = [&](const Value& v) {
            return scalar(i64(static_cast<std::int64_t>(v.items.size())), Weak::Int);
        };
        E result = compare_two(is_equality ? "==" : op, size(a), size(b), place).expr;
        for (std::size_t i = common; i-- > 0;) {
            const Value &x = a.items[i], &y = b.items[i];
            E same = truth(compare_two("==", x, y, place), place);
            if (is_equality) {
                result = op_binary(Op::And, same, result);
            } else {
                E less = truth(compare_two(op.substr(0, 1), x, y, place), place);
                result = b_->select(same, result, less);
            }
        }
        return scalar(op == "!=" ? op_unary(Op::Not, result) : result, Weak::Bool);
    }
    bool is_equality = op == "==" || op == "!=";
    if (is_equality && a.type.is_tuple() != b.type.is_tuple() &&
        (a.type.is_scalar() || b.type.is_scalar()))
        return scalar(b_->boolean(op == "!="), Weak::Bool);
    bool has_array = a.type.is_array() || b.type.is_array();
    if (auto both = beside_array(a, b, place))
        return compare_two(op, both->first, both->second, place);
    if (!has_array && (a.type.is_complex() || b.type.is_complex()))
        return complex_compare(op, a, b, place);
    if (has_array && (a.type.is_array() || a.type.is_scalar()) &&
        (b.type.is_array() || b.type.is_scalar())) {
        return elementwise(
            {a, b}, [this, op, place](auto v) { return compare_two(op, v[0], v[1], place); },
            place);
    }
    want_scalar(a, place, "the left operand of '" + op + "'");
    want_scalar(b, place, "the right operand of '" + op + "'");
    // No integer type holds all values of a signed integer and of uint64: the sign decides first.
    const bool is_first = is_signed(a.type.dtype) && b.type.dtype == DType::UInt64;
    if (is_first || (is_signed(b.type.dtype) && a.type.dtype == DType::UInt64)) {
        E number = settle(cast((is_first ? a : b).expr, DType::Int64));
        E left = cast(is_first ? number : a.expr, DType::UInt64);
        E right = cast(is_first ? b.expr : number, DType::UInt64);
        const Op how = it->second;
        bool holds = how == Op::Ne ||
                     (is_first ? how == Op::Lt || how == Op::Le : how == Op::Gt || how == Op::Ge);
        E is_negative = op_binary(Op::Lt, number, i64(0));
        return scalar(b_->select(is_negative, b_->boolean(holds), op_binary(how, left, right)));
    }
    Type t = promote_types(a.type, b.type);
    // A Python integer is compared by value, whatever the width of the NumPy integer beside it.
    DType common = t.dtype;
    if (a.type.is_weak() != b.type.is_weak() && is_integer(common)) common = DType::Int64;
    bool weak = a.type.is_weak() && b.type.is_weak();
    return apply(it->second, cast(a.expr, common), cast(b.expr, common),
                 weak ? Weak::Bool : Weak::None);
}

static std::vector<std::string> split(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> words;
    for (std::string w; in >> w;) words.push_back(w);
    // "not in" and "is not" are one operator each.
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
        if ((words[i] == "not" && words[i + 1] == "in") ||
            (words[i] == "is" && words[i + 1] == "not")) {
            words[i] += " " + words[i + 1];
            words.erase(words.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        }
    }
    return words;
}

Value Operators::compare(const Node& node) {
    auto ops = split(node.text);
    auto first = operands(std::vector<const Node*>{&node.children[0], &node.children[1]}, true);
    auto want_values = [&](const std::string& op, Value& a, Value& b) {
        if (op == "in" || op == "not in")
            b = present(b, "argument of type 'NoneType' is not iterable", node.place);
        else if (op != "==" && op != "!=" && op != "is" && op != "is not")
            std::tie(a, b) = std::tuple_cat(present_operands(op, a, b, node.place));
    };
    want_values(ops[0], first[0], first[1]);
    if (ops.size() > 1 && first[1].type.is_scalar()) first[1].expr = settle(first[1].expr);
    at(node.place);
    Value result = compare_two(ops[0], first[0], first[1], node.place);
    std::function<Value(std::size_t, Value, Value)> chain = [&](std::size_t i, Value so_far,
                                                                Value left) -> Value {
        if (i == ops.size()) return so_far;
        return choose(
            so_far.expr,
            [&] {
                Value right = maybe_none(node.children[i + 1]);
                want_values(ops[i], left, right);
                if (i + 1 < ops.size() && right.type.is_scalar()) right.expr = settle(right.expr);
                return chain(i + 1, compare_two(ops[i], left, right, node.place), right);
            },
            [&] { return scalar(b_->boolean(false), so_far.type.weak); }, node.place);
    };
    return chain(1, result, first[1]);
}

/// Evaluating it cannot fault and costs next to nothing, so both sides of a choice may be
/// evaluated.
static bool is_harmless(E e) {
    return e->kind != ir::ExprKind::Load &&
           !((e->kind == ir::ExprKind::Unary || e->kind == ir::ExprKind::Binary) &&
             is_math(e->op)) &&
           std::all_of(e->args.begin(), e->args.end(), is_harmless);
}

/// As expression, for its truth only: the operands of and, or, not need no common type.
E Operators::condition(const Node& node) {
    at(node.place);
    if (node.kind == NodeKind::UnaryOp && node.text == "not")
        return op_unary(Op::Not, condition(node.children[0]));
    if (node.kind != NodeKind::BoolOp) return truth(maybe_none(node), node.place);
    bool is_and = node.text == "and";
    E so_far = condition(node.children[0]);
    std::map<std::string, Binding> before;
    for (std::size_t i = 1; i < node.children.size(); ++i) {
        assume(node.children[i - 1], is_and, &before);
        bool decides = false;  // it is known when compiling, and tells the result
        auto next = [&, i] {
            E test = condition(node.children[i]);
            auto known = constant_int(test);
            decides = known && (*known != 0) != is_and;
            return scalar(test, Weak::Bool);
        };
        auto same = [&] { return scalar(b_->boolean(!is_and), Weak::Bool); };
        so_far = is_and ? choose(so_far, next, same, node.place).expr
                        : choose(so_far, same, next, node.place).expr;
        if (decides) so_far = b_->boolean(!is_and);
    }
    for (auto& [name, binding] : before) env_.names[name] = binding;
    return so_far;
}

Value Operators::bool_op(const Node& node, std::size_t from) {
    Value left = maybe_none(node.children[from]);
    if (from + 1 == node.children.size()) return left;
    if (left.type.is_scalar() && !is_harmless(left.expr)) left.expr = temporary(left.expr);
    E test = truth(left, node.children[from].place);
    bool is_and = node.text == "and";
    auto rest = [&] {
        return assuming(node.children[from], is_and, [&] { return bool_op(node, from + 1); });
    };
    // What is true is not None.
    auto same = [&] { return !is_and && left.type.is_optional() ? left.items[1] : left; };
    return is_and ? choose(test, rest, same, node.place) : choose(test, same, rest, node.place);
}

Value Operators::conditional(const Node& node) {
    E test = condition(node.children[0]);
    auto side = [&](bool outcome) {
        return assuming(node.children[0], outcome,
                        [&] { return maybe_none(node.children[outcome ? 1 : 2]); });
    };
    return choose(
        test, [&] { return side(true); }, [&] { return side(false); }, node.place);
}

bool Operators::is_cheap(const std::vector<S>& made, const Value& v) const {
    return made.empty() && (!v.type.is_scalar() || is_harmless(v.expr));
}

/// As collect; false where the value is not known before a result of this function is.
bool Operators::try_collect(const std::function<void()>& emit_body, std::vector<S>& made) {
    auto* list = out_;
    std::size_t frames = frames_.size();
    try {
        made = collect(emit_body);
        return true;
    } catch (const Unresolved& call) {
        out_ = list;
        while (frames_.size() > frames) frames_.pop_back();
        unresolved_ = call.place;
        return false;
    }
}

/// The array that a branch leaves.
Value Operators::chosen_array(const Value& a, const Value& b, const Type& type, const Place& place,
                              std::array<std::vector<S>, 2>& made) {
    for (const Value* v : {&a, &b}) {
        const ir::Array& array = function_->arrays[static_cast<std::size_t>(v->array)];
        if (array.space != ir::Space::Global)
            refuse(place, "a choice between arrays of a work-item or a group",
                   "choose between their elements, or use one array with an axis more");
    }
    Descriptor d{b_->slot("choice", type.dtype, type.writable),
                 nullptr,
                 {},
                 {},
                 type.strides,
                 type.writable};
    std::array<Descriptor, 2> from{describe_array(a.array), describe_array(b.array)};
    for (std::size_t k = 0; k < 2; ++k) made[k].push_back(b_->point(d.root, from[k].root));
    auto number = [&](E x, E y) {
        std::int32_t id = b_->var("choice", DType::Int64);
        emit(b_->declare(id, nullptr));
        made[0].push_back(b_->assign(id, x));
        made[1].push_back(b_->assign(id, y));
        return b_->read(id);
    };
    d.offset = number(from[0].offset, from[1].offset);
    for (std::size_t k = 0; k < type.strides.size(); ++k) {
        d.extents.push_back(number(from[0].extents[k], from[1].extents[k]));
        bool is_one = type.strides[k] == ir::StrideClass::One;
        d.strides.push_back(is_one ? i64(1) : number(from[0].strides[k], from[1].strides[k]));
    }
    return view("choice", d);
}

/// What both branches leave in variables of their own: texts, tables, objects, tuples of these.
Value Operators::choose_object(E condition, const std::array<Value, 2>& values,
                               std::array<std::vector<S>, 2> made, const Type& type,
                               const Place& place) {
    std::function<Value(const Value&, const Value&, const Type&)> held = [&](const Value& a,
                                                                             const Value& b,
                                                                             const Type& t) {
        const Value* both[] = {&a, &b};
        Value v;
        v.type = t;
        if (t.is_optional()) {
            Value as[2];
            for (std::size_t k = 0; k < 2; ++k) {
                auto more = collect([&] { as[k] = as_optional(*both[k], t); });
                made[k].insert(made[k].end(), more.begin(), more.end());
            }
            for (std::size_t k = 0; k < 2; ++k)
                v.items.push_back(held(as[0].items[k], as[1].items[k], t.items[k]));
            return v;
        }
        if (t.is_array()) return chosen_array(a, b, t, place, made);
        if (t.is_instance()) {
            std::int32_t slot = b_->slot("choice", DType::Int64, true);
            for (std::size_t k = 0; k < 2; ++k) {
                bool is_none = both[k]->type.kind == Type::Kind::None;
                made[k].push_back(is_none ? b_->adopt(slot, i64(0), i64(0))
                                          : b_->point(slot, describe_array(both[k]->array).root));
            }
            return object_in(slot, t);
        }
        if (t.is_word()) {
            std::int32_t id = b_->var("choice", t.dtype);
            emit(b_->declare(id, nullptr));
            for (std::size_t k = 0; k < 2; ++k) {
                E e = t.is_text() ? Texts(*this, place).handle(*both[k])
                                  : cast(both[k]->expr, t.dtype);
                made[k].push_back(b_->assign(id, e));
            }
            v.expr = b_->read(id);
            if (t.is_table()) v.list = a.list >= 0 ? a.list : b.list;
            return v;
        }
        for (std::size_t k = 0; k < t.items.size(); ++k)
            v.items.push_back(held(a.items[k], b.items[k], t.items[k]));
        return v;
    };
    Value chosen = held(values[0], values[1], type);
    emit(b_->branch(condition, b_->block(made[0]), b_->block(made[1])));
    return chosen;
}

/// The value of `yes` or `no`; only the chosen one is evaluated where that can be seen.
Value Operators::choose(E condition, const std::function<Value()>& yes,
                        const std::function<Value()>& no, const Place& place) {
    if (auto known = constant_int(condition)) return *known ? yes() : no();
    Value a, b;
    std::vector<S> made_a, made_b;
    // Where one of them waits for a result of this very function, the other tells its type.
    struct Depth {
        int& depth;
        ~Depth() { --depth; }
    } inside{++choice_depth_};
    bool has_a = try_collect([&] { a = made(yes(), place); }, made_a);
    bool has_b = try_collect([&] { b = made(no(), place); }, made_b);
    if (!has_a && !has_b) throw Unresolved{*unresolved_};
    if (!has_a || !has_b) return has_a ? a : b;
    at(place);
    Tables(*this, place).agree(a, b);
    auto joined = join(a.type, b.type);
    std::function<bool(const Type&)> is_held = [&](const Type& t) {
        bool holds = t.is_word() || t.is_instance() || t.is_tuple() || t.is_record() ||
                     t.is_none() || t.is_optional() || (t.is_array() && !source_.is_kernel);
        return holds && std::all_of(t.items.begin(), t.items.end(), is_held);
    };
    if (!is_same(a, b)) {
        box_names(a);
        box_names(b);
    }
    bool are_lists = a.type.is_list() && b.type.is_list() && !source_.is_kernel;
    if (are_lists && a.type.items[0] == b.type.items[0] && !is_same(a, b)) {
        // Neither has a name here, or it was passed: nothing changes the one that is chosen.
        std::array<Value, 2> arrays{as_array(a), as_array(b)};
        if (auto type = join(arrays[0].type, arrays[1].type)) {
            Value chosen = choose_object(condition, arrays, {made_a, made_b}, *type, place);
            chosen.type = a.type;
            chosen.list = -1;
            return chosen;
        }
    }
    bool is_object = joined && !joined->is_scalar() && joined->kind != Type::Kind::None;
    if (is_object && (joined->is_table() || is_held(*joined)) && !is_same(a, b))
        return choose_object(condition, {a, b}, {made_a, made_b}, *joined, place);
    if (!joined || !joined->is_scalar()) {
        if (joined && same_value(a, b) && made_a.empty() && made_b.empty()) return a;
        refuse(place,
               "the two alternatives have types " + describe(a.type) + " and " + describe(b.type) +
                   ", which no variable can hold",
               "convert one of them, or use an if statement");
    }
    E x = cast(a.expr, joined->dtype), y = cast(b.expr, joined->dtype);
    if (is_cheap(made_a, a) && is_cheap(made_b, b)) {
        bool is_bool_type = is_bool(joined->dtype);
        if (is_bool_type && constant_int(y) == 0) return apply(Op::And, condition, x, joined->weak);
        if (is_bool_type && constant_int(x) == 1) return apply(Op::Or, condition, y, joined->weak);
        if (is_bool_type && same_expr(condition, x))
            return apply(Op::Or, condition, y, joined->weak);
        if (is_bool_type && same_expr(condition, y))
            return apply(Op::And, condition, x, joined->weak);
        return scalar(b_->select(condition, x, y), joined->weak);
    }
    std::int32_t id = b_->var("choice", joined->dtype);
    emit(b_->declare(id, nullptr));
    made_a.push_back(b_->assign(id, x));
    made_b.push_back(b_->assign(id, y));
    emit(b_->branch(condition, b_->block(made_a), b_->block(made_b)));
    return scalar(b_->read(id), joined->weak);
}

}  // namespace unisono::frontend
