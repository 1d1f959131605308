// Lowers masks of their array's own rank: a[mask] reads the chosen elements in row-major order,
// a[mask] = value writes them.
//
// Where all that a statement reads and writes lies under one mask (a[m] = a[m] * 2 + b[m]), the
// elements that the mask chooses need not be packed: the statement is one loop over all elements,
// with a test of the mask.
#include <algorithm>

#include "frontend/assignments.h"
#include "frontend/lazy.h"

namespace unisono::frontend {

/// The mask, where it is the whole index and as deep as the array.
std::optional<Value> Selections::mask_of(const Value& array, std::span<const Node* const> items) {
    if (items.size() != 1) return std::nullopt;
    Type type;
    auto saved = checkpoint();
    collect([&] { type = expression(*items[0]).type; });
    restore(saved);
    if (!type.is_array() || !is_bool(type.dtype) || type.rank != array.type.rank)
        return std::nullopt;
    Value mask = expression(*items[0]);
    // Its elements are read once each, in the walk.
    if (mask.lazy && !mask.lazy->equal.empty()) mask = made(mask, items[0]->place);
    check_mask(mask, array, items[0]->place);
    return mask;
}

void Selections::check_mask(const Value& mask, const Value& array, const Place& place) {
    std::vector<E> own = extents_of(mask), extents = extents_of(array);
    for (std::size_t k = 0; k < own.size(); ++k) {
        if (same_expr(own[k], extents[k])) continue;
        fault_if(op_binary(Op::Ne, own[k], extents[k]), ErrorKind::Index,
                 "boolean index did not match indexed array along axis " + std::to_string(k) +
                     "; size of axis is {0} but size of corresponding boolean axis is {1}",
                 place, {extents[k], own[k]});
    }
}

/// Whether the elements lie side by side in row-major order: null where they do for certain.
E Selections::is_packed(const Value& array) {
    Descriptor d = describe_array(array.array);
    E all = nullptr, expected = i64(1);
    for (std::size_t k = d.extents.size(); k-- > 0;) {
        if (!same_expr(d.strides[k], expected)) {
            E test = op_binary(Op::Eq, d.strides[k], expected);
            all = all ? op_binary(Op::And, all, test) : test;
        }
        expected = op_binary(Op::Mul, expected, d.extents[k]);
    }
    return all;
}

/// The elements where the mask is set, in row-major order.
Value Selections::compressed(const Value& array, const Value& mask, const Place& place) {
    constexpr std::int64_t many =
        1 << 12;  // elements from which the library's loops are worth a call
    std::vector<E> extents = extents_of(array);
    E size = settle(size_of_array(array));
    Value out = make_array(array.type.dtype, {size}, place);
    std::int32_t count = declared("count", i64(0));
    std::vector<S> here = collect([&] {
        // Every element is written where the next one goes, which the mask moves on: no branch.
        in_order(extents, [&](std::span<const E> index) {
            E is_set = element_of(mask, index, extents, false).expr;
            set_item(out.array, {b_->read(count)}, element_of(array, index, extents, false).expr);
            emit(b_->assign(count, b_->add(b_->read(count), cast(is_set, DType::Int64))));
        });
    });
    E fits = op_binary(Op::Ge, size, i64(many));
    if (E test = is_packed(array)) fits = op_binary(Op::And, fits, test);
    if (!mask.lazy) {
        if (E test = is_packed(mask)) fits = op_binary(Op::And, fits, test);
    }
    std::vector<S> there = collect([&] {
        Value held = made(mask, place);
        auto result = native("compress",
                             {i64(0), i64(0), i64(size_of(array.type.dtype)), size,
                              address_of(held), address_of(array), address_of(out)},
                             2);
        fault_if(op_binary(Op::Ne, result[0], i64(0)), ErrorKind::Memory,
                 "out of memory for the elements of a mask", place);
        emit(b_->assign(count, result[1]));
    });
    at(place);
    emit(b_->branch(fits, b_->block(there), b_->block(here)));
    E found = temporary(b_->read(count), "found");
    lower_bounds_[found->id] = 0;
    Descriptor d = describe_array(out.array);
    d.extents = {found};
    return view("made", d);
}

// ---- Statements under one mask

static bool is_same_tree(const Node& a, const Node& b) {
    return a.kind == b.kind && a.text == b.text && a.note == b.note && a.index == b.index &&
           a.weak == b.weak && a.value.dtype == b.value.dtype && a.value.bits == b.value.bits &&
           std::equal(a.children.begin(), a.children.end(), b.children.begin(), b.children.end(),
                      is_same_tree);
}

/// A call that computes each element from those of its arguments, and writes nothing.
bool Assignments::is_elementwise_call(const Node& node) {
    if (node.kind != NodeKind::Call || node.children[0].kind != NodeKind::Builtin) return false;
    const std::string& name = node.children[0].text;
    auto is_keyword = [](const Node& n) {
        return n.kind == NodeKind::Keyword || n.kind == NodeKind::Starred;
    };
    if (std::any_of(node.children.begin(), node.children.end(), is_keyword)) return false;
    if (name == "abs") return node.children.size() == 2;
    if (name.rfind("np.", 0) != 0 && name.rfind("un.", 0) != 0) return false;
    std::string base = name.substr(3);
    if (base == "where") return node.children.size() == 4;
    auto op = op_from_numpy_name(base);
    return op && array_functions().count(base) == 0 &&
           static_cast<int>(node.children.size()) == 1 + info(*op).arity;
}

/// Whether evaluating it again gives the same: arithmetic of numbers and arrays, no effects.
bool Assignments::is_plain(const Node& node) {
    auto children_are = [&](std::size_t from) {
        return std::all_of(node.children.begin() + static_cast<std::ptrdiff_t>(from),
                           node.children.end(), [&](const Node& n) { return is_plain(n); });
    };
    switch (node.kind) {
        case NodeKind::Const:
        case NodeKind::NoneValue: return true;
        case NodeKind::Name: {
            auto held = env_.names.find(node.text);
            if (held == env_.names.end() || held->second.state != Binding::State::Defined)
                return false;
            const Type& type = held->second.value.type;
            return type.is_scalar() || type.is_array();
        }
        case NodeKind::BinOp:
        case NodeKind::UnaryOp:
        case NodeKind::Compare:
        case NodeKind::Attribute:
        case NodeKind::Subscript:
        case NodeKind::Slice:
        case NodeKind::Tuple: return children_are(0);
        case NodeKind::Call: return is_elementwise_call(node) && children_are(1);
        default: return false;
    }
}

/// Whether the expression is made of numbers and items NAME[index] alone, which it notes.
bool Assignments::is_under_mask(const Node& node, const Node& index, int rank,
                                std::vector<const Node*>& reads) {
    auto children_are = [&](std::size_t from) {
        return std::all_of(node.children.begin() + static_cast<std::ptrdiff_t>(from),
                           node.children.end(),
                           [&](const Node& n) { return is_under_mask(n, index, rank, reads); });
    };
    bool is_item = node.kind == NodeKind::Subscript && node.children.size() == 2 &&
                   node.children[0].kind == NodeKind::Name && is_same_tree(node.children[1], index);
    if (is_item) {
        auto held = env_.names.find(node.children[0].text);
        if (held == env_.names.end()) return false;
        const Value& v = held->second.value;
        if (!v.type.is_array() || v.lazy || v.type.rank != rank) return false;
        reads.push_back(&node);
        return true;
    }
    if (!may_be_array(node)) return is_plain(node);
    switch (node.kind) {
        case NodeKind::BinOp: return node.text != "@" && children_are(0);
        case NodeKind::UnaryOp: return node.text != "not" && children_are(0);
        case NodeKind::Call: return is_elementwise_call(node) && children_are(1);
        default: return false;
    }
}

/// target[mask] = value, or target[mask] op= value, where the value has the same mask throughout.
bool Assignments::assign_under_mask(const Node& target, const std::string& op, const Node& value,
                                    const Place& place) {
    bool may_be = target.kind == NodeKind::Subscript && target.children.size() == 2 &&
                  target.children[0].kind == NodeKind::Name && !source_.is_kernel;
    if (!may_be) return false;
    const Node& index = target.children[1];
    auto held = env_.names.find(target.children[0].text);
    if (held == env_.names.end() || !held->second.value.type.is_array()) return false;
    const Value array = held->second.value;
    if (array.lazy || !array.type.writable || !is_plain(index) || !may_be_array(index))
        return false;
    std::vector<const Node*> reads;
    if (!is_under_mask(value, index, array.type.rank, reads)) return false;
    if (reads.empty() && op.empty()) return false;
    auto mask = mask_of(array, std::vector<const Node*>{&index});
    if (!mask) return false;
    Descriptor d = describe_array(array.array);
    auto whole = chosen_;
    for (const Node* read : reads) {
        Value from = read_name(read->children[0]);
        check_mask(*mask, from, read->place);
        Descriptor own = describe_array(from.array);
        own.extents = d.extents;
        whole[read] = is_same_array(from.array, array.array) ? array : view("chosen", own);
    }
    std::swap(whole, chosen_);
    Value result = expression(value);
    std::swap(whole, chosen_);
    at(place);
    if (!op.empty()) {
        result = binary(op, array, result, place);
        refuse_cast(op + "=", result.type.dtype, array.type.dtype, place);
    }
    store_chosen(array, *mask, result, place);
    return true;
}

}  // namespace unisono::frontend
