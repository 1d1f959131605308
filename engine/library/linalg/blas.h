// BLAS and LAPACK, found and loaded at run time: the setting `blas`, else the PyPI wheel
// scipy-openblas64, else the system's OpenBLAS or reference libraries. Never linked.
//
// Every routine is called by its Fortran interface, in which all arguments are addresses. Integers
// are passed as 64 bits; a library whose integers have 32 reads their lower half, as the machine is
// little-endian. The library itself runs on one thread: threads are ours (matmul.cpp).
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>

namespace unisono::library::blas {

/// What the library has for integers, in arrays too where wide() says so.
using Int = std::int64_t;

/// Whether a library was found; the first call looks for it.
bool present();
/// Whether arrays of integers have 64 bits per element, else 32.
bool wide();
/// Path of the library, or why there is none.
std::string description();
/// The address of a routine by its BLAS or LAPACK name ("dgemm"); throws Unsupported without one.
void* routine(const std::string& name);
/// The same, or null.
void* find_routine(const std::string& name) noexcept;

/// Asks the language above the engine for the wheel's file; the text is empty where there is none.
extern std::string (*locate_wheel)();

/// Element i of an array of integers that a routine wrote.
inline Int element(const Int* array, std::int64_t i) {
    return wide() ? array[i] : reinterpret_cast<const std::int32_t*>(array)[i];
}

/// A routine's letter: s, d, c or z; 0 for dtypes that BLAS does not know.
template <class T>
inline constexpr char letter = std::is_same_v<T, float>                  ? 's'
                               : std::is_same_v<T, double>               ? 'd'
                               : std::is_same_v<T, std::complex<float>>  ? 'c'
                               : std::is_same_v<T, std::complex<double>> ? 'z'
                                                                         : '\0';

/// The routine of that name for elements of type T ("gemm" gives dgemm).
template <class T>
void* routine_for(const char* name) {
    return routine(std::string(1, letter<T>) + name);
}

namespace detail {
template <class T>
auto held(T value) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, char>) {
        return static_cast<Int>(value);
    } else {
        return value;
    }
}
template <class T>
const void* address(const T& value) {
    if constexpr (std::is_pointer_v<T>) {
        return value;
    } else {
        return &value;
    }
}
template <class>
using Address = const void*;
}  // namespace detail

/// Calls a routine: numbers and characters go by address, pointers as they are. Fortran's hidden
/// lengths of character arguments follow the rest.
template <class R = void, class... A>
R call(void* function, A... arguments) {
    using F = R (*)(detail::Address<A>..., std::size_t, std::size_t, std::size_t, std::size_t);
    auto values = std::make_tuple(detail::held(arguments)...);
    return std::apply(
        [&](const auto&... v) {
            return reinterpret_cast<F>(function)(detail::address(v)..., 1, 1, 1, 1);
        },
        values);
}

}  // namespace unisono::library::blas
