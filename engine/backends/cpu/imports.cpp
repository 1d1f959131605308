// The table of what compiled kernels may import, and the memory functions among it.
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

#include "backends/codegen/c_text.h"
#include "backends/cpu/runtime.h"
#include "core/native/block.h"
#include "core/native/borrowed_draws.h"
#include "core/native/drawn_words.h"
#include "core/native/foreign.h"
#include "core/native/native.h"
#include "core/pool.h"
#include "ops/functions/loops.h"
#include "ops/scalar_rules.h"

#if defined(__x86_64__) && !defined(__F16C__)
extern "C" {
// The compiler's own conversions of float16, whose types C++ of this compiler cannot write.
void __extendhfsf2();
void __truncsfhf2();
void __truncdfhf2();
}
#endif

namespace unisono::cpu {

namespace {

/// Scratch memory: a header of one cache line that holds the size, then the bytes.
constexpr std::int64_t header = 64;

void scratch_free(char* block) noexcept {
    if (block) std::free(block - header);
}

/// Memory for `bytes`, in `block` again where it is large enough; null where there is none.
char* scratch_allocate(char* block, std::int64_t bytes) noexcept {
    std::int64_t has = 0;
    if (block) std::memcpy(&has, block - header, sizeof has);
    if (block && has >= bytes) return block;
    scratch_free(block);
    if (bytes < 0 || bytes > pool::limit()) return nullptr;
    std::int64_t rounded = (std::max<std::int64_t>(bytes, 1) + header - 1) / header * header;
    auto* made =
        static_cast<char*>(std::aligned_alloc(header, static_cast<std::size_t>(rounded + header)));
    if (!made) return nullptr;
    std::memcpy(made, &rounded, sizeof rounded);
    return made + header;
}

struct Import {
    std::string_view name;
    void* address;
};

template <class F>
void* address_of(F* function) {
    return reinterpret_cast<void*>(function);
}

const Import imports[] = {
    {"unisono_parallel_for", address_of(run_parallel_loop)},
    {"unisono_deferred", address_of(find_deferred)},
    {"unisono_scratch_allocate", address_of(scratch_allocate)},
    {"unisono_scratch_free", address_of(scratch_free)},
    {"unisono_poll_interrupt", address_of(poll_from_code)},
    {"unisono_block_make", address_of(make_block)},
    {"unisono_block_retain", address_of(retain_block)},
    {"unisono_block_release", address_of(release_block)},
    {"unisono_drawn_by_numpy", address_of(drawn_by_numpy)},
    {"unisono_drawn_by_python", address_of(drawn_by_python)},
    {"unisono_normal_layers", address_of(normal_layers)},
    {"unisono_exponential_layers", address_of(exponential_layers)},
    {"unisono_rest_of_normal", address_of(rest_of_borrowed_normal)},
    {"unisono_rest_of_exponential", address_of(rest_of_borrowed_exponential)},
    {"unisono_callback_fault", address_of(report_callback_fault)},
    {"unisono_cpp_guard", address_of(guard_cpp)},
    {"memcpy", address_of(std::memcpy)},
    {"memmove", address_of(std::memmove)},
    {"memset", address_of(std::memset)},
    {"fmod", address_of<double(double, double)>(std::fmod)},
    {"fmodf", address_of<float(float, float)>(std::fmod)},
    {"fma", address_of<double(double, double, double)>(std::fma)},
    {"fmaf", address_of<float(float, float, float)>(std::fma)},
    {"floor", address_of<double(double)>(std::floor)},
    {"floorf", address_of<float(float)>(std::floor)},
    {"ceil", address_of<double(double)>(std::ceil)},
    {"ceilf", address_of<float(float)>(std::ceil)},
    {"trunc", address_of<double(double)>(std::trunc)},
    {"truncf", address_of<float(float)>(std::trunc)},
    {"rint", address_of<double(double)>(std::rint)},
    {"rintf", address_of<float(float)>(std::rint)},
    {"nearbyint", address_of<double(double)>(std::nearbyint)},
    {"nearbyintf", address_of<float(float)>(std::nearbyint)},
    {"roundeven", address_of<double(double)>(std::nearbyint)},
    {"roundevenf", address_of<float(float)>(std::nearbyint)},
#if defined(__x86_64__) && !defined(__F16C__)
    {"__extendhfsf2", address_of(__extendhfsf2)},
    {"__truncsfhf2", address_of(__truncsfhf2)},
    {"__truncdfhf2", address_of(__truncdfhf2)},
#endif
};

/// Rules that compiled code calls: "unisono_<operation>_<dtype>".
const Import rule_imports[] = {
#define UNISONO_RULE(type, dtype)                                                 \
    {"unisono_power_" dtype, address_of<type(type, type)>(rules::integer_power)}, \
        {"unisono_gcd_" dtype, address_of<type(type, type)>(rules::gcd)},         \
        {"unisono_lcm_" dtype, address_of<type(type, type)>(rules::lcm)},
    UNISONO_RULE(std::int8_t, "int8") UNISONO_RULE(std::uint8_t, "uint8")
        UNISONO_RULE(std::int16_t, "int16") UNISONO_RULE(std::uint16_t, "uint16")
            UNISONO_RULE(std::int32_t, "int32") UNISONO_RULE(std::uint32_t, "uint32")
                UNISONO_RULE(std::int64_t, "int64") UNISONO_RULE(std::uint64_t, "uint64")
#undef UNISONO_RULE
                    {"unisono_nextafter_float32", address_of<float(float, float)>(std::nextafter)},
    {"unisono_nextafter_float64", address_of<double(double, double)>(std::nextafter)},
    {"unisono_ldexp_float32", address_of<float(float, float)>(rules::ldexp)},
    {"unisono_ldexp_float64", address_of<double(double, double)>(rules::ldexp)},
};

}  // namespace

void* find_import(const char* name) {
    std::string_view wanted(name);
    constexpr std::string_view native = "unisono_native_";
    if (wanted.starts_with(native)) return address_of(find_native(wanted.substr(native.size())));
    for (const Import& i : imports) {
        if (i.name == wanted) return i.address;
    }
    for (const Import& i : rule_imports) {
        if (i.name == wanted) return i.address;
    }
#if defined(__x86_64__)
    if (void* found = functions::called_function(wanted)) return found;
#endif
    return nullptr;
}

void* find_import_of_c(const char* name) {
    void* found = find_import(name);
    return found ? found : codegen::library_symbol(name);
}

}  // namespace unisono::cpu
