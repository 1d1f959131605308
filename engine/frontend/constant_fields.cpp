// Which fields of objects a function and those that it calls leave alone.
#include <algorithm>

#include "frontend/objects.h"

namespace unisono::frontend {

namespace {

/// Attributes that an assignment's target names, not those on the way to an element.
void targets_of(const Node& target, std::set<std::string>& names) {
    if (target.kind == NodeKind::Attribute) names.insert(target.text);
    if (target.kind != NodeKind::Tuple && target.kind != NodeKind::List) return;
    for (const Node& item : target.children) targets_of(item, names);
}

void stored_in(const Node& body, std::set<std::string>& names) {
    walk(body, [&](const Node& n) {
        bool is_plain = n.kind == NodeKind::Assign;
        if (!is_plain && n.kind != NodeKind::AugAssign && n.kind != NodeKind::For) return;
        std::size_t count = is_plain ? n.children.size() - 1 : 1;
        for (std::size_t k = 0; k < count; ++k) targets_of(n.children[k], names);
    });
}

struct Reached {
    std::set<const Source*> sources;
    std::set<const Record*> records;
    std::set<std::string> stored;

    void add(const Record& record) {
        if (record.form == Record::Form::Fields || !records.insert(&record).second) return;
        if (record.changed) stored.merge(record.changed());
        for (const Record::Field& f : record.fields) add(f.type);
    }
    void add(const Type& type) {
        if (type.record) add(*type.record);
        for (const Type& item : type.items) add(item);
        if (type.function) add(*type.function);
    }
    void add(const Source& source) {
        if (!sources.insert(&source).second) return;
        stored_in(source.body, stored);
        for (const ClassUse& use : source.classes) add(*use.record);
        for (const auto& callee : source.callees) {
            if (callee) add(*callee);
        }
        for (const auto& inner : source.nested) add(*inner);
    }
    bool has_instances() const {
        return std::any_of(records.begin(), records.end(),
                           [](const Record* r) { return r->form == Record::Form::Instance; });
    }
};

}  // namespace

/// Whether an array that the function gets may be kept in an object.
bool may_keep_arrays(const Source& source, const std::vector<Type>& args) {
    Reached reached;
    reached.add(source);
    for (const Type& t : args) reached.add(t);
    return reached.has_instances();
}

/// Whether no statement that this function may run assigns such an attribute.
bool Objects::is_constant_field(const std::string& name) {
    if (!changed_fields_) {
        Reached reached;
        reached.add(source_);
        for (const Type& t : instance_.args) reached.add(t);
        changed_fields_ = std::move(reached.stored);
    }
    return !changed_fields_->count(name);
}

}  // namespace unisono::frontend
