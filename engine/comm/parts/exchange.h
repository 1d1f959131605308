// Exchanges whose sizes depend on data: all ranks wait for them while a window is run.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "comm/mesh.h"
#include "comm/steps.h"

namespace unisono::comm {

/// The elements of a packed array of the host, computed.
template <class T>
std::span<T> values_of(const Array& a);

/// The memory of a packed array of the host, computed; null where there are no elements.
char* memory_of(const Array& a, bool for_write);

/// An array of the host.
Array vector_of(std::span<const std::int64_t> values);

/// The elements of a vector at these positions.
Array at_positions(const Array& a, const Array& positions);

/// The numbers of all ranks, in their order.
std::vector<std::int64_t> gather_numbers(Mesh& mesh, std::int64_t mine, const std::string& what);
/// What each rank has for this one: to_each[r] goes to rank r.
std::vector<std::int64_t> swap_counts(Mesh& mesh, std::span<const std::int64_t> to_each,
                                      const std::string& what);
/// What each rank says.
std::vector<std::string> gather_texts(Mesh& mesh, const std::string& mine, const std::string& what);
/// Rows lie in the order of the ranks that they go to; those that come lie in the order of ranks.
Array swap_rows(Mesh& mesh, const Array& rows, std::span<const std::int64_t> to_each,
                std::span<const std::int64_t> from_each, const std::string& what);

/// Does work that may fail on some ranks only: an error of one is raised by all, with its rank.
/// Collective.
void agree(Mesh& mesh, const std::string& what, const std::function<void()>& work);

/// Where parts of these sizes begin, and the end.
std::vector<std::int64_t> bounds_of(std::span<const std::int64_t> sizes);
/// An array whose parts have these sizes, one behind the other along the axis.
Held parts_of_sizes(std::span<const std::int64_t> sizes, int axis);

}  // namespace unisono::comm
