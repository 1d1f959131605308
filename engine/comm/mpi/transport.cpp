// Messages over MPI: the plugin that is loaded when the first mesh is made.
//
// Stamps. Each operation starts a non-blocking gather of (number, hash) from all ranks. It is not
// waited for at once: ranks that only exchange with neighbours do not wait for the others, and
// agreement lags at most `most_checks` operations behind; an operation that settles waits. Every
// rank takes part in gather number k whatever its k-th operation is, so ranks that differ all learn
// it from the same gather; they then exchange the texts of that operation over a communicator of
// their own and raise the same error.
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <thread>
#include <vector>

#include "comm/mpi/calls.h"
#include "comm/mpi/session.h"
#include "comm/transport.h"
#include "core/error.h"

namespace unisono::comm {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_checks = 16;
constexpr std::size_t text_bytes = 320;
constexpr double report_timeout = 10;            ///< seconds for the exchange of texts
constexpr std::int64_t most_bytes = 1 << 30;     ///< of one message; longer ones are cut
constexpr int first_tag = 1, tag_count = 30000;  ///< MPI promises tags up to 32767

struct Header {
    std::uint64_t number, hash;
};

struct Check {
    Stamp stamp;
    Header mine{};
    std::vector<Header> all;
    MPI_Request request = MPI_REQUEST_NULL;
};

class MpiTransport final : public Transport {
  public:
    explicit MpiTransport(const TransportOptions& options) : options_(options) {
        start_mpi();
        refuse_after_left(MPI_COMM_WORLD, [] { return std::string("the start of a mesh"); });
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &size_);
        Stamp start;
        start.text = "the start of the mesh";
        wait(start, meet_neighbours);
        for (MPI_Comm* c : {&data_, &checks_, &reports_}) {
            MPI_Request request;
            int done = 0;
            MPI_Comm_idup(MPI_COMM_WORLD, c, &request);
            wait(start, [&] {
                MPI_Test(&request, &done, MPI_STATUS_IGNORE);
                return done != 0;
            });
            MPI_Comm_set_errhandler(*c, MPI_ERRORS_RETURN);
        }
    }

    int rank() const override { return rank_; }
    int size() const override { return size_; }

    void exchange(const Stamp& stamp, const char* from, std::span<const Part> sends, char* to,
                  std::span<const Part> receives, bool settle) override {
        refuse_if_broken();
        start_check(stamp);
        std::vector<MPI_Request> requests;
        auto tag_of = [](std::uint64_t number) {
            return first_tag + static_cast<int>(number % tag_count);
        };
        int tag = tag_of(stamp.number);
        for (const Part& p : receives) {
            for_pieces(p, [&](std::int64_t at, int bytes) {
                MPI_Irecv(to + at, bytes, MPI_BYTE, p.rank, tag, data_, &requests.emplace_back());
            });
        }
        tag = tag_of(stamp.answers);
        for (const Part& p : sends) {
            for_pieces(p, [&](std::int64_t at, int bytes) {
                MPI_Isend(from + at, bytes, MPI_BYTE, p.rank, tag, data_, &requests.emplace_back());
            });
        }
        try {
            wait(stamp, [&] { return test(requests, stamp); });
            std::size_t lag = settle ? 0 : most_checks;
            wait(stamp, [&] { return open_.size() <= lag; });
        } catch (...) {
            // The buffers may go away: nothing may arrive in them any more.
            for (MPI_Request& r : requests) {
                if (r == MPI_REQUEST_NULL) continue;
                MPI_Cancel(&r);
                MPI_Request_free(&r);
            }
            throw;
        }
    }

    void finish(const Stamp& stamp) override {
        refuse_if_broken();
        start_check(stamp);
        // A rank that waits in its program for this one is the first to say so, with its line.
        if (options_.timeout > 0) options_.timeout += end_patience;
        wait(stamp, [&] { return open_.empty(); });
        for (MPI_Comm* c : {&data_, &checks_, &reports_}) MPI_Comm_free(c);
        stop_mpi();
        broken_ = "mesh: it was closed when the program ended";
    }

    [[noreturn]] void abort(int status, double grace) override {
        int finalised = 0;
        MPI_Finalized(&finalised);
        if (!finalised) {
            if (grace > 0) {
                // Let the others say what they have to say.
                MPI_Request request;
                int done = 0;
                MPI_Ibarrier(reports_, &request);
                auto end = Clock::now() + std::chrono::duration<double>(grace);
                while (!done && Clock::now() < end) {
                    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
                    std::this_thread::yield();
                }
            }
            std::fflush(nullptr);
            MPI_Abort(MPI_COMM_WORLD, status);
        }
        std::_Exit(status);
    }

  private:
    template <class F>
    static void for_pieces(const Part& p, F&& f) {
        for (std::int64_t at = 0; at < p.bytes; at += most_bytes)
            f(p.offset + at, static_cast<int>(std::min(most_bytes, p.bytes - at)));
    }

    void refuse_if_broken() const {
        if (!broken_.empty()) fail(ErrorKind::Comm, broken_);
    }
    [[noreturn]] void broken(const std::string& message) {
        broken_ = message;
        fail(ErrorKind::Comm, message);
    }

