// Local windows and the exchange of halos.
#include "comm/block.h"

#include "comm/pieces.h"
#include "core/error.h"
#include "tape/tape.h"

namespace unisono::comm {

namespace {

std::size_t at(int axis) { return static_cast<std::size_t>(axis); }

}  // namespace

Block::Block(Mesh& mesh, Dims shape, DType dtype)
    : mesh_(mesh), shape_(shape.begin(), shape.end()), dtype_(dtype) {}

Block& Block::of(Mesh& mesh, const View& all) {
    if (Block* known = of(*all.storage)) return *known;
    Storage& s = *all.storage;
    // What is spread has no memory of its own; the storage owns the block.
    auto block = std::make_unique<Block>(mesh, all.layout->shape(), all.dtype);
    s.owner = block.release();
    s.release_owner = [](void* owner) { delete static_cast<Block*>(owner); };
    s.borrowed = s.adopted = true;
    return *of(s);
}

Block* Block::of(const Storage& storage) { return static_cast<Block*>(storage.owner); }

std::vector<std::int64_t> Block::extended(Dims shape, Halo halo) const {
    std::vector<std::int64_t> made(shape.begin(), shape.end());
    if (!split_->is_everywhere()) {
        made[at(split_->axis)] = halo.before + split_->range(mesh_.rank()).size() + halo.after;
    }
    return made;
}

void Block::decide(Split split, Halo room) {
    split_ = std::move(split);
    if (split_->is_everywhere() || mesh_.size() == 1) room = {};
    room_ = room;
    current_ = {};
    local_ = empty(extended(shape_, room), dtype_, nullptr);
}

void Block::adopt(Split split, Array part) {
    split_ = std::move(split);
    room_ = current_ = {};
    local_ = std::move(part);
}

std::optional<Steps> Block::steps(const View& view) const {
    const auto whole = size_of(dtype_), one = size_of(view.dtype);
    if (one > whole) return {};
    if (one == whole) return steps_of(view, shape_);
    std::vector<std::int64_t> parts(shape_);
    parts.push_back(whole / one);
    return steps_of(view, parts);
}

Array Block::part(const View& view, const Steps& steps, const Box& box) const {
    std::vector<std::int64_t> extents(local_.shape().begin(), local_.shape().end());
    if (view.dtype != dtype_) {
        const auto parts = size_of(dtype_) / size_of(view.dtype);
        if (parts > 1) extents.push_back(parts);
    }
    std::vector<std::int64_t> pitch(extents.size(), 1);
    for (std::size_t k = extents.size(); k-- > 1;) pitch[k - 1] = pitch[k] * extents[k];
    std::vector<std::int64_t> first = steps.start;
    first.resize(extents.size(), 0);
    std::vector<std::int64_t> strides(box.size(), 0);
    for (std::size_t j = 0; j < box.size(); ++j) {
        if (steps.axis[j] < 0) continue;
        strides[j] = steps.step[j] * pitch[at(steps.axis[j])];
        first[at(steps.axis[j])] += steps.step[j] * box[j].begin;
    }
    for (const Steps::Further& f : steps.further) {
        strides[at(f.view_axis)] += f.step * pitch[at(f.axis)];
        first[at(f.axis)] += f.step * box[at(f.view_axis)].begin;
    }
    if (!split_->is_everywhere())
        first[at(split_->axis)] -= split_->range(mesh_.rank()).begin - room_.before;
    std::int64_t offset = local_.view().offset * (size_of(dtype_) / size_of(view.dtype));
    for (std::size_t k = 0; k < first.size(); ++k) offset += first[k] * pitch[k];
    View v = local_.view();
    v.dtype = view.dtype;
    v.layout = Layout::make(shape_of(box), strides);
    v.offset = is_empty(box) ? 0 : offset;
    return Array::of(v);
}

Array Block::own() const {
    if (split_->is_everywhere()) return local_;
    return slab(0, split_->range(mesh_.rank()).size());
}

/// Along the split axis, counted from the first own element.
Array Block::slab(std::int64_t begin, std::int64_t end) const {
    return slice(local_, split_->axis, {room_.before + begin, room_.before + end});
}

void Block::grow(Halo room) {
    const Array old = own();
    Array larger = empty(extended(shape_, room), dtype_, nullptr);
    if (old.size() > 0) {
        const std::int64_t n = old.shape()[at(split_->axis)];
        assign(slice(larger, split_->axis, {room.before, room.before + n}), old.arg());
    }
    local_ = std::move(larger);
    room_ = room;
    current_ = {};
}

void Block::ensure_room(Halo wanted) {
    if (wanted.before > room_.before || wanted.after > room_.after)
        grow({std::max(wanted.before, room_.before), std::max(wanted.after, room_.after)});
}

void Block::ensure_halo(Halo wanted) {
    if (mesh_.size() == 1) return;
    if (wanted.before <= current_.before && wanted.after <= current_.after) return;
    wanted.before = std::max(wanted.before, current_.before);
    wanted.after = std::max(wanted.after, current_.after);
    ensure_room(wanted);
    const Split& split = *split_;
    const int me = mesh_.rank(), axis = split.axis;
    const std::int64_t n = split.extent;
    const Range own = split.range(me);
    std::int64_t slab_elements = 1;
    for (std::size_t k = 0; k < shape_.size(); ++k) {
        if (k != at(axis)) slab_elements *= shape_[k];
    }
    const std::int64_t slab_bytes = slab_elements * size_of(dtype_);
    // A rank may compute beyond the ends of what it owns, where it owns nothing.
    auto halo = [&](int rank, int side) {
        const Range part = split.span(rank);
        if (part.empty()) return Range{};
        return intersect({0, n}, side == 0 ? Range{part.begin - wanted.before, part.begin}
                                           : Range{part.end, part.end + wanted.after});
    };
    // Slabs of the first axis lie as they are sent; those of others are packed.
    const bool direct = axis == 0;
    struct Slab {
        int rank;
        Range indices;
    };
    std::vector<Slab> going, coming;
    for (int side = 0; side < 2; ++side) {
        const Range mine = halo(me, side);
        const Split::Ranks from = split.owners(mine);
        for (int r = from.first; r <= from.last; ++r) {
            if (r == me) continue;
            const Range moved = intersect(mine, split.range(r));
            if (!moved.empty()) coming.push_back({r, moved});
        }
        // Whose halo on that side reaches into what is owned here.
        const Range reach = side == 0 ? Range{own.end, own.end + wanted.before}
                                      : Range{own.begin - wanted.after, own.begin};
        const Split::Ranks to = own.empty() ? Split::Ranks{} : split.owners(reach);
        for (int r = to.first; r <= to.last; ++r) {
            if (r == me) continue;
            const Range moved = intersect(own, halo(r, side));
            if (!moved.empty()) going.push_back({r, moved});
        }
    }
    auto slabs = [&](const std::vector<Slab>& all) {
        std::int64_t count = 0;
        for (const Slab& s : all) count += s.indices.size();
        return count;
    };
    auto packed = [&](const std::vector<Slab>& all) {
        std::vector<std::int64_t> shape(shape_);
        shape.erase(shape.begin() + axis);
        shape.insert(shape.begin(), slabs(all));
        return direct ? local_ : empty(shape, dtype_, nullptr);
    };
    const Array out = packed(going), in = packed(coming);
    auto parts = [&](const std::vector<Slab>& all) {
        std::vector<Part> made;
        std::int64_t packed_at = 0;
        for (const Slab& s : all) {
            const std::int64_t where =
                direct ? s.indices.begin - own.begin + room_.before : packed_at;
            made.push_back({s.rank, where * slab_bytes, s.indices.size() * slab_bytes});
            packed_at += s.indices.size();
        }
        return made;
    };
    std::int64_t where = 0;
    for (const Slab& s : going) {
        if (!direct) {
            const Array from = slab(s.indices.begin - own.begin, s.indices.end - own.begin);
            assign(rows_of(out, {where, where + s.indices.size()}), axis_first(from, axis).arg());
        }
        where += s.indices.size();
    }
    mesh_.record("halo exchange of " + text() + ", " + std::to_string(wanted.before) +
                     " before and " + std::to_string(wanted.after) + " after each part",
                 out.view(), parts(going), in.view(), parts(coming), false);
    where = 0;
    for (const Slab& s : coming) {
        if (!direct) {
            const Array to = slab(s.indices.begin - own.begin, s.indices.end - own.begin);
            assign(axis_first(to, axis), rows_of(in, {where, where + s.indices.size()}).arg());
        }
        where += s.indices.size();
    }
    current_ = wanted;
}

void Block::complete() const {
    if (is_split()) Tape::current().complete(local_.view().storage, FlushReason::Eval);
}

std::string Block::text() const { return std::string(name(dtype_)) + " " + shape_text(shape_); }

}  // namespace unisono::comm
