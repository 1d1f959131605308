// Questions about entries of a window, and about who has what, that several pages of the partition
// ask.
#pragma once

#include <optional>
#include <vector>

#include "comm/block.h"
#include "tape/tape.h"

namespace unisono::comm {

/// The same elements in another shape.
struct Reshape final : OpaqueCall {
    void run(std::span<const View>, std::span<const View>) override;
    std::string name() const override { return "reshape"; }
};

bool is_elementwise(const Entry& e);
bool is_reshape(const Entry& e);
/// Whether an array of the host, which all ranks have alike, is written to one of the mesh.
bool is_spread(const Entry& e);
bool is_on_mesh(const View& v);
/// Whether the entry only brings a number of the host, which all ranks have. A rank that knows the
/// number already writes it into the statement, so such entries differ between ranks.
bool brings_number(const Entry& e);
/// What a statement does, as a number that is equal on ranks that run the same program.
std::uint64_t mark_of(const Entry& e);

/// Whether halos of that width are kept beside the parts.
bool is_near(const Halos& halos, const Held& held);
void widen(Halo& halo, const Halo& more);
void widen(Halos& halos, const Halos& more);
/// An extension in indices of the base as one in indices of an array whose steps are 1 or -1; there
/// is none on grids.
Halo in_indices(const Halo& base, const Split& split);
Halo in_indices(const Halo& base, const Held& held);
/// As halos_between, of a rank that computes that far beyond its part.
std::optional<Halos> halos_beyond(const Held& held, const Held& wanted, const Held& array,
                                  const Halo& beyond);

/// First of the axes that are reduced; `axis` is the last.
inline int first_reduced(const Entry& e) { return e.axis - e.before; }
std::vector<int> reduced_axes(const Entry& e);
/// As what the result of a reduction is held, whose operand is held so.
Held held_after(const Entry& e, const Held& in, int ranks);

/// Whether a view may be held so, but no array: it lies in one part, or crosses a grid of ranks.
bool is_of_views_only(const Held& held);
/// As a new array is held whose elements lie so: what lies on some ranks only goes to all.
Held as_array(const Held& held, int ranks);

}  // namespace unisono::comm
