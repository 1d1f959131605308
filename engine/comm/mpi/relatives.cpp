#include "comm/mpi/relatives.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <set>
#include <string>

namespace unisono::comm {

using namespace std::chrono_literals;

namespace {

constexpr const char* line_name = "unisono-rank";
Line* own = nullptr;  ///< stays mapped

/// Of processes of other jobs: how many were met, and the lines of those that were found.
struct Relatives {
    std::mutex guard;
    std::size_t met = 0, found = 0;  ///< found: some may have ended
    std::vector<std::shared_ptr<const Line>> lines;
    std::set<std::int32_t> known;  ///< processes of `lines`, and those of this job
    std::chrono::steady_clock::time_point next;
};
Relatives& all() {
    static auto* const made = new Relatives;
    return *made;
}

std::atomic<int> starts{0};

std::string folder_of(std::int32_t process) { return "/proc/" + std::to_string(process); }

std::int32_t parent_of(std::int32_t process) {
    std::ifstream file(folder_of(process) + "/status");
    for (std::string word; file >> word;) {
        std::int32_t number = 0;
        if (word == "PPid:" && file >> number) return number;
    }
    return 0;
}

std::vector<std::int32_t> children_of(std::int32_t process) {
    std::vector<std::int32_t> found;
    std::error_code ended;
    std::filesystem::directory_iterator threads(folder_of(process) + "/task", ended);
    for (; !ended && threads != std::filesystem::directory_iterator(); threads.increment(ended)) {
        std::ifstream file(threads->path() / "children");
        for (std::int32_t number = 0; file >> number;) found.push_back(number);
    }
    return found;
}

/// Processes that may be of the same launcher.
std::set<std::int32_t> candidates() {
    const std::int32_t self = getpid(), launcher = getppid();
    std::set<std::int32_t> found;
    if (std::getenv("OMPI_COMM_WORLD_RANK") || std::getenv("PMI_RANK")) {
        found.insert(parent_of(launcher));
        for (std::int32_t sibling : children_of(launcher)) found.insert(sibling);
    }
    for (std::int32_t child : children_of(self))
        for (std::int32_t grandchild : children_of(child)) found.insert(grandchild);
    found.erase(self);
    return found;
}

/// The line of a process; null where it has none.
std::shared_ptr<const Line> line_of(std::int32_t process) {
    const std::string wanted = std::string("/memfd:") + line_name;
    std::error_code hidden;
    std::filesystem::directory_iterator entries(folder_of(process) + "/fd", hidden);
    for (; !hidden && entries != std::filesystem::directory_iterator(); entries.increment(hidden)) {
        const auto& entry = *entries;
        std::error_code closed;
        const auto target = std::filesystem::read_symlink(entry.path(), closed);
        if (closed || !target.string().starts_with(wanted)) continue;
        const int file = ::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC);
        if (file < 0) continue;
        // Memory that its process has not given a size yet is mapped, and cannot be read.
        struct stat made {};
        const bool is_whole = fstat(file, &made) == 0 && made.st_size >= off_t{sizeof(Line)};
        void* at =
            is_whole ? mmap(nullptr, sizeof(Line), PROT_READ, MAP_SHARED, file, 0) : MAP_FAILED;
        ::close(file);
        if (at == MAP_FAILED) continue;
        std::shared_ptr<const Line> line(static_cast<const Line*>(at), [](const Line* old) {
            munmap(const_cast<Line*>(old), sizeof(Line));
        });
        if (line->process == process) return line;  // a forked child has that of its parent
    }
    return nullptr;
}

/// Finds the lines of those that are not known.
void look(Relatives& r) {
    for (std::int32_t process : candidates()) {
        if (r.known.contains(process)) continue;
        if (auto line = line_of(process)) {
            r.lines.push_back(std::move(line));
            r.known.insert(process);
            ++r.found;
        }
    }
}

}  // namespace

Starting::Starting() { ++starts; }
Starting::~Starting() { --starts; }

void show_own_line() {
    if (own != nullptr) return;
    const int file = memfd_create(line_name, MFD_CLOEXEC);  // open as long as the process lives
    if (file < 0) return;
    void* made = MAP_FAILED;
    if (ftruncate(file, sizeof(Line)) == 0)
        made = mmap(nullptr, sizeof(Line), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (made == MAP_FAILED) {
        ::close(file);
        return;
    }
    own = static_cast<Line*>(made);
    own->process = static_cast<std::int32_t>(getpid());
}

Line* own_line() { return own; }

void leave_out(std::int32_t process) {
    std::lock_guard lock(all().guard);
    all().known.insert(process);
}

void expect_relatives(std::size_t count) {
    {
        std::lock_guard lock(all().guard);
        all().met = std::max(all().met, count);
        all().next = {};
    }
    relatives();
}

std::vector<std::shared_ptr<const Line>> relatives() {
    Relatives& r = all();
    std::lock_guard lock(r.guard);
    const auto now = std::chrono::steady_clock::now();
    if (r.found >= r.met || now < r.next) return r.lines;
    r.next = now + std::chrono::seconds(1);
    look(r);
    return r.lines;
}

void watch_arriving() {
    if (starts == 0) return;
    static std::atomic<std::int64_t> last{0};
    const std::int64_t now = std::chrono::steady_clock::now().time_since_epoch() / 20ms;
    if (last.exchange(now) == now) return;
    std::lock_guard lock(all().guard);
    look(all());
}

std::vector<std::int32_t> arriving() {
    std::vector<std::int32_t> found;
    if (starts == 0) return found;
    const auto some = candidates();
    std::lock_guard lock(all().guard);
    std::ranges::set_difference(some, all().known, std::back_inserter(found));
    return found;
}

bool lacks_relatives() {
    std::lock_guard lock(all().guard);
    return all().found < all().met;
}

}  // namespace unisono::comm
