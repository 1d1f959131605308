// Moves elements at positions and under masks: positions go to the ranks that own what they name.
#include <algorithm>

#include "comm/partition/entries.h"
#include "comm/parts/exchange.h"
#include "comm/parts/primitive.h"
#include "comm/pieces.h"
#include "core/error.h"
#include "library/gather/index.h"
#include "library/sort/sort.h"

namespace unisono::comm {

namespace {

/// operands: the table, then a vector of positions for each of its first axes.
struct Take final : OpaqueCall {
    void run(std::span<const View>, std::span<const View>) override {
        fail(ErrorKind::Internal, "mesh: a take ran as it is");
    }
    std::string name() const override { return "take"; }
};

/// operands: the rows, then the positions.
struct Put final : OpaqueCall {
    void run(std::span<const View>, std::span<const View>) override {
        fail(ErrorKind::Internal, "mesh: a put ran as it is");
    }
    std::string name() const override { return "put"; }
};

std::vector<library::IndexPart> parts_of(std::span<const Array> positions) {
    std::vector<library::IndexPart> parts;
    for (const Array& a : positions) {
        library::IndexPart part;
        part.is_array = true;
        part.array = a;
        parts.push_back(part);
    }
    return parts;
}

/// What is written in place: where an array is held otherwise, in a copy that goes back at the end.
class InPlace {
  public:
    InPlace(Partition& p, const View& view, const Held& as, const std::string& what)
        : p_(p), view_(view), as_(as), what_(what), is_copy_(!(p.held(view) == as)) {
        part_ = p.part(view, as);
        if (is_copy_) part_ = copy(part_);
    }
    void finish() const {
        if (is_copy_) p_.store(view_, part_, as_, what_);
    }
    const Array& part() const { return part_; }

