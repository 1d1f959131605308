// One-sided memory over MPI's windows.
//
// A window is opened for all ranks at once (lock_all) when it is made, and stays open. Where all
// its ranks are on one node, the memory is shared: put and get are plain copies then. What must be
// atomic (accumulate, fetch, compare and swap) goes through MPI in either case, so that all of it
// excludes one another.
//
// Each rank's memory starts with a line of its own, whose first word is the lock: 0, the rank that
// holds it plus one, or minus the number of ranks that share it. Memory that was given, or follows
// that of other ranks, has no such line: the locks are a second window then.
//
// Of memory that is attached later places are addresses of its rank's. Only that rank knows what is
// attached.
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>

#include "comm/mpi/calls.h"

namespace unisono::comm {

namespace {

constexpr std::int64_t line = 64;  ///< bytes before the user's memory: the lock

std::int64_t elements_of(const Section& s) {
    std::int64_t n = 1;
    for (std::int64_t extent : s.shape) n *= extent;
    return n;
}

/// Joins axes that follow one another without a gap, and leaves out those of one element; the last
/// axis of the result is packed if any is.
Section simplified(const Section& s, std::int64_t item) {
    Section r;
    r.offset = s.offset;
    for (std::size_t k = 0; k < s.shape.size(); ++k) {
        if (s.shape[k] == 1) continue;
        if (!r.shape.empty() && r.strides.back() == s.strides[k] * s.shape[k]) {
            r.shape.back() *= s.shape[k];
            r.strides.back() = s.strides[k];
        } else {
            r.shape.push_back(s.shape[k]);
            r.strides.push_back(s.strides[k]);
        }
    }
    if (r.shape.empty() || r.strides.back() != item) {
        r.shape.push_back(1);
        r.strides.push_back(item);
    }
    return r;
}

/// Copies between a section and packed memory, run by run.
template <class Copy>
void for_runs(char* base, const Section& s, std::size_t axis, std::int64_t item, char*& packed,
              Copy&& copy) {
    if (axis + 1 == s.shape.size()) {
        std::int64_t bytes = s.shape[axis] * item;
        copy(base, packed, static_cast<std::size_t>(bytes));
        packed += bytes;
        return;
    }
    for (std::int64_t i = 0; i < s.shape[axis]; ++i)
        for_runs(base + i * s.strides[axis], s, axis + 1, item, packed, copy);
}

/// MPI's type of a section; a plain count of elements where it has no gaps.
class SectionType {
  public:
    SectionType(const Section& s, DType dtype) {
        MPI_Datatype type = type_of(dtype);
        std::int64_t run = s.shape.back();
        count_ = static_cast<int>(run);
        type_ = type;
        if (s.shape.size() == 1) return;
        MPI_Datatype inner;
        MPI_Type_contiguous(count_, type, &inner);
        for (std::size_t k = s.shape.size() - 1; k-- > 0;) {
            MPI_Datatype outer;
            MPI_Type_create_hvector(static_cast<int>(s.shape[k]), 1, s.strides[k], inner, &outer);
            MPI_Type_free(&inner);
            inner = outer;
        }
        MPI_Type_commit(&inner);
        type_ = inner;
        count_ = 1;
        made_ = true;
    }
    ~SectionType() {
        if (made_) MPI_Type_free(&type_);
    }
    SectionType(const SectionType&) = delete;
    SectionType& operator=(const SectionType&) = delete;
    int count() const { return count_; }
    MPI_Datatype type() const { return type_; }

