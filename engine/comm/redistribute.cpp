// Packs what others want, sends it, and puts what comes in its place.
#include "comm/redistribute.h"

#include "comm/parts/exchange.h"
#include "comm/pieces.h"
#include "core/error.h"
#include "library/gather/index.h"

namespace unisono::comm {

namespace {

Array box_of(const Array& a, const Box& box, const Box& origin) {
    std::vector<IndexItem> items;
    for (std::size_t k = 0; k < box.size(); ++k) {
        items.push_back({IndexItem::Kind::Slice, box[k].begin - origin[k].begin,
                         box[k].end - origin[k].begin, 1, true, true});
    }
    return index(a, items);
}

Array run_of(const Array& flat, std::int64_t begin, std::int64_t count) {
    return rows_of(flat, {begin, begin + count});
}

/// Ranks that may have something in common with this part, in their order.
std::vector<int> candidates(const Held& held, const Box& box, int ranks) {
    std::vector<int> found;
    if (held.kind == Held::Kind::At) return {held.owner};
    if (held.kind == Held::Kind::Along) {
        const Split::Parts owners =
            held.split.owners(box[static_cast<std::size_t>(held.split.axis)]);
        for (int r = owners.first; r <= owners.last; ++r) found.push_back(r);
        return found;
    }
    for (int r = 0; r < ranks; ++r) {
        const bool meets = std::ranges::all_of(held.splits(), [&](const Split& s) {
            if (s.axis < 0) return s.part_of(r) == s.pin;
            return !intersect(s.range(r), box[static_cast<std::size_t>(s.axis)]).empty();
        });
        if (meets) found.push_back(r);
    }
    return found;
}

/// Of ranks that have the same part, the first one gives it to others.
bool gives_part(const Held& held, int rank) {
    if (held.kind != Held::Kind::Grid) return true;
    int first = 0;
    for (const Split& s : held.splits()) first += s.part_of(rank) * s.stride;
    return rank == first;
}

bool have_same_part(const Held& held, int a, int b) {
    return held.kind == Held::Kind::Grid && std::ranges::all_of(held.splits(), [&](const Split& s) {
               return s.part_of(a) == s.part_of(b);
           });
}

/// Whether the box is a run of rows of a packed array that holds `origin`, so that it can be sent
/// and received where it lies.
bool is_run(const Box& box, const Box& origin) {
    if (box.empty()) return false;
    for (std::size_t k = 1; k < box.size(); ++k) {
        if (box[k] != origin[k]) return false;
    }
    return true;
}

std::int64_t run_begin(const Box& box, const Box& origin) {
    std::int64_t row = 1;
    for (std::size_t k = 1; k < box.size(); ++k) row *= origin[k].size();
    return (box[0].begin - origin[0].begin) * row;
}

Array empty_like_box(const Box& box, DType t) { return empty(shape_of(box), t, nullptr); }

/// Along each axis, sorted indices.
using Sets = std::vector<std::vector<std::int64_t>>;

Sets sets_of(const Held& held, int rank, Dims shape) {
    Sets sets;
    for (std::size_t k = 0; k < shape.size(); ++k)
        sets.push_back(held.indices(rank, static_cast<int>(k), shape[k]));
    return sets;
}

std::vector<std::int64_t> extents_of(const Sets& sets) {
    std::vector<std::int64_t> extents;
    for (const auto& set : sets) extents.push_back(static_cast<std::int64_t>(set.size()));
    return extents;
}

/// Where in `mine` those indices are that `theirs` has, too.
Sets places_of_common(const Sets& mine, const Sets& theirs) {
    Sets places(mine.size());
    for (std::size_t k = 0; k < mine.size(); ++k) {
        const auto &a = mine[k], &b = theirs[k];
        for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
            if (a[i] == b[j]) places[k].push_back(static_cast<std::int64_t>(i));
            const bool ahead = a[i] < b[j];
            if (a[i] <= b[j]) ++i;
            if (!ahead) ++j;
        }
    }
    return places;
}

/// The places as a slice; null where they are at no even steps.
std::optional<IndexItem> slice_of(const std::vector<std::int64_t>& places) {
    const std::int64_t step = places.size() > 1 ? places[1] - places[0] : 1;
    for (std::size_t i = 1; i < places.size(); ++i) {
        if (places[i] - places[i - 1] != step) return {};
    }
    return IndexItem{IndexItem::Kind::Slice, places[0], places.back() + 1, step, true, true};
}

/// The elements at all combinations of the places: a view where these are at even steps.
struct Selection {
    explicit Selection(const Sets& places) {
        for (const auto& along : places) {
            const auto slice = slice_of(along);
            if (!slice) is_view = false;
            if (slice) slices.push_back(*slice);
        }
        if (is_view) return;
        for (std::size_t k = 0; k < places.size(); ++k) {
            std::vector<std::int64_t> open(places.size(), 1);
            open[k] = static_cast<std::int64_t>(places[k].size());
            library::IndexPart part;
            part.is_array = true;
            part.array = reshape(vector_of(places[k]), open);
            parts.push_back(part);
        }
    }
    Array of(const Array& a) const {
        return is_view ? index(a, slices) : library::get_items(a, parts);
    }
    void set(const Array& target, const Array& values) const {
        if (is_view)
            assign(index(target, slices), values.arg());
        else
            library::set_items(target, parts, values.arg());
    }