  private:
    Partition& p_;
    const View& view_;
    const Held& as_;
    const std::string& what_;
    bool is_copy_;
    Array part_;
};

/// An even share of the positions, and the ranks that own what they name.
struct Requests {
    std::vector<Array> positions;  ///< in the order of those ranks
    Array order;                   ///< that put them so
    std::vector<std::int64_t> to_each, from_each;
};

/// `owner`: of a position along one of the axes; else all go to one rank.
Requests requests_of(Partition& p, std::span<const View> positions, const Held& held,
                     const std::string& what) {
    Mesh& mesh = p.mesh();
    const Held share = Held::along(Split::even(0, positions[0].layout->size(), mesh.size()));
    Requests made;
    for (const View& v : positions) made.positions.push_back(p.part(v, share));
    const std::int64_t n = made.positions[0].size();
    made.to_each.assign(static_cast<std::size_t>(mesh.size()), 0);
    if (held.kind == Held::Kind::At) {
        made.to_each[static_cast<std::size_t>(held.owner)] = n;
    } else {
        const auto axis = static_cast<std::size_t>(held.split.axis);
        const std::int64_t shape[] = {n};
        const Array owners = empty(shape, DType::Int64, nullptr);
        const Array own = copy(made.positions[axis]);
        const auto at = values_of<const std::int64_t>(own);
        const auto owner = values_of<std::int64_t>(owners);
        for (std::size_t k = 0; k < at.size(); ++k) {
            owner[k] = held.split.owner(at[k]);
            ++made.to_each[static_cast<std::size_t>(owner[k])];
        }
        made.order = library::argsort(owners, 0, false);
        for (Array& a : made.positions) {
            const auto index = parts_of({&made.order, 1});
            a = library::get_items(a, index);
        }
    }
    made.from_each = swap_counts(mesh, made.to_each, what);
    return made;
}

/// The positions that ranks ask this one for, as indices of its part.
std::vector<Array> asked_for(Partition& p, const Requests& requests, const Held& held,
                             const std::string& what) {
    std::vector<Array> made;
    for (std::size_t k = 0; k < requests.positions.size(); ++k) {
        Array a =
            swap_rows(p.mesh(), requests.positions[k], requests.to_each, requests.from_each, what);
        if (held.kind == Held::Kind::Along && held.split.axis == static_cast<int>(k))
            a = plus(a, -held.split.range(p.mesh().rank()).begin);
        made.push_back(a);
    }
    return made;
}

bool is_requested(const Held& held, std::size_t axes) {
    return held.kind == Held::Kind::At ||
           (held.kind == Held::Kind::Along && held.split.axis < static_cast<int>(axes));
}

/// Where the other axes of a table are split, as the rows are.
Held rows_held(const Held& table, std::size_t axes, int ranks) {
    if (table.kind != Held::Kind::Along) return Held::all(ranks);
    Split s = table.split;
    s.axis -= static_cast<int>(axes) - 1;
    return Held::along(s);
}

void take_parts(Partition& p, const Entry& e) {
    Mesh& mesh = p.mesh();
    const std::vector<View> in = reads_of(e);
    const std::span<const View> positions = std::span(in).subspan(1);
    const View& table = in[0];
    const std::string what = "take of " + shape_text(e.out.layout->shape()) + " from " +
                             shape_text(table.layout->shape());
    const Held held = is_on_mesh(table) ? p.held_on_axis(table) : Held::all(mesh.size());
    const Array part = is_on_mesh(table) ? p.part(table, held) : Array::of(table);
    if (held.kind == Held::Kind::All) {
        // Each rank takes what its share of the positions names.
        const Held has = p.held_on_axis(positions[0]);
        const Held share =
            has.kind == Held::Kind::Along ? has : p.default_held(positions[0].layout->shape());
        std::vector<Array> own;
        for (const View& v : positions) own.push_back(p.part(v, share));
        return p.store(e.out, library::get_items(part, parts_of(own)), share, what);
    }
    if (!is_requested(held, positions.size())) {
        // Other axes are split: each rank takes the same rows of its part.
        std::vector<Array> all;
        for (const View& v : positions) all.push_back(p.part(v, Held::all(mesh.size())));
        return p.store(e.out, library::get_items(part, parts_of(all)),
                       rows_held(held, positions.size(), mesh.size()), what);
    }
    const Requests requests = requests_of(p, positions, held, what);
    const std::vector<Array> asked = asked_for(p, requests, held, what);
    std::vector<std::int64_t> none(e.out.layout->shape().begin(), e.out.layout->shape().end());
    none[0] = 0;
    const Array found = asked[0].size() > 0 ? library::get_items(part, parts_of(asked))
                                            : empty(none, table.dtype, nullptr);
    Array rows = swap_rows(mesh, found, requests.from_each, requests.to_each, what);
    if (!requests.order.is_known()) {
        const Array back = library::argsort(requests.order, 0, false);
        rows = library::get_items(rows, parts_of({&back, 1}));
    }
    p.store(e.out, rows, Held::along(Split::even(0, positions[0].layout->size(), mesh.size())),
            what);
}

void put_parts(Partition& p, const Entry& e) {
    Mesh& mesh = p.mesh();
    const std::vector<View> in = reads_of(e);
    const std::span<const View> positions = std::span(in).subspan(1);
    const View &rows = in[0], &target = e.out;
    const std::string what = "put of " + shape_text(rows.layout->shape()) + " into " +
                             shape_text(target.layout->shape());
    const Held held = p.held_on_axis(target);
    const InPlace kept(p, target, held, what);
    const Array& part = kept.part();
    if (!is_requested(held, positions.size())) {
        std::vector<Array> all;
        for (const View& v : positions) all.push_back(p.part(v, Held::all(mesh.size())));
        const Array mine = p.part(rows, rows_held(held, positions.size(), mesh.size()));
        if (part.size() > 0) library::set_items(part, parts_of(all), mine.arg());
        return kept.finish();
    }
    const Requests requests = requests_of(p, positions, held, what);
    const std::vector<Array> asked = asked_for(p, requests, held, what);
    Array mine =
        p.part(rows, Held::along(Split::even(0, positions[0].layout->size(), mesh.size())));
    if (!requests.order.is_known()) mine = library::get_items(mine, parts_of({&requests.order, 1}));
    const Array values = swap_rows(mesh, mine, requests.to_each, requests.from_each, what);
    if (values.size() > 0) library::set_items(part, parts_of(asked), values.arg());
    kept.finish();
}

}  // namespace

/// Positions and values, combined one by one with the elements of a vector.
void combine_parts(Partition& p, const Entry& e) {
    Mesh& mesh = p.mesh();
    const std::vector<View> in = reads_of(e);
    const std::string what = "combination at " + shape_text(in[0].layout->shape()) + " positions";
    const Held held = p.held_on_axis(e.out);
    const InPlace kept(p, e.out, held, what);
    const Array& part = kept.part();
    auto combine = [&](const Array& at, const Array& values) {
        const Array operands[] = {at, values};
        if (at.size() > 0) {
            // Host functions write packed memory; a part may lie between what neighbours have.
            const Array target = library::packed(part);
            library::detail::record_into(call_of(e).row(), call_of(e).attributes(), operands,
                                         target);
            if (target.view().storage != part.view().storage) assign(part, target.arg());
        }
        kept.finish();
    };
    const Held all = Held::all(mesh.size());
    if (held.kind == Held::Kind::All) return combine(p.part(in[0], all), p.part(in[1], all));
    const Requests requests = requests_of(p, {&in[0], 1}, held, what);
    const std::vector<Array> asked = asked_for(p, requests, held, what);
    // A value for each position, or one for all.
    if (in[1].layout->size() == 1 && in[0].layout->size() != 1)
        return combine(asked[0], p.part(in[1], all));
    Array mine = p.part(in[1], Held::along(Split::even(0, in[1].layout->size(), mesh.size())));
    if (!requests.order.is_known()) mine = library::get_items(mine, parts_of({&requests.order, 1}));
    combine(asked[0], swap_rows(mesh, mine, requests.to_each, requests.from_each, what));
}

namespace {

/// A mask and what it selects from, row by row.
struct Masked {
    Array mask;
    Held rows;
    std::vector<std::int64_t> counts;  ///< of true elements, of all ranks
};

Masked masked(Partition& p, const View& mask, const std::string& what) {
    Masked made;
    made.rows = Held::along(Split::even(0, mask.layout->shape()[0], p.mesh().size()));
    made.mask = p.part(mask, made.rows);
    made.counts = gather_numbers(p.mesh(), library::count_nonzero(made.mask), what);
    return made;
}

std::vector<library::IndexPart> under(const Array& mask) { return parts_of({&mask, 1}); }

}  // namespace

void select_parts(Partition& p, const Entry& e) {
    const std::vector<View> in = reads_of(e);
    const std::string what = "selection from " + shape_text(in[0].layout->shape());
    const Masked m = masked(p, in[1], what);
    const Array values = p.part(in[0], m.rows);
    p.store(e.out, library::get_items(values, under(m.mask)), parts_of_sizes(m.counts, 0), what);
}

void nonzero_parts(Partition& p, const Entry& e) {
    const std::string what = "nonzero of " + shape_text(e.in[0].layout->shape());
    const Masked m = masked(p, e.in[0], what);
    const std::vector<Array> places = library::nonzero(m.mask);
    const std::int64_t mine = m.counts[static_cast<std::size_t>(p.mesh().rank())];
    const std::int64_t shape[] = {e.in[0].layout->rank(), mine};
    const Array all = empty(shape, DType::Int64, nullptr);
    const std::int64_t first = m.rows.split.range(p.mesh().rank()).begin;
    for (std::size_t k = 0; k < places.size() && mine > 0; ++k) {
        IndexItem row{IndexItem::Kind::Integer, static_cast<std::int64_t>(k)};
        assign(index(all, {&row, 1}), (k == 0 ? plus(places[k], first) : places[k]).arg());
    }
    p.store(e.out, all, parts_of_sizes(m.counts, 1), what);
}

void fill_parts(Partition& p, const Entry& e) {
    const std::vector<View> in = reads_of(e);
    const std::string what = "assignment under a mask of " + shape_text(in[1].layout->shape());
    const Masked m = masked(p, in[1], what);
    const Array values = p.part(in[0], parts_of_sizes(m.counts, 0));
    const Held held = p.held(e.out);
    Array part = p.part(e.out, m.rows);
    const bool in_place = held == m.rows;
    if (!in_place) part = copy(part);
    if (part.size() > 0) library::set_items(part, under(m.mask), values.arg());
    if (!in_place) p.store(e.out, part, m.rows, what);
}

std::unique_ptr<OpaqueCall> make_take() { return std::make_unique<Take>(); }
std::unique_ptr<OpaqueCall> make_put() { return std::make_unique<Put>(); }

bool moves_positions(const Entry& e) {
    return dynamic_cast<const Take*>(e.call) || dynamic_cast<const Put*>(e.call);
}

void move_positions(Partition& p, const Entry& e) {
    if (dynamic_cast<const Take*>(e.call))
        take_parts(p, e);
    else
        put_parts(p, e);
}

}  // namespace unisono::comm
