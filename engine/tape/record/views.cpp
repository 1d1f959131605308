// Views by basic indexing, transposition, broadcasting and reshaping; single elements; access by
// the host.
#include <algorithm>
#include <cstring>

#include "context/context.h"
#include "core/error.h"
#include "ops/scalar_eval.h"
#include "tape/block.h"
#include "tape/record/dtype_rules.h"
#include "tape/record/record.h"
#include "tape/run/submission.h"
#include "tape/tape.h"
#include "tape/windows.h"

namespace unisono {

namespace {

std::int64_t clamp(std::int64_t v, std::int64_t low, std::int64_t high) {
    return std::min(std::max(v, low), high);
}

}  // namespace

SliceRange slice_range(const IndexItem& item, std::int64_t extent) {
    std::int64_t step = item.step;
    if (step == 0) fail(ErrorKind::Value, "index: slice step cannot be zero");
    std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? extent : extent - 1;
    auto bound = [&](bool given, std::int64_t v, std::int64_t fallback) {
        if (!given) return fallback;
        return clamp(v < 0 ? v + extent : v, low, high);
    };
    std::int64_t start = bound(item.has_start, item.start, step > 0 ? low : high);
    std::int64_t stop = bound(item.has_stop, item.stop, step > 0 ? high : low);
    std::int64_t distance = step > 0 ? stop - start : start - stop;
    std::int64_t size = step > 0 ? step : -step;
    if (size == 1) return {start, distance > 0 ? distance : 0, step};
    return {start, distance > 0 ? (distance - 1) / size + 1 : 0, step};
}

Array index(const Array& a, std::span<const IndexItem> items) {
    std::int64_t shape[max_rank], strides[max_rank];
    std::size_t rank = 0;
    int used = 0;
    bool ellipsis = false;
    for (const auto& item : items) {
        if (item.kind == IndexItem::Kind::Ellipsis) {
            if (ellipsis)
                fail(ErrorKind::Index, "index: an index can only have a single ellipsis ('...')");
            ellipsis = true;
        } else if (item.kind != IndexItem::Kind::NewAxis) {
            ++used;
        }
    }
    if (used > a.rank()) {
        fail(ErrorKind::Index, "index: too many indices; got " + std::to_string(used) +
                                   " for an array of shape " + shape_text(a.shape()) + " with " +
                                   std::to_string(a.rank()) + " axes");
    }
    Dims from_shape = a.shape(), from_strides = a.strides();
    std::int64_t offset = a.view().offset;
    std::size_t axis = 0;
    auto keep = [&](std::int64_t extent, std::int64_t stride) {
        if (rank == max_rank)
            fail(ErrorKind::Value, "index: more than " + std::to_string(max_rank) + " axes");
        shape[rank] = extent;
        strides[rank++] = stride;
    };
    for (const auto& item : items) {
        switch (item.kind) {
            case IndexItem::Kind::NewAxis: keep(1, 0); break;
            case IndexItem::Kind::Ellipsis:
                for (int k = a.rank() - used; k > 0; --k, ++axis)
                    keep(from_shape[axis], from_strides[axis]);
                break;
            case IndexItem::Kind::Integer: {
                std::int64_t extent = from_shape[axis];
                std::int64_t i = item.start < 0 ? item.start + extent : item.start;
                if (i < 0 || i >= extent) {
                    fail(ErrorKind::Index,
                         "index " + std::to_string(item.start) + " is out of bounds for axis " +
                             std::to_string(axis) + " with size " + std::to_string(extent));
                }
                offset += i * from_strides[axis++];
                break;
            }
            case IndexItem::Kind::Slice: {
                SliceRange r = slice_range(item, from_shape[axis]);
                if (r.count > 0) offset += r.start * from_strides[axis];
                keep(r.count, from_strides[axis] * r.step);
                ++axis;
                break;
            }
        }
    }
    for (; axis < from_shape.size(); ++axis) keep(from_shape[axis], from_strides[axis]);
    View v = a.view();
    v.offset = offset;
    v.layout = Layout::make({shape, rank}, {strides, rank});
    Array made = Array::of(v);
    if (a.readonly()) made.set_readonly();
    return made;
}

Array transpose(const Array& a) {
    int axes[max_rank];
    const auto rank = static_cast<std::size_t>(a.rank());
    for (std::size_t k = 0; k < rank; ++k) axes[k] = a.rank() - 1 - static_cast<int>(k);
    return transpose(a, {axes, rank});
}

Array transpose(const Array& a, std::span<const int> axes) {
    std::int64_t shape[max_rank], strides[max_rank];
    bool seen[max_rank] = {};
    const auto rank = static_cast<std::size_t>(a.rank());
    if (axes.size() != rank) {
        fail(ErrorKind::Value, "transpose: axes do not match the array; got " +
                                   std::to_string(axes.size()) + " axes for shape " +
                                   shape_text(a.shape()));
    }
    const Dims old_shape = a.shape(), old_strides = a.strides();
    for (std::size_t to = 0; to < rank; ++to) {
        const int given = axes[to], k = given < 0 ? given + a.rank() : given;
        if (k < 0 || k >= a.rank() || seen[static_cast<std::size_t>(k)]) {
            fail(ErrorKind::Value,
                 "transpose: axis " + std::to_string(given) + " is out of bounds or repeated");
        }
        seen[k] = true;
        shape[to] = old_shape[static_cast<std::size_t>(k)];
        strides[to] = old_strides[static_cast<std::size_t>(k)];
    }
    if (a.is_known()) return a;
    View v = a.view();
    v.layout = Layout::make({shape, rank}, {strides, rank});
    Array made = Array::of(v);
    if (a.readonly()) made.set_readonly();
    return made;
}

Array materialised(const Array& a) {
    if (!a.is_known()) return a;
    Array b = full({}, a.scalar(), nullptr);
    return b;
}

Array broadcast_to(const Array& given, Dims shape) {
    Array a = materialised(given);
    Dims shapes[] = {a.shape(), shape};
    std::vector<std::int64_t> out = broadcast_shapes("broadcast_to", shapes);
    if (!std::equal(out.begin(), out.end(), shape.begin(), shape.end())) {
        fail(ErrorKind::Value, "broadcast_to: cannot broadcast shape " + shape_text(a.shape()) +
                                   " to " + shape_text(shape));
    }
    std::size_t lead = shape.size() - a.shape().size();
    std::vector<std::int64_t> strides(shape.size(), 0);
    for (std::size_t k = 0; k < a.shape().size(); ++k) {
        if (a.shape()[k] == shape[k + lead]) strides[k + lead] = a.strides()[k];
    }
    View v = a.view();
    v.layout = Layout::make(shape, strides);
    Array made = Array::of(v);
    made.set_readonly();
    return made;
}

/// Strides of `shape` over the same elements in the same order, if one set of strides reaches them.
static bool view_strides(const Array& a, Dims shape, std::int64_t* strides) {
    // Axes of extent 1 do not matter; the others are taken in groups with equal products.
    std::vector<std::pair<std::int64_t, std::int64_t>> old;
    for (std::size_t k = 0; k < a.shape().size(); ++k) {
        if (a.shape()[k] != 1) old.push_back({a.shape()[k], a.strides()[k]});
    }
    std::size_t i = 0, j = 0;
    while (j < shape.size()) {
        if (shape[j] == 1) {
            strides[j++] = 0;
            continue;
        }
        if (i == old.size()) return false;
        std::size_t j_end = j + 1, i_end = i + 1;
        std::int64_t have = old[i].first, want = shape[j];
        while (have != want) {
            if (have < want) {
                if (i_end == old.size()) return false;
                have *= old[i_end++].first;
            } else {
                if (j_end == shape.size()) return false;
                want *= shape[j_end++];
            }
        }
        for (std::size_t k = i; k + 1 < i_end; ++k) {
            if (old[k].second != old[k + 1].second * old[k + 1].first) return false;
        }
        std::int64_t step = old[i_end - 1].second;
        for (std::size_t k = j_end; k-- > j;) {
            strides[k] = step;
            step *= shape[k];
        }
        i = i_end;
        j = j_end;
    }
    return true;
}

/// Axes of extent 1 come and go in views; any other change of the axes copies.
static Array reshaped_apart(Windows& windows, const Array& a, Dims shape) {
    std::vector<std::int64_t> strides(shape.size(), 0);
    std::size_t from = 0, to = 0;
    for (;; ++from, ++to) {
        while (from < a.shape().size() && a.shape()[from] == 1) ++from;
        while (to < shape.size() && shape[to] == 1) ++to;
        if (from == a.shape().size() || to == shape.size()) break;
        if (a.shape()[from] != shape[to]) return windows.reshaped(a, shape);
        strides[to] = a.strides()[from];
    }
    if (from != a.shape().size() || to != shape.size()) return windows.reshaped(a, shape);
    View v = a.view();
    v.layout = Layout::make(shape, strides);
    Array made = Array::of(v);
    if (a.readonly() && !a.is_value()) made.set_readonly();
    return made;
}

Array reshape(const Array& given, std::vector<std::int64_t> shape) {
    // A value is immutable: its array is a copy that may be written.
    Array a = given.is_value() && !given.is_known() ? copy(given) : materialised(given);
    std::int64_t known = 1, unknown = -1;
    for (std::size_t k = 0; k < shape.size(); ++k) {
        if (shape[k] == -1) {
            if (unknown >= 0)
                fail(ErrorKind::Value, "reshape: can only specify one unknown dimension (-1)");
            unknown = static_cast<std::int64_t>(k);
        } else if (shape[k] < 0) {
            fail(ErrorKind::Value, "reshape: negative extent in " + shape_text(shape));
        } else {
            known *= shape[k];
        }
    }
    if (unknown >= 0 && known > 0 && a.size() % known == 0)
        shape[static_cast<std::size_t>(unknown)] = a.size() / known;
    if ((unknown >= 0 && shape[static_cast<std::size_t>(unknown)] == -1) ||
        element_count(shape) != a.size()) {
        fail(ErrorKind::Value, "reshape: cannot reshape array of size " + std::to_string(a.size()) +
                                   " into shape " + shape_text(shape) +
                                   "; the numbers of elements must be equal");
    }
    std::int64_t strides[max_rank];
    View v = a.view();
    if (Windows* windows = windows_of(a)) [[unlikely]]
        return reshaped_apart(*windows, a, shape);
    if (a.view().layout->contiguous() || a.size() == 0) {
        v.layout = Layout::contiguous(shape);
    } else if (view_strides(a, shape, strides)) {
        v.layout = Layout::make(shape, {strides, shape.size()});
    } else {
        return reshape(copy(a), shape);
    }
    Array made = Array::of(v);
    if (a.readonly() && !a.is_value()) made.set_readonly();
    return made;
}

char* host_data(const Array& a, bool for_write) {
    Storage* s = a.view().storage;
    if (for_write) {
        Tape::current().complete_for_write(s, FlushReason::Write);
    } else {
        Tape::current().complete(s, FlushReason::Read);
    }
    if (!s->addressable()) {
        if (char* seen = host_address(*s)) {
            wait_for_memory(*s);
            if (for_write && s->use) {
                Tape::current().read_outside(s, [&] {
                    for (const Completion& c : s->use->read) c.wait();
                });
            }
            return seen + a.view().offset * size_of(a.dtype());
        }
        fail(ErrorKind::Device, "array: its memory is on " + device_name(s->device) +
                                    "; copy it with .to_device(\"cpu\") first");
    }
    s->allocate();
    return a.view().data();
}

static Scalar read_element(const View& v, std::int64_t offset) {
    Storage* s = v.storage;
    if (s->device) [[unlikely]] {
        const View one{s, Layout::scalar(), offset, v.dtype};
        if (View here; windows_alone(s->device) && view_here(one, here))
            return read_element(here, here.offset);
        if (Windows* windows = windows_of(s->device)) return item(windows->whole(Array::of(one)));
    }
    Tape::current().complete(s, FlushReason::Read);
    if (!s->memory.handle) s->allocate();
    Scalar value;
    value.dtype = v.dtype;
    auto bytes = size_of(v.dtype);
    if (s->addressable()) {
        const char* from = s->data() + offset * bytes;
        if (bytes == sizeof value.bits)
            std::memcpy(&value.bits, from, sizeof value.bits);
        else
            std::memcpy(&value.bits, from, static_cast<std::size_t>(bytes));
    } else {
        read_memory(*s, &value.bits, offset * bytes, bytes);
        count(counters().bytes_copied, bytes);
    }
    return value;
}

Scalar item(const Array& a) {
    if (a.is_known()) return a.scalar();
    if (a.size() != 1) {
        fail(ErrorKind::Type, "item: can only convert an array of size 1 to a scalar; got shape " +
                                  shape_text(a.shape()) + "; index one element first");
    }
    return read_element(a.view(), a.view().offset);
}

static std::int64_t element_offset(const Array& a, std::span<const std::int64_t> index) {
    std::int64_t offset = a.view().offset;
    Dims shape = a.shape(), strides = a.strides();
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
        std::int64_t i = index[axis] < 0 ? index[axis] + shape[axis] : index[axis];
        if (i < 0 || i >= shape[axis]) {
            fail(ErrorKind::Index, "index " + std::to_string(index[axis]) +
                                       " is out of bounds for axis " + std::to_string(axis) +
                                       " with size " + std::to_string(shape[axis]));
        }
        offset += i * strides[axis];
    }
    return offset;
}

