// Arrays of the C interface: making, describing and opening them.
#include <span>
#include <string>

#include "api/handle.h"
#include "api/tables.h"
#include "core/error.h"
#include "tape/record/record.h"
#include "tape/run/submission.h"
#include "tape/tape.h"

namespace unisono::api {

static_assert(static_cast<int>(DType::Bool) == UN_BOOL &&
              static_cast<int>(DType::UInt64) == UN_UINT64 &&
              static_cast<int>(DType::Float64) == UN_FLOAT64 &&
              static_cast<int>(DType::Complex128) == UN_COMPLEX128);

DType to_dtype(un_dtype t) {
    if (t < 0 || t >= dtype_count)
        fail(ErrorKind::Type, "dtype: " + std::to_string(t) + " is not an un_dtype");
    return static_cast<DType>(t);
}

namespace {

Dims to_shape(int rank, const std::int64_t* shape) {
    if (rank < 0 || rank > max_rank) {
        fail(ErrorKind::Value, "shape: expected 0 to " + std::to_string(max_rank) + " axes; got " +
                                   std::to_string(rank));
    }
    Dims dims(shape, static_cast<std::size_t>(rank));
    for (auto extent : dims) {
        if (extent < 0)
            fail(ErrorKind::Value,
                 "shape: negative dimensions are not allowed; got " + shape_text(dims));
    }
    return dims;
}

/// The handle's array; of a value known on the host, memory that holds it.
Array in_memory(const un_array* a) {
    return a->array.is_known() ? unisono::full({}, a->array.scalar(), nullptr) : a->array;
}

}  // namespace

un_array* empty(int rank, const std::int64_t* shape, un_dtype t, const un_device* device) noexcept {
    return remembering<un_array*>(nullptr, [&] {
        return handle(unisono::empty(to_shape(rank, shape), to_dtype(t), device_of(device)));
    });
}

un_array* full(int rank, const std::int64_t* shape, un_operand value, un_dtype t,
               const un_device* device) noexcept {
    return remembering<un_array*>(nullptr, [&] {
        if (value.kind == UN_OPERAND_ARRAY)
            fail(ErrorKind::Type, "full: expected a number; got an array");
        const DType dtype = to_dtype(t);
        Array made = unisono::empty(to_shape(rank, shape), dtype, device_of(device));
        unisono::assign(made, operand(value));
        return handle(std::move(made));
    });
}

un_array* arange(std::int64_t count, const un_device* device) noexcept {
    return remembering<un_array*>(
        nullptr, [&] { return handle(iota(count < 0 ? 0 : count, device_of(device))); });
}

un_array* from_memory(void* data, int rank, const std::int64_t* shape, const std::int64_t* strides,
                      un_dtype t, int readonly, void* owner, void (*release)(void*)) noexcept {
    return remembering<un_array*>(nullptr, [&] {
        const Dims dims = to_shape(rank, shape);
        const DType dtype = to_dtype(t);
        const Layout* layout =
            strides ? Layout::make(dims, {strides, dims.size()}) : Layout::contiguous(dims);
        return handle(borrow(data, layout, dtype, readonly != 0, owner, release));
    });
}

un_array* share(const un_array* a) noexcept {
    return remembering<un_array*>(nullptr, [&] { return handle(a->array); });
}

void release(un_array* a) noexcept { delete a; }

int describe(const un_array* a, un_description* out) noexcept {
    return remembering(-1, [&] {
        const Array& array = a->array;
        *out = {static_cast<un_dtype>(array.dtype()),
                array.rank(),
                array.shape().data(),
                array.strides().data(),
                array.size(),
                device_handle(array.device()),
                array.readonly()};
        return 0;
    });
}

int evaluate(const un_array* const* arrays, int count) noexcept {
    return remembering(-1, [&] {
        std::vector<Storage*> wanted;
        for (const un_array* a : std::span(arrays, static_cast<std::size_t>(count))) {
            if (!a->array.is_known()) wanted.push_back(a->array.view().storage);
        }
        Tape::current().flush(wanted, FlushReason::Eval);
        return 0;
    });
}

int value(const un_array* a, un_scalar* out) noexcept {
    return remembering(-1, [&] {
        const Array& array = a->array;
        *out = {static_cast<un_dtype>(array.dtype()), 0, 0, 0, 0};
        if (is_complex(array.dtype())) {
            const std::complex<double> z = complex_item(array);
            out->real = z.real();
            out->imaginary = z.imag();
            return 0;
        }
        const Scalar s = item(array);
        if (!is_float(s.dtype)) {
            out->integer = s.as<std::int64_t>();
            out->natural = s.as<std::uint64_t>();
        }
        out->real = s.as<double>();
        return 0;
    });
}

int open(const un_array* a, int access, un_contents* out) noexcept {
    return remembering(-1, [&] {
        const bool for_write = access == UN_WRITE;
        if (for_write && a->array.readonly())
            fail(ErrorKind::Value, "open: the array is read-only; copy it first");
        std::unique_ptr<un_array> kept(handle(in_memory(a)));
        Storage* s = kept->array.view().storage;
        if (s->addressable()) {
            out->data = host_data(kept->array, for_write);
        } else {
            out->data = nullptr;
            if (for_write)
                Tape::current().complete_for_write(s, FlushReason::Write);
            else
                Tape::current().complete(s, FlushReason::Shared);
            s->allocate();
            begin_outside_use(*s);
        }
        out->handle = s->memory.handle;
        out->offset_bytes = kept->array.view().offset * size_of(kept->array.dtype());
        describe(kept.get(), &out->array);
        ++s->exports;
        out->kept = kept.release();
        return 0;
    });
}

void close(un_contents* contents) noexcept {
    if (!contents->kept) return;
    Storage* s = contents->kept->array.view().storage;
    --s->exports;
    if (!s->addressable()) note_outside_use(*s);
    ++s->version;  // the holder may have written
    delete contents->kept;
    contents->kept = nullptr;
}

}  // namespace unisono::api
