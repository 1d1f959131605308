// Ranks of a mesh that live in one process: a thread each, of which one runs at a time.
//
// How it works. Whoever holds the baton runs, until it waits for a message or for the other ranks,
// or ends; then the next rank behind it that can run holds it. So a program runs in the same order
// each time, and where nobody can run all ranks raise an error that says who waits for whom.
//
// Time. Each rank has a clock. It advances by the processor time that the rank's thread takes
// between its calls here; a message arrives when the sender's earlier ones have left, bytes /
// bandwidth and the latency later; the agreement of all ranks takes the latency for each level of a
// tree over them.
//
// A world may hold a few of its ranks only: what they send goes nowhere, what they receive is zero,
// and nobody waits. That tells what a rank of a large job costs.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <semaphore>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "comm/transport.h"

namespace unisono::comm {

struct WorldOptions {
    int size = 1;
    std::vector<int> sampled;  ///< the ranks that live; empty: all
    double latency = 1e-6;     ///< seconds
    double bandwidth = 10e9;   ///< bytes a second
    /// What the language above lets go of while a rank waits (null where it holds nothing).
    void* (*leave)() = nullptr;
    void (*enter)(void*) = nullptr;
};

struct Post;  // post.cpp

class World {
    struct Rank;

  public:
    explicit World(WorldOptions options);

    int size() const { return options_.size; }
    bool is_sampled() const { return !options_.sampled.empty(); }
    /// Ranks that live here, each at a position.
    int living() const { return static_cast<int>(ranks_.size()); }
    int rank_at(int position) const { return ranks_[static_cast<std::size_t>(position)]->rank; }

    // By the thread of each rank.
    /// Waits for its turn. Throws where the world was stopped.
    void begin(int position);
    /// The rank's program has ended; whoever waits goes on.
    void end(int position);
    /// The same, by an error that ends the others too.
    void end(int position, const std::string& why);
    std::unique_ptr<Transport> transport(std::shared_ptr<World> self, int position);

    /// Gives the first rank its turn; once, when all threads are on their way.
    void start();
    /// From any thread: the ranks raise an error at their next message.
    void stop(const std::string& why);
    /// The position of the rank that runs; -1 between two.
    int running() const { return running_.load(std::memory_order_relaxed); }

    /// A call that a rank makes here: what it computed before counts, what happens in here does
    /// not. Where the rank does not run (its objects die on other threads), it does nothing.
    class Call {
      public:
        Call(World& world, int position);
        ~Call();
        Call(const Call&) = delete;
        Call& operator=(const Call&) = delete;
        double clock() const { return me_.account.clock(); }
        void wait_until(double clock);  ///< on its clock
        /// Until done(), which is asked again whenever somebody wakes this rank. `source`: of the
        /// message that it waits for; -1: any.
        void wait(const Stamp& stamp, int source, const std::function<bool()>& done);
        void yield();  ///< lets the others run
        /// Counts a message that leaves now; returns when it arrives.
        double message(std::int64_t bytes);
        double transfer_time(std::int64_t bytes) const;
        double tree_time(int ranks) const { return world_.tree_time(ranks); }

      private:
        World& world_;
        Rank& me_;
        int position_;
        bool runs_;
    };
    /// A rank that waits asks again.
    void wake(int position);
    /// Of tagged messages, once there are any.
    std::shared_ptr<Post> post;

    /// What a rank did, and when: seconds on its clock.
    struct Span {
        double begin, end;
        bool computes;  ///< else it waits
    };
    struct Account {
        int rank = 0;
        double computing = 0, waiting = 0;
        std::int64_t messages = 0, bytes = 0;  ///< sent
        std::vector<Span> spans;
        double clock() const { return computing + waiting; }
    };
    const Account& account(int position) const {
        return ranks_[static_cast<std::size_t>(position)]->account;
    }

  private:
    friend class VirtualTransport;

    struct Message {
        std::uint64_t number;  ///< of the operation that receives it
        std::vector<char> bytes;
        double arrives;
    };
    enum class State : std::uint8_t { Ready, Runs, Waits, Ended };
    struct Rank {
        int rank = 0;
        State state = State::Ready;
        std::binary_semaphore turn{0};
        Account account;
        double mark = 0;         ///< processor time of the thread when it was last charged
        double sends_until = 0;  ///< when the last message has left
        int waits_for = -1;      ///< one rank, or -1: all
        Stamp stamp;             ///< of the operation in which it waits
        std::unordered_map<int, std::deque<Message>> mail;  ///< by sender
        std::uint64_t agreed = 0;  ///< number of the last operation known to be the same on all
    };
    /// An operation at which ranks compare their programs.
    struct Operation {
        struct Program {
            std::uint64_t hash;
            std::string text;
            std::uint64_t statements;
            std::vector<int> ranks;
        };
        std::vector<Program> programs;  ///< one, unless the ranks differ
        int arrived = 0, left = 0;
        double last = 0;  ///< clock of the last arrival
        std::vector<int> waiting;
    };

    Rank& at(int position) { return *ranks_[static_cast<std::size_t>(position)]; }
    void exchange(int position, const Stamp& stamp, const char* from, std::span<const Part> sends,
                  char* to, std::span<const Part> receives, bool settle);
    void exchange_alone(Rank& me, std::span<const Part> sends, char* to,
                        std::span<const Part> receives, bool settle);
    void send(Rank& me, const Stamp& stamp, const char* from, const Part& part);
    double note_message(Rank& me, std::int64_t bytes);
    void receive(int position, const Stamp& stamp, char* to, const Part& part);
    void arrive(int position, const Stamp& stamp);
    void agree(int position, const Stamp& stamp, std::uint64_t upto);
    Operation& operation(std::uint64_t number);
    double tree_time(int ranks) const;

    void charge(Rank& me);
    void wait_on_clock(Rank& me, double until);
    void wait(int position, const Stamp& stamp, int source, const std::function<bool()>& done);
    void pass_on(int position);
    void await_turn(int position);
    void nobody_runs();
    void break_off(const std::string& why);
    void refuse_if_broken();
    std::string divergence();
    std::string deadlock();
    std::string cycle();

    WorldOptions options_;
    std::vector<std::unique_ptr<Rank>> ranks_;
    std::set<int> ready_;  ///< positions
    std::atomic<int> running_{-1};
    std::uint64_t turns_ = 0;
    std::deque<Operation> operations_;
    std::uint64_t first_operation_ = 1;  ///< number of the first of them
    std::uint64_t diverged_ = 0;         ///< the first operation that differs
    std::string broken_;                 ///< why nothing can be sent any more
    std::atomic<bool> stopped_{false};
    std::string stop_reason_;
};

}  // namespace unisono::comm
