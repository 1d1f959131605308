// Streams and events: what comes before what, and the thread that runs commands.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "cuda_driver/driver.h"

namespace cuda_driver {

void Clock::join(const Clock& other) {
    if (at_.size() < other.at_.size()) at_.resize(other.at_.size());
    for (std::size_t k = 0; k < other.at_.size(); ++k) at_[k] = std::max(at_[k], other.at_[k]);
}

void Clock::set(std::size_t stream, std::uint64_t count) {
    if (at_.size() <= stream) at_.resize(stream + 1);
    at_[stream] = std::max(at_[stream], count);
}

int Clock::missing(const Clock& other) const {
    for (std::size_t k = 0; k < other.at_.size(); ++k) {
        if (other.at_[k] > of(k)) return static_cast<int>(k);
    }
    return -1;
}

namespace {

std::int64_t now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

bool may_run(const Command& command) {
    return std::all_of(command.after.begin(), command.after.end(),
                       [](const auto& c) { return c->is_done; });
}

/// One whose next command may run, chosen at random; null where there is none.
Stream* choose() {
    State& s = state();
    std::vector<Stream*> ready;
    auto add = [&](Stream* stream) {
        if (!stream->queue.empty() && may_run(*stream->queue.front())) ready.push_back(stream);
    };
    for (Stream* stream : s.streams) add(stream);
    for (const auto& stream : s.default_streams) add(stream.get());
    if (ready.empty()) return nullptr;
    s.random ^= s.random << 13;
    s.random ^= s.random >> 7;
    s.random ^= s.random << 17;
    return ready[s.random % ready.size()];
}

void work() {
    State& s = state();
    std::unique_lock lock(s.mutex);
    for (;;) {
        Stream* stream = choose();
        if (!stream) {
            s.changed.wait(lock);
            continue;
        }
        const std::shared_ptr<Command> command = stream->queue.front();
        Context& context = *stream->context;
        Result result = success;
        if (context.sticky == success && command->run) {
            lock.unlock();
            result = command->run();
            lock.lock();
        }
        if (result != success && context.sticky == success) context.sticky = result;
        command->ended = now_ns();
        command->is_done = true;
        command->run = {};
        command->after.clear();
        stream->queue.pop_front();
        s.changed.notify_all();
    }
}

void observe(const Command& command) { state().host.join(command.clock); }

}  // namespace

Stream* find_stream(Context& context, void* handle) {
    State& s = state();
    // 1 and 2 name the legacy default stream and the thread's, which is the same one here.
    if (reinterpret_cast<std::uintptr_t>(handle) <= 2)
        return s.default_streams[static_cast<std::size_t>(context.ordinal)].get();
    auto* stream = static_cast<Stream*>(handle);
    return s.streams.contains(stream) ? stream : nullptr;
}

/// A blocking stream comes behind what the default one was given before, and that behind all
/// blocking ones.
static std::vector<std::shared_ptr<Command>> implied(Stream& stream) {
    State& s = state();
    std::vector<std::shared_ptr<Command>> after;
    Stream& first = *s.default_streams[static_cast<std::size_t>(stream.context->ordinal)];
    auto add = [&](const Stream& other) {
        if (&other != &stream && other.last) after.push_back(other.last);
    };
    if (&stream == &first) {
        for (Stream* other : s.streams) {
            if (other->is_blocking && other->context == stream.context) add(*other);
        }
    } else if (stream.is_blocking) {
        add(first);
    }
    return after;
}

Clock next_clock(Stream& stream) {
    Clock clock = stream.clock;
    clock.join(state().host);
    for (const auto& c : implied(stream)) clock.join(c->clock);
    clock.set(stream.number, stream.submitted + 1);
    return clock;
}

std::shared_ptr<Command> submit(Stream& stream, std::string what, std::function<Result()> run) {
    State& s = state();
    auto command = std::make_shared<Command>();
    command->stream = &stream;
    command->what = std::move(what);
    command->clock = next_clock(stream);
    command->after = std::move(stream.waits);
    for (auto& c : implied(stream)) command->after.push_back(std::move(c));
    command->run = std::move(run);
    stream.waits.clear();
    stream.clock = command->clock;
    ++stream.submitted;
    stream.queue.push_back(command);
    stream.last = command;
    if (!s.has_worker) {
        s.has_worker = true;
        std::thread(work).detach();
    }
    s.changed.notify_all();
    return command;
}

void wait_for(Call& call, const std::shared_ptr<Command>& command) {
    if (!command) return;
    state().changed.wait(call.lock(), [&] { return command->is_done; });
    observe(*command);
}

void wait_for_all(Call& call, Context& context) {
    State& s = state();
    std::vector<std::shared_ptr<Command>> all;
    for (Stream* stream : s.streams) {
        if (stream->context == &context) all.push_back(stream->last);
    }
    all.push_back(s.default_streams[static_cast<std::size_t>(context.ordinal)]->last);
    for (const auto& command : all) wait_for(call, command);
}

}  // namespace cuda_driver

using namespace cuda_driver;

