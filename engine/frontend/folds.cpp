// Lowers Python's sum, min, max, any and all over arrays, lists and generators.
#include "frontend/calls.h"
#include "frontend/lazy.h"
#include "frontend/tables.h"

namespace unisono::frontend {

/// start combined with the elements of an array of one axis from `begin` on, in order.
Value Calls::fold_array(const Value& array, Value start, E begin,
                        const std::function<Value(const Value&, const Value&)>& combine,
                        const Place& place) {
    E end = b_->extent(array.array, 0);
    std::int32_t k = b_->var("k", DType::Int64);
    Weak weak = array.type.weak;
    auto element = [&] {
        E item = b_->load(array.array, {b_->read(k)}, ir::Access::Inside);
        return scalar(weak == Weak::None ? item : cast(item, default_dtype(weak)), weak);
    };
    Type type = start.type;
    collect([&] {
        Value next = combine(start, element());
        auto joined = join(start.type, next.type);
        type = joined ? *joined : next.type;
    });
    std::int32_t result = b_->var("fold", type.dtype);
    emit(b_->declare(result, cast(start.expr, type.dtype)));
    Value so_far = scalar(b_->read(result), type.weak);
    std::vector<S> body = collect([&] {
        Value next = combine(so_far, element());
        emit(b_->assign(result, cast(next.expr, type.dtype)));
    });
    at(place);
    emit(b_->loop(ir::LoopKind::Serial, k, begin, end, i64(1), b_->block(body)));
    return so_far;
}

/// The numbers, or their truth, of a list of those that may be None: a sum has none that is.
Value Calls::numbers_there(const Value& list, bool for_truth, const Place& place) {
    Tables tables(*this, place);
    const Type& item = list.type.items[0].items[1];
    Value numbers = new_list(for_truth ? Type::python(Weak::Bool) : item, "list");
    auto add = [&](E k, const Value& before) {
        Value next = tables.visited(list, scalar(k, Weak::Int));
        next = for_truth ? scalar(truth(next, place), Weak::Bool)
                         : present_operands("+", before, next, place)[1];
        append(numbers, next, place);
    };
    // CPython's message tells the type of the sum so far, which begins with the integer 0.
    E size = settle(tables.size(list));
    Value zero = scalar(i64(0), Weak::Int);
    list_loop(i64(0), op_binary(Op::Min, size, i64(1)), [&](E k) { add(k, zero); });
    list_loop(i64(1), size, [&](E k) { add(k, stand_in(item)); });
    return numbers;
}

/// Python's min, max, sum, any and all.
std::optional<Value> Calls::fold(const Node& node, const std::string& name,
                                 const std::vector<Value>& args) {
    const Place& place = node.place;
    bool is_min = name == "min", is_order = is_min || name == "max";
    bool is_any = name == "any", is_truth = is_any || name == "all";
    if (!is_order && !is_truth && name != "sum") return std::nullopt;
    std::size_t most = name == "sum" ? 2 : 1;
    if (args.empty() || (!is_order && args.size() > most)) {
        refuse(place, name + " takes one array or tuple" + (is_order ? " or several numbers" : ""),
               "give it what it combines");
    }
    bool is_plain =
        std::all_of(args.begin(), args.end(), [](const Value& v) { return v.type.is_scalar(); });
    if (is_order && args.size() > 1 && !is_plain) {  // tuples, texts, objects
        Value best = args[0];
        for (std::size_t k = 1; k < args.size(); ++k) {
            const Value& other = args[k];
            E test = truth(compare_two(is_min ? "<" : ">", other, best, place), place);
            Value before = best;
            best = choose(
                test, [&] { return other; }, [&] { return before; }, place);
        }
        return best;
    }
    if (args[0].type.is_table() && (args.size() == 1 || !is_order)) {
        std::vector<Value> held = args;
        Tables tables(*this, place);
        if (!held[0].type.is_object_list()) held[0] = tables.listed(held[0]);
        if (!held[0].type.is_list()) {
            const Type& item = held[0].type.items[0];
            if (!is_order && item.is_optional() && item.items[1].is_scalar()) {
                held[0] = numbers_there(held[0], is_truth, place);
                return fold(node, name, held);
            }
            if (!Tables::has_numbers(held[0].type))
                refuse(place, name + " of a " + describe(args[0].type) + " is not supported",
                       "write a loop");
            held[0] = tables.numbers(held[0]);
        }
        return fold(node, name, held);
    }
    if (args[0].type.is_list()) {
        std::vector<Value> held = args;
        held[0] = as_array(held[0]);
        return fold(node, name, held);
    }
    bool is_array = args[0].type.is_array() && (args.size() == 1 || name == "sum");
    if (is_array && args[0].lazy) {
        std::vector<Value> held = args;
        held[0] = made(held[0], place);
        return fold(node, name, held);
    }
    if (is_array && args[0].type.rank != 1) {
        refuse(place,
               name + " of an array of rank " + std::to_string(args[0].type.rank) +
                   " combines its rows, which compiled functions cannot do",
               "loop over the elements");
    }
    auto combine = [&](const Value& a, const Value& b) {
        if (is_order) return better(is_min, a, b, place);
        if (is_truth) return apply(is_any ? Op::Or : Op::And, a.expr, truth(b, place), Weak::Bool);
        return binary("+", a, b, place);
    };
    Value start = is_truth           ? scalar(b_->boolean(!is_any), Weak::Bool)
                  : args.size() == 2 ? args[1]
                                     : scalar(i64(0), Weak::Int);
    if (is_array && is_order) {
        E size = b_->extent(args[0].array, 0);
        fault_if(op_binary(Op::Eq, size, i64(0)), ErrorKind::Value,
                 name + "() arg is an empty sequence", place);
        E first = temporary(b_->load(args[0].array, {i64(0)}, ir::Access::Inside), "first");
        Weak weak = args[0].type.weak;
        if (weak != Weak::None) first = cast(first, default_dtype(weak));
        return fold_array(args[0], scalar(first, weak), i64(1), combine, place);
    }
    if (is_array) {
        want_scalar(start, place, "the start of " + name);
        return fold_array(args[0], start, i64(0), combine, place);
    }
    bool is_tuple = args[0].type.is_tuple() && (args.size() == 1 || name == "sum");
    std::vector<Value> items = is_tuple ? args[0].items : args;
    if ((!is_tuple && (!is_order || args.size() == 1)) || (is_order && items.empty())) {
        refuse(place, name + " of " + (is_tuple ? "nothing" : "one number") + " is not defined",
               "give it an array, a tuple or several numbers");
    }
    std::size_t from = 0;
    if (is_order) start = want_scalar(items[from++], place, "an argument of " + name);
    for (; from < items.size(); ++from)
        start = combine(start, want_number(items[from], place, "an argument of " + name));
    return start;
}

}  // namespace unisono::frontend
