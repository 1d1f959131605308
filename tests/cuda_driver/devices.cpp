// Devices and contexts of the driver of tests, and what tests ask it and set.
//
// UNISONO_TEST_CUDA_DEVICES: how many there are (1); UNISONO_TEST_CUDA_SEED: of the order in which
// streams run.
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cuda_driver/driver.h"

namespace cuda_driver {

State& state() {
    static auto& all = *new State;
    // The thread that runs commands does not exist in a child of fork, which asks for counts all
    // the same: it must not hold the lock then.
    [[maybe_unused]] static const int registered = pthread_atfork(
        [] { all.mutex.lock(); }, [] { all.mutex.unlock(); }, [] { all.mutex.unlock(); });
    return all;
}

std::vector<Context*>& current_contexts() {
    thread_local std::vector<Context*> stack;
    return stack;
}

Call::Call(const char* name, bool needs_context) : name_(name), lock_(state().mutex) {
    State& s = state();
    ++s.calls[name];
    if (!s.is_initialised) {
        refused_ = violation(not_initialized, "cuInit comes first");
    } else if (s.process != getpid()) {
        refused_ = violation(not_initialized, "called in a child of fork");
    } else if (needs_context) {
        auto& stack = current_contexts();
        if (stack.empty() || !stack.back()) {
            refused_ = violation(invalid_context, "no context is current");
            return;
        }
        context_ = stack.back();
        if (context_->is_destroyed) refused_ = context_is_destroyed;
        if (context_->sticky != success) refused_ = context_->sticky;
    }
}

void note_violation(const std::string& text) {
    State& s = state();
    ++s.violations;
    s.last_violation = text;
    std::fprintf(stderr, "CUDA driver of tests: %s\n", text.c_str());
}

Result Call::violation(Result code, const std::string& text) {
    note_violation(std::string(name_) + ": " + text);
    return code;
}

static std::size_t device_count() {
    const char* set = std::getenv("UNISONO_TEST_CUDA_DEVICES");
    return set ? static_cast<std::size_t>(std::atoi(set)) : 1;
}

static bool is_device(int device) {
    return device >= 0 && static_cast<std::size_t>(device) < state().contexts.size();
}

}  // namespace cuda_driver

using namespace cuda_driver;

extern "C" {

Result cuInit(unsigned flags) {
    State& s = state();
    std::lock_guard lock(s.mutex);
    if (flags != 0) return invalid_value;
    if (s.is_initialised) return success;
    s.is_initialised = true;
    s.process = getpid();
    if (const char* seed = std::getenv("UNISONO_TEST_CUDA_SEED"))
        s.random += 0x9e3779b97f4a7c15u * std::strtoull(seed, nullptr, 10);
    for (std::size_t k = 0; k < device_count(); ++k) {
        s.contexts.push_back(std::make_unique<Context>());
        s.contexts.back()->ordinal = static_cast<int>(k);
        s.default_streams.push_back(std::make_unique<Stream>());
        s.default_streams.back()->context = s.contexts.back().get();
        s.default_streams.back()->number = ++s.stream_numbers;
        s.default_streams.back()->is_blocking = true;
    }
    return success;
}

Result cuDriverGetVersion(int* version) {
    *version = 12000;
    return success;
}

Result cuDeviceGetCount(int* count) {
    Call call("cuDeviceGetCount", false);
    if (call.refused()) return call.refused();
    *count = static_cast<int>(state().contexts.size());
    return success;
}

Result cuDeviceGet(int* device, int ordinal) {
    Call call("cuDeviceGet", false);
    if (call.refused()) return call.refused();
    if (!is_device(ordinal)) return call.violation(invalid_device, "no such device");
    *device = ordinal;
    return success;
}

Result cuDeviceGetName(char* name, int length, int device) {
    Call call("cuDeviceGetName", false);
    if (call.refused()) return call.refused();
    if (!is_device(device)) return call.violation(invalid_device, "no such device");
    std::snprintf(name, static_cast<std::size_t>(length), "driver of tests");
    return success;
}

Result cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
    Call call("cuDeviceTotalMem", false);
    if (call.refused()) return call.refused();
    if (!is_device(device)) return call.violation(invalid_device, "no such device");
    *bytes = static_cast<std::size_t>(state().memory);
    return success;
}

