// Messages and collective calls of compiled functions. Their errors are noted for the one who
// raises them; value 0 is 1 where there was one.
#include <algorithm>
#include <cstring>
#include <exception>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "comm/collective.h"
#include "core/error.h"
#include "core/native/foreign.h"
#include "core/native/native.h"
#include "core/threads/fork.h"

namespace unisono::comm {

namespace {

/// Up to so many bytes a collective call works on memory of its own: where it ends by a time-out or
/// Ctrl-C, MPI goes on to use what it was given, and the function's arrays may be gone.
constexpr std::int64_t most_staged = 1 << 16;

/// The line of the program that this thread calls from.
thread_local std::int32_t line = 0;
thread_local std::uint16_t file = 0;

/// [line, file]
void at(std::int64_t* v) noexcept {
    line = static_cast<std::int32_t>(v[0]);
    file = static_cast<std::uint16_t>(v[1]);
}

template <class F>
void guarded(std::int64_t* v, F&& f) noexcept {
    auto note = [&](ErrorKind kind, std::string text) {
        note_foreign_error({kind, std::move(text), line, file});
        v[0] = 1;
    };
    try {
        f();
        v[0] = 0;
    } catch (const Error& error) {
        note(error.kind(), error.what());
    } catch (const std::bad_alloc&) {
        note(ErrorKind::Memory, "mpi: out of memory");
    } catch (const std::exception& error) {
        note(ErrorKind::Runtime, error.what());
    }
}

Communicator& comm_at(std::int64_t address) { return *reinterpret_cast<Communicator*>(address); }

/// Three values: address, elements, dtype; the dtype is -1 where none is given.
Memory memory_at(const std::int64_t* v) {
    if (v[2] < 0) return {};
    return {reinterpret_cast<void*>(v[0]), v[1], static_cast<DType>(v[2]), true};
}
std::int64_t bytes_of(const Memory& m) { return m.is_given ? m.count * size_of(m.dtype) : 0; }

/// [0, communicator]: [failed, rank]
void rank(std::int64_t* v) noexcept {
    guarded(v, [&] { v[1] = comm_at(v[1]).rank(); });
}
/// [0, communicator]: [failed, size]
void size(std::int64_t* v) noexcept {
    guarded(v, [&] { v[1] = comm_at(v[1]).size(); });
}

/// [0, communicator, memory, rank, tag, synchronous]
void send(std::int64_t* v) noexcept {
    guarded(v, [&] {
        Memory m = memory_at(v + 2);
        comm_at(v[1]).send(m.data, bytes_of(m), static_cast<int>(v[5]), static_cast<int>(v[6]),
                           v[7] != 0);
    });
}

void tell(std::int64_t* v, const Delivery& d) {
    v[0] = d.source;
    v[1] = d.tag;
    v[2] = d.bytes;
}

/// [0, communicator, memory, source, tag]: [failed, source, tag, bytes]
void receive(std::int64_t* v) noexcept {
    guarded(v, [&] {
        Memory m = memory_at(v + 2);
        Delivery d;
        comm_at(v[1]).receive(m.data, bytes_of(m), static_cast<int>(v[5]), static_cast<int>(v[6]),
                              &d);
        tell(v + 1, d);
    });
}

/// Messages under way. They have memory of their own, so that one that is never waited for harms
/// nobody.
struct Started {
    std::vector<char> memory;
    std::unique_ptr<Request> request;
    bool receives = false;
    const void* comm = nullptr;  ///< that it was sent by
};

class AllStarted {
  public:
    static AllStarted& instance() {
        static AllStarted& all = *new AllStarted;  // MPI may use the memory up to the end
        return all;
    }
    std::int64_t add(std::shared_ptr<Started> started) {
        std::vector<std::pair<std::int64_t, std::shared_ptr<Started>>> sent;
        std::int64_t number = 0;
        {
            std::lock_guard lock(mutex_);
            if (++since_sweep_ >= most_since_sweep) {
                since_sweep_ = 0;
                std::ranges::copy_if(all_, std::back_inserter(sent), [&](const auto& s) {
                    return !s.second->receives && s.second->comm == started->comm;
                });
            }
            number = ++last_;
            all_.emplace(number, std::move(started));
        }
        // What was sent is done some time, whether anybody asks or not. Asking may let others run.
        for (const auto& [old, one] : sent) {
            try {
                if (one->request->test()) remove(old);
            } catch (const Error&) {
                // Who waits for it is told.
            }
        }
        return number;
    }
    /// Null where it is done.
    std::shared_ptr<Started> find(std::int64_t number) {
        std::lock_guard lock(mutex_);
        const auto found = all_.find(number);
        return found == all_.end() ? nullptr : found->second;
    }
    void remove(std::int64_t number) {
        std::shared_ptr<Started> done;  // let go of without the lock
        std::lock_guard lock(mutex_);
        const auto found = all_.find(number);
        if (found == all_.end()) return;
        done = std::move(found->second);
        all_.erase(found);
    }

