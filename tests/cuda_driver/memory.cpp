// Memory of devices and pinned memory of the host: where it is, who uses it when, and copies.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "cuda_driver/driver.h"
#include "cuda_driver/launches.h"

namespace cuda_driver {

namespace {

constexpr char beside = '\x5a', fresh = '\xa5', freed = '\xdd';

Allocation* make(Context& context, std::int64_t bytes, bool is_host) {
    State& s = state();
    if (!is_host && context.in_use + bytes > s.memory) return nullptr;
    const auto whole = static_cast<std::size_t>((bytes + zone - 1) / zone * zone + 2 * zone);
    auto* block = static_cast<char*>(std::aligned_alloc(static_cast<std::size_t>(zone), whole));
    if (!block) return nullptr;
    std::memset(block, beside, whole);
    std::memset(block + zone, fresh, static_cast<std::size_t>(bytes));
    auto made = std::make_unique<Allocation>();
    made->context = &context;
    made->block = block;
    made->address = reinterpret_cast<std::uintptr_t>(block + zone);
    made->bytes = bytes;
    made->is_host = is_host;
    if (!is_host) context.in_use += bytes;
    Allocation* found = made.get();
    s.allocations[made->address] = std::move(made);
    return found;
}

Allocation* at_begin(std::uintptr_t address) {
    const auto found = state().allocations.find(address);
    return found == state().allocations.end() ? nullptr : found->second.get();
}

std::string before_free(const Allocation& memory) {
    const std::string text = damage(memory.block, memory.bytes);
    return text.empty() ? text : "memory that is freed was written beside: " + text;
}

/// From now on nobody finds it; the block goes once `then` calls.
std::function<Result()> let_go(Allocation& memory) {
    char* block = memory.block;
    const auto bytes = static_cast<std::size_t>(memory.bytes);
    Context* context = memory.context;
    const bool is_host = memory.is_host;
    state().allocations.erase(memory.address);
    return [=]() -> Result {
        std::memset(block + zone, freed, bytes);
        std::free(block);
        if (!is_host) {
            std::lock_guard lock(state().mutex);
            context->in_use -= static_cast<std::int64_t>(bytes);
        }
        return success;
    };
}

}  // namespace

Allocation* find_allocation(std::uintptr_t address, std::int64_t bytes) {
    State& s = state();
    auto at = s.allocations.upper_bound(address);
    if (at == s.allocations.begin()) return nullptr;
    Allocation& memory = *std::prev(at)->second;
    const auto offset = static_cast<std::int64_t>(address - memory.address);
    return offset + bytes <= memory.bytes ? &memory : nullptr;
}

std::string access(Allocation& memory, Stream& stream, Access how, const std::string& what) {
    if (how == Access::None) return {};
    const Clock now = next_clock(stream);
    auto racing = [&](const Clock& before, const std::string& who) -> std::string {
        const int other = now.missing(before);
        if (other < 0) return {};
        return what + " on stream " + std::to_string(stream.number) + " is not ordered with " +
               (who.empty() ? "the allocation" : who) + " on stream " + std::to_string(other) +
               " of the same memory";
    };
    std::string wrong = racing(memory.made, "");
    if (wrong.empty()) wrong = racing(memory.written, memory.writer);
    if (wrong.empty() && how == Access::Writes) wrong = racing(memory.read, memory.reader);
    if (!wrong.empty()) return wrong;
    if (how == Access::Writes) {
        memory.written.set(stream.number, stream.submitted + 1);
        memory.writer = what;
    } else {
        memory.read.set(stream.number, stream.submitted + 1);
        memory.reader = what;
    }
    return {};
}

std::string damage(const char* block, std::int64_t bytes) {
    auto is_whole = [](const char* begin, const char* end) {
        return std::all_of(begin, end, [](char c) { return c == beside; });
    };
    const char* end = block + zone + bytes;
    const auto rest = (zone - bytes % zone) % zone + zone;
    if (!is_whole(block, block + zone)) return "below its first byte";
    if (!is_whole(end, end + rest)) return "above its last byte";
    return {};
}

Result start_copy(Call& call, const Copy& copy, Stream* stream) {
    if (!stream || stream->context != &call.context())
        return call.violation(invalid_handle, "the stream is not of the current context");
    if (copy.bytes == 0) return success;
    const auto bytes = static_cast<std::int64_t>(copy.bytes);
    Allocation *target = find_allocation(copy.to, bytes),
               *source = find_allocation(copy.from, bytes);
    if (!target || target->is_host != copy.writes_host)
        return call.violation(invalid_value, copy.writes_host ? "the target is not pinned"
                                                              : "the target is no device memory");
    if (!source || source->is_host != copy.reads_host)
        return call.violation(invalid_value, copy.reads_host ? "the source is not pinned"
                                                             : "the source is no device memory");
    if (copy.to < copy.from + copy.bytes && copy.from < copy.to + copy.bytes)
        return call.violation(invalid_value, "the ranges overlap");
    for (const std::string& wrong : {access(*source, *stream, Access::Reads, copy.what),
                                     access(*target, *stream, Access::Writes, copy.what)}) {
        if (!wrong.empty()) return call.violation(illegal_address, wrong);
    }
    submit(*stream, copy.what, [=]() -> Result {
        std::memcpy(reinterpret_cast<void*>(copy.to), reinterpret_cast<const void*>(copy.from),
                    copy.bytes);
        return success;
    });
    return success;
}

}  // namespace cuda_driver

using namespace cuda_driver;

namespace {

Result copy(Call& call, std::uintptr_t to, std::uintptr_t from, std::size_t bytes, void* into,
            bool reads_host, bool writes_host, const char* what) {
    return start_copy(call, {to, from, bytes, reads_host, writes_host, what},
                      find_stream(call.context(), into));
}

}  // namespace

