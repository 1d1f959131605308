// Storage spread over the ranks of a mesh: each holds a block of rows, and copies of its
// neighbours' rows.
//
// Rows (axis 0) are split, all other axes are whole. The local array of a rank is packed:
//
//     halo_before rows of others | own rows | halo_after rows of others
//
// Rows of others are copies. How many next to the own rows are current is known on every rank,
// because every rank records the same program: a write makes all of them stale, an exchange makes
// them current.
//
// Views. `whole` is the array as if it lay packed in one memory: a view on a storage that never has
// memory. Slicing it is slicing any array; RowMap says which rows a view's indices mean.
#pragma once

#include <memory>
#include <vector>

#include "comm/mesh.h"
#include "tape/array.h"

namespace unisono::comm {

struct Node;

/// Which rows the indices of a view are: index i along `axis` is row start + step i. A view inside
/// one row has no such axis (-1).
struct RowMap {
    int axis = -1;
    std::int64_t start = 0, step = 0, count = 1;
    std::int64_t inner = 0;  ///< elements from the start of a row to the view's first
    /// Indices of the view that lie in `rows`; for a view inside one row {0, 1} or nothing.
    Range indices(Range rows) const;
};

class Block {
  public:
    /// With memory for `halo` rows on both sides where there is more than one rank.
    Block(Mesh& mesh, Dims shape, DType dtype, Ranges rows, std::int64_t halo);
    /// Takes a packed local array of exactly the own rows.
    Block(Mesh& mesh, Dims shape, Ranges rows, Array local);

    Mesh& mesh() const { return mesh_; }
    const Array& whole() const { return whole_; }
    DType dtype() const { return whole_.dtype(); }
    const Ranges& rows() const { return rows_; }
    Range own_rows() const { return rows_[static_cast<std::size_t>(mesh_.rank())]; }

    RowMap map(const Array& view) const;
    /// Local window on the indices `range` along the view's row axis. The rows must be here.
    Array part(const Array& view, const RowMap& map, Range range) const;
    /// Makes rows that far before and after the own ones current on all ranks.
    void ensure_halo(std::int64_t before, std::int64_t after);
    /// The indices needed[r] of the view (along its row axis) in memory of rank r, packed, row axis
    /// first: for what halos do not serve.
    Array fetch(const Array& view, const RowMap& map, const Ranges& needed, const std::string& why,
                bool settle) const;
    /// To be called before a write is recorded: expressions that have not run keep the old
    /// elements.
    void before_write();
    void after_write() { current_before_ = current_after_ = 0; }
    /// Waits until the contents are valid.
    void complete() const;
    void add_reader(const std::shared_ptr<Node>& leaf) { readers_.push_back(leaf); }

  private:
    void grow(std::int64_t before, std::int64_t after);
    std::int64_t first_row() const { return own_rows().begin - halo_before_; }

    Mesh& mesh_;
    Array whole_;
    Ranges rows_;
    std::int64_t row_elements_;
    Array local_;
    std::int64_t halo_before_ = 0, halo_after_ = 0;  ///< rows that the local array has room for
    std::int64_t current_before_ = 0, current_after_ = 0;  ///< of these, how many are current
    std::vector<std::weak_ptr<Node>> readers_;
};

}  // namespace unisono::comm
