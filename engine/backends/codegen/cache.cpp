// Reads and writes cache files.
#include "backends/codegen/cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <thread>
#include <utility>
#include <vector>

#include "core/settings.h"

namespace unisono::codegen {

namespace {

/// The file: this header, the key, the code.
struct Header {
    char magic[8];
    std::uint64_t key_bytes, code_bytes, sum;
};
constexpr char magic[8] = {'u', 'n', 'i', 's', 'o', 'n', 'o', '1'};

std::string default_folder() {
    if (const std::string& set = setting("cache_dir"); !set.empty()) return set;
    if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache == '/')
        return std::string(cache) + "/unisono";
    if (const char* home = std::getenv("HOME"); home && *home == '/')
        return std::string(home) + "/.cache/unisono";
    return {};
}

/// Why a folder cannot be trusted, or an empty string.
std::string refuse(const std::string& folder) {
    if (folder.empty()) return "no home folder is set";
    struct stat s {};
    if (stat(folder.c_str(), &s) != 0) {
        std::error_code error;
        std::filesystem::path path(folder);
        if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
        if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
            return std::string("it cannot be made: ") + std::strerror(errno);
        if (stat(folder.c_str(), &s) != 0) return "it cannot be read";
    }
    if (!S_ISDIR(s.st_mode)) return "it is not a folder";
    if (s.st_uid != geteuid()) return "another user owns it";
    if (s.st_mode & (S_IWGRP | S_IWOTH)) return "other users can write to it";
    return {};
}

/// Marks the file as used now; once an hour is enough to know what is unused longest.
void note_use(int file, const struct stat& s) {
    if (std::time(nullptr) - s.st_mtim.tv_sec > 3600) futimens(file, nullptr);
}

/// A whole file, or an empty string.
std::string read_file(const std::string& path) {
    int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) return {};
    struct stat s {};
    std::string bytes;
    bool good = fstat(file, &s) == 0 && S_ISREG(s.st_mode) && s.st_uid == geteuid() &&
                s.st_size < (std::int64_t{1} << 30);
    if (good) {
        bytes.resize(static_cast<std::size_t>(s.st_size));
        std::size_t have = 0;
        while (have < bytes.size()) {
            ssize_t n = read(file, bytes.data() + have, bytes.size() - have);
            if (n <= 0) break;
            have += static_cast<std::size_t>(n);
        }
        if (have != bytes.size()) bytes.clear();
        note_use(file, s);
    }
    close(file);
    return bytes;
}