extern "C" {

Result cuMemAlloc_v2(std::uintptr_t* address, std::size_t bytes) {
    Call call("cuMemAlloc");
    if (call.refused()) return call.refused();
    if (!address || bytes == 0) return call.violation(invalid_value, "no bytes");
    Allocation* made = make(call.context(), static_cast<std::int64_t>(bytes), false);
    if (!made) return out_of_memory;
    *address = made->address;
    return success;
}

/// Waits for all work of the context, as the driver does.
Result cuMemFree_v2(std::uintptr_t address) {
    Call call("cuMemFree");
    if (call.refused()) return call.refused();
    Allocation* memory = at_begin(address);
    if (!memory || memory->is_host) return call.violation(invalid_value, "not allocated");
    if (memory->context != &call.context())
        return call.violation(invalid_context, "memory of another context");
    wait_for_all(call, call.context());
    if (const auto wrong = before_free(*memory); !wrong.empty())
        return call.violation(illegal_address, wrong);
    const auto release = let_go(*memory);
    call.lock().unlock();
    return release();
}

Result cuMemAllocAsync(std::uintptr_t* address, std::size_t bytes, void* into) {
    Call call("cuMemAllocAsync");
    if (call.refused()) return call.refused();
    Stream* stream = find_stream(call.context(), into);
    if (!stream) return call.violation(invalid_handle, "no stream");
    if (!address || bytes == 0) return call.violation(invalid_value, "no bytes");
    // What is being freed counts until it is.
    state().changed.wait(call.lock(), [&] { return stream->queue.empty(); });
    Allocation* made = make(call.context(), static_cast<std::int64_t>(bytes), false);
    if (!made) return out_of_memory;
    const auto command = submit(*stream, "allocation", {});
    made->made = Clock();
    made->made.set(stream->number, stream->submitted);
    *address = made->address;
    return success;
}

Result cuMemFreeAsync(std::uintptr_t address, void* into) {
    Call call("cuMemFreeAsync");
    if (call.refused()) return call.refused();
    Stream* stream = find_stream(call.context(), into);
    Allocation* memory = at_begin(address);
    if (!stream) return call.violation(invalid_handle, "no stream");
    if (!memory || memory->is_host) return call.violation(invalid_value, "not allocated");
    const std::string wrong = access(*memory, *stream, Access::Writes, "the end of memory");
    if (!wrong.empty()) return call.violation(illegal_address, wrong);
    submit(*stream, "free", let_go(*memory));
    return success;
}

Result cuMemHostAlloc(void** address, std::size_t bytes, unsigned) {
    Call call("cuMemHostAlloc");
    if (call.refused()) return call.refused();
    if (!address || bytes == 0) return call.violation(invalid_value, "no bytes");
    Allocation* made = make(call.context(), static_cast<std::int64_t>(bytes), true);
    if (!made) return out_of_memory;
    *address = reinterpret_cast<void*>(made->address);
    return success;
}

Result cuMemFreeHost(void* address) {
    Call call("cuMemFreeHost");
    if (call.refused()) return call.refused();
    Allocation* memory = at_begin(reinterpret_cast<std::uintptr_t>(address));
    if (!memory || !memory->is_host) return call.violation(invalid_value, "not pinned");
    wait_for_all(call, *memory->context);
    const auto release = let_go(*memory);
    call.lock().unlock();
    return release();
}

/// The device's number is all that is asked for.
Result cuPointerGetAttribute(void* value, int attribute, std::uintptr_t address) {
    Call call("cuPointerGetAttribute");
    if (call.refused()) return call.refused();
    if (attribute != 9) return call.violation(invalid_value, "an unknown attribute");
    const Allocation* memory = find_allocation(address, 0);
    if (!memory) return invalid_value;
    *static_cast<int*>(value) = memory->context->ordinal;
    return success;
}

Result cuMemGetInfo_v2(std::size_t* available, std::size_t* total) {
    Call call("cuMemGetInfo");
    if (call.refused()) return call.refused();
    *total = static_cast<std::size_t>(state().memory);
    *available = static_cast<std::size_t>(state().memory - call.context().in_use);
    return success;
}

Result cuMemcpyHtoDAsync_v2(std::uintptr_t to, const void* from, std::size_t bytes, void* stream) {
    Call call("cuMemcpyHtoDAsync");
    if (call.refused()) return call.refused();
    return copy(call, to, reinterpret_cast<std::uintptr_t>(from), bytes, stream, true, false,
                "a copy from the host");
}

Result cuMemcpyDtoHAsync_v2(void* to, std::uintptr_t from, std::size_t bytes, void* stream) {
    Call call("cuMemcpyDtoHAsync");
    if (call.refused()) return call.refused();
    return copy(call, reinterpret_cast<std::uintptr_t>(to), from, bytes, stream, false, true,
                "a copy to the host");
}

Result cuMemcpyDtoDAsync_v2(std::uintptr_t to, std::uintptr_t from, std::size_t bytes,
                            void* stream) {
    Call call("cuMemcpyDtoDAsync");
    if (call.refused()) return call.refused();
    return copy(call, to, from, bytes, stream, false, false, "a copy");
}

Result cuMemcpyPeerAsync(std::uintptr_t to, void* to_context, std::uintptr_t from,
                         void* from_context, std::size_t bytes, void* stream) {
    Call call("cuMemcpyPeerAsync");
    if (call.refused()) return call.refused();
    const Allocation *target = find_allocation(to, 0), *source = find_allocation(from, 0);
    if (!target || !source || target->context != to_context || source->context != from_context)
        return call.violation(invalid_value, "memory is not of the context that is named");
    return copy(call, to, from, bytes, stream, false, false, "a copy between devices");
}

}  // extern "C"