Array element(const Array& a, std::span<const std::int64_t> index) {
    std::int64_t offset = element_offset(a, index);
    if (!is_complex(a.dtype())) return Array::known(read_element(a.view(), offset));
    return to_value(Array::of({a.view().storage, Layout::scalar(), offset, a.dtype()}));
}

std::complex<double> complex_item(const Array& a) {
    if (!is_complex(a.dtype())) return item(a).as<double>();
    auto read = [&](bool imaginary) { return item(part_view(a, imaginary)).as<double>(); };
    return {read(false), read(true)};
}

bool write_element(const Array& a, std::span<const std::int64_t> index, const Arg& value) {
    const View& v = a.view();
    Storage* s = v.storage;
    bool idle = s && !s->pending && !s->readers && !s->in_flight() && s->memory.handle &&
                s->addressable() && !s->poison && !a.readonly();
    if (!idle || !value.is_scalar()) return false;
    std::uint64_t bits = value.scalar().bits;
    if (value.view.dtype != v.dtype) {
        const bool fits = value.weak == Weak::Float ? is_float(v.dtype)
                          : value.weak == Weak::Int
                              ? value.view.dtype == DType::Int64 &&
                                    (is_float(v.dtype) ||
                                     (is_integer(v.dtype) && misfit(value.scalar(), v.dtype) == 0))
                              : value.weak == Weak::None && is_float(v.dtype);
        if (!fits || is_complex(v.dtype)) return false;
        bits = cast(value.scalar(), v.dtype).bits;
    } else if (value.weak != Weak::None && value.weak != Weak::Float && value.weak != Weak::Int) {
        return false;
    }
    std::int64_t at = element_offset(a, index) - v.offset;
    auto bytes = static_cast<std::size_t>(size_of(v.dtype));
    char* to = v.data() + at * size_of(v.dtype);
    if (bytes == sizeof bits)
        std::memcpy(to, &bits, sizeof bits);
    else
        std::memcpy(to, &bits, bytes);
    ++s->version;
    return true;
}