    bool is_view = true;
    std::vector<IndexItem> slices;
    std::vector<library::IndexPart> parts;
};

/// As move_parts, where what a rank has are no ranges: parts go round in one of the layouts.
Array move_sets(Mesh& mesh, const Array& part, Dims shape, const Held& held, const Held& wanted,
                const std::string& what, bool settle) {
    const int me = mesh.rank();
    const Sets has = sets_of(held, me, shape), wants = sets_of(wanted, me, shape);
    const DType t = part.dtype();
    const auto bytes = size_of(t);
    const Array made = empty(extents_of(wants), t, nullptr);
    struct Piece {
        int rank;
        Sets places;
        std::int64_t size;
    };
    std::vector<Piece> going, coming;
    std::int64_t out_size = 0, in_size = 0;
    const Sets here = places_of_common(has, wants);
    if (element_count(extents_of(here)) > 0)
        Selection(places_of_common(wants, has)).set(made, Selection(here).of(part));
    if (mesh.size() == 1 || (held.kind == Held::Kind::All && !settle)) return made;
    for (int r = 0; held.kind != Held::Kind::All && r < mesh.size(); ++r) {
        if (r == me || have_same_part(held, r, me)) continue;
        auto add = [&](std::vector<Piece>& pieces, const Sets& mine, const Sets& theirs,
                       std::int64_t& total) {
            Sets places = places_of_common(mine, theirs);
            const std::int64_t n = element_count(extents_of(places));
            if (n == 0) return;
            pieces.push_back({r, std::move(places), n});
            total += n;
        };
        if (gives_part(held, me)) add(going, has, sets_of(wanted, r, shape), out_size);
        if (gives_part(held, r)) add(coming, wants, sets_of(held, r, shape), in_size);
    }
    if (wanted.kind == Held::Kind::All && element_count(shape) > 1)
        mesh.count_gathered(in_size * bytes);
    const std::int64_t out_shape[] = {out_size}, in_shape[] = {in_size};
    const Array out = empty(out_shape, t, nullptr), in = empty(in_shape, t, nullptr);
    std::vector<Part> sends, receives;
    std::int64_t at = 0;
    for (const Piece& p : going) {
        assign(reshape(run_of(out, at, p.size), extents_of(p.places)),
               Selection(p.places).of(part).arg());
        sends.push_back({p.rank, at * bytes, p.size * bytes});
        at += p.size;
    }
    at = 0;
    for (const Piece& p : coming) {
        receives.push_back({p.rank, at * bytes, p.size * bytes});
        at += p.size;
    }
    mesh.record(what, out.view(), std::move(sends), in.view(), std::move(receives), settle);
    at = 0;
    for (const Piece& p : coming) {
        Selection(p.places).set(made, reshape(run_of(in, at, p.size), extents_of(p.places)));
        at += p.size;
    }
    return made;
}

std::vector<std::int64_t> extents_of(const Box& box) {
    const Few<std::int64_t> shape = shape_of(box);
    return {shape.begin(), shape.end()};
}

/// Elements of a part, and memory of their own that they go to.
struct Copy {
    Array target;
    Box box;
};

/// A rank's part: there, or computed as it is copied.
class Source {
  public:
    explicit Source(const Array& part) : whole_(part) {}
    explicit Source(const ComputedRows& rows) : rows_(&rows) {}

    DType dtype() const { return rows_ ? rows_->dtype : whole_.dtype(); }
    bool is_packed() const { return rows_ || whole_.view().layout->contiguous(); }
    /// All of it, as it holds `has`.
    const Array& whole(const Box& has) {
        if (rows_) whole_ = std::exchange(rows_, nullptr)->record({0, has[0].size()});
        return whole_;
    }
    void copy(std::span<const Copy> copies, const Box& has) {
        if (!rows_) {
            for (const Copy& c : copies) assign(c.target, box_of(whole_, c.box, has).arg());
            return;
        }
        Box run = has;
        for (std::int64_t at = has[0].begin; at < has[0].end; at += rows_->at_once) {
            run[0] = {at, std::min(at + rows_->at_once, has[0].end)};
            const Array made = rows_->record({at - has[0].begin, run[0].end - has[0].begin});
            for (const Copy& c : copies) {
                Box both = c.box;
                both[0] = intersect(c.box[0], run[0]);
                if (both[0].empty()) continue;
                const std::int64_t first = c.box[0].begin;
                assign(rows_of(c.target, {both[0].begin - first, both[0].end - first}),
                       box_of(made, both, run).arg());
            }
        }
    }

