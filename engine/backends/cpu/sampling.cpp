// Takes samples in the handler of the process's timer, and looks the lines up afterwards.
#include "backends/cpu/sampling.h"

#include <sys/time.h>
#include <ucontext.h>
#include <csignal>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <mutex>

#include "core/error.h"
#include "core/threads/fork.h"

namespace unisono::cpu {

namespace {

struct Noted {
    std::uint64_t code, begin, end;
    std::vector<CodeLine> lines;
    std::vector<std::string> files;
};

struct Registry {
    ProcessMutex mutex;
    std::vector<const Noted*> all;
    bool is_sampling = false;
    struct sigaction before = {};
};

Registry& registry() {
    static Registry& all = *new Registry;  // code may go when the process ends
    return all;
}

constexpr std::size_t most_samples = 1 << 16;
std::array<std::atomic<std::uint64_t>, most_samples> places;
std::atomic<std::size_t> taken;

void take(int, siginfo_t*, void* context) {
    const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
    std::size_t k = taken.fetch_add(1, std::memory_order_relaxed);
    if (k >= most_samples) return;
#if defined(__x86_64__)
    auto place = static_cast<std::uint64_t>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
    auto place = static_cast<std::uint64_t>(machine.pc);
#else
    std::uint64_t place = 0;
    (void)machine;
#endif
    places[k].store(place, std::memory_order_relaxed);
}

void set_timer(long microseconds) {
    itimerval t{};
    t.it_interval.tv_usec = t.it_value.tv_usec = microseconds;
    setitimer(ITIMER_PROF, &t, nullptr);
}

const CodeLine* line_at(const Noted& n, std::uint64_t place) {
    auto after =
        std::upper_bound(n.lines.begin(), n.lines.end(), place - n.code,
                         [](std::uint64_t offset, const CodeLine& l) { return offset < l.offset; });
    return after == n.lines.begin() ? nullptr : &*std::prev(after);
}

}  // namespace

std::shared_ptr<void> note_lines(std::uint64_t code, std::uint64_t begin, std::uint64_t end,
                                 std::vector<CodeLine> lines, std::vector<std::string> files) {
    std::stable_sort(lines.begin(), lines.end(),
                     [](const CodeLine& a, const CodeLine& b) { return a.offset < b.offset; });
    auto* made = new Noted{code, begin, end, std::move(lines), std::move(files)};
    std::shared_ptr<void> held(made, [](void* gone) {
        auto* n = static_cast<Noted*>(gone);
        {
            std::lock_guard lock(registry().mutex);
            std::erase(registry().all, n);
        }
        delete n;
    });
    std::lock_guard lock(registry().mutex);
    registry().all.push_back(made);
    return held;
}

void start_sampling() {
    std::lock_guard lock(registry().mutex);
    if (registry().is_sampling)
        fail(ErrorKind::Runtime,
             "profile: another one is being measured; got a second one; wait for its end");
    taken = 0;
    struct sigaction action = {};
    action.sa_sigaction = take;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGPROF, &action, &registry().before);
    registry().is_sampling = true;
    set_timer(1000);
}

Samples stop_sampling() {
    set_timer(0);
    std::lock_guard lock(registry().mutex);
    // One that is still on its way must find a handler that takes it.
    struct sigaction ignore = {};
    ignore.sa_handler = SIG_IGN;
    bool was_default =
        !(registry().before.sa_flags & SA_SIGINFO) && registry().before.sa_handler == SIG_DFL;
    sigaction(SIGPROF, was_default ? &ignore : &registry().before, nullptr);
    registry().is_sampling = false;
    Samples made;
    made.total = static_cast<std::int64_t>(std::min(taken.load(), most_samples));
    std::map<std::pair<std::string, int>, std::int64_t> counts;
    for (std::int64_t k = 0; k < made.total; ++k) {
        std::uint64_t place = places[static_cast<std::size_t>(k)];
        for (const Noted* n : registry().all) {
            if (place < n->begin || place >= n->end) continue;
            const CodeLine* l = line_at(*n, place);
            if (l && l->line > 0 && static_cast<std::size_t>(l->file) < n->files.size())
                ++counts[{n->files[static_cast<std::size_t>(l->file)], l->line}];
            break;
        }
    }
    for (const auto& [place, count] : counts)
        made.lines.push_back({place.first, place.second, count});
    return made;
}

}  // namespace unisono::cpu