bool write_all(int file, std::string_view bytes) {
    while (!bytes.empty()) {
        ssize_t n = write(file, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
}

}  // namespace

std::uint64_t checksum(std::string_view text) {
    std::uint64_t sum = 0xcbf29ce484222325u ^ text.size();
    while (!text.empty()) {
        std::uint64_t word = 0;
        std::size_t n = std::min<std::size_t>(text.size(), 8);
        std::memcpy(&word, text.data(), n);
        sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
        sum ^= sum >> 29;
        text.remove_prefix(n);
    }
    return sum;
}

DiskCache::DiskCache(std::string folder)
    : folder_(folder.empty() ? default_folder() : std::move(folder)), refusal_(refuse(folder_)) {}

std::string DiskCache::path_of(std::string_view key) const {
    char name[32];
    std::snprintf(name, sizeof name, "/%016llx.kernel",
                  static_cast<unsigned long long>(checksum(key)));
    return folder_ + name;
}

std::string DiskCache::find(std::string_view key) const {
    if (!refusal_.empty()) return {};
    std::string file = read_file(path_of(key));
    Header h{};
    if (file.size() < sizeof h) return {};
    std::memcpy(&h, file.data(), sizeof h);
    std::string_view rest = std::string_view(file).substr(sizeof h);
    bool good = std::memcmp(h.magic, magic, sizeof magic) == 0 && h.key_bytes == key.size() &&
                h.key_bytes <= rest.size() && h.code_bytes == rest.size() - h.key_bytes &&
                h.sum == checksum(rest) && rest.substr(0, key.size()) == key;
    return good ? std::string(rest.substr(key.size())) : std::string();
}

namespace {

constexpr std::chrono::seconds longest_claim{20};     // of a process that was stopped
constexpr std::chrono::milliseconds head_start{500};  // rank 0 reads modules that the others have
std::atomic<bool> is_last{false};

}  // namespace

void let_others_compile() { is_last = true; }

DiskCache::Claim::Claim(Claim&& other) noexcept
    : file_(std::exchange(other.file_, -1)), path_(std::move(other.path_)) {}

DiskCache::Claim::~Claim() {
    if (file_ < 0) return;
    unlink(path_.c_str());  // those who wait for it hold the file that it was
    close(file_);
}

DiskCache::Claim DiskCache::claim(std::string_view key) const {
    using Clock = std::chrono::steady_clock;
    Claim made;
    if (!refusal_.empty()) return made;
    const std::string code = path_of(key);
    made.path_ = code + ".lock";
    const auto begin = Clock::now();
    while (is_last) {
        if (access(made.path_.c_str(), F_OK) == 0 || access(code.c_str(), F_OK) == 0) break;
        if (Clock::now() - begin > head_start) is_last = false;  // it loads the compiler now
        std::this_thread::sleep_for(std::chrono::microseconds(500));
    }
    made.file_ = open(made.path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    while (made.file_ >= 0 && flock(made.file_, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EINTR) continue;
        const bool is_held = errno == EWOULDBLOCK;
        // A child of fork may hold the file longer than the one that made the code.
        const bool is_there = access(code.c_str(), F_OK) == 0;
        if (!is_held || is_there || Clock::now() - begin > longest_claim) {
            close(std::exchange(made.file_, -1));
            break;
        }
        std::this_thread::sleep_for(std::chrono::microseconds(500));
    }
    return made;
}

void DiskCache::store(std::string_view key, std::string_view code) const {
    if (!refusal_.empty()) return;
    static std::atomic<unsigned> counter{0};
    std::string path = path_of(key);
    std::string temporary =
        path + "." + std::to_string(getpid()) + "." + std::to_string(counter++) + ".part";
    std::string rest = std::string(key) + std::string(code);
    Header h{{}, key.size(), code.size(), checksum(rest)};
    std::memcpy(h.magic, magic, sizeof magic);
    int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) return;
    bool good =
        write_all(file, {reinterpret_cast<const char*>(&h), sizeof h}) && write_all(file, rest);
    good = close(file) == 0 && good;
    if (!good || rename(temporary.c_str(), path.c_str()) != 0) unlink(temporary.c_str());
    keep_to_size();
}

/// Looks at the folder at one store in 64, over all processes: listing it costs more than a store,
/// so the first one of a process, which somebody waits for, seldom does.
void DiskCache::keep_to_size() const {
    static std::atomic<unsigned> stores{static_cast<unsigned>(getpid())};
    if (stores++ % 64 != 0) return;
    std::uint64_t limit = std::strtoull(setting("cache_size").c_str(), nullptr, 10);
    evict(limit << 20);
}

void DiskCache::evict(std::uint64_t bytes) const {
    if (!refusal_.empty()) return;
    struct Entry {
        std::filesystem::path path;
        std::filesystem::file_time_type used;
        std::uint64_t size;
    };
    std::vector<Entry> entries;
    std::uint64_t total = 0;
    std::error_code error;
    auto hour_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
    std::filesystem::directory_iterator files(folder_, error), end;
    // Other processes add and remove files meanwhile: one that has gone is skipped.
    for (; !error && files != end; files.increment(error)) {
        std::error_code gone;
        Entry e{files->path(), files->last_write_time(gone), 0};
        e.size = files->file_size(gone);
        if (gone) continue;
        const bool is_left = e.path.extension() == ".part" || e.path.extension() == ".lock";
        if (is_left && e.used < hour_ago) {
            std::filesystem::remove(e.path, gone);
        } else if (e.path.extension() == ".kernel") {
            total += e.size;
            entries.push_back(std::move(e));
        }
    }
    if (total <= bytes) return;
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.used < b.used; });
    for (const Entry& e : entries) {
        if (total <= bytes) return;
        std::error_code gone;
        std::filesystem::remove(e.path, gone);
        total -= e.size;
    }
}

}  // namespace unisono::codegen
