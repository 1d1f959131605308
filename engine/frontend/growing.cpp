// Loops over lists and dicts that grow or shrink while they run: Python asks for the length in
// front of each iteration, and behind the last.
#include <algorithm>

#include "frontend/control_flow.h"
#include "frontend/scope.h"
#include "frontend/tables.h"

namespace unisono::frontend {

namespace {

/// The questions for a number of items that a loop's number of iterations is made of, in order.
std::vector<const Node*> lengths_in(const Node& count) {
    std::vector<const Node*> lengths;
    walk(count, [&](const Node& n) {
        bool is_length = n.kind == NodeKind::Call && n.children.size() == 2 &&
                         n.children[0].kind == NodeKind::Builtin &&
                         n.children[0].text == "iteration";
        if (is_length) lengths.push_back(&n);
    });
    return lengths;
}

const Node& owner_of(const Node& length) { return length.children[1]; }

/// The list whose length a node may change; `any` where a call may change one.
struct Change {
    const Node* owner = nullptr;
    bool any = false;
};

Change change_of(const Node& n) {
    static const std::set<std::string> methods = {"append", "extend", "insert",
                                                  "pop",    "clear",  "remove"};
    if (n.kind == NodeKind::AugAssign && (n.text == "+" || n.text == "*"))
        return {&n.children[0], false};
    auto is_part = [](const Node& t) {
        return t.kind == NodeKind::Subscript && t.children[1].kind == NodeKind::Slice;
    };
    if ((n.kind == NodeKind::Assign || n.kind == NodeKind::Delete) && is_part(n.children[0]))
        return {&n.children[0].children[0], false};
    if (n.kind != NodeKind::Call) return {};
    const Node& callee = n.children[0];
    if (callee.kind == NodeKind::Builtin)
        return {callee.text == "delete_item" ? &n.children[1] : nullptr, false};
    if (callee.kind != NodeKind::Attribute) return {nullptr, true};
    if (methods.count(callee.text)) return {&callee.children[0], false};
    return {nullptr, true};
}

}  // namespace

/// Whether the loop goes over lists whose length its body may change.
bool ControlFlow::may_grow(const Node& count, const Node& body) {
    std::vector<Value> lists;
    for (const Node* length : lengths_in(count)) {
        const Node& owner = owner_of(*length);
        auto held = owner.kind == NodeKind::Name ? env_.names.find(owner.text) : env_.names.end();
        if (held == env_.names.end()) return false;
        const Value& v = held->second.value;
        if (v.type.is_table() && !v.type.is_object_list()) return false;
        if (v.type.is_object_list() || (v.type.is_list() && v.list >= 0)) lists.push_back(v);
    }
    bool is_shared = std::any_of(lists.begin(), lists.end(),
                                 [](const Value& v) { return v.type.is_object_list(); });
    std::set<std::string> assigned = assigned_names(body);
    bool found = false;
    if (lists.empty()) return false;
    walk(body, [&](const Node& n) {
        Change change = change_of(n);
        found = found || (change.any && is_shared);
        if (!change.owner || found) return;
        const Node& owner = *change.owner;
        auto held = owner.kind == NodeKind::Name ? env_.names.find(owner.text) : env_.names.end();
        bool is_known = held != env_.names.end();
        bool is_list = is_known && (held->second.value.type.is_list() ||
                                    held->second.value.type.is_object_list());
        if (n.kind != NodeKind::Call && !is_list) return;
        if (!is_known || assigned.count(owner.text)) {
            found = is_shared || owner.kind == NodeKind::Name;
            return;
        }
        const Value& v = held->second.value;
        found = std::any_of(lists.begin(), lists.end(), [&](const Value& list) {
            return v.type == list.type && (v.type.is_object_list() || v.list == list.list);
        });
    });
    return found;
}

/// Dicts and sets that the loop goes over, where its body may change some.
std::vector<ControlFlow::WatchedTable> ControlFlow::tables_at_risk(const Node& count,
                                                                   const Node& body) {
    auto is_no_table = [&](const Node& owner) {
        auto held = owner.kind == NodeKind::Name ? env_.names.find(owner.text) : env_.names.end();
        if (held == env_.names.end()) return false;
        const Type& t = held->second.value.type;
        return t.is_array() || t.is_list() || t.is_text() || t.is_object_list();
    };
    std::vector<WatchedTable> tables;
    std::vector<const Node*> before;
    for (const Node* length : lengths_in(count)) {
        const Node& owner = owner_of(*length);
        auto held = owner.kind == NodeKind::Name ? env_.names.find(owner.text) : env_.names.end();
        if (held == env_.names.end()) return {};
        const Type& t = held->second.value.type;
        if (t.is_table() && !t.is_object_list())
            tables.push_back({held->second.value, nullptr, before});
        else
            before.push_back(length);
    }
    bool found = false;
    if (tables.empty()) return {};
    walk(body, [&](const Node& n) {
        if (n.kind == NodeKind::Assign) {
            for (std::size_t k = 0; k + 1 < n.children.size(); ++k) {
                const Node& t = n.children[k];
                found = found || t.kind == NodeKind::Tuple ||
                        (t.kind == NodeKind::Subscript && !is_no_table(t.children[0]));
            }
        }
        Change change = change_of(n);
        bool is_method = n.kind == NodeKind::Call && n.children[0].kind == NodeKind::Attribute;
        if (is_method && is_no_table(n.children[0].children[0])) return;
        found = found || change.any || (change.owner && !is_no_table(*change.owner));
    });
    return found ? tables : std::vector<WatchedTable>{};
}

/// Whether the loop goes over what its body may change; its end is found as it runs then.
bool ControlFlow::may_change(const Node& count, const Node& body, Range& range) {
    range.place = count.place;
    range.tables = tables_at_risk(count, body);
    for (WatchedTable& t : range.tables)
        t.size = temporary(Tables(*this, count.place).size(t.table));
    if (may_grow(count, body)) range.count = &count;
    if (!range.count && range.tables.empty()) return false;
    range.until = settle(range.end);
    range.end = i64(std::int64_t{1} << 62);
    return true;
}

/// Leaves the loop where its lists have no item of that number any more; a dict whose size has
/// changed since, if only by the last iteration, is an error: unless what zip asks before it has no
/// more items.
void ControlFlow::leave_at_end(const Range& range, E index) {
    E end = range.until;
    if (range.count) end = cast(expression(*range.count).expr, DType::Int64);
    for (const auto& [table, size, before] : range.tables) {
        bool is_set = table.type.rank == int(TableKind::Set);
        E has_changed = op_binary(Op::Ne, Tables(*this, range.place).size(table), size);
        for (const Node* length : before) {
            E items = cast(expression(*length).expr, DType::Int64);
            has_changed = op_binary(Op::And, has_changed, op_binary(Op::Lt, index, items));
        }
        fault_if(has_changed, ErrorKind::Runtime,
                 is_set ? "Set changed size during iteration"
                        : "dictionary changed size during iteration",
                 range.place);
    }
    emit(b_->branch(op_binary(Op::Ge, index, end), b_->block({b_->leave()})));
}

}  // namespace unisono::frontend
