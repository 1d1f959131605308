// The engine's whole-array functions as compiled code calls them (core/native/native.h): products,
// sorts, histograms, masks over plain memory.
//
// Each function documents its values; "out" ones lie in memory that the caller made. Errors other
// than those of memory are a positive value 0.
#include "core/native/native.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "core/dtype.h"
#include "library/gather/histogram.h"
#include "library/gather/mask.h"
#include "library/linalg/multiply.h"
#include "library/sort/sort.h"

namespace unisono::library {

namespace {

/// A packed copy of a stack of matrices, for the product of operands that lie too oddly.
std::unique_ptr<char[]> pack(MatrixStack& m, std::vector<std::int64_t>& strides, std::size_t item) {
    std::int64_t count = 1;
    std::vector<std::int64_t> packed(m.shape.size());
    for (std::size_t k = m.shape.size(); k-- > 0;) {
        packed[k] = count;
        count *= m.shape[k];
    }
    auto bytes = std::make_unique_for_overwrite<char[]>(static_cast<std::size_t>(count) * item);
    const auto* from = static_cast<const char*>(m.data);
    for (std::int64_t i = 0; i < count; ++i) {
        std::int64_t rest = i, offset = 0;
        for (std::size_t k = m.shape.size(); k-- > 0;) {
            offset += rest % m.shape[k] * strides[k];
            rest /= m.shape[k];
        }
        std::memcpy(bytes.get() + static_cast<std::size_t>(i) * item,
                    from + offset * static_cast<std::int64_t>(item), item);
    }
    strides = packed;
    m.data = bytes.get();
    m.strides = strides;
    return bytes;
}

/// [status, dtype, m, n, k, a, a_row, a_column, b, b_row, b_column, out, axes, then for each
/// leading axis: extent, stride of a, stride of b]: out = a @ b, packed.
void native_matmul(std::int64_t* v) noexcept {
    guarded_native(v, [&]() -> std::int64_t {
        auto t = static_cast<DType>(v[1]);
        std::int64_t m = v[2], n = v[3], k = v[4];
        auto axes = static_cast<std::size_t>(v[12]);
        std::vector<std::int64_t> as, bs, ad, bd;
        for (auto* list : {&as, &bs, &ad, &bd}) list->reserve(axes + 2);
        bool same_right = true;
        for (std::size_t axis = 0; axis < axes; ++axis) {
            const std::int64_t* lead = v + 13 + 3 * axis;
            as.push_back(lead[0]);
            ad.push_back(lead[1]);
            bs.push_back(lead[0]);
            bd.push_back(lead[2]);
            same_right = same_right && (lead[2] == 0 || lead[0] == 1);
        }
        as.insert(as.end(), {m, k});
        ad.insert(ad.end(), {v[6], v[7]});
        bs.insert(bs.end(), {k, n});
        bd.insert(bd.end(), {v[9], v[10]});
        // One matrix on the right: the rows of the whole stack are those of one matrix, where they
        // follow each other at one distance.
        while (same_right && as.size() > 2) {
            std::size_t row = as.size() - 2, lead = row - 1;
            bool one = as[row] == 1, joins = one || as[lead] == 1 || ad[lead] == as[row] * ad[row];
            if (!joins) break;
            if (one) ad[row] = ad[lead];
            as[row] *= as[lead];
            as.erase(as.begin() + static_cast<std::ptrdiff_t>(lead));
            ad.erase(ad.begin() + static_cast<std::ptrdiff_t>(lead));
            bs.erase(bs.begin());
            bd.erase(bd.begin());
        }
        MatrixStack a{native_memory<void>(v[5]), as, ad}, b{native_memory<void>(v[8]), bs, bd};
        auto item = static_cast<std::size_t>(size_of(t));
        std::size_t rank = as.size();
        std::unique_ptr<char[]> own_a, own_b;
        if (!takes_strides(as[rank - 2], k, ad[rank - 2], ad[rank - 1])) own_a = pack(a, ad, item);
        if (!takes_strides(k, n, bd[rank - 2], bd[rank - 1])) own_b = pack(b, bd, item);
        multiply_stacks(t, a, b, native_memory<void>(v[11]));
        return 0;
    });
}

/// [status, dtype, n, elements, in, out]: lanes of n elements side by side. `out` of sort may be
/// `in`.
void native_sort(std::int64_t* v) noexcept {
    guarded_native(v, [&]() -> std::int64_t {
        std::int64_t n = v[2], lanes = n > 0 ? v[3] / n : 0;
        dispatch_all(static_cast<DType>(v[1]), [&]<class T>() {
            auto copy = std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(v[3]));
            std::copy_n(native_memory<const T>(v[4]), v[3], copy.get());
            for_lanes(lanes, n, [&](std::int64_t k) {
                sort_lane<T>(copy.get() + k * n, n, native_memory<T>(v[5]) + k * n, false);
            });
        });
        return 0;
    });
}
void native_argsort(std::int64_t* v) noexcept {
    guarded_native(v, [&]() -> std::int64_t {
        std::int64_t n = v[2], lanes = n > 0 ? v[3] / n : 0;
        dispatch_all(static_cast<DType>(v[1]), [&]<class T>() {
            for_lanes(lanes, n, [&](std::int64_t k) {
                argsort_lane<T>(native_memory<const T>(v[4]) + k * n, n,
                                native_memory<std::int64_t>(v[5]) + k * n, false);
            });
        });
        return 0;
    });
}

/// [status, count (out), item size, n, mask, from, to]: the elements under a mask, all packed.
void native_compress(std::int64_t* v) noexcept {
    guarded_native(v, [&]() -> std::int64_t {
        std::vector<std::int64_t> before(count_of_counts(v[3]));
        count_mask(native_memory<const std::uint8_t>(v[4]), v[3], before);
        const BlockCounts counts{v[3], before};
        select(v[2], counts, native_memory<const std::uint8_t>(v[4]),
               native_memory<const char>(v[5]), native_memory<char>(v[6]));
        v[1] = counts.total();
        return 0;
    });
}

/// [status, n, x, bins, edges, weights or 0, out]: histogram.h's count_evenly.
void native_histogram(std::int64_t* v) noexcept {
    guarded_native(v, [&]() -> std::int64_t {
        count_evenly(native_memory<const double>(v[2]), v[1], native_memory<const double>(v[4]),
                     v[3], native_memory<const double>(v[5]), native_memory<void>(v[6]));
        return 0;
    });
}

[[maybe_unused]] const bool are_added = add_natives({{"matmul", native_matmul},
                                                     {"sort", native_sort},
                                                     {"argsort", native_argsort},
                                                     {"compress", native_compress},
                                                     {"histogram", native_histogram}});

}  // namespace

}  // namespace unisono::library