/// Those of an A100, as far as they matter.
Result cuDeviceGetAttribute(int* value, int attribute, int device) {
    Call call("cuDeviceGetAttribute", false);
    if (call.refused()) return call.refused();
    if (!is_device(device)) return call.violation(invalid_device, "no such device");
    static const std::map<int, int> known{
        {1, 1024},    {2, 1024},      {3, 1024},  {4, 64},        {5, 0x7fffffff}, {6, 65535},
        {7, 65535},   {8, 48 * 1024}, {9, 65536}, {10, 32},       {12, 65536},     {13, 1410000},
        {16, 4},      {18, 0},        {19, 1},    {31, 1},        {33, 0},         {34, 0},
        {35, 0},      {36, 1215000},  {37, 5120}, {38, 41943040}, {39, 2048},      {40, 3},
        {41, 1},      {50, 0},        {75, 8},    {76, 0},        {81, 167936},    {82, 65536},
        {97, 167936}, {106, 32},      {115, 1}};
    const auto found = known.find(attribute);
    if (found == known.end()) return call.violation(invalid_value, "an unknown attribute");
    *value = found->second;
    return success;
}

Result cuDeviceCanAccessPeer(int* can, int device, int peer) {
    Call call("cuDeviceCanAccessPeer", false);
    if (call.refused()) return call.refused();
    if (!is_device(device) || !is_device(peer))
        return call.violation(invalid_device, "no such device");
    *can = device != peer;
    return success;
}

Result cuDevicePrimaryCtxRetain(void** context, int device) {
    Call call("cuDevicePrimaryCtxRetain", false);
    if (call.refused()) return call.refused();
    if (!is_device(device)) return call.violation(invalid_device, "no such device");
    Context& made = *state().contexts[static_cast<std::size_t>(device)];
    ++made.retained;
    *context = &made;
    return success;
}

Result cuDevicePrimaryCtxRelease_v2(int device) {
    Call call("cuDevicePrimaryCtxRelease", false);
    if (call.refused()) return call.refused();
    if (!is_device(device)) return call.violation(invalid_device, "no such device");
    --state().contexts[static_cast<std::size_t>(device)]->retained;
    return success;
}

static bool is_context(void* context) {
    for (const auto& c : state().contexts) {
        if (c.get() == context) return true;
    }
    return false;
}

Result cuCtxSetCurrent(void* context) {
    Call call("cuCtxSetCurrent", false);
    if (call.refused()) return call.refused();
    if (context && !is_context(context)) return call.violation(invalid_context, "no context");
    auto& stack = current_contexts();
    if (!stack.empty()) stack.pop_back();
    if (context) stack.push_back(static_cast<Context*>(context));
    return success;
}

Result cuCtxGetCurrent(void** context) {
    Call call("cuCtxGetCurrent", false);
    if (call.refused()) return call.refused();
    auto& stack = current_contexts();
    *context = stack.empty() ? nullptr : stack.back();
    return success;
}

/// Between all devices; has_peer_access: others may use the context's memory.
Result cuCtxEnablePeerAccess(void* peer, unsigned flags) {
    Call call("cuCtxEnablePeerAccess");
    if (call.refused()) return call.refused();
    if (!is_context(peer) || peer == &call.context() || flags != 0)
        return call.violation(invalid_context, "no context of another device");
    auto& other = *static_cast<Context*>(peer);
    if (other.has_peer_access) return peer_access_already_enabled;
    other.has_peer_access = true;
    return success;
}

Result cuCtxPushCurrent_v2(void* context) {
    Call call("cuCtxPushCurrent", false);
    if (call.refused()) return call.refused();
    if (!is_context(context)) return call.violation(invalid_context, "no context");
    current_contexts().push_back(static_cast<Context*>(context));
    return success;
}

