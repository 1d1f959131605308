// Handles of queues, and errors of libraries as ours.
#include "backends/cuda/libraries/libraries.h"

#include "core/error.h"

namespace unisono::cuda {

namespace {

/// CUBLAS_STATUS_ALLOC_FAILED; those of the others are other numbers.
bool is_out_of_memory(Status status, std::string_view call) {
    if (call.starts_with("curand")) return status == 102;
    return status == (call.starts_with("cublas") ? 3 : 2);
}

}  // namespace

void CudaLibraries::check(Status status, const char* call) const {
    if (status == 0) return;
    const std::string got = "device '" + device_.info().name + "': " + call +
                            " failed; got status " + std::to_string(status) + "; ";
    if (is_out_of_memory(status, call))
        fail(ErrorKind::Memory, got + "use smaller arrays, free others, or use another device");
    // Work that failed before shows here, too: the driver knows.
    device_.check(device_.api().context_synchronize(), "cuCtxSynchronize");
    fail(ErrorKind::Device, got + "UNISONO_DEVICE_LIBRARIES=none computes without the library");
}

/// A library that nobody named and that does not work with the driver is as good as absent.
bool CudaLibraries::is_absent(Status status, const char* call) const {
    if (status == 0) return false;
    if (libraries_are_named() || is_out_of_memory(status, call)) check(status, call);
    return true;
}

/// Made outside of the queue's order: it takes memory, and the driver's time. Null where the
/// library is as good as absent.
template <class Handle, class Api>
Handle CudaLibraries::handle_of(CudaQueue& queue, std::map<CudaQueue*, Handle>& handles,
                                const Api& api, const char* call) {
    std::lock_guard lock(mutex_);
    const auto [known, is_new] = handles.try_emplace(&queue, nullptr);
    if (!is_new) return known->second;
    const CudaDevice::Entered entered(device_);
    Handle made = nullptr;
    try {
        if (is_absent(api.create(&made), call)) made = nullptr;
    } catch (...) {
        handles.erase(known);
        throw;
    }
    return known->second = made;
}

BlasHandle CudaLibraries::blas_handle(CudaQueue& queue) {
    return handle_of(queue, blas_, *blas_api(driver_), "cublasCreate");
}

SolverHandle CudaLibraries::solver_handle(CudaQueue& queue) {
    return handle_of(queue, solvers_, *solver_api(driver_), "cusolverDnCreate");
}

RandomHandle CudaLibraries::random_handle(CudaQueue& queue, int generator) {
    // CURAND_RNG_PSEUDO_PHILOX4_32_10, _XORWOW, _MRG32K3A
    static constexpr int types[] = {161, 101, 121};
    struct Maker {
        const RandomApi& api;
        int type;
        Status create(RandomHandle* handle) const { return api.create(handle, type); }
    };
    const auto at = static_cast<std::size_t>(generator - 1);
    return handle_of(queue, generators_[at], Maker{*random_api(driver_), types[at]},
                     "curandCreateGenerator");
}

DeviceLibraries* CudaDevice::libraries() {
    std::lock_guard lock(mutex_);
    if (!libraries_) libraries_ = std::make_unique<CudaLibraries>(*this, driver_);
    return libraries_.get();
}

}  // namespace unisono::cuda