  private:
    const ComputedRows* rows_ = nullptr;
    Array whole_;
};

Array move_boxes(Mesh& mesh, Source part, Dims shape, const Held& held, const Held& wanted,
                 const std::string& what, bool settle) {
    const int me = mesh.rank();
    Box wants = wanted.box(me, shape);
    const Box has = held.box(me, shape);
    if (wants.size() > shape.size()) wants.resize(shape.size());
    const DType t = part.dtype();
    const auto bytes = size_of(t);
    // 0-d arrays have no axis that could be empty: whether a rank takes part says the kind.
    const bool gets = wanted.takes_part(me) && !is_empty(wants);
    const bool gives = held.takes_part(me) && !is_empty(has);
    Array made = empty_like_box(gets ? wants : shape.empty() ? Box{} : wants, t);
    struct Piece {
        int rank;
        Box box;
    };
    std::vector<Piece> going, coming;
    std::vector<Copy> copies;
    std::int64_t out_size = 0, in_size = 0;
    if (held.kind == Held::Kind::All) {
        if (gets) assign(made, box_of(part.whole(has), wants, whole_box(shape)).arg());
        if (!settle || mesh.size() == 1) return made;
    } else {
        if (gets && gives) {
            const Box both = intersect(has, wants);
            if (!is_empty(both)) copies.push_back({box_of(made, both, wants), both});
        }
        if (gives && gives_part(held, me)) {
            for (const int r : candidates(wanted, has, mesh.size())) {
                if (r == me || have_same_part(held, r, me)) continue;
                const Box both = intersect(has, wanted.box(r, shape));
                if (is_empty(both)) continue;
                going.push_back({r, both});
                out_size += elements_of(both);
            }
        }
        if (gets) {
            for (const int r : candidates(held, wants, mesh.size())) {
                if (r == me || !gives_part(held, r) || have_same_part(held, r, me)) continue;
                const Box both = intersect(held.box(r, shape), wants);
                if (is_empty(both)) continue;
                coming.push_back({r, both});
                in_size += elements_of(both);
            }
        }
    }
    if (mesh.size() == 1) {
        part.copy(copies, has);
        return made;
    }
    if (wanted.kind == Held::Kind::All && element_count(shape) > 1)
        mesh.count_gathered(in_size * bytes);
    // Runs of rows are sent from where they lie, and received where they shall lie.
    const bool from_rows = part.is_packed() && std::ranges::all_of(going, [&](const Piece& p) {
                               return is_run(p.box, has);
                           });
    const bool to_rows =
        std::ranges::all_of(coming, [&](const Piece& p) { return is_run(p.box, wants); });
    const std::int64_t out_shape[] = {from_rows ? 0 : out_size},
                       in_shape[] = {to_rows ? 0 : in_size};
    const Array out = from_rows && !going.empty() ? part.whole(has) : empty(out_shape, t, nullptr);
    // Who only sends has made the message before it uses its own part: others wait for it.
    const Array in = to_rows || coming.empty() ? made : empty(in_shape, t, nullptr);
    std::vector<Part> sends, receives;
    std::int64_t at = 0;
    for (const Piece& p : going) {
        const std::int64_t n = elements_of(p.box);
        if (!from_rows) copies.push_back({reshape(run_of(out, at, n), extents_of(p.box)), p.box});
        sends.push_back({p.rank, (from_rows ? run_begin(p.box, has) : at) * bytes, n * bytes});
        at += n;
    }
    part.copy(copies, has);
    at = 0;
    for (const Piece& p : coming) {
        const std::int64_t n = elements_of(p.box);
        receives.push_back({p.rank, (to_rows ? run_begin(p.box, wants) : at) * bytes, n * bytes});
        at += n;
    }
    mesh.record(what, out.view(), std::move(sends), in.view(), std::move(receives), settle);
    at = 0;
    for (const Piece& p : coming) {
        const std::int64_t n = elements_of(p.box);
        if (!to_rows)
            assign(box_of(made, p.box, wants), reshape(run_of(in, at, n), extents_of(p.box)).arg());
        at += n;
    }
    return made;
}

}  // namespace