Result cuCtxPopCurrent_v2(void** context) {
    Call call("cuCtxPopCurrent", false);
    if (call.refused()) return call.refused();
    auto& stack = current_contexts();
    if (stack.empty()) return call.violation(invalid_context, "no context is current");
    if (context) *context = stack.back();
    stack.pop_back();
    return success;
}

Result cuGetErrorName(Result result, const char** name) {
    static const std::map<Result, const char*> names{
        {success, "CUDA_SUCCESS"},
        {invalid_value, "CUDA_ERROR_INVALID_VALUE"},
        {out_of_memory, "CUDA_ERROR_OUT_OF_MEMORY"},
        {not_initialized, "CUDA_ERROR_NOT_INITIALIZED"},
        {invalid_device, "CUDA_ERROR_INVALID_DEVICE"},
        {invalid_image, "CUDA_ERROR_INVALID_IMAGE"},
        {invalid_context, "CUDA_ERROR_INVALID_CONTEXT"},
        {no_binary_for_gpu, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
        {invalid_ptx, "CUDA_ERROR_INVALID_PTX"},
        {invalid_handle, "CUDA_ERROR_INVALID_HANDLE"},
        {not_found, "CUDA_ERROR_NOT_FOUND"},
        {not_ready, "CUDA_ERROR_NOT_READY"},
        {illegal_address, "CUDA_ERROR_ILLEGAL_ADDRESS"},
        {launch_out_of_resources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
        {context_is_destroyed, "CUDA_ERROR_CONTEXT_IS_DESTROYED"},
        {misaligned_address, "CUDA_ERROR_MISALIGNED_ADDRESS"},
        {launch_failed, "CUDA_ERROR_LAUNCH_FAILED"}};
    const auto found = names.find(result);
    *name = found == names.end() ? nullptr : found->second;
    return found == names.end() ? invalid_value : success;
}

Result cuGetErrorString(Result, const char** text) {
    *text = "see the driver of tests";
    return success;
}

// ---- What tests ask and set

/// "violations", "launches", "memory" (bytes in use), "allocations", "pinned", "events", "streams",
/// "graphs", or how often a function of the driver was called.
std::uint64_t unisonoDriverCount(const char* what) {
    State& s = state();
    std::lock_guard lock(s.mutex);
    const std::string name = what;
    std::uint64_t device = 0, pinned = 0, bytes = 0, calls = 0;
    for (const auto& [address, memory] : s.allocations) {
        ++(memory->is_host ? pinned : device);
        if (!memory->is_host) bytes += static_cast<std::uint64_t>(memory->bytes);
    }
    if (name == "violations") return s.violations;
    if (name == "launches") return s.launches;
    if (name == "memory") return bytes;
    if (name == "allocations") return device;
    if (name == "pinned") return pinned;
    if (name == "events") return s.events.size();
    if (name == "graphs") return graph_count();
    if (name == "streams") return s.streams.size();
    for (const auto& [function, count] : s.calls) calls += name == "calls" ? count : 0;
    return name == "calls" ? calls : s.calls[name];
}

/// The last violation; empty where there is none. The text is good until the next one.
const char* unisonoDriverViolation() {
    State& s = state();
    std::lock_guard lock(s.mutex);
    return s.last_violation.c_str();
}

/// "memory": bytes of each device; "graphs": whether there are any; "launch": how the next kernel
/// ends; "destroy": another library destroys the context of that device; "restore": makes devices
/// usable again.
void unisonoDriverSet(const char* what, std::int64_t value) {
    State& s = state();
    std::lock_guard lock(s.mutex);
    const std::string name = what;
    if (name == "memory") s.memory = value;
    if (name == "graphs") s.has_graphs = value != 0;
    if (name == "launch") s.next_launch = static_cast<Result>(value);
    if (name == "destroy") s.contexts[static_cast<std::size_t>(value)]->is_destroyed = true;
    if (name == "restore") {
        for (const auto& c : s.contexts) c->sticky = success, c->is_destroyed = false;
    }
}

}  // extern "C"