    void start_check(const Stamp& stamp) {
        Check& c = open_.emplace_back();
        c.stamp = stamp;
        c.mine = {stamp.number, stamp.hash};
        c.all.resize(static_cast<std::size_t>(size_));
        MPI_Iallgather(&c.mine, sizeof(Header), MPI_BYTE, c.all.data(), sizeof(Header), MPI_BYTE,
                       checks_, &c.request);
    }

    bool test(std::vector<MPI_Request>& requests, const Stamp& stamp) {
        if (requests.empty()) return true;
        int done = 0;
        int status = MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done,
                                 MPI_STATUSES_IGNORE);
        if (status != MPI_SUCCESS) {
            // A message of another size: the ranks differ, and the stamps will say how.
            wait(stamp, [&] { return open_.empty(); });
            char text[MPI_MAX_ERROR_STRING];
            int length = 0;
            MPI_Error_string(status, text, &length);
            broken("mesh: MPI failed in " + stamp.text + "; got " +
                   std::string(text, static_cast<std::size_t>(length)));
        }
        return done != 0;
    }

    /// Advances the gathers of stamps and looks at those that are complete.
    void advance_checks() {
        while (!open_.empty()) {
            Check& c = open_.front();
            int done = 0;
            MPI_Test(&c.request, &done, MPI_STATUS_IGNORE);
            if (!done) return;
            for (const Header& h : c.all) {
                if (h.hash != c.mine.hash || h.number != c.mine.number) report(c.stamp);
            }
            open_.pop_front();
        }
    }

    template <class Done>
    void wait(const Stamp& stamp, Done&& done) {
        auto start = Clock::now();
        std::optional<Patience> patience;
        for (long turn = 1;; ++turn) {
            advance_checks();
            if (done()) return;
            if (turn > 200) std::this_thread::yield();
            const bool rests = turn % 256 == 0;
            if (!rests && (!patience || turn % turns_of_a_look != 0)) continue;
            double waited = std::chrono::duration<double>(Clock::now() - start).count();
            if (rests && waited > 0.002) {
                if (!patience) patience.emplace(options_.timeout);
                std::this_thread::sleep_for(std::chrono::microseconds(20));
            }
            if (rests && options_.interrupted && options_.interrupted()) {
                broken_ = "mesh: interrupted while waiting for other ranks in " + stamp.text;
                fail(ErrorKind::Interrupt, broken_);
            }
            if (patience && patience->is_over(waited)) {
                broken("mesh: rank " + std::to_string(rank_) + " waited " + patience->seconds() +
                       " seconds for other ranks in operation " + std::to_string(stamp.number) +
                       ", " + stamp.text + Patience::gone() +
                       "; did all ranks get there? UNISONO_COMM_TIMEOUT sets how long to wait");
            }
        }
    }

    /// All ranks come here for the same operation: says what each was about to do.
    [[noreturn]] void report(const Stamp& stamp) {
        // The number of statements and the text.
        constexpr std::size_t head = sizeof stamp.statements;
        std::vector<char> mine(text_bytes, 0), all(text_bytes * static_cast<std::size_t>(size_), 0);
        std::memcpy(mine.data(), &stamp.statements, head);
        std::strncpy(mine.data() + head, stamp.text.c_str(), text_bytes - head - 1);
        MPI_Request request;
        MPI_Iallgather(mine.data(), static_cast<int>(text_bytes), MPI_CHAR, all.data(),
                       static_cast<int>(text_bytes), MPI_CHAR, reports_, &request);
        auto end = Clock::now() + std::chrono::duration<double>(report_timeout);
        int done = 0;
        while (!done && Clock::now() < end) {
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
            std::this_thread::yield();
        }
        if (!done)
            broken("mesh: the ranks run different programs; their operation number " +
                   std::to_string(stamp.number) + " differs; on rank " + std::to_string(rank_) +
                   " it is [" + stamp.text + "]");
        std::map<std::string, std::string> ranks_of;
        for (int r = 0; r < size_; ++r) {
            const char* told = &all[text_bytes * static_cast<std::size_t>(r)];
            std::string& ranks = ranks_of[std::string(told, head) + (told + head)];
            ranks += (ranks.empty() ? "" : ", ") + std::to_string(r);
        }
        std::vector<Program> programs;
        for (const auto& [told, ranks] : ranks_of) {
            Program& p = programs.emplace_back();
            std::memcpy(&p.statements, told.data(), head);
            p.text = told.substr(head);
            p.ranks = ranks;
        }
        broken(divergence_text(stamp.number, programs));
    }

    TransportOptions options_;
    MPI_Comm data_ = MPI_COMM_NULL, checks_ = MPI_COMM_NULL, reports_ = MPI_COMM_NULL;
    int rank_ = 0, size_ = 1;
    std::deque<Check> open_;  ///< stamps whose comparison is under way, oldest first
    std::string broken_;      ///< why nothing can be sent any more
};

}  // namespace

}  // namespace unisono::comm

/// The plugin's entry: connects this process. Ownership goes to the caller.
extern "C" unisono::comm::Transport* unisono_mpi_transport(
    const unisono::comm::TransportOptions* options) {
    return new unisono::comm::MpiTransport(*options);
}
