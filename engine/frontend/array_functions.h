// Array functions: creation, shapes, reductions, products. Each call_... is the rule of rows of the
// table in array_calls.cpp.
#pragma once

#include <array>

#include "frontend/selections.h"

namespace unisono::frontend {

class ArrayFunctions : public Selections {
  protected:
    using Selections::Selections;

    // ---- arrays made by functions (creation.cpp)
    Value call_filled(const Given& given);
    Value call_copy(const Given& given);
    Value call_asarray(const Given& given);
    Value call_astype(const Given& given);
    Value call_view(const Given& given);
    Value call_pointed(const Given& given);
    Value call_arange(const Given& given);
    Value call_linspace(const Given& given);
    Value call_eye(const Given& given);
    Value call_triangle(const Given& given);
    Value call_diag(const Given& given);
    Value grid(const Node& node, std::span<const Node* const> items);
    Value call_fill(const Given& given);

    // ---- elementwise functions of several rules (creation.cpp)
    Value call_where(const Given& given);
    Value call_clip(const Given& given);

    // ---- reductions (reduce.cpp)
    Value call_reduce(const Given& given);
    Value call_mean(const Given& given);
    DType mean_dtype_of(const Given& given, const Value& a);
    Value call_variance(const Given& given);
    Value call_arg_extreme(const Given& given);  // extremes.cpp
    Value call_running(const Given& given);
    Value call_spread(const Given& given);
    Value call_norm(const Given& given);
    Value call_trace(const Given& given);

    // ---- products and decompositions (products.cpp)
    Value product(const Value& a, const Value& b, const Place& place);
    Value call_product(const Given& given);
    Value call_outer(const Given& given);
    Value call_factor(const Given& given);
    Value call_sort(const Given& given);

    // ---- statistics (statistics.cpp)
    Value variables_of(const Given& given, const std::string& key);
    Value call_cov(const Given& given);
    Value call_histogram(const Given& given);

    // ---- other shapes (shapes.cpp)
    Value permuted_by(const Value& given, std::span<const Value> axes, const Place& place);
    Value transposed(const Value& array, const Place& place);
    Value call_reshape(const Given& given);
    Value call_ravel(const Given& given);
    Value call_transpose(const Given& given);
    Value call_swap(const Given& given);
    Value call_flip(const Given& given);
    Value call_expand(const Given& given);
    Value call_squeeze(const Given& given);
    // ... and views of windows (windows.cpp)
    Value call_windows(const Given& given);
    Value call_strided(const Given& given);
    Value call_broadcast(const Given& given);
    Value call_join(const Given& given);
    Value call_repeat(const Given& given);
    Value call_roll(const Given& given);
    Value call_shape(const Given& given);

  private:
    Value finished(const Given& given, const Value& value);

    // ---- reductions (reduce_axes.cpp, fold.cpp)
    struct Accumulation {
        Op op;
        DType type;
    };
    struct RowAxis {
        E n, leaves, rows;  ///< rows of a leaf
    };
    static std::vector<E> without(std::span<const E> list, std::span<const int> axes);
    E nothing(const Accumulation& how);
    void lanes_of_leaf(std::int32_t lanes, E begin, E end, const Accumulation& how,
                       const std::function<E(E)>& element);
    void push_leaf(std::int32_t stack, std::int32_t depth, E leaf, Op op);
    void fold_tree(std::int32_t stack, std::int32_t depth, Op op);
    E fold_lanes(E n, const Accumulation& how, const std::function<E(E)>& element);
    static constexpr std::int64_t few_elements = 4;
    E fold_few(E n, const Accumulation& how, const std::function<E(E)>& element);
    E fold_long(E n, const Accumulation& how, const std::function<E(E)>& element,
                const Place& place);
    E start_of(const Accumulation& how);
    E joined(const Accumulation& how, E so_far, E value, E is_first);
    RowAxis row_axis(E n);
    std::int32_t fold_rows(std::span<const RowAxis> axes, std::vector<E> rows, std::int64_t width,
                           const Accumulation& how,
                           const std::function<E(std::span<const E>, E)>& element);
    void with_repeats(const Value& v, const std::function<void(bool)>& body, const Place& place);
    Value reduced_last(const Value& v, const Accumulation& how, int axis, const Place& place);
    Value reduced_rows(const Value& v, const Accumulation& how, std::span<const int> axes,
                       const Place& place);
    Value reduced_axes(const Value& v, const Accumulation& how, std::span<const int> axes,
                       const Place& place);
    Value reduced(const Value& v, const Accumulation& how, const std::vector<int>& axes, bool keeps,
                  const Place& place);
    Value rounded_once(const Value& wide, const Place& place);
    Value with_ones(const Value& v, const std::vector<int>& axes, int rank, const Place& place);
    E elements_of(const Value& v, const std::vector<int>& axes);

    // ---- places of extremes (extremes.cpp)
    E is_better(E x, E best, Op order);
    E first_extreme(E n, DType t, bool is_max, bool holds, const std::function<E(E)>& element);
    E first_extreme_apart(E n, DType t, bool is_max, const std::function<E(E)>& element);
    E first_extreme_of_few(E n, bool is_max, const std::function<E(E)>& element);

    // ---- products (products.cpp)
    Value dot_product(const Value& a, const Value& b, const Place& place);
    std::optional<Value> expression_by_vector(const Value& a, const Value& b, const Place& place);
    void check_product(E k, E other, bool is_row, const Place& place);
    void small_product_loops(const Value& a, const Value& b, const Value& out,
                             const std::array<E, 3>& sizes, bool is_row, bool is_column);
    Value permuted(const Value& array, const std::vector<int>& axes, const Place& place);
};

}  // namespace unisono::frontend
