// Handles of queues, and errors of libraries as ours.
#include "backends/cuda/libraries/libraries.h"

#include "core/error.h"
#include "core/settings.h"

namespace unisono::cuda {

namespace {

/// CUBLAS_STATUS_ALLOC_FAILED; those of cuSOLVER and cuFFT are another number.
bool is_out_of_memory(Status status, std::string_view call) {
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
    if (setting("device_libraries") != "auto" || is_out_of_memory(status, call))
        check(status, call);
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

DeviceLibraries* CudaDevice::libraries() {
    std::lock_guard lock(mutex_);
    if (!libraries_) libraries_ = std::make_unique<CudaLibraries>(*this, driver_);
    return libraries_.get();
}

}  // namespace unisono::cuda
