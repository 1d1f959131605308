// What NVIDIA's libraries of tests share: they compute on the host, by commands of the driver of
// tests, which checks memory, order, streams and contexts as for kernels.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

extern "C" {
// The driver's own.
int cuCtxGetCurrent(void** context);
int unisonoDriverSubmit(const char* what, void* stream, std::size_t uses,
                        const std::uintptr_t* addresses, const std::int64_t* bytes,
                        const int* writes, void (*run)(void*), void* data);
void unisonoDriverNote(const char* violation);
}

namespace cuda_libraries {

/// Memory that a call reads or writes.
struct Use {
    const void* address;
    std::int64_t bytes;
    bool writes = false;
};

/// What a handle or plan is bound to.
struct Bound {
    void *context = nullptr, *stream = nullptr;
    bool has_stream = false;
};

inline int violation(int status, const std::string& text) {
    unisonoDriverNote(text.c_str());
    return status;
}

inline void* current_context() {
    void* context = nullptr;
    cuCtxGetCurrent(&context);
    return context;
}

/// Where the library's own code for "the execution failed" is `failed`, and for a wrong argument
/// `wrong`.
struct Codes {
    int wrong, failed;
};

/// Queues `run` behind what the stream has.
inline int submit(const Codes& codes, const char* what, const Bound& bound,
                  const std::vector<Use>& uses, std::function<void()> run) {
    if (bound.context != current_context())
        return violation(codes.wrong, std::string(what) + ": the handle is of another context");
    if (!bound.has_stream) return violation(codes.wrong, std::string(what) + ": no stream was set");
    std::vector<std::uintptr_t> addresses;
    std::vector<std::int64_t> bytes;
    std::vector<int> writes;
    for (const Use& u : uses) {
        if (u.bytes == 0) continue;
        addresses.push_back(reinterpret_cast<std::uintptr_t>(u.address));
        bytes.push_back(u.bytes);
        writes.push_back(u.writes);
    }
    auto* job = new std::function<void()>(std::move(run));
    const int result = unisonoDriverSubmit(
        what, bound.stream, addresses.size(), addresses.data(), bytes.data(), writes.data(),
        [](void* data) {
            auto* made = static_cast<std::function<void()>*>(data);
            (*made)();
            delete made;
        },
        job);
    if (result == 0) return 0;
    delete job;
    return codes.failed;
}

/// Bytes from the first to the last element of a matrix of columns.
inline std::int64_t extent(std::int64_t rows, std::int64_t columns, std::int64_t leading,
                           std::size_t size) {
    if (rows == 0 || columns == 0) return 0;
    return ((columns - 1) * leading + rows) * static_cast<std::int64_t>(size);
}

}  // namespace cuda_libraries
