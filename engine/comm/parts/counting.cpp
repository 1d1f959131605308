// Counts of parts, added over the ranks by the tree of reductions.
#include "comm/parts/primitive.h"
#include "comm/reduce.h"
#include "tape/record/record.h"

namespace unisono::comm {

/// bincount (values, weights) and histogram (values, edges, weights): edges are the same for all.
void count_parts(Partition& p, const Entry& e) {
    Mesh& mesh = p.mesh();
    const std::vector<View> in = reads_of(e);
    const bool has_edges = call_of(e).row().id == std::string_view("count_in_bins");
    const std::int64_t n = in[0].layout->size();
    std::vector<Array> local;
    for (std::size_t k = 0; k < in.size(); ++k) {
        const bool is_whole = (has_edges && k == 1) || in[k].layout->size() != n;
        local.push_back(p.part(in[k], is_whole ? Held::all(mesh.size())
                                               : Held::along(Split::even(0, n, mesh.size()))));
    }
    const Array counts = call_locally(e, local);
    const std::int64_t row[] = {1, counts.size()};
    const Array sum =
        reduce_along(mesh, Op::Add, reshape(counts, {row[0], row[1]}),
                     Split::even(0, mesh.size(), mesh.size()), counts.size() == 1, counts.dtype());
    p.store(e.out, sum, Held::all(mesh.size()), "counts");
}

}  // namespace unisono::comm
