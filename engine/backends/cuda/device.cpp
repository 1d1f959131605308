// Contexts, queues, memory and copies of a CUDA device.
#include "backends/cuda/device.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <utility>

#include "backends/cuda/executable.h"
#include "core/error.h"
#include "core/settings.h"

namespace unisono::cuda {

namespace {

std::size_t size(std::int64_t bytes) { return static_cast<std::size_t>(bytes); }
Address at(Memory m, std::int64_t offset) { return m.handle + static_cast<Address>(offset); }

}  // namespace

CudaDevice::CudaDevice(const Api& api, int ordinal) : api_(api), ordinal_(ordinal) {
    info_.name = "cuda:" + std::to_string(ordinal);
    check(api_.device_get(&device_, ordinal), "cuDeviceGet");
    char name[256] = {};
    check(api_.device_get_name(name, sizeof name - 1, device_), "cuDeviceGetName");
    std::size_t bytes = 0;
    check(api_.device_total_mem(&bytes, device_), "cuDeviceTotalMem");
    check(api_.driver_get_version(&driver_), "cuDriverGetVersion");
    info_.kind = "gpu";
    info_.vendor = "NVIDIA";
    info_.description = name;
    info_.compute_units = attribute(multiprocessor_count);
    info_.memory_bytes = static_cast<std::int64_t>(bytes);
    info_.max_work_group_size = attribute(max_threads_per_block);
    info_.max_work_item_sizes = {attribute(max_block_dim_x), attribute(max_block_dim_y),
                                 attribute(max_block_dim_z)};
    info_.local_memory_bytes = attribute(max_shared_memory_per_block);
    // Shuffles are made for warps of 32.
    if (attribute(warp_size) == 32) info_.warp = 32;
    // All have it; what a program does without it can be tried.
    info_.has_float64 = setting("device_float64") == "1";
    capability_ = 10 * attribute(compute_capability_major) + attribute(compute_capability_minor);
    choose_architecture(capability_);
}

int CudaDevice::attribute(DeviceAttribute a) const {
    int value = 0;
    check(api_.device_get_attribute(&value, a, device_), "cuDeviceGetAttribute");
    return value;
}

/// The newest form that both the device and its driver take; the driver compiles PTX of an older
/// form for any newer device.
void CudaDevice::choose_architecture(int capability) {
    struct Form {
        int capability, driver;
        const char *architecture, *ptx_version;
    };
    static constexpr Form forms[] = {{90, 11080, "sm_90", "+ptx78"},
                                     {80, 11000, "sm_80", "+ptx70"},
                                     {75, 10000, "sm_75", "+ptx63"},
                                     {70, 10000, "sm_70", "+ptx63"}};
    for (const Form& f : forms) {
        if (capability < f.capability || driver_ < f.driver) continue;
        architecture_ = f.architecture;
        ptx_version_ = f.ptx_version;
        return;
    }
    fail(ErrorKind::Device, "cuda: this device or its driver is too old; got compute capability " +
                                std::to_string(capability / 10) + "." +
                                std::to_string(capability % 10) + " and driver " +
                                std::to_string(driver_) + "; expected 7.0 and 10000 or later");
}

// ---- The context

void CudaDevice::check(Result result, const char* call) const {
    note_lost(result);
    cuda::check(api_, result, call, info_.name);
}

bool CudaDevice::note_lost(Result result) const {
    if (!cuda::is_lost(result)) return false;
    lost_.store(result, std::memory_order_relaxed);
    return true;
}

void CudaDevice::require_present() const {
    if (const Result lost = lost_.load(std::memory_order_relaxed))
        cuda::check(api_, lost, "an earlier call", info_.name);
}

/// Of the calling thread: inside of a call the device's context is known to be the current one.
static thread_local const CudaDevice* entered_device = nullptr;

CudaDevice::Entered::Entered(const CudaDevice& device, bool opens)
    : device_(device), outer_(entered_device) {
    if (outer_ == &device) return;
    device.require_usable();
    device.require_present();
    if (opens) const_cast<CudaDevice&>(device).open();
    const Context own = device.context_.load(std::memory_order_acquire);
    Context now = nullptr;
    device.check(device.api_.context_get_current(&now), "cuCtxGetCurrent");
    if (now != own) device.check(device.api_.context_push(own), "cuCtxPushCurrent");
    is_pushed_ = now && now != own;  // where there was none ours stays, as CUDA's runtime has it
    entered_device = &device;
}

CudaDevice::Entered::~Entered() {
    entered_device = outer_;
    if (is_pushed_) device_.api_.context_pop(nullptr);
}

/// The primary context is retained when the device is first used: listing devices takes no memory.
void CudaDevice::open() {
    std::call_once(opened_, [this] {
        Context made = nullptr;
        check(api_.primary_context_retain(&made, device_), "cuDevicePrimaryCtxRetain");
        context_.store(made, std::memory_order_release);
        const Entered entered(*this, false);
        has_pools_ = api_.memory_allocate_async && api_.memory_free_async &&
                     attribute(memory_pools_supported) != 0;
        if (has_pools_) {
            check(api_.stream_create(&makes_, stream_non_blocking), "cuStreamCreate");
            check(api_.stream_create(&frees_, stream_non_blocking), "cuStreamCreate");
        }
        queues_.push_back(std::make_unique<CudaQueue>(*this, QueueOptions{}));
        CudaQueue* own = queues_.back().get();
        queues_.push_back(std::make_unique<CudaQueue>(*this, QueueOptions{}));
        copies_ = queues_.back().get();
        own_.store(own, std::memory_order_release);
    });
}

NativeHandles CudaDevice::native() {
    const Entered entered(*this);
    here().hand_over();
    return {"cuda", context_.load(), reinterpret_cast<void*>(static_cast<std::intptr_t>(device_)),
            here().stream()};
}

// ---- Queues

CudaQueue* CudaDevice::own_queue() {
    if (CudaQueue* own = own_.load(std::memory_order_acquire)) return own;
    const Entered entered(*this);
    return own_.load(std::memory_order_acquire);
}

Queue* CudaDevice::copy_queue() {
    own_queue();
    return copies_;
}

Queue& CudaDevice::make_queue(const QueueOptions& options) {
    const Entered entered(*this);
    auto made = std::make_unique<CudaQueue>(*this, options);  // for good: completions name it
    if (options.profiling) {
        std::lock_guard lock(mutex_);
        if (!clock_) {
            check(api_.event_create(&clock_, event_default), "cuEventCreate");
            check(api_.event_record(clock_, made->stream()), "cuEventRecord");
            check(api_.event_synchronize(clock_), "cuEventSynchronize");
            clock_ns_ = std::chrono::duration_cast<std::chrono::nanoseconds>(
                            std::chrono::steady_clock::now().time_since_epoch())
                            .count();
        }
    }
    std::lock_guard lock(mutex_);
    queues_.push_back(std::move(made));
    return *queues_.back();
}

std::vector<CudaQueue*> CudaDevice::queues() {
    std::lock_guard lock(mutex_);
    std::vector<CudaQueue*> all;
    for (const auto& q : queues_) all.push_back(q.get());
    return all;
}

void CudaDevice::keep(const std::shared_ptr<const void>& object) noexcept {
    for (CudaQueue* q : queues()) q->keep(object);
}

void CudaDevice::synchronize() {
    if (!own_.load(std::memory_order_acquire)) return;
    const Entered entered(*this);
    for (CudaQueue* q : queues()) q->hand_over();
    check(api_.context_synchronize(), "cuCtxSynchronize");
}

// ---- Events

static Event take_from(std::vector<Event>& kept, ProcessMutex& mutex) {
    std::lock_guard lock(mutex);
    if (kept.empty()) return nullptr;
    const Event event = kept.back();
    kept.pop_back();
    return event;
}

/// Events that nothing waits for are kept for the next ones; more than that a burst alone needed.
constexpr std::size_t most_idle_events = 64;

static bool keep_idle(std::vector<Event>& kept, ProcessMutex& mutex, Event event) {
    std::lock_guard lock(mutex);
    if (kept.size() >= most_idle_events) return false;
    kept.push_back(event);
    return true;
}

Event CudaDevice::take_event() {
    Event event = take_from(events_, mutex_);
    if (!event) check(api_.event_create(&event, event_disable_timing), "cuEventCreate");
    return event;
}

void CudaDevice::give_event(Event event) {
    if (!keep_idle(events_, mutex_, event)) api_.event_destroy(event);
}

Event CudaDevice::make_timed_event() {
    Event event = take_from(timed_events_, mutex_);
    if (!event) check(api_.event_create(&event, event_default), "cuEventCreate");
    return event;
}

void CudaDevice::give_timed_event(Event event) {
    if (!keep_idle(timed_events_, mutex_, event)) api_.event_destroy(event);
}

std::int64_t CudaDevice::ns_of(Event event) {
    float ms = 0;
    check(api_.event_elapsed_time(&ms, clock_, event), "cuEventElapsedTime");
    return clock_ns_ + static_cast<std::int64_t>(static_cast<double>(ms) * 1e6);
}

// ---- Memory

Memory CudaDevice::allocate(std::int64_t bytes) {
    const Entered entered(*this);
    Address address = 0;
    // Whole words, because atomics on bytes use the word around them; never empty.
    const std::int64_t rounded = std::max<std::int64_t>(8, (bytes + 7) / 8 * 8);
    if (has_pools_) {
        check(api_.memory_allocate_async(&address, size(rounded), makes_), "cuMemAllocAsync");
        check(api_.stream_synchronize(makes_), "cuStreamSynchronize");  // it has nothing to do
    } else {
        check(api_.memory_allocate(&address, size(rounded)), "cuMemAlloc");
    }
    return {static_cast<std::uintptr_t>(address), bytes};
}

void CudaDevice::free(Memory memory) noexcept {
    if (!memory.handle || !is_usable() || is_lost()) return;
    try {
        const Entered entered(*this);
        if (!has_pools_) {
            check(api_.memory_free(memory.handle), "cuMemFree");  // it waits
            return;
        }
        for (CudaQueue* q : queues()) {
            q->hand_over();
            q->let_wait(frees_);
        }
        check(api_.memory_free_async(memory.handle, frees_), "cuMemFreeAsync");
    } catch (const Error&) {  // the device is lost, and the memory with it
    }
}

/// By pieces of pinned memory: the device copies one while the next is filled.
void CudaDevice::copy_in(Memory to, std::int64_t offset, const void* from, std::int64_t bytes) {
    if (bytes <= 0) return;
    const Entered entered(*this);
    CudaQueue& q = here();
    for (std::int64_t done = 0; done < bytes;) {
        const std::int64_t n = std::min(bytes - done, Staging::most);
        const Staging::Piece piece = staging_.take(n);
        std::memcpy(piece.data, static_cast<const char*>(from) + done, size(n));
        const std::uint64_t number = q.submit("cuMemcpyHtoDAsync", [&](Stream stream) {
            return api_.copy_host_to_device(at(to, offset + done), piece.data, size(n), stream);
        });
        staging_.give(piece, {&q, number});
        done += n;
        constexpr std::int64_t most_ahead = 8 * Staging::most;
        while (done % most_ahead == 0 && !q.wait_for(number, std::chrono::milliseconds(1000))) {
        }
    }
}

void CudaDevice::copy_out(void* to, Memory from, std::int64_t offset, std::int64_t bytes) {
    if (bytes <= 0) return;
    const Entered entered(*this);
    CudaQueue& q = here();
    struct Part {
        Staging::Piece piece;
        std::uint64_t number;
        std::int64_t begin, bytes;
    };
    std::deque<Part> under_way;
    std::int64_t asked = 0;
    while (asked < bytes || !under_way.empty()) {
        if (asked < bytes && under_way.size() < 4) {
            const std::int64_t n = std::min(bytes - asked, Staging::most);
            Part part{staging_.take(n), 0, asked, n};
            part.number = q.submit("cuMemcpyDtoHAsync", [&](Stream stream) {
                return api_.copy_device_to_host(part.piece.data, at(from, offset + asked), size(n),
                                                stream);
            });
            under_way.push_back(part);
            asked += n;
            continue;
        }
        const Part part = under_way.front();
        under_way.pop_front();
        while (!q.wait_for(part.number, std::chrono::milliseconds(1000))) {
        }
        require_present();
        std::memcpy(static_cast<char*>(to) + part.begin, part.piece.data, size(part.bytes));
        staging_.give(part.piece);
    }
}

void CudaDevice::copy(Memory to, std::int64_t to_offset, Memory from, std::int64_t from_offset,
                      std::int64_t bytes) {
    if (bytes <= 0) return;
    const Address target = at(to, to_offset), source = at(from, from_offset);
    const Address distance = target > source ? target - source : source - target;
    if (distance == 0) return;
    auto move = [&](Address into, Address out_of) {
        const std::uint64_t values[] = {into, out_of, size(bytes)};
        Command command;
        command.kind = Command::Kind::Copy;
        here().add(command, values);
    };
    if (distance >= size(bytes)) return move(target, source);
    // The driver does not define copies between ranges that overlap.
    const Memory between = pool().take(bytes);
    move(between.handle, source);
    move(target, between.handle);
    pool().give(between);
}

}  // namespace unisono::cuda
