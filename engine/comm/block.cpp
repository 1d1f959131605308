// Local windows and the exchange of halos.
#include "comm/block.h"

#include <algorithm>

#include "comm/pieces.h"
#include "comm/place.h"
#include "core/error.h"
#include "core/limits.h"
#include "tape/eager/eager.h"
#include "tape/tape.h"

namespace unisono::comm {

namespace {

/// Storages that a mesh keeps to use again, with their blocks.
constexpr std::size_t most_spare = 64;

std::size_t at(int axis) { return static_cast<std::size_t>(axis); }

/// Whether a block's array of the host may be written as a new one: it is small, and all of memory
/// that nothing else refers to.
bool is_reusable(const View& v) {
    const Storage* s = v.storage;
    return s && s->refs == 1 && s->bytes <= limits::eager_bytes && eager::is_idle(s) &&
           !s->shared_outside() && !s->readonly && v.offset == 0 &&
           s->bytes == v.layout->size() * size_of(v.dtype);
}

}  // namespace

Block::Block(Mesh& mesh, const Layout* shape, DType dtype)
    : mesh_(mesh), shape_(shape->packed()), dtype_(dtype) {
    shape_->retain();
    width = size_of(dtype);
    packed = shape_;
}

/// One that is not used any more, as a new one of such an array.
void Block::renew(const Layout* shape, DType dtype) {
    if (shape != shape_) {
        shape->retain();
        shape_->release();
        packed = shape_ = shape;
    }
    if (dtype == dtype_) return;
    dtype_ = dtype;
    width = size_of(dtype);
}

Block& Block::made(Mesh& mesh, Storage& s, const Layout* shape, DType dtype) {
    auto* const block = new Block(mesh, shape, dtype);
    // What is spread has no memory of its own; the storage owns the block.
    s.owner = static_cast<PlacedMemory*>(block);
    s.release_owner = release_placed;
    s.borrowed = s.adopted = true;
    return *block;
}

/// Of a rank alone each statement makes a storage and a block, which are used again, with their
/// memory where that is little.
bool Block::keeps(Storage& s) {
    Mesh* mesh = Mesh::current();
    if (mesh != &mesh_ || mesh->size() > 1 || mesh->spare().size() >= most_spare || s.poison ||
        s.readonly || s.use || s.exports > 0)
        return false;
    if (!is_reusable(local_.view())) hold(nullptr, nullptr, dtype_);
    s.version = 0;
    mesh->spare().push_back(&s);
    return true;
}

/// Field by field, here and in local_: moving what was written just now, by wider loads, would
/// wait.
void Block::hold(Storage* local, const Layout* packed_local, DType dtype) {
    std::destroy_at(&local_);
    if (local)
        ::new (&local_) Array(local, packed_local, dtype, false);
    else
        ::new (&local_) Array();
    here.storage = local;
    here.layout = packed_local;
    here.offset = 0;
    here.dtype = dtype;
}

Array Block::alike(Mesh& mesh, const Spread& spread, Storage* local, const Layout* layout,
                   DType dtype) {
    auto& spare = mesh.spare();
    if (!local) {
        const View* ready = spare.empty() ? nullptr : &of(*spare.back())->local_.view();
        if (ready && ready->storage && ready->layout == layout && ready->dtype == dtype) {
            ready->storage->version = 0;
        } else {
            const Array fresh(Storage::create(nullptr, layout->size() * size_of(dtype)), layout,
                              dtype, false);
            fresh.view().storage->allocate();
            return alike(mesh, spread, fresh.view().storage, layout, dtype);
        }
    }
    Storage* s;
    Block* block;
    if (spare.empty()) {
        s = Storage::create(&mesh.place(), 0);
        block = &made(mesh, *s, layout, dtype);
    } else {
        s = spare.back();
        spare.pop_back();
        block = of(*s);
        block->renew(layout, dtype);
    }
    s->bytes = layout->size() * block->width;
    s->version = 1;
    if (block->spread_ != spread.number) {
        block->held_ = *spread.held;
        block->spread_ = spread.number;
    }
    if (local) block->hold(local, layout, dtype);
    return {s, layout, dtype, false};
}

Block& Block::of(Mesh& mesh, const View& all) {
    Block* known = of(*all.storage);
    return known ? *known : made(mesh, *all.storage, all.layout->packed(), all.dtype);
}

Block* Block::of(void* owner) { return static_cast<Block*>(static_cast<PlacedMemory*>(owner)); }
Block* Block::of(const Storage& storage) { return of(storage.owner); }

void Block::keep(Array local) {
    if (mesh_.size() == 1) {
        const View& v = local.view();
        here.storage = v.storage;
        here.layout = v.layout;
        here.offset = v.offset;
        here.dtype = v.dtype;
    }
    local_ = std::move(local);
}

Few<std::int64_t> Block::extended(Dims shape, const Halos& halos) const {
    Few<std::int64_t> made(shape.begin(), shape.end());
    const auto splits = held_->splits();
    for (std::size_t k = 0; k < splits.size(); ++k)
        made[at(splits[k].axis)] =
            halos[k].before + splits[k].range(mesh_.rank()).size() + halos[k].after;
    return made;
}

void Block::decide(Held held, const Halos& room) {
    set(std::move(held));
    room_ = held_->splits().empty() || mesh_.size() == 1 ? Halos{} : room;
    for (std::size_t k = 0; k < most_splits; ++k) {
        if (k >= held_->splits().size() || held_->splits()[k].cycle) room_[k] = {};
    }
    current_ = {};
    keep(empty(extended(shape(), room_), dtype_, nullptr));
}

void Block::adopt(Held held, Array part) {
    set(std::move(held));
    room_ = current_ = {};
    keep(std::move(part));
}

void Block::lie(const Held& held, const Halos& room, const Halos& current, Array local) {
    set(held);
    room_ = room;
    current_ = current;
    keep(std::move(local));
}

std::optional<Steps> Block::steps(const View& view) const {
    const auto whole = size_of(dtype_), one = size_of(view.dtype);
    if (one > whole) return {};
    if (one == whole && shows_all(view)) {
        const auto rank = static_cast<std::size_t>(shape_->rank());
        Steps all;
        for (std::size_t k = 0; k < rank; ++k) all.axis.push_back(static_cast<int>(k));
        all.step.assign(rank, 1);
        all.start.assign(rank, 0);
        return all;
    }
    if (one == whole) return steps_of(view, shape());
    Few<std::int64_t> parts(shape().begin(), shape().end());
    parts.push_back(whole / one);
    return steps_of(view, parts);
}

bool Block::shows(const View& view) const {
    const Dims extents = view.layout->shape(), strides = view.layout->strides();
    const Dims all = shape(), pitch = shape_->strides();
    if (extents.empty() && size_of(view.dtype) == width)
        return view.offset >= 0 && view.offset < shape_->size();
    if (size_of(view.dtype) != width || extents.size() != all.size() || view.layout->size() == 0)
        return steps(view).has_value();
    // A slice with step 1, as most are: quicker than to take it apart.
    std::int64_t rest = view.offset;
    for (std::size_t k = 0; k < all.size(); ++k) {
        const std::int64_t start = pitch[k] > 1 ? rest / pitch[k] : rest;
        if (strides[k] != pitch[k] || start + extents[k] > all[k]) return steps(view).has_value();
        rest -= start * pitch[k];
    }
    return true;
}

View Block::alone(const View& view) const {
    const View& part = local_.view();
    return {part.storage, view.layout,
            view.offset + part.offset * (size_of(dtype_) / size_of(view.dtype)), view.dtype};
}

/// Where the box begins among what the rank has along an axis whose parts go round.
std::int64_t Block::first_dealt(const Split& split, const View& view, const Steps& steps,
                                const Box& box) const {
    const int me = mesh_.rank();
    const std::int64_t before = split.dealt_before(me, steps.start[at(split.axis)]);
    for (std::size_t j = 0; j < box.size(); ++j) {
        if (steps.axis[j] != split.axis) continue;
        const Split seen = split.seen(static_cast<int>(j), view.layout->shape()[j],
                                      steps.start[at(split.axis)], 1);
        return before + box[j].begin - seen.range(me).begin;
    }
    return before;
}

Array Block::part(const View& view, const Steps& steps, const Box& box) const {
    Few<std::int64_t> extents(local_.shape().begin(), local_.shape().end());
    if (view.dtype != dtype_) {
        const auto parts = size_of(dtype_) / size_of(view.dtype);
        if (parts > 1) extents.push_back(parts);
    }
    Few<std::int64_t> pitch(extents.size(), 1);
    for (std::size_t k = extents.size(); k-- > 1;) pitch[k - 1] = pitch[k] * extents[k];
    Few<std::int64_t> first = steps.start;
    first.resize(extents.size(), 0);
    Few<std::int64_t> strides(box.size(), 0);
    for (std::size_t j = 0; j < box.size(); ++j) {
        if (steps.axis[j] < 0) continue;
        strides[j] = steps.step[j] * pitch[at(steps.axis[j])];
        first[at(steps.axis[j])] += steps.step[j] * box[j].begin;
    }
    for (const Steps::Further& f : steps.further) {
        strides[at(f.view_axis)] += f.step * pitch[at(f.axis)];
        first[at(f.axis)] += f.step * box[at(f.view_axis)].begin;
    }
    const auto splits = held_->splits();
    for (std::size_t k = 0; k < splits.size(); ++k) {
        if (splits[k].cycle) {
            first[at(splits[k].axis)] = first_dealt(splits[k], view, steps, box);
            continue;
        }
        first[at(splits[k].axis)] -= splits[k].range(mesh_.rank()).begin - room_[k].before;
    }
    std::int64_t offset = local_.view().offset * (size_of(dtype_) / size_of(view.dtype));
    for (std::size_t k = 0; k < first.size(); ++k) offset += first[k] * pitch[k];
    View v = local_.view();
    v.dtype = view.dtype;
    v.layout = Layout::make(shape_of(box), strides);
    v.offset = is_empty(box) ? 0 : offset;
    return Array::of(v);
}

Array Block::own() const {
    Array made = local_;
    const auto splits = held_->splits();
    for (std::size_t k = 0; k < splits.size(); ++k) {
        const std::int64_t n = splits[k].range(mesh_.rank()).size();
        made = slice(made, splits[k].axis, {room_[k].before, room_[k].before + n});
    }
    return made;
}

Array Block::slab(std::size_t along, std::int64_t begin, std::int64_t end) const {
    const std::int64_t first = room_[along].before;
    return slice(local_, held_->splits()[along].axis, {first + begin, first + end});
}

void Block::grow(const Halos& room) {
    const Array old = own();
    Array larger = empty(extended(shape(), room), dtype_, nullptr);
    if (old.size() > 0) {
        Array inside = larger;
        const auto splits = held_->splits();
        for (std::size_t k = 0; k < splits.size(); ++k) {
            const std::int64_t n = old.shape()[at(splits[k].axis)];
            inside = slice(inside, splits[k].axis, {room[k].before, room[k].before + n});
        }
        assign(inside, old.arg());
    }
    keep(std::move(larger));
    room_ = room;
    current_ = {};
}

void Block::ensure_room(const Halos& wanted) {
    Halos room = room_;
    bool fits = true;
    for (std::size_t k = 0; k < held_->splits().size(); ++k) {
        fits = fits && wanted[k].before <= room[k].before && wanted[k].after <= room[k].after;
        room[k] = {std::max(wanted[k].before, room[k].before),
                   std::max(wanted[k].after, room[k].after)};
    }
    if (!fits) grow(room);
}

void Block::ensure_halo(const Halos& wanted) {
    if (mesh_.size() == 1) return;
    const std::size_t count = held_->splits().size();
    auto is_current = [&](std::size_t k) {
        return wanted[k].before <= current_[k].before && wanted[k].after <= current_[k].after;
    };
    std::size_t first = 0;
    while (first < count && is_current(first)) ++first;
    if (first == count) return;
    Halos all = current_;
    for (std::size_t k = 0; k < count; ++k) {
        all[k] = {std::max(wanted[k].before, current_[k].before),
                  std::max(wanted[k].after, current_[k].after)};
    }
    ensure_room(all);
    // On a grid each side takes along what the sides before it have brought: so corners come, too.
    for (std::size_t k = first; k < count; ++k) {
        if (all[k].none()) continue;
        exchange(k, all[k]);
        current_[k] = all[k];
    }
}

/// Makes halos along one of the split axes current.
void Block::exchange(std::size_t along, Halo wanted) {
    const Split& split = held_->splits()[along];
    const int me = mesh_.rank(), axis = split.axis;
    const std::int64_t n = split.extent;
    const Range own = split.range(me);
    // Of a grid what is sent has the halos of the other axes, too: who gets it has the same parts.
    std::int64_t slab_elements = 1;
    for (std::size_t k = 0; k < shape().size(); ++k) {
        if (k != at(axis)) slab_elements *= local_.shape()[k];
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
        const Split::Parts from = split.owners(mine);
        for (int part = from.first; part <= from.last; ++part) {
            const int r = split.rank_of(part, me);
            if (r == me) continue;
            const Range moved = intersect(mine, split.range(r));
            if (!moved.empty()) coming.push_back({r, moved});
        }
        // Whose halo on that side reaches into what is owned here.
        const Range reach = side == 0 ? Range{own.end, own.end + wanted.before}
                                      : Range{own.begin - wanted.after, own.begin};
        const Split::Parts to = own.empty() ? Split::Parts{} : split.owners(reach);
        for (int part = to.first; part <= to.last; ++part) {
            const int r = split.rank_of(part, me);
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
        std::vector<std::int64_t> shape(local_.shape().begin(), local_.shape().end());
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
                direct ? s.indices.begin - own.begin + room_[along].before : packed_at;
            made.push_back({s.rank, where * slab_bytes, s.indices.size() * slab_bytes});
            packed_at += s.indices.size();
        }
        return made;
    };
    std::int64_t where = 0;
    for (const Slab& s : going) {
        if (!direct) {
            const Array from = slab(along, s.indices.begin - own.begin, s.indices.end - own.begin);
            assign(rows_of(out, {where, where + s.indices.size()}), axis_first(from, axis).arg());
        }
        where += s.indices.size();
    }
    std::string sizes =
        std::to_string(wanted.before) + " before and " + std::to_string(wanted.after) + " after";
    if (held_->kind == Held::Kind::Grid) sizes += " along axis " + std::to_string(axis) + " of";
    mesh_.record("halo exchange of " + text() + ", " + sizes + " each part", out.view(),
                 parts(going), in.view(), parts(coming), false);
    where = 0;
    for (const Slab& s : coming) {
        if (!direct) {
            const Array to = slab(along, s.indices.begin - own.begin, s.indices.end - own.begin);
            assign(axis_first(to, axis), rows_of(in, {where, where + s.indices.size()}).arg());
        }
        where += s.indices.size();
    }
}

void Block::complete() const {
    if (is_split()) Tape::current().complete(local_.view().storage, FlushReason::Eval);
}

std::string Block::text() const { return std::string(name(dtype_)) + " " + shape_text(shape()); }

}  // namespace unisono::comm