Array to_value(const Array& a) {
    Windows* const apart = windows_of(a);
    if (a.is_known() ||
        (a.is_value() && !apart && (a.view().storage->pending || is_complex(a.dtype()))))
        return a;
    if (apart) return Array::of(apart->whole(a).view(), true);
    if (is_complex(a.dtype())) {
        // Of complex128 it becomes a number of Python's, which may be used on any device.
        const bool is_number = a.dtype() == DType::Complex128 && a.device();
        return Array::of((is_number ? to_device(a, nullptr) : copy(a)).view(), true);
    }
    return Array::known(read_element(a.view(), a.view().offset));
}

void set_item(const Array& target, const Arg& value) {
    Storage* s = target.view().storage;
    bool idle = !s->pending && !s->readers && !s->in_flight() && s->memory.handle &&
                s->addressable() && !s->poison;
    if (!idle || !value.is_scalar() || is_complex(target.dtype()) || target.readonly() ||
        value.weak == Weak::Int || (value.weak == Weak::Float && is_integer(target.dtype()))) {
        assign(target, value);
        return;
    }
    Scalar converted = cast(value.scalar(), target.dtype());
    std::memcpy(target.view().data(), &converted.bits,
                static_cast<std::size_t>(size_of(target.dtype())));
    ++s->version;
}

}  // namespace unisono
