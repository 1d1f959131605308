// What threads share under a lock, and reductions by functions of the program: each part of a loop
// combines what it meets, the parts are combined behind the loop in their order.
#include "frontend/calls.h"
#include "ir/atomics.h"

namespace unisono::frontend {

/// The numbers that a value is made of.
static void numbers_in(const Value& v, std::vector<Value>& leaves) {
    if (v.type.is_scalar()) leaves.push_back(v);
    for (const Value& item : v.items) numbers_in(item, leaves);
}

static bool has_numbers_only(const Type& t) {
    bool holds = t.is_scalar() || t.is_tuple() || t.is_record();
    for (const Type& item : t.items) holds = holds && has_numbers_only(item);
    return holds;
}

/// Functions that python/unisono/_jit/sharing.py calls: lock_take(key), lock_give(key);
/// partial_new(value, n) makes room for n such values, partial_put(room, k, value, is_empty),
/// partial_empty(room, k) and partial_get(room, k, value) with the type of the value.
std::optional<Value> Calls::sharing(const std::string& name, const std::vector<Value>& args,
                                    const Place& place) {
    auto integer = [&](const Value& v, const char* role) {
        want_scalar(v, place, role);
        if (!is_integer(v.type.dtype))
            refuse(place, std::string(role) + " must be an integer; got " + describe(v.type),
                   "give a number");
        return settle(cast(v.expr, DType::Int64));
    };
    if (name == "lock_take" || name == "lock_give") {
        if (source_.is_kernel) refuse(place, "a kernel cannot take a lock", "use un.atomic");
        native(name, {integer(args.at(0), "the number of a lock")}, 1);
        return Value{};
    }
    bool is_math = name.rfind("un.math_of_", 0) == 0;
    if (is_math || name.rfind("un.random_", 0) == 0) {
        if (source_.is_kernel && !is_math)
            refuse(place, "a kernel cannot draw random numbers",
                   "draw them outside, and pass them");
        std::vector<E> values;
        for (const Value& v : args)
            values.push_back(v.type.is_scalar() && is_float(v.type.dtype)
                                 ? b_->bitcast(cast(v.expr, DType::Float64), DType::Int64)
                                 : integer(v, "an argument"));
        if (values.empty()) values.push_back(i64(0));
        E drawn = native(name.substr(3), values, 1)[0];
        if (name == "un.random_seed" || name == "un.random_python_seed") return Value{};
        if (name == "un.random_integer" || name == "un.random_of_integer" ||
            name == "un.random_python_bits" || name.rfind("un.random_count_", 0) == 0)
            return scalar(drawn, Weak::Int);
        return scalar(b_->bitcast(drawn, DType::Float64), Weak::Float);
    }
    if (name.rfind("partial_", 0) != 0) return std::nullopt;
    if (name == "partial_new") {
        if (!has_numbers_only(args[0].type))
            refuse(place,
                   "a reduction by a function combines numbers and tuples of them; got " +
                       describe(args[0].type),
                   "combine numbers, or store what each iteration gives into an array");
        std::vector<Value> leaves, arrays;
        numbers_in(args[0], leaves);
        E count = integer(args[1], "a number of parts");
        arrays.push_back(make_array(DType::Bool, {count}, place));
        for (const Value& v : leaves) arrays.push_back(make_array(v.type.dtype, {count}, place));
        return tuple_of(std::move(arrays));
    }
    const std::vector<Value>& room = args[0].items;
    E k = integer(args[1], "a number of a part");
    if (name == "partial_empty")
        return scalar(b_->load(room[0].array, {k}, ir::Access::Inside), Weak::Bool);
    std::vector<Value> leaves;
    numbers_in(args[2], leaves);
    if (name == "partial_put") {
        set_item(room[0].array, {k}, truth(args[3], place));
        for (std::size_t i = 0; i < leaves.size(); ++i) {
            DType t = room[i + 1].type.dtype;
            if (leaves.size() + 1 != room.size() || leaves[i].type.dtype != t)
                refuse(place,
                       "the reduction variable becomes " + describe(args[2].type) +
                           " inside of the loop",
                       "start it with a value of that type");
            set_item(room[i + 1].array, {k}, leaves[i].expr);
        }
        return Value{};
    }
    std::size_t next = 1;
    std::function<Value(const Value&)> filled = [&](const Value& like) {
        Value v = like;
        if (like.type.is_scalar())
            v.expr = temporary(b_->load(room[next++].array, {k}, ir::Access::Inside), "part");
        for (Value& item : v.items) item = filled(item);
        return v;
    };
    return filled(args[2]);
}

/// atomic.add(array, index, value) and the like: one thread at a time changes an element. The value
/// is what was there before, where the call is no statement.
Value Calls::atomic(const Node& node, const std::string& name) {
    using ir::AtomicForm;
    static const std::map<std::string, AtomicForm> forms = {{"exch", AtomicForm::Exchange},
                                                            {"cas", AtomicForm::Compare},
                                                            {"inc", AtomicForm::CountUp},
                                                            {"dec", AtomicForm::CountDown}};

    static const std::map<std::string, Op> ops = {
        {"add", Op::Add}, {"sub", Op::Add},     {"min", Op::Min},
        {"max", Op::Max}, {"and_", Op::And},    {"or_", Op::Or},
        {"xor", Op::Xor}, {"nanmin", Op::Fmin}, {"nanmax", Op::Fmax}};
    auto args = arguments(node);
    auto found = ops.find(name);
    auto form = forms.find(name);
    if (found == ops.end() && form == forms.end())
        refuse(node.place, "atomic." + name + " is not supported in a compiled function",
               "use add, sub, min, max, exch, cas, inc or dec");
    const bool compares = name == "cas";
    if (args.size() != (compares ? 4U : 3U) || !args[0].type.is_array()) {
        refuse(node.place,
               "atomic." + name + " takes an array, an index and " +
                   (compares ? "two values" : "a value"),
               compares ? "write un.atomic.cas(a, i, expected, x)"
                        : "write un.atomic." + name + "(a, i, x), or a tuple of indices");
    }
    const Value& array = args[0];
    if (!array.type.writable) refuse_readonly(array);
    std::vector<Value> items = args[1].type.is_tuple() ? args[1].items : std::vector{args[1]};
    std::vector<E> where;
    for (const Value& v : items) {
        if (!v.type.is_scalar() || !is_integer(v.type.dtype))
            refuse(node.place, "an array index must be an integer; got " + describe(v.type),
                   "convert it with int(...)");
        where.push_back(settle(cast(v.expr, DType::Int64)));
    }
    if (static_cast<int>(where.size()) != array.type.rank) {
        refuse(node.place,
               "atomic." + name + " of an array of rank " + std::to_string(array.type.rank) +
                   " takes as many indices",
               "give a tuple of indices");
    }
    DType t = array.type.dtype;
    Op op = found == ops.end() ? Op::Add : found->second;
    if (!is_float(t) && (op == Op::Fmin || op == Op::Fmax)) op = op == Op::Fmin ? Op::Min : Op::Max;
    bool is_bits = op == Op::And || op == Op::Or || op == Op::Xor;
    if (form != forms.end() && name.size() == 3 && name != "cas" && info(t).kind != 'u')
        refuse(node.place,
               "atomic." + name + " counts in unsigned integers; got " + describe(array.type),
               "use an array of uint32 or uint64, or atomic.add");
    if (form != forms.end() && size_of(t) < 4)
        refuse(node.place, "atomic." + name + " is not defined for " + describe(array.type),
               "use an array of 32 or 64 bits");
    if (is_complex(t))
        refuse(node.place, "atomic." + name + " is not defined for " + describe(array.type),
               "change a.real and a.imag one by one, or hold a lock: with un.lock():");
    if (is_bool(t) || (is_bits && is_float(t))) {
        refuse(node.place, "atomic." + name + " is not defined for " + describe(array.type),
               "use an array of integers");
    }
    E x = to_type(want_scalar(args.back(), node.place, "the value"), t, node.place);
    if (name == "sub") x = op_unary(Op::Neg, x);
    std::vector<E> all = where;
    if (compares)
        all.push_back(to_type(want_scalar(args[2], node.place, "the value"), t, node.place));
    at(node.place);
    ir::S made = b_->atomic(array.array, op, all, x, access_for(where));
    if (statement_ == &node && form == forms.end()) {
        emit(made);
        return {};
    }
    const std::int32_t before = b_->var("before", t);
    emit(b_->declare(before, nullptr));
    std::int32_t outs[] = {before};
    emit(ir::atomic_of_form(*b_, made, form == forms.end() ? AtomicForm::Combine : form->second,
                            outs));
    return scalar(b_->read(before), Weak::None);
}

}  // namespace unisono::frontend
