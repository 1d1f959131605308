// The device implementation of each row gives what its host function gives: in the interpreter,
// which tests each access, and on an OpenCL device.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <string>

#include "domains.h"
#include "library/linalg/blas.h"
#include "library/on_device/device_work.h"
#include "primitives/primitive.h"
#include "tape/record/record.h"
#include "unit/backends/opencl_harness.h"

namespace unisono {
namespace {

using domains::Example;

std::vector<View> views_of(const std::vector<Array>& arrays) {
    std::vector<View> views;
    for (const Array& a : arrays) views.push_back(a.view());
    return views;
}

/// Rows that sum floating-point numbers in an order of their own.
bool is_approximate(const Primitive& row) {
    return row.work == Primitive::Work::Matrices || row.id == "slide" || row.id == "fft" ||
           row.id == "matmul_scaled";
}

/// Rows whose results have vectors of either sign.
bool has_free_signs(const Primitive& row) { return row.id == "svd" || row.id == "eigh"; }

template <class T>
double distance(T a, T b) {
    if constexpr (std::is_integral_v<T>)
        return a == b ? 0 : 1;
    else if (a == b || (a != a && b != b))
        return 0;
    else
        return static_cast<double>(std::abs(a - b));
}

void expect_close(const Array& got, const Array& expected, bool sizes_alone) {
    dispatch_all(got.dtype(), [&]<class T>() {
        const auto* a = reinterpret_cast<const T*>(host_data(got, false));
        const auto* b = reinterpret_cast<const T*>(host_data(expected, false));
        double largest = 1;
        if constexpr (!std::is_integral_v<T>) {
            for (std::int64_t k = 0; k < got.size(); ++k)
                largest = std::max(largest, static_cast<double>(std::abs(b[k])));
        }
        const bool is_single = size_of(part_dtype(got.dtype())) <= 4;
        // Vectors of neighbouring values magnify rounding errors.
        const double most = largest * (is_single ? 1e-4 : 1e-12) * (sizes_alone ? 100 : 1);
        for (std::int64_t k = 0; k < got.size(); ++k) {
            double apart = distance(a[k], b[k]);
            if constexpr (!std::is_integral_v<T>) {
                if (sizes_alone) apart = distance(std::abs(a[k]), std::abs(b[k]));
            }
            if (apart > most) {
                ADD_FAILURE() << "element " << k << " of " << got.size() << " differs by " << apart;
                return;
            }
        }
    });
}

void compare(const Primitive& row, const Array& got, const Array& expected) {
    if (is_approximate(row)) return expect_close(got, expected, has_free_signs(row));
    const auto bytes = static_cast<std::size_t>(expected.size() * size_of(expected.dtype()));
    EXPECT_EQ(std::string(host_data(got, false), bytes),
              std::string(host_data(expected, false), bytes));
}

/// Vectors beyond those of singular values may be any basis.
template <class A>
bool is_free(const Example<A>& x, std::size_t k) {
    if constexpr (std::is_same_v<A, primitives::SingularValues>) {
        const Dims shape = x.operands[0].shape();
        return x.attributes.mode == primitives::SvdMode::Full && k != 1 &&
               shape.back() != shape[shape.size() - 2];
    }
    return false;
}

/// Of a result that is used up to a count only, the part that is used.
Array used_part(const Primitive& row, const std::vector<Array>& results, std::size_t k) {
    if (row.id != "unique" || k == 1 || k == 3) return results[k];
    IndexItem range{IndexItem::Kind::Slice};
    range.stop = item(results[1]).get<std::int64_t>();
    range.has_stop = true;
    return copy(index(results[k], {&range, 1}));
}

/// New arrays for the results, or the target with what it holds.
template <class A>
std::vector<Array> results_for(const Row<A>& row, const Example<A>& x) {
    if (row.effect == Primitive::Effect::Part) {
        std::vector<Array> made{copy(x.target)};
        host_data(made[0], true);
        return made;
    }
    const auto results = library::infer(row, &x.attributes, x.operands);
    std::vector<Array> made;
    for (std::size_t k = 0; k < results.size(); ++k) {
        made.push_back(empty(results.shape(k), results.dtype(k), nullptr));
        Storage* s = made.back().view().storage;
        s->allocate();
        std::memset(s->data(), 0x55, static_cast<std::size_t>(s->bytes));
    }
    return made;
}

template <class A>
void check_example(const Row<A>& row, const Example<A>& x) {
    const auto expected = results_for(row, x);
    if (expected[0].size() == 0) return;
    row.host(x.attributes, views_of(x.operands), views_of(expected));

    for (bool has_cores : {true, false}) {
        SCOPED_TRACE(has_cores ? "as on few cores" : "as on many lanes");
        const auto interpreted = results_for(row, x);
        library::DeviceWork::set_cores_in_tests(has_cores);
        row.on_device(x.attributes, views_of(x.operands), views_of(interpreted),
                      find_device("interp"));
        library::DeviceWork::set_cores_in_tests(std::nullopt);
        for (std::size_t k = 0; k < expected.size(); ++k) {
            if (!is_free(x, k))
                compare(row, used_part(row, interpreted, k), used_part(row, expected, k));
        }
    }

    Device* device = unisono::testing::opencl_device();
    if (!device) return;
    std::vector<Array> operands;
    for (const Array& a : x.operands) operands.push_back(to_device(a, device));
    std::vector<Array> made;
    if (row.effect == Primitive::Effect::Part) {
        made.push_back(to_device(x.target, device));
        library::call_into(row, operands, made[0], x.attributes);
    } else if (operands.empty()) {
        made.push_back(library::call(row, operands, x.attributes, nullptr, device));
    } else {
        made = library::call_wide(row, operands, x.attributes);
    }
    for (Array& a : made) a = to_device(a, nullptr);
    for (std::size_t k = 0; k < expected.size(); ++k) {
        if (!is_free(x, k)) compare(row, used_part(row, made, k), used_part(row, expected, k));
    }
}

template <class A>
void check(const Row<A>& row, const domains::Examples<A>& examples) {
    SCOPED_TRACE(row.id);
    if (!row.on_device) GTEST_SKIP() << "runs on the host only";
    if (row.work == Primitive::Work::Matrices && !library::blas::present()) return;
    for (std::size_t k = 0; k < examples.size() && !::testing::Test::HasFailure(); ++k) {
        SCOPED_TRACE("example " + std::to_string(k));
        for (const Array& a : examples[k].operands) host_data(a, false);
        check_example(row, examples[k]);
    }
}

/// Numbers of all 64 bits, of which the last ones have only two leading parts.
Array long_lane() {
    constexpr std::int64_t n = 40'000;
    Array a = empty({&n, 1}, DType::Int64, nullptr);
    a.view().storage->allocate();
    auto* x = reinterpret_cast<std::int64_t*>(host_data(a, true));
    std::uint64_t state = 1;
    for (std::int64_t k = 0; k < n; ++k) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const auto low = static_cast<std::int64_t>(state >> 54);
        x[k] = k < n / 2 ? static_cast<std::int64_t>(state)
                         : (low & 1 ? std::int64_t{1} << 62 : 0) + low;
    }
    return a;
}

TEST(RowsOnDevices, SortsOfLongLanes) {
    const Array a = long_lane();
    check_example(primitives::sort, {{false}, {a}, {}});
    check_example(primitives::argsort, {{true}, {a}, {}});
    check_example(primitives::top_k, {{5, false}, {a}, {}});
}

#define UNISONO_PRIMITIVE(id, ...) \
    TEST(RowsOnDevices, id) { check(primitives::id, domains::id()); }
#include "primitives/primitives.def"
#undef UNISONO_PRIMITIVE

}  // namespace
}  // namespace unisono
