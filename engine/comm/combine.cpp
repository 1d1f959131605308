// Combines elements of several ranks, as MPI does.
#include <algorithm>
#include <complex>
#include <string>
#include <type_traits>

#include "comm/messages.h"
#include "core/error.h"

namespace unisono::comm {

namespace {

template <class T, class F>
void for_pairs(void* elements, const void* others, std::int64_t count, F&& f) {
    auto* a = static_cast<T*>(elements);
    const auto* b = static_cast<const T*>(others);
    for (std::int64_t i = 0; i < count; ++i) a[i] = static_cast<T>(f(a[i], b[i]));
}

/// False where the elements have no such operation.
template <class T>
bool combine_as(Combine how, void* elements, const void* others, std::int64_t count) {
    auto pairs = [&](auto f) {
        for_pairs<T>(elements, others, count, f);
        return true;
    };
    constexpr bool is_flag = std::is_same_v<T, bool>;
    if constexpr (is_flag) {
        if (how == Combine::Sum || how == Combine::Max) how = Combine::Or;
        if (how == Combine::Product || how == Combine::Min) how = Combine::And;
    }
    if constexpr (!is_flag) {
        if (how == Combine::Sum) return pairs([](T a, T b) { return a + b; });
        if (how == Combine::Product) return pairs([](T a, T b) { return a * b; });
    }
    if constexpr (std::is_arithmetic_v<T> && !is_flag) {
        if (how == Combine::Max) return pairs([](T a, T b) { return std::max(a, b); });
        if (how == Combine::Min) return pairs([](T a, T b) { return std::min(a, b); });
    }
    if constexpr (std::is_integral_v<T>) {
        if (how == Combine::And) return pairs([](T a, T b) { return a & b; });
        if (how == Combine::Or) return pairs([](T a, T b) { return a | b; });
        if (how == Combine::Xor) return pairs([](T a, T b) { return a ^ b; });
    }
    return false;
}

}  // namespace

void combine(Combine how, DType dtype, void* elements, const void* others, std::int64_t count) {
    if (how == Combine::Nothing) return;
    if (how == Combine::Replace) {
        const auto* from = static_cast<const char*>(others);
        std::copy_n(from, count * size_of(dtype), static_cast<char*>(elements));
        return;
    }
    const bool done = !is_half(dtype) && dispatch_all_native(dtype, [&]<class T>() {
        return combine_as<T>(how, elements, others, count);
    });
    if (!done)
        fail(ErrorKind::Type, "mpi: no such operation on elements of " + std::string(name(dtype)) +
                                  "; convert them with .astype first");
}

}  // namespace unisono::comm