  private:
    MPI_Datatype type_;
    int count_;
    bool made_ = false;
};

class MpiWindow final : public Window {
  public:
    MpiWindow(MPI_Comm comm, std::int64_t bytes, Kind kind, void* memory) : comm_(comm) {
        MPI_Comm_rank(comm_, &rank_);
        MPI_Comm_size(comm_, &size_);
        note_sizes(bytes);
        const bool seen = (kind == Kind::Shared || kind == Kind::Contiguous) && on_one_node();
        if (kind == Kind::Contiguous && !seen) {
            fail(ErrorKind::Comm, "mpi: memory shared by ranks of several nodes" + place_of_call() +
                                      "; make the window with a communicator of one node, "
                                      "comm.Split_type(COMM_TYPE_SHARED)");
        }
        shared_ = seen;
        if (kind == Kind::Own || kind == Kind::Shared) header_ = line;
        attaches_ = kind == Kind::Attached;
        alone_ = (kind == Kind::Given || attaches_) && size_ == 1;
        if (alone_) {
            allocated(window_, line, true, true);  // for the lock
            own_ = static_cast<char*>(memory);
        } else if (attaches_) {
            check(MPI_Win_create_dynamic(MPI_INFO_NULL, comm_, &window_),
                  [] { return std::string("a window of attached memory"); });
        } else if (kind == Kind::Given) {
            const int status = MPI_Win_create(memory, static_cast<MPI_Aint>(bytes), 1,
                                              MPI_INFO_NULL, comm_, &window_);
            check(status, [&] {
                return made_text(bytes) +
                       " that is given (memory that MPI makes, by "
                       "un.mpi.window or Win.Allocate, works everywhere)";
            });
            own_ = static_cast<char*>(memory);
        } else {
            const std::int64_t room =
                header_ + (header_ ? (bytes + line - 1) / line * line : bytes);
            char* base = allocated(window_, room, shared_, kind != Kind::Contiguous);
            if (base) own_ = base + header_;
            for (int r = 0; shared_ && r < size_; ++r) {
                MPI_Aint size = 0;
                int unit = 0;
                char* at = nullptr;
                MPI_Win_shared_query(window_, r, &size, &unit, static_cast<void*>(&at));
                node_.push_back(at ? at + header_ : nullptr);
            }
        }
        if (!header_ && !alone_) allocated(lock_window_, line, on_one_node(), true);
        for (MPI_Win window : {window_, lock_window_}) {
            if (window == MPI_WIN_NULL) continue;
            MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
            MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
            MPI_Win_sync(window);
        }
        MPI_Barrier(comm_);
    }

    char* memory(int rank) const override {
        const std::size_t k = index(rank);
        return shared_ ? node_[k] : rank == rank_ ? own_ : nullptr;
    }
    std::int64_t bytes(int rank) const override {
        const std::size_t k = index(rank);
        return bytes_[bytes_.size() == 1 ? 0 : k];
    }
    bool shared() const override { return shared_; }

    void put(int rank, const Section& far, const void* near, DType dtype) override {
        if (copied_in(rank, far, near, dtype)) return;
        issue_put(rank, far, near, dtype, nullptr);
        checked(MPI_Win_flush_local(rank, window_), "put", rank);
    }
    void get(int rank, const Section& far, void* near, DType dtype) override {
        if (copied_out(rank, far, near, dtype)) return;
        issue_get(rank, far, near, dtype, nullptr);
        checked(MPI_Win_flush(rank, window_), "get", rank);
    }
    void accumulate(int rank, const Section& far, const void* near, DType dtype,
                    Combine combine) override {
        if (!bounded(rank, far, dtype)) return;
        if (alone_) return combine_here(far, near, nullptr, dtype, combine);
        issue_accumulate(rank, far, near, dtype, combine, nullptr);
        checked(MPI_Win_flush_local(rank, window_), "accumulate", rank);
    }
    std::unique_ptr<Request> start_put(int rank, const Section& far, const void* near,
                                       DType dtype) override {
        if (copied_in(rank, far, near, dtype)) return std::make_unique<NoRequest>();
        auto made = std::make_unique<MpiRequest>("put to " + rank_text(rank));
        issue_put(rank, far, near, dtype, &made->request);
        return made;
    }
    std::unique_ptr<Request> start_get(int rank, const Section& far, void* near,
                                       DType dtype) override {
        if (copied_out(rank, far, near, dtype)) return std::make_unique<NoRequest>();
        auto made = std::make_unique<MpiRequest>("get from " + rank_text(rank));
        issue_get(rank, far, near, dtype, &made->request);
        return made;
    }
    std::unique_ptr<Request> start_accumulate(int rank, const Section& far, const void* near,
                                              DType dtype, Combine combine) override {
        if (!bounded(rank, far, dtype)) return std::make_unique<NoRequest>();
        if (alone_) {
            combine_here(far, near, nullptr, dtype, combine);
            return std::make_unique<NoRequest>();
        }
        auto made = std::make_unique<MpiRequest>("accumulate to " + rank_text(rank));
        issue_accumulate(rank, far, near, dtype, combine, &made->request);
        return made;
    }

