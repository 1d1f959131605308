// Arrays as values: views by root, extents and strides; expressions whose elements are computed
// where they are read; what may share memory.
#pragma once

#include <span>

#include "frontend/emission.h"

namespace unisono::frontend {

class Arrays : public Emission {
  protected:
    using Emission::Emission;

    // ---- views (arrays.cpp)
    struct Descriptor {
        std::int32_t root;  ///< slot or parameter
        E offset;
        std::vector<E> extents, strides;
        std::vector<ir::StrideClass> classes;
        bool writable;
    };
    struct Cut {
        E from, step, count;
    };
    Descriptor describe_array(std::int32_t array);
    Value view(const std::string& name, const Descriptor& d);
    Value reshaped(const Value& array, std::vector<E> extents, bool copies, const Place& place);
    Cut cut(E begin, E end, E step, E size, const Place& place);
    Cut cut(const Node& slice, E size);
    E tested_index(E i, E size, int axis, const Place& place);
    E pinned(E e);
    E address_of(const Value& array);
    Value make_array(DType t, std::vector<E> extents, const Place& place);
    /// Memory of the work-group or the work-item.
    Value own_array(std::string name, DType t, std::span<const std::int64_t> shape,
                    ir::Space space);
    Value move_array(const std::string& name, const Value& value, const Type& type,
                     const Place& place);
    Value snapshot(const Value& array);
    bool is_fixed(const Value& array);
    [[noreturn]] void refuse_readonly(const Value& array);
    void refuse_computed(const Value& array, const Place& place);

    // ---- what may share memory
    bool is_same_array(std::int32_t a, std::int32_t b);
    bool is_same(const Value& a, const Value& b);
    bool are_apart(std::int32_t a, std::int32_t b) const;
    E may_overlap(std::int32_t target, std::int32_t array, bool reads_elsewhere = false);
    E may_overlap_read(std::int32_t target, const Value& value, std::int32_t array);
    std::pair<E, E> range_of(std::int32_t array);
    E within_memory(E product, std::span<const E> factors);
    std::vector<std::int64_t> shape_across_barriers(DType t, std::span<const E> extents) const;

    // ---- array expressions (elementwise.cpp)
    std::vector<E> extents_of(const Value& v);
    E size_of_array(const Value& v);
    Value element_of(const Value& v, std::span<const E> index, std::span<const E> extents,
                     bool repeats);
    std::int64_t element_cost(E e) const;
    void broadcast(std::vector<E>& extents, std::vector<E> own, const Place& place);
    Value elementwise(const std::vector<Value>& operands,
                      const std::function<Value(std::span<const Value>)>& operation,
                      const Place& place);
    /// An array whose elements are computed from their index and the arrays that it reads;
    /// `elsewhere`: those that are read at other indices than the element's.
    Value computed(std::vector<E> extents, DType t, std::vector<std::int32_t> reads,
                   std::function<Value(std::span<const E>, bool)> element,
                   std::vector<std::int32_t> elsewhere = {});
    void nest(std::span<const E> extents, const std::function<void(std::span<const E>)>& body,
              const Place& place);
    void in_order(std::span<const E> extents, const std::function<void(std::span<const E>)>& body);
    void assign_elements(const Value& target, const Value& value, const Place& place);
    Value without_leading(const Value& given, int rank, const Place& place);
    Value made(const Value& value, const Place& place);
    Value all_made(Value value, const Place& place);
    Value copied(const Value& array, const Place& place);
    Value converted_array(const Value& a, DType t, const Place& place);

    // ---- values as arrays and as numbers (array_values.cpp)
    Value as_array(const Value& list) const;
    Value as_array(const Value& v, const Place& place);
    std::vector<E> shape_argument(const Value& v, const Place& place);
    const Value& want_scalar(const Value& v, const Place& place, const std::string& role);
    E byte_of(const Value& v, const Place& place);
    const Value& want_number(const Value& v, const Place& place, const std::string& role);
    E to_type(const Value& v, DType t, const Place& place);
    static std::optional<DType> dtype_of(const Node& node);
    static bool is_ellipsis(const Node& node) {
        return node.kind == NodeKind::Builtin && node.text == "Ellipsis";
    }

    void restore(const Checkpoint& saved) override;

    bool is_result_ = false;                           ///< arrays that are made now are returned
    std::vector<std::pair<E, std::int32_t>> hoisted_;  ///< computed once, at the entry

  private:
    bool is_known_at_entry(E e) const;
    E slice_bound(E given, E size, E low, E high);
    std::vector<E> completed_shape(std::vector<E> extents, E size, const Place& place);
    bool is_narrow(std::int32_t target, std::int32_t array);
    E are_apart_or_same(std::int32_t x, std::int32_t y);
    void note_fresh(std::int32_t slot, std::int32_t root);
    bool is_repeated(const Value& v, std::size_t axis) const;
    bool is_spread(const Value& v, std::span<const E> extents);

    std::set<std::int32_t> fresh_;                 ///< slots that get new arrays only
    std::map<std::int32_t, std::int32_t> owners_;  ///< of new arrays: slot of the name
    /// Copies that a statement reads instead of parts of the array that it writes.
    std::map<std::int32_t, std::int32_t> stand_ins_;
};

}  // namespace unisono::frontend
