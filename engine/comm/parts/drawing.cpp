// Random numbers by global index: each rank draws those of its rows, the same as one rank would.
#include "comm/parts/primitive.h"
#include "core/error.h"
#include "tape/record/record.h"

namespace unisono::comm {

namespace {

/// The attributes for the rows of a part.
template <class Attributes>
Attributes for_rows(const Attributes& whole, Range rows) {
    Attributes mine = whole;
    const Dims shape = whole.shape.shape();
    if (shape.empty()) return mine;
    std::vector<std::int64_t> local(shape.begin(), shape.end());
    local[0] = rows.size();
    std::int64_t row = 1;
    for (std::size_t k = 1; k < local.size(); ++k) row *= local[k];
    mine.key.next += static_cast<std::uint64_t>(rows.begin * row);
    mine.shape = primitives::Extents::of(local);
    return mine;
}

}  // namespace

void draw_parts(Partition& p, const Entry& e) {
    const Dims shape = e.out.layout->shape();
    const int ranks = p.mesh().size();
    const Held as = shape.empty() ? Held::all(ranks) : Held::along(Split::even(0, shape[0], ranks));
    const Range rows = shape.empty() ? Range{} : as.split.range(p.mesh().rank());
    std::vector<Array> parameters;
    for (const View& v : reads_of(e)) {
        const bool is_like = v.layout->packed() == e.out.layout->packed();
        if (!is_like && v.layout->size() != 1) {
            fail(ErrorKind::Unsupported,
                 "random: on a mesh parameters are numbers, or arrays of the result's shape; got " +
                     shape_text(v.layout->shape()) + " for " + shape_text(shape));
        }
        parameters.push_back(p.part(v, is_like ? as : Held::all(ranks)));
    }
    const Primitive& row = call_of(e).row();
    auto draw = [&](const auto& mine) {
        return library::detail::record(row, &mine, parameters, nullptr, nullptr);
    };
    const bool is_integers = row.id == std::string_view("random_integers");
    const Array made = is_integers ? draw(for_rows(attributes_of<primitives::Range>(e), rows))
                                   : draw(for_rows(attributes_of<primitives::Drawing>(e), rows));
    p.store(e.out, made, as, "random numbers");
}

}  // namespace unisono::comm