    void fetch(int rank, std::int64_t offset, const void* value, void* before, DType dtype,
               Combine combine) override {
        const Section far{offset, {1}, {size_of(dtype)}};
        bounded(rank, far, dtype);
        if (alone_) return combine_here(far, value, before, dtype, combine);
        checked(MPI_Fetch_and_op(value, before, type_of(dtype), rank, header_ + offset,
                                 operation_of(combine, dtype), window_),
                "fetch", rank);
        checked(MPI_Win_flush(rank, window_), "fetch", rank);
    }
    void get_accumulate(int rank, const Section& far, const void* near, void* before, DType dtype,
                        Combine combine) override {
        if (!bounded(rank, far, dtype)) return;
        if (alone_) return combine_here(far, near, before, dtype, combine);
        Section s = simplified(far, size_of(dtype));
        SectionType type(s, dtype);
        auto n = static_cast<int>(elements_of(s));
        MPI_Datatype element = type_of(dtype);
        checked(
            MPI_Get_accumulate(near, n, element, before, n, element, rank, header_ + s.offset,
                               type.count(), type.type(), operation_of(combine, dtype), window_),
            "get_accumulate", rank);
        checked(MPI_Win_flush(rank, window_), "get_accumulate", rank);
    }
    void compare_and_swap(int rank, std::int64_t offset, const void* expected, const void* value,
                          void* before, DType dtype) override {
        if (!is_integer(dtype) && !is_bool(dtype)) {
            fail(ErrorKind::Type, "mpi: compare_and_swap takes integers; got " +
                                      std::string(name(dtype)) + place_of_call());
        }
        bounded(rank, {offset, {1}, {size_of(dtype)}}, dtype);
        if (alone_) {
            const auto item = static_cast<std::size_t>(size_of(dtype));
            std::lock_guard one_at_a_time(one_);
            std::memcpy(before, here(offset), item);
            if (std::memcmp(before, expected, item) == 0) std::memcpy(here(offset), value, item);
            return;
        }
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION < 5
        // It ends the process: its atomics between processes of a node know 4 bytes only.
        if (!shared_ && size_of(dtype) == 8) {
            fail(ErrorKind::Unsupported,
                 "mpi: compare_and_swap of 8 bytes in memory that is not shared" + place_of_call() +
                     "; Open MPI 4 fails at it; use elements of 4 bytes, or locks");
        }
#endif
        checked(MPI_Compare_and_swap(value, expected, before, type_of(dtype), rank,
                                     header_ + offset, window_),
                "compare_and_swap", rank);
        checked(MPI_Win_flush(rank, window_), "compare_and_swap", rank);
    }

