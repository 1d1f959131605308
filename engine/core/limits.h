// The limits of what is small: up to where work runs eagerly, on one thread, or by a simpler
// method.
//
// They are measured, on machines of two to some sixteen cores, and decide about time and memory
// only: results have the same bits on both sides of each. Sizes that decide about the order of
// sums (leaves, trees, chunks of a reduction) are not limits; they belong to ops/reduction_tree.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace unisono::limits {

// --- Statements that run eagerly, because recording them costs more ---

inline constexpr std::int64_t eager_points = 1024;             ///< that a statement reads or writes
inline constexpr std::int64_t eager_bytes = eager_points * 8;  ///< of an operand in any dtype
/// Runs of a call site from which on it is known as one that makes small statements again and
/// again.
inline constexpr std::int32_t eager_repeats = 16;
inline constexpr std::int64_t eager_call_elements = 4096;   ///< all operands of a library call
inline constexpr std::int64_t eager_index_elements = 4096;  ///< that indexing by an array moves
/// The same of what has to be computed before the statement returns anyway.
inline constexpr std::int64_t eager_peek_elements = 1 << 15;
/// Work that is computed when a 0-d result is recorded, so that it is a number at once.
inline constexpr std::int64_t eager_value_elements = 1 << 14;
inline constexpr std::int64_t row_copy_bytes = 128;  ///< that a loop copies sooner than memcpy

// Pending work that a small statement may settle. A sum over much, once it is wanted, should be
// fused with what feeds it, and that can no longer be seen after the flush.
inline constexpr std::int64_t settled_bytes = 256 * 1024;
inline constexpr std::int64_t settled_elements = 256 * 1024;

// --- Where the tape is cut ---

/// Pending elements from which on an in-place statement cuts: fusing more would gain nothing.
inline constexpr std::int64_t flush_elements = std::int64_t{1} << 18;
inline constexpr std::size_t flush_statements = 128;  ///< the same, counted in entries
inline constexpr std::size_t flush_always = 1024;     ///< entries: cut after any statement
/// The same after a statement that leaves most of each cache line alone, as `x[:, k] = ...` does:
/// the next ones may want the rest, and kernels that run band by band fetch a line once (bands.h).
inline constexpr std::int64_t flush_sparse_elements = 16 * flush_elements;
inline constexpr std::size_t flush_sparse_statements = 4 * flush_statements;
/// Bytes of an in-place statement's result from which it waits for more of the kind, and how many
/// wait: kernels that run some rows behind one another read memory once for all of them.
inline constexpr std::int64_t waiting_bytes = 2 << 20;
inline constexpr std::int64_t waiting_statements = 8, waiting_without_loop = 32;
/// Elements that a call reads: others may join it, and that saves more than recording them costs.
inline constexpr std::int64_t joined_elements = std::int64_t{1} << 15;

// --- Groups ---

inline constexpr std::int64_t packed_points = 256;  ///< run without the detours of strides
inline constexpr std::int64_t short_row = 64;       ///< points: several rows make one block
inline constexpr std::size_t unrolled_nodes = 8;    ///< of a reducing group: more are not unrolled
inline constexpr std::int64_t folded_row = 64;  ///< elements: a shorter row has no kernel's fold
/// Bytes of cache lines that steps together must touch for bands to pay: less stays in a
/// second-level cache anyway.
inline constexpr std::int64_t band_traffic = 1 << 20;
/// The same, temporary arrays counted, where they run rows behind one another: threads meet at
/// each.
inline constexpr std::int64_t shifted_band_traffic = 6 << 20;
inline constexpr std::int64_t band_points =
    64;  ///< of a band: else launches cost more than it saves
inline constexpr std::int64_t band_count = 8;

/// Bytes of results from which on both kinds of stores are timed: fewer stay in the caches.
inline constexpr std::int64_t timed_stores_bytes = 4 << 20;

/// Bytes of rows for each thread that a call computes at once where its result is sent to other
/// ranks: they are copied into messages while a cache holds them.
inline constexpr std::int64_t moved_run_bytes = 2 << 20;

// --- Work that is worth a thread of its own ---

inline constexpr std::int64_t thread_elements = 1 << 14;    ///< moved, sorted, scanned, drawn
inline constexpr std::int64_t thread_bytes = 1 << 16;       ///< copied
inline constexpr std::int64_t thread_search = 1 << 12;      ///< values looked up
inline constexpr std::int64_t thread_cells = 1 << 15;       ///< of Fourier transforms
inline constexpr std::int64_t thread_operations = 1 << 16;  ///< multiply-adds of vectors
inline constexpr std::int64_t thread_matrix_operations = 1 << 17;  ///< of factorisations
inline constexpr double thread_product_operations = 1 << 18;       ///< of matrix products
/// Of a tile of a product: a thread is asked to stop between tiles, each of which takes a part of a
/// second.
inline constexpr double most_tile_operations = 8e9;
inline constexpr std::int64_t all_threads_lane = 1 << 16;  ///< elements: a lane for all threads

// --- Distributed arrays ---

inline constexpr std::int64_t few_elements = 1 << 12;  ///< of an operand that all ranks may get
/// Bytes of a matrix that is factored, or a vector that is transformed, by all ranks alike: they
/// fit a core's own cache, and by parts each of many short steps would wait for messages.
inline constexpr std::int64_t alike_bytes = 1 << 20;
/// The same of matrices whose columns are rotated, which takes many times LAPACK's operations.
inline constexpr std::int64_t alike_rotated_bytes = 8 << 20;

// --- Algorithms for few elements ---

inline constexpr std::int64_t insertion_sort_lane = 24;
inline constexpr std::int64_t full_sort_lane = 1 << 14;  ///< a selection sorts the lane
inline constexpr std::int64_t dot_lanes = 32;            ///< shorter dot products are plain loops
inline constexpr std::int64_t tiled_rows = 384;          ///< of a matrix that is factored in tiles
/// Multiply-adds of one LAPACK routine from which on Ctrl-C does not wait for its end.
inline constexpr double abandonable_operations = 4e9;
inline constexpr std::int64_t shared_matrix_elements = 8192;  ///< read once for several vectors

}  // namespace unisono::limits