Array move_parts(Mesh& mesh, const Array& part, Dims shape, const Held& held, const Held& wanted,
                 const std::string& what, bool settle) {
    if (held.is_cyclic() || wanted.is_cyclic())
        return move_sets(mesh, part, shape, held, wanted, what, settle);
    return move_boxes(mesh, Source(part), shape, held, wanted, what, settle);
}

Array move_parts(Mesh& mesh, const ComputedRows& part, Dims shape, const Held& held,
                 const Held& wanted, const std::string& what) {
    if (held.is_cyclic() || wanted.is_cyclic()) {
        const Array all = part.record({0, held.box(mesh.rank(), shape)[0].size()});
        return move_sets(mesh, all, shape, held, wanted, what, false);
    }
    return move_boxes(mesh, Source(part), shape, held, wanted, what, false);
}

Array taken(const Array& whole, const Held& wanted, int rank) {
    const Sets places = sets_of(wanted, rank, whole.shape());
    const std::vector<std::int64_t> extents = extents_of(places);
    if (element_count(extents) == 0) return empty(extents, whole.dtype(), nullptr);
    return Selection(places).of(whole);
}

Array fetch(const Block& block, const View& view, const Steps& steps, const Held& wanted,
            const std::string& why, bool settle) {
    // Axes along which the view stays where it is are moved once, and broadcast where they arrive.
    View once = view;
    std::vector<std::int64_t> shape(view.layout->shape().begin(), view.layout->shape().end());
    Held moved = wanted;
    for (std::size_t j = 0; j < shape.size(); ++j) {
        if (steps.axis[j] >= 0 || shape[j] == 0) continue;
        shape[j] = 1;
        if (!moved.split_along(static_cast<int>(j))) continue;
        std::vector<Split> others(moved.splits().begin(), moved.splits().end());
        std::erase_if(others, [&](const Split& s) { return s.axis == static_cast<int>(j); });
        moved = Held::of_grid(std::move(others), block.mesh().size());
    }
    once.layout = Layout::make(shape, view.layout->strides());
    const Held held = held_by(block.held(), once, steps);
    const int me = block.mesh().rank();
    Box has = held.box(me, shape);
    has.resize(shape.size());
    const Array part = block.part(once, steps, has);
    Array made = move_parts(block.mesh(), part, shape, held, moved,
                            why + " of " + shape_text(view.layout->shape()) + " from " +
                                block.text() + " at element " + std::to_string(view.offset),
                            settle);
    Box box = wanted.box(me, view.layout->shape());
    box.resize(shape.size());
    if (!wanted.takes_part(me)) return made;
    const Few<std::int64_t> all = shape_of(box);
    if (std::equal(all.begin(), all.end(), made.shape().begin(), made.shape().end())) return made;
    return broadcast_to(made, all);
}

Array move_flat(Mesh& mesh, const Array& part, Dims from, Dims to, const std::string& what) {
    // Rows lie one behind the other in both: what moves are runs of elements.
    const std::int64_t n = element_count(from);
    auto run = [&](Dims shape, int rank) {
        if (shape.empty()) return rank == mesh.size() - 1 ? Range{0, n} : Range{};
        const std::int64_t row = shape[0] ? n / shape[0] : 0;
        const Range rows = Split::even(0, shape[0], mesh.size()).range(rank);
        return Range{rows.begin * row, rows.end * row};
    };
    const int me = mesh.rank();
    const Range has = run(from, me), wants = run(to, me);
    const std::int64_t flat_shape[] = {has.size()}, made_shape[] = {wants.size()};
    const Array flat = reshape(part, {flat_shape[0]});
    Array made = empty(made_shape, part.dtype(), nullptr);
    const auto bytes = size_of(part.dtype());
    std::vector<Part> sends, receives;
    for (int r = 0; r < mesh.size(); ++r) {
        const Range out = intersect(has, run(to, r)), in = intersect(run(from, r), wants);
        if (r == me) {
            if (!out.empty())
                assign(run_of(made, out.begin - wants.begin, out.size()),
                       run_of(flat, out.begin - has.begin, out.size()).arg());
            continue;
        }
        if (!out.empty()) sends.push_back({r, (out.begin - has.begin) * bytes, out.size() * bytes});
        if (!in.empty())
            receives.push_back({r, (in.begin - wants.begin) * bytes, in.size() * bytes});
    }
    if (mesh.size() > 1) {
        const Array packed =
            flat.view().layout->contiguous() && flat.view().offset == 0 ? flat : copy(flat);
        mesh.record(what, packed.view(), std::move(sends), made.view(), std::move(receives), false);
    }
    std::vector<std::int64_t> shape(to.begin(), to.end());
    if (!shape.empty()) shape[0] = Split::even(0, to[0], mesh.size()).range(me).size();
    return shape.empty() && wants.empty() ? made : reshape(made, shape);
}

}  // namespace unisono::comm
