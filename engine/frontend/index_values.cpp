// Subscripts by values that choose axes and parts of them: slices, Ellipsis and None in names,
// arguments, tuples and results. They become the subscript as it would be written in place.
#include <algorithm>

#include "frontend/expressions.h"

namespace unisono::frontend {

static bool is_index(const Type& t, Record::Index kind) {
    return t.is_record() && t.record->index == kind;
}

/// A slice, Ellipsis, None, or what holds one.
static bool holds_part(const Type& t) {
    return t.is_none() || is_index(t, Record::Index::Slice) ||
           is_index(t, Record::Index::Ellipsis) ||
           (!t.is_function() && std::any_of(t.items.begin(), t.items.end(), holds_part));
}

/// Whether the item of an index may be such a value; most are told without a trial.
bool Expressions::may_choose_parts(const Node& item) {
    if (item.kind == NodeKind::NoneValue || item.kind == NodeKind::Slice) return false;
    bool calls = false, is_named = false;
    walk(item, [&](const Node& n) {
        if (n.kind == NodeKind::Class)
            is_named |= source_.classes[static_cast<std::size_t>(n.index)].record->index !=
                        Record::Index::No;
        if (n.kind == NodeKind::Name) {
            auto held = env_.names.find(n.text);
            if (held != env_.names.end()) {
                is_named |= holds_part(held->second.value.type);
                calls |= held->second.value.type.is_function();
            }
        }
        calls |= n.kind == NodeKind::Function || n.kind == NodeKind::Closure;
    });
    return is_named || (calls && item.kind == NodeKind::Call && holds_part(tried(item)));
}

/// A node that has the value.
Node Expressions::known_node(const Value& value, const Place& place) {
    Node made;
    made.kind = value.type.is_none() ? NodeKind::NoneValue : NodeKind::Subscript;
    made.place = place;
    if (!value.type.is_none()) made.children.emplace_back();
    return made;
}

/// The value as an item between the brackets; chosen_ gets its parts once they are in place.
Node Expressions::written_item(const Value& value, const Place& place) {
    Node made = known_node(value, place);
    if (is_index(value.type, Record::Index::Slice)) {
        made.kind = NodeKind::Slice;
        made.children.clear();
        for (const Value& part : value.items) made.children.push_back(known_node(part, place));
    }
    if (is_index(value.type, Record::Index::Ellipsis)) {
        made.kind = NodeKind::Builtin;
        made.children.clear();
        made.text = "Ellipsis";
    }
    return made;
}

/// The subscript with slices, Ellipsis and None written in the brackets where values of them are
/// the index; the node itself where there are none.
const Node& Expressions::with_written_index(const Node& node, const Type& object) {
    const bool takes_parts = object.is_array() || object.is_list() || object.is_object_list() ||
                             object.is_text() || object.is_records() ||
                             (object.is_tuple() && !object.record);
    if (!takes_parts) return node;
    std::vector<const Node*> items = index_nodes(node);
    std::vector<bool> is_value;
    for (const Node* item : items) is_value.push_back(may_choose_parts(*item));
    if (std::find(is_value.begin(), is_value.end(), true) == is_value.end()) return node;
    Node& made = learnt_.indices.emplace_back();
    made.kind = NodeKind::Subscript;
    made.place = node.place;
    made.text = node.text;
    made.children = {node.children[0]};
    std::vector<std::pair<std::size_t, Value>> known;
    auto add = [&](const Value& value, const Place& place) {
        known.emplace_back(made.children.size(), value);
        made.children.push_back(written_item(value, place));
    };
    for (std::size_t k = 0; k < items.size(); ++k) {
        if (!is_value[k]) {
            made.children.push_back(*items[k]);
            continue;
        }
        Value value = kept_apart(maybe_none(*items[k]));
        if (items.size() == 1 && value.type.is_tuple()) {
            for (const Value& item : value.items) add(item, items[k]->place);
        } else {
            add(value, items[k]->place);
        }
    }
    for (const auto& [place, value] : known) {
        const Node& item = made.children[place];
        if (item.kind == NodeKind::Subscript) chosen_[&item] = value;
        if (item.kind != NodeKind::Slice) continue;
        for (std::size_t k = 0; k < item.children.size(); ++k)
            chosen_[&item.children[k]] = value.items[k];
    }
    return made;
}

}  // namespace unisono::frontend
