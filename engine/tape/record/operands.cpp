// What operands become before they are recorded: broadcast views, snapshots, fresh outputs.
#include "tape/record/operands.h"

#include <algorithm>

#include "core/error.h"
#include "core/limits.h"
#include "core/pool.h"
#include "ops/scalar_eval.h"
#include "tape/record/hazards.h"
#include "tape/record/record.h"
#include "tape/tape.h"
#include "tape/windows.h"

namespace unisono {

namespace {

void refuse_dtype(const Device& device, DType t) {
    const std::string narrower = t == DType::Complex128 ? "complex64" : "float32";
    fail(ErrorKind::Unsupported, "device '" + device.info().name +
                                     "' has no float64; got an array of " + std::string(name(t)) +
                                     "; use dtype=\"" + narrower +
                                     "\", or a device whose has_float64 is true");
}

Storage* fresh_storage(std::int64_t elements, DType t, Device* device) {
    std::int64_t bytes = 0;
    std::int64_t limit = device ? device->pool().limit() : pool::limit();
    if (__builtin_mul_overflow(elements, size_of(t), &bytes) || bytes > limit) {
        fail(ErrorKind::Memory,
             "memory: an array of " + std::to_string(elements) + " " + std::string(name(t)) +
                 " elements does not fit in the limit of " + pool::megabytes(limit) +
                 "; use a smaller dtype or shape, or spread the array over a mesh");
    }
    require_dtype(device, t);
    return Storage::create(device, bytes);
}

/// Whether views of two storages meet in memory: both then see memory that another library sees
/// too.
bool shares_borrowed_memory(const View& a, const View& b) {
    if (!a.storage->shared_outside() || !b.storage->shared_outside()) return false;
    if (!a.storage->memory.handle || !b.storage->memory.handle) return false;
    if (!a.storage->addressable() || !b.storage->addressable()) return false;
    auto first = [](const View& v) { return v.data() + v.layout->lowest() * size_of(v.dtype); };
    auto end = [](const View& v) {
        return v.data() + (v.layout->highest() + 1) * size_of(v.dtype);
    };
    return first(a) < end(b) && first(b) < end(a);
}

}  // namespace

void require_dtype(const Device* device, DType t) {
    if (!device || device->info().has_float64) return;
    if (t == DType::Float64 || t == DType::Complex128) refuse_dtype(*device, t);
}

View fresh_view(const Layout* packed, DType t, Device* device) {
    const View made{fresh_storage(packed->size(), t, device), packed, 0, t};
    if (Windows* windows = windows_of(device)) [[unlikely]]
        windows->created(made);
    return made;
}

View broadcast_view(const View& v, const Layout* packed) {
    if (!v.storage || v.layout->packed() == packed) return v;
    std::int64_t strides[max_rank];
    int rank = packed->rank(), lead = rank - v.layout->rank();
    for (int a = 0; a < rank; ++a) {
        bool kept = a >= lead && v.layout->shape()[static_cast<std::size_t>(a - lead)] != 1;
        strides[a] = kept ? v.layout->strides()[static_cast<std::size_t>(a - lead)] : 0;
        if (a >= lead && packed->shape()[static_cast<std::size_t>(a)] == 1) strides[a] = 0;
    }
    return {v.storage, Layout::make(packed->shape(), {strides, static_cast<std::size_t>(rank)}),
            v.offset, v.dtype};
}

Device* far_device(std::span<const Arg> args) {
    Device* far = nullptr;
    for (const Arg& a : args) {
        if (!a.is_scalar() && a.view.storage->device) far = a.view.storage->device;
    }
    if (!far) return nullptr;
    const bool takes_all = windows_of(far) != nullptr;
    const bool has_near = std::any_of(args.begin(), args.end(), [&](const Arg& a) {
        return !a.is_scalar() && !a.view.storage->device && (takes_all || a.weak == Weak::Complex);
    });
    return has_near ? far : nullptr;
}

Arg beside(const Arg& near, Device* device, Array& keep) {
    if (near.is_scalar() || !device || near.view.storage->device == device) return near;
    if (near.weak != Weak::Complex && (near.view.storage->device || !windows_of(device)))
        return near;
    keep = to_device(Array::of(near.view), device);
    return {keep.view(), near.weak};
}

[[noreturn]] void mixed_devices(std::string_view what, const Device* a, const Device* b) {
    fail(ErrorKind::Device, std::string(what) + ": operands live on different devices; got " +
                                device_name(a) + " and " + device_name(b) +
                                "; move one with .to_device(...)");
}

const Layout* broadcast_layout(std::string_view what, std::span<const Arg> args) {
    const Layout* packed = nullptr;
    bool equal = true;
    for (const Arg& a : args) {
        if (a.is_scalar()) continue;
        if (packed && a.view.layout->packed() != packed) equal = false;
        if (!packed) packed = a.view.layout->packed();
    }
    if (equal) return packed ? packed : Layout::scalar();
    Dims shapes[3];
    std::size_t n = 0;
    for (const Arg& a : args) {
        if (!a.is_scalar()) shapes[n++] = a.view.layout->shape();
    }
    return Layout::contiguous(broadcast_shapes(what.data(), {shapes, n}));
}

Device* common_device(std::string_view what, std::span<const Arg> args) {
    Device* device = nullptr;
    bool any = false;
    for (const Arg& a : args) {
        if (a.is_scalar()) continue;
        if (any && a.view.storage->device != device)
            mixed_devices(what, device, a.view.storage->device);
        device = a.view.storage->device;
        any = true;
    }
    return device;
}

View snapshot_if_overlapping(const View& in, const View& out, Array& keep) {
    if (!in.storage) return in;
    bool overlaps = in.storage == out.storage ? overlap(in, out) == Overlap::Partial
                                              : shares_borrowed_memory(in, out);
    if (!overlaps) return in;
    keep = copy(Array::of(in));
    return broadcast_view(keep.view(), out.layout->packed());
}

bool reads_around(std::span<const Arg> args, const View& out) {
    const Storage* const s = out.storage;
    if (s->device || s->readers == 0 ||
        out.layout->size() * size_of(out.dtype) < limits::waiting_bytes)
        return false;
    const auto is_temporary = [&](const Storage* made) {
        return made && made != s && made->pending == 1 && !made->memory.handle;
    };
    if (std::none_of(args.begin(), args.end(),
                     [&](const Arg& a) { return is_temporary(a.view.storage); }))
        return false;
    const std::span<const Entry> pending = Tape::current().pending();
    for (auto e = pending.rbegin(); e != pending.rend(); ++e) {
        if (e->call || !is_temporary(e->out.storage)) return false;
        if (any_read(*e, [&](const View& v) {
                return v.storage == s && overlap(v, out) == Overlap::Partial;
            }))
            return true;
    }
    return false;
}

void check_writable(std::string_view what, const Array& out) {
    if (out.readonly()) {
        fail(ErrorKind::Value,
             std::string(what) +
                 ": the output array is read-only; make a copy with .copy() and write into that");
    }
}

void check_out_shape(std::string_view what, const Array& out, const Layout* packed) {
    if (out.view().layout->packed() != packed) {
        fail(ErrorKind::Value,
             std::string(what) + ": non-broadcastable output; got an output of shape " +
                 shape_text(out.shape()) + ", expected " + shape_text(packed->shape()));
    }
}

View scalar_as(const Arg& a, DType t) {
    return scalar_operand(is_complex(t) ? a.scalar() : cast(a.scalar(), t));
}

}  // namespace unisono
