// Stores to names, elements, slices, fields and members.
#pragma once

#include <set>
#include <string>

#include "frontend/expressions.h"

namespace unisono::frontend {

class Assignments : public Expressions {
  protected:
    using Expressions::Expressions;

    void assign(const Node& node);
    void assign_augmented(const Node& node);
    void delete_slice(const Node& target);
    bool deletes_parts(const Node& call);
    bool assign_shared(const Node& node, const Value& old, const Value& change);
    void assign_in_place(const Node& node, const Value& array, const Value& change);

    std::set<std::string>
        in_place_;  ///< arrays that a prange combines: assigned element by element

  private:
    bool assign_unpacked(const Node& target, const Node& call);
    void combine_in_place(const Node& target, const Value& value);
    void assign_to(const Node& target, const Value& value);
    std::optional<ElementPart> kernel_part(const Node& target);
    void store_part(const ElementPart& of, std::span<const E> where, const Value& value,
                    const Place& place);
    [[noreturn]] void refuse_bytes(const Place& place);
    void assign_selected(const Node& target, const Value& object, const Value& value);
    void assign_list_slice(const Node& target, const Value& list, const Value* items);
    void assign_item(const Node& target, const Value& array, const Value& value);
    void augment_item(const Node& node, const Node& target, const Value& array);
    void assign_starred(const Node& target, const Node& star, const Value& value);

    // ---- structured arrays (records.cpp)
    void store_field(const FieldAccess& f, const Value& value, const Place& place);
    void augment_field(const Node& node, const FieldAccess& f);
    void assign_record(const Node& target, const Value& records, const Value& value);
    void copy_record(const Value& to, const Value& from, const Place& place);

    // ---- members of objects (instances.cpp)
    void refuse_frozen(const Node& target);
    bool assign_member(const Node& target, const Value& value);
    bool augment_member(const Node& node);

    // ---- index arrays (scatter.cpp)
    void scatter(const Gather& g, const Value& value, const Place& place);
    void assign_gathered(const Node& target, const Value& array, std::span<const Node* const> items,
                         const Value& value);

    // ---- masks of an array's own rank (masks.cpp)
    void store_chosen(const Value& array, const Value& mask, const Value& value,
                      const Place& place);
    void assign_masked(const Value& array, const Value& mask, const Value& value,
                       const Place& place);
    static bool is_elementwise_call(const Node& node);
    bool is_plain(const Node& node);
    bool is_under_mask(const Node& node, const Node& index, int rank,
                       std::vector<const Node*>& reads);
    bool assign_under_mask(const Node& target, const std::string& op, const Node& value,
                           const Place& place);
};

}  // namespace unisono::frontend
