// NVIDIA's libraries on one device: a handle for each queue, made when first used, which lives as
// long as the queue; plans of transforms; memory of calls from the device's pool.
//
// A call goes to the queue like a copy: what is held back comes first, the handle is set to the
// stream, and the queue's order is held meanwhile, so that no two threads use one handle.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>

#include "backends/cuda/device.h"
#include "backends/cuda/libraries/loader.h"
#include "backends/device_libraries.h"

namespace unisono::cuda {

/// Memory of the pool for one call: it is used again behind what the call submits.
class CallMemory {
  public:
    CallMemory(CudaDevice& device, std::int64_t bytes)
        : device_(device), memory_(device.pool().take(bytes)) {}
    ~CallMemory() { device_.pool().give(memory_); }
    CallMemory(const CallMemory&) = delete;
    CallMemory& operator=(const CallMemory&) = delete;
    void* address() const { return reinterpret_cast<void*>(memory_.handle); }

  private:
    CudaDevice& device_;
    Memory memory_;
};

class CudaLibraries final : public DeviceLibraries, public DeviceFactors {
  public:
    CudaLibraries(CudaDevice& device, int driver) : device_(device), driver_(driver) {}

    std::vector<std::string> report() override { return library_reports(driver_); }
    bool multiply(const LibraryProduct& product) override;
    bool transforms() override { return fft_api(driver_) != nullptr; }
    bool transform(const LibraryTransform& transform) override;
    bool draws() override;
    void draw(const LibraryDraw& draw) override;
    DeviceFactors* factors(DType t) override;
    void potrf(DType t, bool upper, std::int64_t n, LibraryVector a, LibraryVector info) override;
    void getrf(DType t, std::int64_t n, LibraryVector a, LibraryVector pivots,
               LibraryVector info) override;
    void getrs(DType t, bool transposed, std::int64_t n, std::int64_t sides, LibraryVector a,
               LibraryVector pivots, LibraryVector b, LibraryVector info) override;
    void geqrf(DType t, std::int64_t m, std::int64_t n, LibraryVector a, LibraryVector tau,
               LibraryVector info) override;
    void orgqr(DType t, std::int64_t m, std::int64_t n, std::int64_t k, LibraryVector a,
               LibraryVector tau, LibraryVector info) override;
    void gesvd(DType t, char job, std::int64_t m, std::int64_t n, LibraryVector a, LibraryVector s,
               LibraryVector u, LibraryVector vt, LibraryVector info) override;
    void syevd(DType t, bool vectors, bool upper, std::int64_t n, LibraryVector a,
               LibraryVector values, LibraryVector info) override;

  private:
    /// What a plan is made for.
    struct PlanKey {
        int type, axes;
        LibraryTransform::Lengths lengths, from_extents, to_extents;
        std::int64_t boxes, from_stride, from_step, to_stride, to_step;
        auto operator<=>(const PlanKey&) const = default;
    };
    struct Plan {
        const CudaDevice& device;
        const FftApi& api;
        FftPlan number = 0;
        std::size_t bytes = 0;  ///< of work area
        Plan(const CudaDevice& d, const FftApi& a) : device(d), api(a) {}
        ~Plan();
        Plan(const Plan&) = delete;
        Plan& operator=(const Plan&) = delete;
    };

    /// Calls f(stream) with the context current, behind what the queue was given so far.
    template <class F>
    void submit(const char* name, F&& f) {
        const CudaDevice::Entered entered(device_);
        device_.here().submit(name, [&](Stream stream) -> Result {
            f(stream);
            return 0;
        });
    }
    /// Throws where a library failed.
    void check(Status status, const char* call) const;
    bool is_absent(Status status, const char* call) const;
    template <class Handle, class Api>
    Handle handle_of(CudaQueue& queue, std::map<CudaQueue*, Handle>& handles, const Api& api,
                     const char* call);
    BlasHandle blas_handle(CudaQueue& queue);
    SolverHandle solver_handle(CudaQueue& queue);
    RandomHandle random_handle(CudaQueue& queue, int generator);
    std::shared_ptr<Plan> plan_of(const PlanKey& key);
    /// A factorisation: its memory in elements of `t`, then what is called with that.
    template <class Size, class Run>
    void factor(const char* name, DType t, Size&& size, Run&& run);

    CudaDevice& device_;
    const int driver_;
    std::mutex mutex_;  ///< of what follows
    std::map<CudaQueue*, BlasHandle> blas_;
    std::map<CudaQueue*, SolverHandle> solvers_;
    std::map<CudaQueue*, RandomHandle> generators_[3];
    std::list<std::pair<PlanKey, std::shared_ptr<Plan>>> plans_;  ///< the last used one first
    std::mutex plans_in_use_;  ///< a plan has one stream and work area at a time
};

/// An element of memory as a library takes it.
inline void* address_of(const Memory& memory, std::int64_t first, DType t) {
    return reinterpret_cast<void*>(memory.handle + static_cast<std::uintptr_t>(first * size_of(t)));
}
inline void* address_of(const LibraryVector& v, DType t) {
    return address_of(v.memory, v.first, t);
}

}  // namespace unisono::cuda