    void flush(int rank) override {
        std::atomic_thread_fence(std::memory_order_seq_cst);
        checked(rank < 0 ? MPI_Win_flush_all(used()) : MPI_Win_flush(rank, used()), "flush", rank);
    }
    void fence() override {
        flush(-1);
        MPI_Win_sync(window_);
        MPI_Request request;
        MPI_Ibarrier(comm_, &request);
        wait_until(
            [&] {
                int done = 0;
                MPI_Test(&request, &done, MPI_STATUS_IGNORE);
                return done != 0;
            },
            [] { return std::string("fence"); });
        MPI_Win_sync(window_);
        std::atomic_thread_fence(std::memory_order_seq_cst);
    }
    void lock(int rank, bool shared) override {
        index(rank);
        const std::int32_t mine = rank_ + 1;
        if (holds(rank)) {
            fail(ErrorKind::Comm, "mpi: rank " + std::to_string(rank_) + " holds the lock of " +
                                      rank_text(rank) + " already" + place_of_call());
        }
        std::int32_t seen = 0;
        wait_until(
            [&] {
                const std::int32_t before = swap_lock(rank, seen, shared ? seen - 1 : mine, "lock");
                if (before == seen) return true;
                seen = shared ? std::min(before, 0) : 0;
                // The lock lies in memory that all see; what its holder does to memory that was
                // given may need this rank to answer.
                int any = 0;
                if (!shared_)
                    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &any, MPI_STATUS_IGNORE);
                return false;
            },
            [&] { return "lock of " + rank_text(rank); });
        MPI_Win_sync(window_);
        std::lock_guard one_at_a_time(one_);
        held_[rank] = shared;
    }
    void unlock(int rank) override {
        index(rank);
        if (!holds(rank)) {
            fail(ErrorKind::Comm, "mpi: rank " + std::to_string(rank_) +
                                      " does not hold the lock of " + rank_text(rank) +
                                      place_of_call() + "; lock it first");
        }
        flush(-1);
        MPI_Win_sync(window_);
        bool shared = false;
        {
            std::lock_guard one_at_a_time(one_);
            shared = held_.extract(rank).mapped();
        }
        for (std::int32_t seen = shared ? -1 : rank_ + 1;;) {
            const std::int32_t before = swap_lock(rank, seen, shared ? seen + 1 : 0, "unlock");
            if (before == seen) return;
            seen = before;
        }
    }
    void attach(void* memory, std::int64_t bytes) override {
        used();
        const auto first = reinterpret_cast<std::int64_t>(memory);
        const auto next = attached_.upper_bound(first);
        const bool meets_next = next != attached_.end() && next->first < first + bytes;
        const bool meets_last =
            next != attached_.begin() && std::prev(next)->second > first && bytes > 0;
        if (meets_next || meets_last || attached_.contains(first)) {
            fail(ErrorKind::Value,
                 "mpi: memory that is attached already" + place_of_call() + "; detach it first");
        }
        if (!alone_)
            checked(MPI_Win_attach(window_, memory, static_cast<MPI_Aint>(bytes)), "attach", -1);
        attached_[first] = first + bytes;
    }
    void detach(void* memory) override {
        used();
        if (attached_.erase(reinterpret_cast<std::int64_t>(memory)) == 0) {
            fail(ErrorKind::Value, "mpi: memory that is not attached" + place_of_call() +
                                       "; pass what was given to Attach");
        }
        if (!alone_) checked(MPI_Win_detach(window_, memory), "detach", -1);
    }
    void free() override {
        if (window_ == MPI_WIN_NULL) return;
        Waiting waiting;
        while (!attached_.empty()) detach(reinterpret_cast<void*>(attached_.begin()->first));
        for (MPI_Win* window : {&window_, &lock_window_}) {
            if (*window == MPI_WIN_NULL) continue;
            MPI_Win_unlock_all(*window);
            MPI_Win_free(window);
        }
    }

