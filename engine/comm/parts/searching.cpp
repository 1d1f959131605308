// Where values belong in a sorted vector that is spread: each is looked up by the rank whose part
// it falls in.
#include "library/sort/search.h"

#include <algorithm>

#include "comm/parts/exchange.h"
#include "comm/parts/primitive.h"
#include "comm/pieces.h"
#include "comm/reduce.h"
#include "library/sort/sort.h"
#include "primitives/ordering.h"
#include "primitives/primitive.h"

namespace unisono::comm {

namespace {

/// A value's place is the number of elements before it: all ranks count in their parts.
Array counted(Mesh& mesh, const Array& part, const Array& values, bool right) {
    const std::int64_t row[] = {1, values.size()};
    const Array own = part.size() > 0
                          ? library::search_sorted(part, values, right)
                          : full({&row[1], 1}, Scalar::of(DType::Int64, std::int64_t{0}), nullptr);
    return reduce_along(mesh, Op::Add, reshape(own, {row[0], row[1]}),
                        Split::even(0, mesh.size(), mesh.size()), values.size() == 1, DType::Int64);
}

/// The last rank whose first element lies before the value knows its place; where there is none,
/// the first one with elements does.
std::vector<std::int64_t> owners_of(Mesh& mesh, const Split& even, const Array& part,
                                    const Array& values, bool right, const std::string& what) {
    const auto ranks = static_cast<std::size_t>(mesh.size());
    std::vector<std::int64_t> with_elements, from_each(ranks, 0);
    for (int r = 0; r < mesh.size(); ++r) {
        if (even.range(r).empty()) continue;
        with_elements.push_back(r);
        from_each[static_cast<std::size_t>(r)] = 1;
    }
    const std::int64_t mine = part.size() > 0 ? 1 : 0, copies[] = {mesh.size() * mine};
    const Array given = copy(broadcast_to(rows_of(part, {0, mine}), copies));
    const Array firsts =
        swap_rows(mesh, given, std::vector<std::int64_t>(ranks, mine), from_each, what);
    const Array before = library::search_sorted(firsts, values, right);
    std::vector<std::int64_t> owners;
    for (const std::int64_t parts : values_of<const std::int64_t>(before))
        owners.push_back(with_elements[static_cast<std::size_t>(std::max(parts - 1, INT64_C(0)))]);
    return owners;
}

}  // namespace

void search_parts(Partition& p, const Entry& e) {
    Mesh& mesh = p.mesh();
    const View &sorted = e.in[0], &values = e.in[1];
    const Dims extents = values.layout->shape();
    const std::vector<std::int64_t> shape(extents.begin(), extents.end());
    const std::string what =
        "searchsorted of " + shape_text(shape) + " in " + shape_text(sorted.layout->shape());
    const bool right = attributes_of<primitives::Side>(e).right;
    const Split even = Split::even(0, sorted.layout->size(), mesh.size());
    const Array part = library::packed(p.part(sorted, Held::along(even)));
    const Held has = p.held_on_axis(values);
    if (is_few(values) || has.kind == Held::Kind::All) {
        const Held all = Held::all(mesh.size());
        const Array flat = reshape(p.part(values, all), {values.layout->size()});
        return p.store(e.out, reshape(counted(mesh, part, flat, right), shape), all, what);
    }
    const Held share = has.kind == Held::Kind::Along ? has : p.default_held(shape);
    const Array own = p.part(values, share), flat = reshape(own, {own.size()});
    const auto owners = owners_of(mesh, even, part, flat, right, what);
    std::vector<std::int64_t> to_each(static_cast<std::size_t>(mesh.size()), 0);
    for (const std::int64_t r : owners) ++to_each[static_cast<std::size_t>(r)];
    const Array order = library::argsort(vector_of(owners), 0, false);
    const auto from_each = swap_counts(mesh, to_each, what);
    const Array asked = swap_rows(mesh, at_positions(flat, order), to_each, from_each, what);
    const Array found = asked.size() > 0 ? plus(library::search_sorted(part, asked, right),
                                                even.range(mesh.rank()).begin)
                                         : vector_of({});
    const Array places = swap_rows(mesh, found, from_each, to_each, what);
    const Array in_place = at_positions(places, library::argsort(order, 0, false));
    p.store(e.out, reshape(in_place, {own.shape().begin(), own.shape().end()}), share, what);
}

}  // namespace unisono::comm
