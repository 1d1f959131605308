// Local windows, halo exchange and fetches of a block-distributed storage.
#include "comm/block.h"

#include <cstdlib>

#include "comm/expression.h"
#include "core/error.h"
#include "tape/record/record.h"
#include "tape/tape.h"

namespace unisono::comm {

namespace {

/// A view of the array as if it lay in one memory. Its storage is never allocated.
Array phantom(Dims shape, DType dtype) {
    element_count(shape);  // refuses sizes that overflow
    return Array::of({Storage::create(nullptr, 0), Layout::contiguous(shape), 0, dtype});
}

std::vector<std::int64_t> with_rows(Dims shape, std::int64_t rows) {
    std::vector<std::int64_t> s(shape.begin(), shape.end());
    s[0] = rows;
    return s;
}

Array rows_of(const Array& a, std::int64_t begin, std::int64_t end) {
    IndexItem item{IndexItem::Kind::Slice, begin, end, 1, true, true};
    return index(a, {&item, 1});
}

std::string array_text(const Array& whole) {
    return std::string(name(whole.dtype())) + " " + shape_text(whole.shape());
}

}  // namespace

Range RowMap::indices(Range rows) const {
    if (axis >= 0) return indices_in(rows, start, step, count);
    return start >= rows.begin && start < rows.end ? Range{0, 1} : Range{};
}

Block::Block(Mesh& mesh, Dims shape, DType dtype, Ranges rows, std::int64_t halo)
    : mesh_(mesh), whole_(phantom(shape, dtype)), rows_(std::move(rows)) {
    row_elements_ = element_count(shape.subspan(1));
    halo_before_ = halo_after_ = mesh.size() > 1 ? halo : 0;
    local_ =
        empty(with_rows(shape, halo_before_ + own_rows().size() + halo_after_), dtype, nullptr);
}

Block::Block(Mesh& mesh, Dims shape, Ranges rows, Array local)
    : mesh_(mesh),
      whole_(phantom(shape, local.dtype())),
      rows_(std::move(rows)),
      row_elements_(element_count(shape.subspan(1))),
      local_(std::move(local)) {}

RowMap Block::map(const Array& view) const {
    RowMap m;
    if (view.size() == 0 || row_elements_ == 0) return m;
    std::int64_t offset = view.view().offset;
    m.start = offset / row_elements_;
    m.inner = offset % row_elements_;
    for (int a = 0; a < view.rank(); ++a) {
        auto k = static_cast<std::size_t>(a);
        std::int64_t stride = view.strides()[k];
        // Steps along another axis stay inside one row.
        if (view.shape()[k] > 1 && stride != 0 && std::abs(stride) >= row_elements_) {
            m.axis = a;
            m.step = stride / row_elements_;
            m.count = view.shape()[k];
        }
    }
    return m;
}

Array Block::part(const Array& view, const RowMap& map, Range range) const {
    View v = view.view();
    std::vector<std::int64_t> shape(view.shape().begin(), view.shape().end());
    if (map.axis >= 0) shape[static_cast<std::size_t>(map.axis)] = range.size();
    std::int64_t row = map.start + map.step * range.begin - first_row();
    v.storage = local_.view().storage;
    v.offset = row * row_elements_ + map.inner;
    v.layout = Layout::make(shape, view.strides());
    return Array::of(v);
}

void Block::grow(std::int64_t before, std::int64_t after) {
    std::int64_t own = own_rows().size();
    Array larger = empty(with_rows(whole_.shape(), before + own + after), dtype(), nullptr);
    if (own > 0) {
        assign(rows_of(larger, before, before + own),
               rows_of(local_, halo_before_, halo_before_ + own).arg());
    }
    local_ = std::move(larger);
    halo_before_ = before;
    halo_after_ = after;
    current_before_ = current_after_ = 0;
}

void Block::ensure_halo(std::int64_t before, std::int64_t after) {
    if (before <= current_before_ && after <= current_after_) return;
    before = std::max(before, current_before_);
    after = std::max(after, current_after_);
    if (before > halo_before_ || after > halo_after_)
        grow(std::max(before, halo_before_), std::max(after, halo_after_));
    std::int64_t n = whole_.shape()[0], row_bytes = row_elements_ * size_of(dtype());
    // Each rank's halo rows come from those who own them, however far away.
    auto halo = [&](std::size_t rank, int side) {
        Range own = rows_[rank];
        return side == 0 ? Range{std::max<std::int64_t>(0, own.begin - before), own.begin}
                         : Range{own.end, std::min(n, own.end + after)};
    };
    auto me = static_cast<std::size_t>(mesh_.rank());
    std::vector<Part> sends, receives;
    auto add = [&](std::vector<Part>& parts, std::size_t rank, Range rows) {
        if (rows.empty()) return;
        parts.push_back({static_cast<int>(rank), (rows.begin - first_row()) * row_bytes,
                         rows.size() * row_bytes});
    };
    for (std::size_t other = 0; other < rows_.size(); ++other) {
        if (other == me) continue;
        for (int side = 0; side < 2; ++side) {
            add(sends, other, intersect(rows_[me], halo(other, side)));
            add(receives, other, intersect(rows_[other], halo(me, side)));
        }
    }
    mesh_.record("halo exchange of " + array_text(whole_) + ", " + std::to_string(before) +
                     " rows before and " + std::to_string(after) + " after each block",
                 local_.view(), std::move(sends), local_.view(), std::move(receives), false);
    current_before_ = before;
    current_after_ = after;
}

Array Block::fetch(const Array& view, const RowMap& map, const Ranges& needed,
                   const std::string& why, bool settle) const {
    // The view with its row axis first; a view inside one row gets one of extent 1.
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> strides;
    std::int64_t row_size = 1;
    for (int a = 0; a < view.rank(); ++a) {
        auto k = static_cast<std::size_t>(a);
        if (a == map.axis) continue;
        shape.push_back(view.shape()[k]);
        strides.push_back(view.strides()[k]);
        row_size *= view.shape()[k];
    }
    shape.insert(shape.begin(), map.count);
    strides.insert(strides.begin(), map.step * row_elements_);
    View turned = view.view();
    turned.layout = Layout::make(shape, strides);
    RowMap front = map;
    front.axis = 0;
    if (map.axis < 0) front.step = 0;

    auto me = static_cast<std::size_t>(mesh_.rank());
    Range own = map.indices(rows_[me]);
    Array packed = empty(with_rows(shape, own.size()), dtype(), nullptr);
    if (!own.empty()) assign(packed, part(Array::of(turned), front, own).arg());
    Array made = empty(with_rows(shape, needed[me].size()), dtype(), nullptr);
    std::int64_t row_bytes = row_size * size_of(dtype());
    std::vector<Part> sends, receives;
    bool anyone = false;
    for (std::size_t from = 0; from < rows_.size(); ++from) {
        Range has = map.indices(rows_[from]);
        for (std::size_t to = 0; to < rows_.size(); ++to) {
            Range moved = intersect(has, needed[to]);
            if (moved.empty()) continue;
            if (from == to) {
                if (from == me) {
                    assign(
                        rows_of(made, moved.begin - needed[me].begin, moved.end - needed[me].begin),
                        rows_of(packed, moved.begin - own.begin, moved.end - own.begin).arg());
                }
                continue;
            }
            anyone = true;
            if (from == me)
                sends.push_back({static_cast<int>(to), (moved.begin - own.begin) * row_bytes,
                                 moved.size() * row_bytes});
            if (to == me)
                receives.push_back({static_cast<int>(from),
                                    (moved.begin - needed[me].begin) * row_bytes,
                                    moved.size() * row_bytes});
        }
    }
    if (anyone || (settle && mesh_.size() > 1)) {
        mesh_.record(why + " of " + shape_text(view.shape()) + " from " + array_text(whole_) +
                         " at element " + std::to_string(view.view().offset),
                     packed.view(), std::move(sends), made.view(), std::move(receives), settle);
    }
    return made;
}

void Block::complete() const { Tape::current().complete(local_.view().storage, FlushReason::Eval); }

void Block::before_write() {
    std::shared_ptr<Block> old;
    for (const auto& weak : readers_) {
        std::shared_ptr<Node> leaf = weak.lock();
        if (!leaf || leaf->block.get() != this) continue;
        if (!old) {
            old = std::make_shared<Block>(*this);
            old->readers_.clear();
            old->local_ = copy(local_);
        }
        leaf->block = old;
    }
    readers_.clear();
}

}  // namespace unisono::comm
