#include "tape/plan/reshapes.h"

#include <algorithm>

namespace unisono {

namespace {

bool is_elementwise(const Entry& e) {
    return e.kind != EntryKind::Reduce && e.kind != EntryKind::Opaque;
}

bool has_unit_axes(const Layout& l) {
    return std::find(l.shape().begin(), l.shape().end(), 1) != l.shape().end();
}

const Layout* without_unit_axes(const Layout& l) {
    std::int64_t shape[max_rank], strides[max_rank];
    std::size_t rank = 0;
    for (std::size_t axis = 0; axis < l.shape().size(); ++axis) {
        if (l.shape()[axis] == 1) continue;
        shape[rank] = l.shape()[axis];
        strides[rank++] = l.strides()[axis];
    }
    return Layout::make({shape, rank}, {strides, rank});
}

template <class Function>
void for_each_view(Entry& e, Function function) {
    for (int k = 0; k < e.inputs; ++k) {
        if (e.in[k].storage) function(e.in[k]);
    }
    function(e.out);
}

/// Whether both see the same packed elements.
bool is_same_block(const View& a, const View& b) {
    return a.storage == b.storage && a.offset == b.offset && a.dtype == b.dtype &&
           a.layout->contiguous() && b.layout->contiguous() && a.layout->size() == b.layout->size();
}

class Shapes {
  public:
    Shapes(std::vector<Entry>& segment, std::uint32_t epoch)
        : segment_(segment), epoch_(epoch), tied_(segment.size(), false) {}

    void agree() {
        for (const Entry& e : segment_) {
            if (e.kind == EntryKind::Reduce && has_unit_axes(*e.in[0].layout))
                kept_.push_back(e.in[0].layout->packed());
        }
        for (Entry& e : segment_) squeeze(e);
        follow_writers();
        follow_readers();
        ++epoch_;
        follow_writers();  // others that read what has just taken its reader's shape
    }

  private:
    /// Whether others may take the shape: as they have dropped axes of one element, it has none, or
    /// a fold's input does too, which keeps its axes.
    bool is_common(const Layout& l) const {
        return !has_unit_axes(l) ||
               std::find(kept_.begin(), kept_.end(), l.packed()) != kept_.end();
    }

    void squeeze(Entry& e) const {
        if (!is_elementwise(e) || e.out.layout->size() <= 1 || is_common(*e.out.layout)) return;
        for_each_view(e, [](View& v) { v.layout = without_unit_axes(*v.layout); });
    }

    bool is_flexible(Entry& e) const {
        if (!is_elementwise(e) || e.out.layout->size() <= 1) return false;
        bool packed = true;
        for_each_view(e, [&](const View& v) { packed = packed && v.layout->contiguous(); });
        return packed;
    }

    void take_shape(std::uint32_t i, const Layout* packed, bool tied) {
        for_each_view(segment_[i], [&](View& v) { v.layout = packed; });
        tied_[i] = tied;
    }

    void mark(Storage* s, std::uint32_t i) const {
        s->mark_epoch = epoch_;
        s->mark = i;
    }

    void follow_writers() {
        for (std::uint32_t i = 0; i < segment_.size(); ++i) {
            Entry& e = segment_[i];
            if (!is_flexible(e)) {
                tied_[i] = true;
            } else if (!tied_[i]) {
                const Layout* shape = nullptr;
                bool tied = false;
                for (int k = 0; k < e.inputs && !tied; ++k) {
                    const Storage* s = e.in[k].storage;
                    if (!s || s->mark_epoch != epoch_) continue;
                    const View& written = segment_[s->mark].out;
                    if (!is_same_block(written, e.in[k]) || (shape && !tied_[s->mark])) continue;
                    shape = written.layout;
                    tied = tied_[s->mark];
                }
                if (shape && is_common(*shape)) take_shape(i, shape, tied);
            }
            if (e.out.storage) mark(e.out.storage, i);
        }
    }

    void follow_readers() {
        ++epoch_;
        for (auto i = static_cast<std::uint32_t>(segment_.size()); i-- > 0;) {
            Entry& e = segment_[i];
            Storage* out = e.out.storage;
            if (!tied_[i] && out->mark_epoch == epoch_) {
                const Entry& reader = segment_[out->mark];
                for (int k = 0; k < reader.inputs; ++k) {
                    if (!is_same_block(reader.in[k], e.out)) continue;
                    if (is_common(*reader.in[k].layout)) take_shape(i, reader.in[k].layout, true);
                    break;
                }
            }
            if (!tied_[i] || e.kind == EntryKind::Opaque) continue;
            for (int k = 0; k < e.inputs; ++k) {
                if (e.in[k].storage && e.in[k].layout->contiguous()) mark(e.in[k].storage, i);
            }
        }
    }

    std::vector<Entry>& segment_;
    std::uint32_t epoch_;
    std::vector<bool> tied_;           ///< to the shape that they have
    std::vector<const Layout*> kept_;  ///< packed shapes that keep their axes
};

}  // namespace

bool has_reshapes(const std::vector<Entry>& segment) {
    const Layout *first = nullptr, *last = nullptr;
    for (const Entry& e : segment) {
        const Layout* space = e.kind == EntryKind::Reduce ? e.in[0].layout : e.out.layout;
        if (space->size() <= 1) continue;
        const Layout* shape = space->packed();
        if (!first) first = last = shape;
        if ((shape != first && shape->size() == first->size()) ||
            (shape != last && shape->size() == last->size()))
            return true;
        last = shape;
    }
    return false;
}

void see_through_reshapes(std::vector<Entry>& segment, std::uint32_t epoch) {
    Shapes(segment, epoch).agree();
}

}  // namespace unisono