  private:
    static constexpr int most_since_sweep = 64;
    ProcessMutex mutex_;
    std::map<std::int64_t, std::shared_ptr<Started>> all_;
    std::int64_t last_ = 0;
    int since_sweep_ = 0;
};

/// [0, communicator, memory, rank, tag, synchronous]: [failed, number]
void start_send(std::int64_t* v) noexcept {
    guarded(v, [&] {
        const Memory m = memory_at(v + 2);
        auto made = std::make_shared<Started>();
        const auto* begin = static_cast<const char*>(m.data);
        if (m.is_given) made->memory.assign(begin, begin + bytes_of(m));
        made->comm = &comm_at(v[1]);
        made->request =
            comm_at(v[1]).start_send(made->memory.data(), bytes_of(m), static_cast<int>(v[5]),
                                     static_cast<int>(v[6]), v[7] != 0);
        v[1] = AllStarted::instance().add(std::move(made));
    });
}

/// [0, communicator, memory, source, tag]: [failed, number]
void start_receive(std::int64_t* v) noexcept {
    guarded(v, [&] {
        const std::int64_t bytes = bytes_of(memory_at(v + 2));
        auto made = std::make_shared<Started>();
        made->receives = true;
        made->memory.resize(static_cast<std::size_t>(bytes));
        made->request = comm_at(v[1]).start_receive(made->memory.data(), bytes,
                                                    static_cast<int>(v[5]), static_cast<int>(v[6]));
        v[1] = AllStarted::instance().add(std::move(made));
    });
}

/// [0, number, memory, waits]: [failed, done, source, tag, bytes]
/// Where `waits` is 2, it is only asked: [failed, 0; 1: it is done; 2: it is not under way].
void finish(std::int64_t* v) noexcept {
    guarded(v, [&] {
        const std::int64_t number = v[1];
        const Memory to = memory_at(v + 2);
        Delivery d;
        bool is_done = true;
        if (const auto started = AllStarted::instance().find(number)) {
            if (v[5] == 2) {
                v[1] = started->request->test();
                return;
            }
            if (v[5] != 0)
                started->request->wait(&d);
            else
                is_done = started->request->test(&d);
            // A message may be shorter than its room.
            const auto arrived = std::min(bytes_of(to), d.bytes);
            if (is_done && started->receives && arrived > 0)
                std::memcpy(to.data, started->memory.data(), static_cast<std::size_t>(arrived));
            if (is_done) AllStarted::instance().remove(number);
        } else if (v[5] == 2) {
            v[1] = 2;
            return;
        }
        v[1] = is_done;
        tell(v + 2, d);
    });
}

/// [0, numbers]: [failed, which of them is done; -1: none is under way]
void finish_any(std::int64_t* v) noexcept {
    guarded(v, [&] {
        const Memory numbers = memory_at(v + 1);
        std::vector<std::shared_ptr<Started>> kept;
        std::vector<Request*> requests;
        std::vector<std::int64_t> places;
        for (std::int64_t k = 0; k < numbers.count; ++k) {
            auto started =
                AllStarted::instance().find(static_cast<const std::int64_t*>(numbers.data)[k]);
            if (!started) continue;
            requests.push_back(started->request.get());
            places.push_back(k);
            kept.push_back(std::move(started));
        }
        v[1] = requests.empty() ? -1 : places[requests[0]->wait_any(requests)];
    });
}

/// [0, communicator, memory, rank, tag, memory, source, tag]
void exchange(std::int64_t* v) noexcept {
    guarded(v, [&] {
        Communicator& comm = comm_at(v[1]);
        Memory out = memory_at(v + 2), in = memory_at(v + 7);
        auto outgoing = comm.start_send(out.data, bytes_of(out), static_cast<int>(v[5]),
                                        static_cast<int>(v[6]), false);
        comm.receive(in.data, bytes_of(in), static_cast<int>(v[10]), static_cast<int>(v[11]),
                     nullptr);
        outgoing->wait();
    });
}

/// A collective call on copies of its memory.
struct Staged {
    std::vector<char> from, to;
    std::unique_ptr<Request> request;
};

/// The shares of [n, first count, ..., first start, ...]; none at address 0.
Shares shares_at(std::int64_t address, std::int64_t n) {
    Shares s;
    if (address == 0) return s;
    const auto* counts = reinterpret_cast<const std::int64_t*>(address);
    std::int64_t start = 0;
    for (std::int64_t k = 0; k < n; ++k) {
        s.counts.push_back(static_cast<int>(counts[k]));
        s.starts.push_back(static_cast<int>(start));
        start += counts[k];
    }
    return s;
}

/// [0, communicator, kind, root, operation, from, counts, to, counts]; counts are memory of int64.
void collective(std::int64_t* v) noexcept {
    guarded(v, [&] {
        Communicator& comm = comm_at(v[1]);
        CollectiveCall c;
        c.kind = static_cast<CollectiveKind>(v[2]);
        c.root = static_cast<int>(v[3]);
        c.combine = static_cast<Combine>(v[4]);
        Memory from = memory_at(v + 5), to = memory_at(v + 11);
        const bool root = comm.rank() == c.root;
        if (!root && c.kind == CollectiveKind::Scatter) from = {};
        if (!root && (c.kind == CollectiveKind::Gather || c.kind == CollectiveKind::Reduce))
            to = {};
        if (from.is_given) c.sends = shares_at(v[8], v[9]);
        if (to.is_given) c.receives = shares_at(v[14], v[15]);
        measure(c, from, to, comm, nullptr);
        if (bytes_of(from) + bytes_of(to) > most_staged) return comm.start(c)->wait();
        auto staged = std::make_unique<Staged>();
        auto copied = [](const Memory& m, std::vector<char>& copy) {
            const auto* begin = static_cast<const char*>(m.data);
            if (m.is_given) copy.assign(begin, begin + bytes_of(m));
            copy.reserve(1);  // an address, also of nothing
            return m.is_given ? static_cast<void*>(copy.data()) : nullptr;
        };
        c.from = copied(from, staged->from);
        c.to = copied(to, staged->to);
        staged->request = comm.start(c);
        try {
            staged->request->wait();
        } catch (...) {
            staged.release();  // MPI has it
            throw;
        }
        if (to.is_given && !staged->to.empty())
            std::memcpy(to.data, staged->to.data(), staged->to.size());
    });
}

[[maybe_unused]] const bool is_added = add_natives({{"comm_at", at},
                                                    {"comm_rank", rank},
                                                    {"comm_size", size},
                                                    {"comm_send", send},
                                                    {"comm_receive", receive},
                                                    {"comm_exchange", exchange},
                                                    {"comm_start_send", start_send},
                                                    {"comm_start_receive", start_receive},
                                                    {"comm_finish", finish},
                                                    {"comm_finish_any", finish_any},
                                                    {"comm_collective", collective}});

}  // namespace

}  // namespace unisono::comm