extern "C" {

Result cuStreamCreate(void** made, unsigned flags) {
    Call call("cuStreamCreate");
    if (call.refused()) return call.refused();
    if (!made || flags > 1) return call.violation(invalid_value, "wrong arguments");
    auto* stream = new Stream;
    stream->context = &call.context();
    stream->number = ++state().stream_numbers;
    stream->is_blocking = flags == 0;
    state().streams.insert(stream);
    *made = stream;
    return success;
}

Result cuStreamGetCtx(void* handle, void** context) {
    Call call("cuStreamGetCtx");
    if (call.refused()) return call.refused();
    Stream* stream = find_stream(call.context(), handle);
    if (!stream) return invalid_handle;
    *context = stream->context;
    return success;
}

Result cuStreamDestroy_v2(void* handle) {
    Call call("cuStreamDestroy");
    if (call.refused()) return call.refused();
    Stream* stream = handle ? find_stream(call.context(), handle) : nullptr;
    if (!stream) return call.violation(invalid_handle, "no stream");
    state().changed.wait(call.lock(), [&] { return stream->queue.empty(); });
    state().streams.erase(stream);  // its object stays: commands name it
    return success;
}

Result cuStreamQuery(void* handle) {
    Call call("cuStreamQuery");
    if (call.refused()) return call.refused();
    Stream* stream = find_stream(call.context(), handle);
    if (!stream) return call.violation(invalid_handle, "no stream");
    if (!stream->queue.empty()) return not_ready;
    for (const auto& command : stream->waits) {
        if (!command->is_done) return not_ready;
    }
    for (const auto& command : stream->waits) observe(*command);
    if (stream->last) observe(*stream->last);
    return success;
}

Result cuStreamSynchronize(void* handle) {
    Call call("cuStreamSynchronize");
    if (call.refused()) return call.refused();
    Stream* stream = find_stream(call.context(), handle);
    if (!stream) return call.violation(invalid_handle, "no stream");
    for (const auto& command : std::vector(stream->waits)) wait_for(call, command);
    wait_for(call, stream->last);
    return stream->context->sticky;
}

Result cuCtxSynchronize() {
    Call call("cuCtxSynchronize");
    if (call.refused()) return call.refused();
    wait_for_all(call, call.context());
    return call.context().sticky;
}

Result cuStreamWaitEvent(void* handle, void* waited, unsigned flags) {
    Call call("cuStreamWaitEvent");
    if (call.refused()) return call.refused();
    Stream* stream = find_stream(call.context(), handle);
    auto* event = static_cast<Event*>(waited);
    if (!stream || !state().events.contains(event) || flags != 0)
        return call.violation(invalid_handle, "no such stream or event");
    if (!event->command)
        return call.violation(invalid_value, "waits for an event that was never recorded");
    stream->waits.push_back(event->command);
    stream->clock.join(event->command->clock);
    return success;
}

Result cuEventCreate(void** made, unsigned flags) {
    Call call("cuEventCreate");
    if (call.refused()) return call.refused();
    if (!made || flags > 3) return call.violation(invalid_value, "wrong arguments");
    auto* event = new Event{&call.context(), (flags & 2) == 0, nullptr};
    state().events.insert(event);
    *made = event;
    return success;
}

Result cuEventDestroy_v2(void* handle) {
    Call call("cuEventDestroy");
    if (call.refused()) return call.refused();
    auto* event = static_cast<Event*>(handle);
    if (state().events.erase(event) == 0) return call.violation(invalid_handle, "no event");
    delete event;
    return success;
}

Result cuEventRecord(void* handle, void* into) {
    Call call("cuEventRecord");
    if (call.refused()) return call.refused();
    auto* event = static_cast<Event*>(handle);
    if (!state().events.contains(event)) return call.violation(invalid_handle, "no event");
    Stream* stream = find_stream(call.context(), into);
    if (!stream || stream->context != event->context)
        return call.violation(invalid_handle, "the stream is not of the event's context");
    event->command = submit(*stream, "event", {});
    return success;
}

Result cuEventQuery(void* handle) {
    Call call("cuEventQuery", false);
    if (call.refused()) return call.refused();
    auto* event = static_cast<Event*>(handle);
    if (!state().events.contains(event)) return call.violation(invalid_handle, "no event");
    if (!event->command) return success;
    if (event->context->is_destroyed) return context_is_destroyed;
    if (!event->command->is_done) return not_ready;
    observe(*event->command);
    return event->context->sticky;
}

Result cuEventSynchronize(void* handle) {
    Call call("cuEventSynchronize");
    if (call.refused()) return call.refused();
    auto* event = static_cast<Event*>(handle);
    if (!state().events.contains(event)) return call.violation(invalid_handle, "no event");
    wait_for(call, event->command);
    return event->context->sticky;
}

Result cuEventElapsedTime(float* ms, void* begin, void* end) {
    Call call("cuEventElapsedTime");
    if (call.refused()) return call.refused();
    auto *a = static_cast<Event*>(begin), *b = static_cast<Event*>(end);
    if (!state().events.contains(a) || !state().events.contains(b) || !a->has_times ||
        !b->has_times || !a->command || !b->command || a->context != b->context)
        return call.violation(invalid_handle, "events without times, or never recorded");
    if (!a->command->is_done || !b->command->is_done) return not_ready;
    *ms = static_cast<float>(static_cast<double>(b->command->ended - a->command->ended) * 1e-6);
    return success;
}

}  // extern "C"