  private:
    bool holds(int rank) {
        std::lock_guard one_at_a_time(one_);
        return held_.contains(rank);
    }
    std::string made_text(std::int64_t bytes) const {
        return "a window of " + std::to_string(bytes) + " bytes on rank " + std::to_string(rank_);
    }
    void note_sizes(std::int64_t bytes) {
        const std::int64_t mine[] = {bytes, -bytes};
        std::int64_t most[2];
        MPI_Allreduce(mine, most, 2, MPI_INT64_T, MPI_MAX, comm_);
        bytes_.assign(most[0] == -most[1] ? 1 : static_cast<std::size_t>(size_), bytes);
        if (bytes_.size() > 1)
            MPI_Allgather(&bytes, 1, MPI_INT64_T, bytes_.data(), 1, MPI_INT64_T, comm_);
    }
    /// Makes a window with memory of its own, which starts as zeros.
    char* allocated(MPI_Win& window, std::int64_t bytes, bool shared, bool apart) {
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Info_set(info, "alloc_shared_noncontig", apart ? "true" : "false");
        char* base = nullptr;
        auto make = shared ? MPI_Win_allocate_shared : MPI_Win_allocate;
        int status =
            make(static_cast<MPI_Aint>(bytes), 1, info, comm_, static_cast<void*>(&base), &window);
        MPI_Info_free(&info);
        check(status, [&] { return made_text(bytes); });
        if (bytes) std::memset(base, 0, static_cast<std::size_t>(bytes));
        return base;
    }
    /// Makes the lock of a rank `next` if it is `expected`; what it was.
    std::int32_t swap_lock(int rank, std::int32_t expected, std::int32_t next, const char* call) {
        std::int32_t before = 0;
        MPI_Win locks = lock_window_ == MPI_WIN_NULL ? used() : lock_window_;
        checked(MPI_Compare_and_swap(&next, &expected, &before, MPI_INT32_T, rank, 0, locks), call,
                rank);
        checked(MPI_Win_flush(rank, locks), call, rank);
        return before;
    }
    bool on_one_node() const {
        MPI_Comm node;
        int here = 0, all = 0;
        MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node);
        MPI_Comm_size(node, &here);
        MPI_Comm_free(&node);
        here = here == size_ ? 1 : 0;
        MPI_Allreduce(&here, &all, 1, MPI_INT, MPI_MIN, comm_);
        return all != 0;
    }
    MPI_Win used() const {
        if (window_ == MPI_WIN_NULL)
            fail(ErrorKind::Comm, "mpi: the window was freed" + place_of_call());
        return window_;
    }
    std::size_t index(int rank) const {
        used();
        if (rank < 0 || rank >= size_) {
            fail_of_argument("mpi: no such rank; got " + std::to_string(rank) + place_of_call() +
                             "; expected 0 to " + std::to_string(size_ - 1) + " (MPI_ERR_RANK)");
        }
        return static_cast<std::size_t>(rank);
    }
    static void checked(int status, const char* name, int rank) {
        check(status,
              [&] { return std::string(name) + (rank < 0 ? "" : " at " + rank_text(rank)); });
    }
    /// This rank's memory at a place of it.
    char* here(std::int64_t offset) const {
        return attaches_ ? reinterpret_cast<char*>(offset) : own_ + offset;
    }
    /// False if there is nothing to move; throws if the section leaves the rank's memory.
    bool bounded(int rank, const Section& s, DType dtype) const {
        std::int64_t low = s.offset, high = s.offset + size_of(dtype);
        for (std::size_t k = 0; k < s.shape.size(); ++k) {
            if (s.shape[k] == 0) return false;
            std::int64_t reach = (s.shape[k] - 1) * s.strides[k];
            (reach < 0 ? low : high) += reach;
        }
        if (attaches_) {
            if (rank != rank_) return true;
            const auto next = attached_.upper_bound(low);
            if (next == attached_.begin() || std::prev(next)->second < high) {
                fail(ErrorKind::Index, "mpi: memory of " + rank_text(rank) +
                                           " that is not attached" + place_of_call() +
                                           "; got bytes at addresses " + std::to_string(low) +
                                           " to " + std::to_string(high));
            }
            return true;
        }
        if (low < 0 || high > bytes(rank)) {
            fail(ErrorKind::Index, "mpi: outside of the window of " + rank_text(rank) +
                                       place_of_call() + "; got bytes " + std::to_string(low) +
                                       " to " + std::to_string(high) + "; expected 0 to " +
                                       std::to_string(bytes(rank)));
        }
        return true;
    }
    /// A place of a rank's memory, where this process sees it.
    bool seen(int rank) const { return attaches_ ? rank == rank_ : memory(rank) != nullptr; }
    char* seen(int rank, std::int64_t offset) const {
        return attaches_ ? here(offset) : memory(rank) + offset;
    }
    bool copied_in(int rank, const Section& far, const void* near, DType dtype) {
        if (!bounded(rank, far, dtype)) return true;
        if (!seen(rank)) return false;
        Section s = simplified(far, size_of(dtype));
        char* packed = static_cast<char*>(const_cast<void*>(near));
        for_runs(seen(rank, s.offset), s, 0, size_of(dtype), packed,
                 [](char* a, const char* b, std::size_t n) { std::memcpy(a, b, n); });
        return true;
    }
    bool copied_out(int rank, const Section& far, void* near, DType dtype) {
        if (!bounded(rank, far, dtype)) return true;
        if (!seen(rank)) return false;
        std::atomic_thread_fence(std::memory_order_acquire);
        Section s = simplified(far, size_of(dtype));
        char* packed = static_cast<char*>(near);
        for_runs(seen(rank, s.offset), s, 0, size_of(dtype), packed,
                 [](const char* a, char* b, std::size_t n) { std::memcpy(b, a, n); });
        return true;
    }

