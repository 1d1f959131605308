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

template <class T>
double distance(T a, T b) {
    if constexpr (std::is_integral_v<T>)
        return a == b ? 0 : 1;
    else if (a == b || (a != a && b != b))
        return 0;
    else
        return static_cast<double>(std::abs(a - b));
}

void expect_close(const Array& got, const Array& expected) {
    dispatch_all(got.dtype(), [&]<class T>() {
        const auto* a = reinterpret_cast<const T*>(host_data(got, false));
        const auto* b = reinterpret_cast<const T*>(host_data(expected, false));
        double largest = 1;
        if constexpr (!std::is_integral_v<T>) {
            for (std::int64_t k = 0; k < got.size(); ++k)
                largest = std::max(largest, static_cast<double>(std::abs(b[k])));
        }
        const bool is_single = size_of(part_dtype(got.dtype())) <= 4;
        const double most = largest * (is_single ? 1e-4 : 1e-12);
        for (std::int64_t k = 0; k < got.size(); ++k) {
            const double apart = distance(a[k], b[k]);
            if (apart > most) {
                ADD_FAILURE() << "element " << k << " of " << got.size() << " differs by " << apart;
                return;
            }
        }
    });
}

void compare(const Primitive& row, const Array& got, const Array& expected) {
    if (is_approximate(row)) return expect_close(got, expected);
    const auto bytes = static_cast<std::size_t>(expected.size() * size_of(expected.dtype()));
    EXPECT_EQ(std::string(host_data(got, false), bytes),
              std::string(host_data(expected, false), bytes));
}

/// Whether a result is vectors: those of neighbouring values are any basis, of either sign.
template <class A>
bool is_vectors(const Example<A>& x, std::size_t k) {
    if constexpr (std::is_same_v<A, primitives::SingularValues>)
        return x.attributes.mode != primitives::SvdMode::Values && k != 1;
    if constexpr (std::is_same_v<A, primitives::Eigen>) return true;  // values of any order
    return std::is_same_v<A, primitives::SymmetricEigen> && k == 1;
}

std::complex<double> element(const Array& a, std::int64_t k) {
    std::complex<double> value;
    dispatch_all(a.dtype(), [&]<class T>() {
        const T v = reinterpret_cast<const T*>(host_data(a, false))[k];
        if constexpr (std::is_integral_v<T>)
            value = static_cast<double>(v);
        else
            value = std::complex<double>(v);
    });
    return value;
}

/// Vectors times values times vectors are the matrices.
void expect_product(const Array& matrices, const std::vector<Array>& made) {
    const bool is_svd = made.size() > 2;  // u, s, vh; else values and vectors
    const Array &left = made[is_svd ? 0 : 1], &values = made[is_svd ? 1 : 0], &right = made.back();
    const Dims shape = matrices.shape();
    const std::int64_t m = shape[shape.size() - 2], n = shape.back(), count = std::min(m, n);
    const std::int64_t width = left.shape().back(), height = right.shape()[shape.size() - 2];
    const double most = static_cast<double>(n) * (size_of(values.dtype()) <= 4 ? 1e-4 : 1e-12);
    for (std::int64_t k = 0; k < matrices.size(); ++k) {
        const std::int64_t matrix = k / (m * n), i = k / n % m, j = k % n;
        std::complex<double> sum = 0;
        for (std::int64_t r = 0; r < count; ++r) {
            const auto u = element(left, (matrix * m + i) * width + r);
            const auto v = is_svd ? element(right, (matrix * height + r) * n + j)
                                  : std::conj(element(right, (matrix * height + j) * n + r));
            sum += u * element(values, matrix * count + r) * v;
        }
        ASSERT_LE(std::abs(sum - element(matrices, k)), most) << "element " << k;
    }
}

/// Values are those expected, in any order, and the matrices times vectors are vectors times
/// values.
void expect_eigen(const Array& matrices, const std::vector<Array>& made, const Array& values) {
    const std::int64_t n = matrices.shape().back(), all = values.size();
    const double most = static_cast<double>(n) * (size_of(values.dtype()) <= 8 ? 1e-4 : 1e-12);
    for (std::int64_t k = 0; k < all; ++k) {
        const std::int64_t first = k / n * n;
        double nearest = most;
        for (std::int64_t i = first; i < first + n; ++i)
            nearest = std::min(nearest, std::abs(element(made[0], i) - element(values, k)));
        ASSERT_LT(nearest, most) << "value " << k;
    }
    if (made.size() < 2) return;
    for (std::int64_t k = 0; k < matrices.size(); ++k) {
        const std::int64_t matrix = k / (n * n), i = k / n % n, j = k % n;
        std::complex<double> sum = -element(made[0], matrix * n + j) * element(made[1], k);
        for (std::int64_t r = 0; r < n; ++r)
            sum += element(matrices, (matrix * n + i) * n + r) *
                   element(made[1], (matrix * n + r) * n + j);
        ASSERT_LE(std::abs(sum), most) << "element " << k;
    }
}

/// Of a result that is used in part only, that part.
template <class A>
Array used_part(const Row<A>& row, const Example<A>& x, const std::vector<Array>& results,
                std::size_t k) {
    IndexItem range{IndexItem::Kind::Slice};
    range.has_stop = true;
    if (row.id == "unique" && k != 1 && k != 3)
        range.stop = item(results[1]).get<std::int64_t>();
    else if (row.id == "lstsq" && k == 0)
        range.stop = x.operands[0].shape()[1];
    else
        return results[k];
    return copy(index(results[k], {&range, 1}));
}

template <class A>
void compare_results(const Row<A>& row, const Example<A>& x, const std::vector<Array>& got,
                     const std::vector<Array>& expected) {
    bool has_vectors = false;
    for (std::size_t k = 0; k < expected.size(); ++k) {
        if (is_vectors(x, k))
            has_vectors = true;
        else
            compare(row, used_part(row, x, got, k), used_part(row, x, expected, k));
    }
    if (std::is_same_v<A, primitives::Eigen>)
        expect_eigen(x.operands[0], got, expected[0]);
    else if (has_vectors)
        expect_product(x.operands[0], got);
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
        compare_results(row, x, interpreted, expected);
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
    compare_results(row, x, made, expected);
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
