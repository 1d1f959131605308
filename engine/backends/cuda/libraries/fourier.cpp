// Fourier transforms by cuFFT.
#include <algorithm>

#include "backends/cuda/libraries/libraries.h"

namespace unisono::cuda {

namespace {

// cufftType: real to complex, complex to real, complex to complex; in float64 0x40 more.
constexpr int real_to_complex = 0x2a, complex_to_real = 0x2c, complex_to_complex = 0x29;

constexpr std::size_t most_plans = 16;  ///< kept of a device: each has tables in its memory

}  // namespace

/// The last one to hold a plan is the queue that used it, once that is done.
CudaLibraries::Plan::~Plan() {
    if (number == 0 || !device.is_usable() || device.is_lost()) return;
    const CudaDevice::Entered entered(device);
    api.destroy(number);
}

/// Null where the library makes none.
std::shared_ptr<CudaLibraries::Plan> CudaLibraries::plan_of(const PlanKey& key) {
    const auto known = std::find_if(plans_.begin(), plans_.end(),
                                    [&](const auto& entry) { return entry.first == key; });
    if (known != plans_.end()) {
        plans_.splice(plans_.begin(), plans_, known);
        return plans_.front().second;
    }
    const CudaDevice::Entered entered(device_);
    const FftApi& api = *fft_api(driver_);
    auto plan = std::make_shared<Plan>(device_, api);
    FftPlan number = 0;
    std::array<long long, 3> lengths, from_extents, to_extents;
    std::copy(key.lengths.begin(), key.lengths.end(), lengths.begin());
    std::copy(key.from_extents.begin(), key.from_extents.end(), from_extents.begin());
    std::copy(key.to_extents.begin(), key.to_extents.end(), to_extents.begin());
    Status status = api.create(&number);
    if (status == 0) {
        plan->number = number;
        status = api.set_auto_allocation(number, 0);
    }
    if (status == 0)
        status = api.make_plan(number, key.axes, lengths.data(), from_extents.data(),
                               key.from_stride, key.from_step, to_extents.data(), key.to_stride,
                               key.to_step, key.type, key.boxes, &plan->bytes);
    if (is_absent(status, "cufftMakePlanMany64")) return nullptr;
    plans_.emplace_front(key, plan);
    if (plans_.size() > most_plans) {
        device_.keep(plans_.back().second);
        plans_.pop_back();
    }
    return plan;
}

bool CudaLibraries::transform(const LibraryTransform& x) {
    const FftApi* api = fft_api(driver_);
    if (!api) return false;
    const std::size_t precision = x.real == DType::Float64 ? 1 : 0;
    const int kind = x.reads_real    ? real_to_complex
                     : x.writes_real ? complex_to_real
                                     : complex_to_complex;
    const DType pairs = x.real == DType::Float64 ? DType::Complex128 : DType::Complex64;
    void* from = address_of(x.from.memory, x.from.first, x.reads_real ? x.real : pairs);
    void* to = address_of(x.to.memory, x.to.first, x.writes_real ? x.real : pairs);
    // Pairs of reals are read and written as complex numbers.
    const auto unit = static_cast<std::uintptr_t>(size_of(pairs));
    if (reinterpret_cast<std::uintptr_t>(from) % unit ||
        reinterpret_cast<std::uintptr_t>(to) % unit)
        return false;
    std::lock_guard lock(plans_in_use_);
    const auto plan =
        plan_of({kind + (precision ? 0x40 : 0), x.axes, x.lengths, x.from.extents, x.to.extents,
                 x.boxes, x.from.stride, x.from.step, x.to.stride, x.to.step});
    if (!plan) return false;
    const CallMemory work(device_,
                          std::max<std::int64_t>(1, static_cast<std::int64_t>(plan->bytes)));
    submit("cufftExec", [&](Stream stream) {
        check(api->set_stream(plan->number, stream), "cufftSetStream");
        check(api->set_work_area(plan->number, work.address()), "cufftSetWorkArea");
        if (x.reads_real)
            check(api->to_complex[precision](plan->number, from, to), "cufftExecR2C");
        else if (x.writes_real)
            check(api->to_real[precision](plan->number, from, to), "cufftExecC2R");
        else
            check(api->complex[precision](plan->number, from, to,
                                          x.is_forward ? fft_forward : fft_backward),
                  "cufftExecC2C");
    });
    return true;
}

}  // namespace unisono::cuda