    /// What accumulate, fetch and get_accumulate do in memory that only this rank knows.
    void combine_here(const Section& far, const void* near, void* before, DType dtype,
                      Combine how) {
        const std::int64_t item = size_of(dtype);
        char *packed = static_cast<char*>(const_cast<void*>(near)),
             *out = static_cast<char*>(before);
        std::lock_guard one_at_a_time(one_);
        Section s = simplified(far, item);
        for_runs(here(s.offset), s, 0, item, packed, [&](char* a, const char* b, std::size_t n) {
            if (out) std::memcpy(out, a, n);
            if (out) out += n;
            combine(how, dtype, a, b, static_cast<std::int64_t>(n) / item);
        });
    }

    // What is issued to memory of other nodes, or must be atomic. Where no request is asked for,
    // the caller flushes.
    void issue_put(int rank, const Section& far, const void* near, DType dtype,
                   MPI_Request* request) {
        Section s = simplified(far, size_of(dtype));
        SectionType type(s, dtype);
        auto n = static_cast<int>(elements_of(s));
        MPI_Aint at = header_ + s.offset;
        MPI_Datatype element = type_of(dtype);
        checked(request ? MPI_Rput(near, n, element, rank, at, type.count(), type.type(), window_,
                                   request)
                        : MPI_Put(near, n, element, rank, at, type.count(), type.type(), window_),
                "put", rank);
    }
    void issue_get(int rank, const Section& far, void* near, DType dtype, MPI_Request* request) {
        Section s = simplified(far, size_of(dtype));
        SectionType type(s, dtype);
        auto n = static_cast<int>(elements_of(s));
        MPI_Aint at = header_ + s.offset;
        MPI_Datatype element = type_of(dtype);
        checked(request ? MPI_Rget(near, n, element, rank, at, type.count(), type.type(), window_,
                                   request)
                        : MPI_Get(near, n, element, rank, at, type.count(), type.type(), window_),
                "get", rank);
    }
    void issue_accumulate(int rank, const Section& far, const void* near, DType dtype,
                          Combine combine, MPI_Request* request) {
        Section s = simplified(far, size_of(dtype));
        SectionType type(s, dtype);
        auto n = static_cast<int>(elements_of(s));
        MPI_Aint at = header_ + s.offset;
        MPI_Datatype element = type_of(dtype);
        MPI_Op op = operation_of(combine, dtype);
        checked(request ? MPI_Raccumulate(near, n, element, rank, at, type.count(), type.type(), op,
                                          window_, request)
                        : MPI_Accumulate(near, n, element, rank, at, type.count(), type.type(), op,
                                         window_),
                "accumulate", rank);
    }

    MPI_Comm comm_;
    MPI_Win window_ = MPI_WIN_NULL;
    MPI_Win lock_window_ = MPI_WIN_NULL;  ///< where the memory has no line for the lock
    std::int64_t header_ = 0;             ///< bytes before the user's memory
    int rank_ = 0, size_ = 1;
    bool shared_ = false;
    bool alone_ = false;  ///< the only rank, with memory that was given: MPI knows the lock alone
    bool attaches_ = false;
    std::map<std::int64_t, std::int64_t> attached_;  ///< first address of each, and what is behind
    std::mutex one_;                                 ///< at a time, of this rank's threads
    std::map<int, bool> held_;         ///< locks that this rank holds, and whether it shares them
    std::vector<std::int64_t> bytes_;  ///< of each rank; one number where all have the same
    char* own_ = nullptr;
    std::vector<char*> node_;  ///< of each rank, where all are on one node
};

}  // namespace

std::unique_ptr<Window> make_window(MPI_Comm comm, std::int64_t bytes, Window::Kind kind,
                                    void* memory) {
    return std::make_unique<MpiWindow>(comm, bytes, kind, memory);
}

}  // namespace unisono::comm
