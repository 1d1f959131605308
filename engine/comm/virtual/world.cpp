// Passes the baton and keeps the clocks; carries messages and compares what the ranks do.
#include "comm/virtual/world.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>

#include "core/error.h"

namespace unisono::comm {

namespace {

/// As over MPI: operations that a rank may be ahead of the slowest.
constexpr std::uint64_t most_ahead = 16;

constexpr std::uint64_t turns_between_pauses = 1024;

double processor_time() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// "3", "0, 2", "0 to 62, 64" of ranks in ascending order.
std::string ranks_text(const std::vector<int>& ranks) {
    std::string text;
    for (std::size_t k = 0; k < ranks.size();) {
        std::size_t end = k + 1;
        while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
        if (end - k == 2) end = k + 1;
        if (k > 0) text += ", ";
        text += std::to_string(ranks[k]);
        if (end - k > 1) text += " to " + std::to_string(ranks[end - 1]);
        k = end;
    }
    return text;
}

/// Messages that programs send themselves are not numbered.
std::string operation_text(const Stamp& stamp) {
    if (stamp.number == 0) return stamp.text;
    return "operation " + std::to_string(stamp.number) + ", " + stamp.text;
}

}  // namespace

World::World(WorldOptions options) : options_(std::move(options)) {
    const int count = is_sampled() ? static_cast<int>(options_.sampled.size()) : options_.size;
    for (int k = 0; k < count; ++k) {
        Rank& r = *ranks_.emplace_back(std::make_unique<Rank>());
        r.rank = r.account.rank = is_sampled() ? options_.sampled[static_cast<std::size_t>(k)] : k;
        ready_.insert(k);
    }
}

// ---- The baton

void World::start() {
    const int first = *ready_.begin();
    ready_.erase(first);
    at(first).turn.release();
}

void World::begin(int position) {
    void* held = options_.leave ? options_.leave() : nullptr;
    await_turn(position);
    if (held) options_.enter(held);
    at(position).mark = processor_time();
    refuse_if_broken();
}

void World::end(int position) {
    Rank& me = at(position);
    charge(me);
    me.state = State::Ended;
    if (ready_.empty()) nobody_runs();
    running_ = -1;
    pass_on(position);
}

void World::end(int position, const std::string& why) {
    if (broken_.empty()) break_off(why);
    end(position);
}

void World::stop(const std::string& why) {
    stop_reason_ = why;
    stopped_.store(true, std::memory_order_release);
}

/// To the next rank behind this one that can run, if there is any.
void World::pass_on(int position) {
    if (ready_.empty()) return;
    auto next = ready_.upper_bound(position);
    if (next == ready_.end()) next = ready_.begin();
    const int found = *next;
    ready_.erase(next);
    at(found).turn.release();
}

void World::await_turn(int position) {
    at(position).turn.acquire();
    at(position).state = State::Runs;
    running_ = position;
    // Ranks that pass on their turn again and again hand the interpreter's lock to each other: now
    // and then nobody has it, so that the main thread can see Ctrl-C.
    if (++turns_ % turns_between_pauses == 0) usleep(100);
}

void World::wake(int position) {
    Rank& r = at(position);
    if (r.state != State::Waits) return;
    r.state = State::Ready;
    ready_.insert(position);
}

/// Until done(), which is asked again whenever somebody wakes this rank. `source`: of the message
/// that it waits for; -1: for all ranks.
void World::wait(int position, const Stamp& stamp, int source, const std::function<bool()>& done) {
    Rank& me = at(position);
    for (;;) {
        refuse_if_broken();
        if (done()) return;
        me.waits_for = source;
        me.stamp = stamp;
        me.state = State::Waits;
        if (ready_.empty()) nobody_runs();
        void* held = options_.leave ? options_.leave() : nullptr;
        pass_on(position);
        await_turn(position);
        if (held) options_.enter(held);
    }
}

/// Some wait, and nobody can wake them.
void World::nobody_runs() {
    const bool some_wait =
        std::ranges::any_of(ranks_, [](const auto& r) { return r->state == State::Waits; });
    if (some_wait) break_off(diverged_ ? divergence() : deadlock());
}

void World::break_off(const std::string& why) {
    broken_ = why;
    for (int k = 0; k < living(); ++k) wake(k);
}

void World::refuse_if_broken() {
    if (broken_.empty() && stopped_.load(std::memory_order_acquire)) break_off(stop_reason_);
    if (!broken_.empty()) fail(ErrorKind::Comm, broken_);
}

// ---- Clocks

void World::charge(Rank& me) {
    const double now = processor_time(), spent = now - me.mark;
    me.mark = now;
    Account& a = me.account;
    const double clock = a.clock();
    a.computing += spent;
    if (!a.spans.empty() && a.spans.back().computes && a.spans.back().end >= clock)
        a.spans.back().end = clock + spent;
    else
        a.spans.push_back({clock, clock + spent, true});
}

void World::wait_on_clock(Rank& me, double until) {
    Account& a = me.account;
    const double clock = a.clock();
    if (until <= clock) return;
    a.waiting += until - clock;
    a.spans.push_back({clock, until, false});
}

double World::tree_time(int ranks) const {
    return options_.latency * std::bit_width(static_cast<unsigned>(ranks - 1));
}

// ---- Calls

World::Call::Call(World& world, int position)
    : world_(world),
      me_(world.at(position)),
      position_(position),
      runs_(world.running_ == position) {
    if (runs_) world_.charge(me_);
}

World::Call::~Call() {
    if (runs_) me_.mark = processor_time();
}

void World::Call::wait_until(double clock) {
    if (runs_) world_.wait_on_clock(me_, clock);
}

void World::Call::wait(const Stamp& stamp, int source, const std::function<bool()>& done) {
    if (runs_) world_.wait(position_, stamp, source, done);
}

void World::Call::yield() {
    if (!runs_) return;
    world_.refuse_if_broken();
    if (world_.ready_.empty()) return;
    me_.state = State::Ready;
    void* held = world_.options_.leave ? world_.options_.leave() : nullptr;
    world_.ready_.insert(position_);  // of all that are ready the last behind itself
    world_.pass_on(position_);
    world_.await_turn(position_);
    if (held) world_.options_.enter(held);
    world_.refuse_if_broken();
}

double World::Call::message(std::int64_t bytes) { return world_.note_message(me_, bytes); }

double World::Call::transfer_time(std::int64_t bytes) const {
    return static_cast<double>(bytes) / world_.options_.bandwidth;
}

// ---- Messages

/// Returns when it arrives.
double World::note_message(Rank& me, std::int64_t bytes) {
    ++me.account.messages;
    me.account.bytes += bytes;
    me.sends_until = std::max(me.sends_until, me.account.clock()) +
                     static_cast<double>(bytes) / options_.bandwidth;
    return me.sends_until + options_.latency;
}

void World::send(Rank& me, const Stamp& stamp, const char* from, const Part& part) {
    const double arrives = part.rank == me.rank ? me.account.clock() : note_message(me, part.bytes);
    const char* first = from + part.offset;
    at(part.rank).mail[me.rank].push_back(
        {stamp.answers, std::vector<char>(first, first + part.bytes), arrives});
    wake(part.rank);
}

void World::receive(int position, const Stamp& stamp, char* to, const Part& part) {
    Rank& me = at(position);
    std::deque<Message>& mail = me.mail[part.rank];
    wait(position, stamp, part.rank, [&] {
        return !mail.empty() && mail.front().number == stamp.number &&
               mail.front().bytes.size() == static_cast<std::size_t>(part.bytes);
    });
    const Message& m = mail.front();
    std::memcpy(to + part.offset, m.bytes.data(), m.bytes.size());
    wait_on_clock(me, m.arrives);
    mail.pop_front();
}

void World::exchange(int position, const Stamp& stamp, const char* from,
                     std::span<const Part> sends, char* to, std::span<const Part> receives,
                     bool settle) {
    refuse_if_broken();
    Rank& me = at(position);
    charge(me);
    if (is_sampled()) {
        exchange_alone(me, sends, to, receives, settle);
    } else {
        arrive(position, stamp);
        for (const Part& p : sends) send(me, stamp, from, p);
        for (const Part& p : receives) receive(position, stamp, to, p);
        agree(position, stamp,
              settle ? stamp.number : stamp.number - std::min(stamp.number, most_ahead));
    }
    me.mark = processor_time();
}

/// Of a sampled rank: its partners are as far as it is.
void World::exchange_alone(Rank& me, std::span<const Part> sends, char* to,
                           std::span<const Part> receives, bool settle) {
    const double begin = me.account.clock();
    for (const Part& p : sends) note_message(me, p.bytes);
    std::int64_t bytes = 0;
    for (const Part& p : receives) {
        std::memset(to + p.offset, 0, static_cast<std::size_t>(p.bytes));
        bytes += p.bytes;
    }
    if (!receives.empty())
        wait_on_clock(me,
                      begin + static_cast<double>(bytes) / options_.bandwidth + options_.latency);
    if (settle) wait_on_clock(me, begin + tree_time(size()));
}

// ---- Agreement

World::Operation& World::operation(std::uint64_t number) {
    while (number >= first_operation_ + operations_.size()) operations_.emplace_back();
    return operations_[number - first_operation_];
}

void World::arrive(int position, const Stamp& stamp) {
    Rank& me = at(position);
    Operation& o = operation(stamp.number);
    auto same = std::ranges::find(o.programs, stamp.hash, &Operation::Program::hash);
    if (same == o.programs.end()) {
        if (!o.programs.empty() && !diverged_) diverged_ = stamp.number;
        same = o.programs.insert(same, {stamp.hash, stamp.text, stamp.statements, {}});
    }
    same->ranks.push_back(me.rank);
    ++o.arrived;
    o.last = std::max(o.last, me.account.clock());
    if (o.arrived == size())
        for (int waiting : std::exchange(o.waiting, {})) wake(waiting);
    if (!diverged_ || stamp.number < diverged_) return;
    // The others come here too, or wait for somebody who is here.
    Operation& first = operation(diverged_);
    first.waiting.push_back(position);
    wait(position, stamp, -1, [&] {
        if (first.arrived == size()) break_off(divergence());
        return false;
    });
}

/// Waits until all ranks are known to do the same up to that operation.
void World::agree(int position, const Stamp& stamp, std::uint64_t upto) {
    Rank& me = at(position);
    while (me.agreed < upto) {
        const std::uint64_t number = me.agreed + 1;
        if (operation(number).arrived < size()) {
            operation(number).waiting.push_back(position);
            wait(position, stamp, -1, [&] { return operation(number).arrived == size(); });
        }
        Operation& o = operation(number);
        wait_on_clock(me, o.last + tree_time(size()));
        ++me.agreed;
        if (++o.left < size()) continue;
        operations_.pop_front();  // all have left those before it
        ++first_operation_;
    }
}

// ---- What is said of programs that do not go on

std::string World::divergence() {
    std::vector<comm::Program> programs;
    for (Operation::Program& p : operation(diverged_).programs) {
        std::ranges::sort(p.ranks);
        programs.push_back({p.text, p.statements, ranks_text(p.ranks)});
    }
    return divergence_text(diverged_, programs);
}

/// A picture: one line for ranks that wait for the same.
std::string World::deadlock() {
    std::vector<std::string> order;
    std::map<std::string, std::vector<int>> ranks_of;
    for (const auto& r : ranks_) {
        std::string text = "ended";
        if (r->state != State::Ended) {
            text = r->waits_for >= 0
                       ? "waits for a message from rank " + std::to_string(r->waits_for)
                       : "waits for all ranks";
            text += ": " + operation_text(r->stamp);
        }
        std::vector<int>& ranks = ranks_of[text];
        if (ranks.empty()) order.push_back(text);
        ranks.push_back(r->rank);
    }
    std::string message = "mesh: no rank can run, each waits for another";
    for (const std::string& text : order)
        message += "\n  rank " + ranks_text(ranks_of[text]) + " " + text;
    return message + cycle();
}

/// Ranks that wait for each other in a circle.
std::string World::cycle() {
    for (int start = 0; start < living(); ++start) {
        std::string text = std::to_string(start);
        int r = start;
        for (int steps = 0; steps < living(); ++steps) {
            if (at(r).state != State::Waits || at(r).waits_for < 0) break;
            r = at(r).waits_for;
            text += " -> " + std::to_string(r);
            if (r == start) return "\n  in a circle: " + text;
        }
    }
    return {};
}

}  // namespace unisono::comm
