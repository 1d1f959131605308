// A cuRAND for tests: numbers that are hashes of generator, seed and place, with all arguments
// checked.
//
// Stricter than NVIDIA's: each call needs a seed and an offset that were set behind its stream.
#include <cmath>
#include <mutex>
#include <numbers>

#include "cuda_driver/libraries/library.h"

namespace {

using namespace cuda_libraries;
constexpr int not_there = 101, wrong_type = 103, wrong = 104;  // curandStatus
constexpr Codes codes{wrong, 201};                             // CURAND_STATUS_LAUNCH_FAILURE

struct Generator : Bound {
    int type = 0;
    unsigned long long seed = 0, offset = 0;
    bool has_seed = false, has_offset = false;
};
std::mutex mutex;
std::set<Generator*>& generators() {
    static auto& all = *new std::set<Generator*>;
    return all;
}

Generator* find(void* handle) {
    std::lock_guard lock(mutex);
    auto* g = static_cast<Generator*>(handle);
    return generators().contains(g) ? g : nullptr;
}

/// In (0, 1].
double number(const Generator& g, unsigned long long place) {
    unsigned long long x = g.seed + static_cast<unsigned long long>(g.type) * 0x9E3779B97F4A7C15U +
                           place * 0xD1B54A32D192ED03U;
    for (const unsigned long long by : {0xBF58476D1CE4E5B9U, 0x94D049BB133111EBU})
        x = (x ^ (x >> 30U)) * by;
    return (static_cast<double>((x ^ (x >> 31U)) >> 11U) + 1) * 0x1p-53;
}

template <class T>
int generate(const char* what, void* handle, T* to, std::size_t count, bool is_normal, T mean,
             T deviation) {
    Generator* found = find(handle);
    if (!found) return violation(not_there, std::string(what) + ": no generator");
    if (!found->has_seed || !found->has_offset)
        return violation(wrong_type, std::string(what) + ": no seed or offset was set");
    if (count == 0 || (is_normal && count % 2 == 1))
        return violation(105, std::string(what) + ": an odd number of normal numbers, or none");
    if (reinterpret_cast<std::uintptr_t>(to) % sizeof(T))
        return violation(wrong, std::string(what) + ": memory is not aligned");
    const Generator g = *found;
    found->has_seed = found->has_offset = false;
    return submit(codes, what, g, {{to, static_cast<std::int64_t>(count * sizeof(T)), true}}, [=] {
        constexpr unsigned long long places = sizeof(T) / 4;
        for (std::size_t k = 0; k < count; ++k) {
            const double u = number(g, g.offset + k * places);
            if (!is_normal) {
                to[k] = static_cast<T>(u);
                continue;
            }
            const std::size_t even = k - k % 2;
            const double radius = std::sqrt(-2 * std::log(number(g, g.offset + even * places))),
                         angle = 2 * std::numbers::pi * number(g, g.offset + (even + 1) * places);
            const double x = radius * (k % 2 == 0 ? std::cos(angle) : std::sin(angle));
            to[k] = static_cast<T>(static_cast<double>(mean) + static_cast<double>(deviation) * x);
        }
    });
}

}  // namespace

extern "C" {

int curandCreateGenerator(void** handle, int type) {
    if (type != 101 && type != 121 && type != 161)
        return violation(wrong_type, "curandCreateGenerator: no generator of that type");
    auto* made = new Generator;
    made->type = type;
    made->context = current_context();
    if (!made->context) {
        delete made;
        return violation(203, "curandCreateGenerator: no context is current");
    }
    std::lock_guard lock(mutex);
    generators().insert(made);
    *handle = made;
    return 0;
}

int curandSetStream(void* handle, void* stream) {
    Generator* g = find(handle);
    if (!g) return violation(not_there, "curandSetStream: no generator");
    g->stream = stream;
    g->has_stream = true;
    return 0;
}

int curandSetPseudoRandomGeneratorSeed(void* handle, unsigned long long seed) {
    Generator* g = find(handle);
    if (!g || !g->has_stream)
        return violation(not_there, "curandSetPseudoRandomGeneratorSeed: no generator or stream");
    g->seed = seed;
    g->has_seed = true;
    return 0;
}

int curandSetGeneratorOffset(void* handle, unsigned long long offset) {
    Generator* g = find(handle);
    if (!g || !g->has_stream)
        return violation(not_there, "curandSetGeneratorOffset: no generator or stream");
    g->offset = offset;
    g->has_offset = true;
    return 0;
}

int curandGenerateUniform(void* handle, float* to, std::size_t count) {
    return generate<float>("curandGenerateUniform", handle, to, count, false, 0, 1);
}
int curandGenerateUniformDouble(void* handle, double* to, std::size_t count) {
    return generate<double>("curandGenerateUniformDouble", handle, to, count, false, 0, 1);
}
int curandGenerateNormal(void* handle, float* to, std::size_t count, float mean, float deviation) {
    return generate<float>("curandGenerateNormal", handle, to, count, true, mean, deviation);
}
int curandGenerateNormalDouble(void* handle, double* to, std::size_t count, double mean,
                               double deviation) {
    return generate<double>("curandGenerateNormalDouble", handle, to, count, true, mean, deviation);
}

}  // extern "C"
