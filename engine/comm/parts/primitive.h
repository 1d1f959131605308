// Primitives on a mesh. Each works by its partition rule: along an axis that its signature leaves
// independent; by an algorithm over parts, named in the table of primitive.cpp; or on all of its
// operands, which every rank then gets, where they are few and large ones gain nothing. What has no
// rule is refused.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/partition.h"
#include "core/limits.h"
#include "primitives/primitive.h"

namespace unisono::comm {

/// Throws where the primitive cannot be run by parts.
void check_primitive(const Entry& entry);

/// How ranks hold operands and results of a call that they share along an independent axis.
struct Sharing {
    std::vector<Held> operands, results;
};
/// Null where they do not share it so.
std::optional<Sharing> sharing_of(Partition& partition, const Entry& entry);

/// Whether an operand is so small that all ranks may get all of it.
inline bool is_few(const View& v) { return v.layout->size() <= limits::few_elements; }

/// Operands and results of an entry, those in its tail included.
std::vector<View> reads_of(const Entry& entry);
std::vector<View> writes_of(const Entry& entry);

inline const library::PrimitiveCall& call_of(const Entry& e) {
    return *dynamic_cast<const library::PrimitiveCall*>(e.call);
}

/// A local call of the same primitive.
template <class Attributes>
const Attributes& attributes_of(const Entry& e) {
    return *static_cast<const Attributes*>(call_of(e).attributes());
}
Array call_locally(const Entry& e, std::span<const Array> operands);

// Algorithms over parts: ordering.cpp, searching.cpp, positions.cpp, counting.cpp, products.cpp,
// drawing.cpp, scanning.cpp, segments.cpp, factoring.cpp.
void sort_parts(Partition&, const Entry&);
void argsort_parts(Partition&, const Entry&);
void partition_parts(Partition&, const Entry&);
void argpartition_parts(Partition&, const Entry&);
void top_k_parts(Partition&, const Entry&);
void search_parts(Partition&, const Entry&);
void segment_parts(Partition&, const Entry&);
void unique_parts(Partition&, const Entry&);
void extreme_of_parts(Partition&, const Entry&);
void select_parts(Partition&, const Entry&);
void nonzero_parts(Partition&, const Entry&);
void fill_parts(Partition&, const Entry&);
void combine_parts(Partition&, const Entry&);
void count_parts(Partition&, const Entry&);
void draw_parts(Partition&, const Entry&);
void scan_parts(Partition&, const Entry&);
void matmul_parts(Partition&, const Entry&);
void qr_parts(Partition&, const Entry&);
void svd_parts(Partition&, const Entry&);
void lstsq_parts(Partition&, const Entry&);

/// Every rank gets all operands and computes all.
void run_everywhere(Partition&, const Entry&);

/// The entries of Windows::take and put.
std::unique_ptr<OpaqueCall> make_take();
std::unique_ptr<OpaqueCall> make_put();
bool moves_positions(const Entry&);
void move_positions(Partition&, const Entry&);

}  // namespace unisono::comm
