// gdb sets a breakpoint in __jit_debug_register_code and reads a linked list of ELF files; perf
// reads text lines of address, size and name, or the records of a dump.
#include "backends/cpu/publish.h"

#include "backends/cpu/sampling.h"
#include "core/threads/fork.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>

extern "C" {

// The names and the layout are gdb's.
struct jit_code_entry {
    jit_code_entry *next_entry, *prev_entry;
    const char* symfile_addr;
    std::uint64_t symfile_size;
};

struct jit_descriptor {
    std::uint32_t version, action_flag;
    jit_code_entry *relevant_entry, *first_entry;
};

__attribute__((visibility("default")))
jit_descriptor __jit_debug_descriptor = {1, 0, nullptr, nullptr};
__attribute__((visibility("default"), noinline)) void __jit_debug_register_code() {
    asm volatile("" ::: "memory");
}
}

namespace unisono::cpu {

namespace {

enum : std::uint32_t { jit_register = 1, jit_unregister = 2 };

ProcessMutex& published() {
    static ProcessMutex& mutex = *new ProcessMutex;
    return mutex;
}

/// An entry of gdb's list, and the file that it shows.
struct GdbEntry {
    jit_code_entry entry{};
    std::string object;

    explicit GdbEntry(std::string file) : object(std::move(file)) {
        std::lock_guard lock(published());
        entry.symfile_addr = object.data();
        entry.symfile_size = object.size();
        entry.next_entry = __jit_debug_descriptor.first_entry;
        if (entry.next_entry) entry.next_entry->prev_entry = &entry;
        __jit_debug_descriptor.first_entry = &entry;
        tell(jit_register);
    }
    ~GdbEntry() {
        std::lock_guard lock(published());
        (entry.prev_entry ? entry.prev_entry->next_entry : __jit_debug_descriptor.first_entry) =
            entry.next_entry;
        if (entry.next_entry) entry.next_entry->prev_entry = entry.prev_entry;
        tell(jit_unregister);
    }
    GdbEntry(const GdbEntry&) = delete;
    GdbEntry& operator=(const GdbEntry&) = delete;

  private:
    void tell(std::uint32_t what) {
        __jit_debug_descriptor.action_flag = what;
        __jit_debug_descriptor.relevant_entry = &entry;
        __jit_debug_register_code();
        __jit_debug_descriptor.relevant_entry = nullptr;
    }
};

std::string shown_name(const PublishedCode& code, const CodeSymbol& symbol) {
    std::string name = symbol.name.starts_with("unisono_kernel")
                           ? code.name + symbol.name.substr(std::strlen("unisono_kernel"))
                           : symbol.name;
    if (code.files.empty()) return name;
    const std::string& file = code.files.front();
    return name + " (" + file.substr(file.rfind('/') + 1) + ")";
}

/// Opens a file in a folder that others may write: a new one, or one of ours that nobody else can
/// reach. Links are never followed. -1 where something else has the name.
int open_own(const std::string& path) {
    constexpr int flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC;
    int handle = open(path.c_str(), flags | O_CREAT | O_EXCL, 0600);
    if (handle >= 0 || errno != EEXIST) return handle;
    handle = open(path.c_str(), flags | O_NONBLOCK);
    struct stat s {};
    bool is_own = handle >= 0 && fstat(handle, &s) == 0 && S_ISREG(s.st_mode) &&
                  s.st_uid == geteuid() && s.st_nlink == 1;
    if (handle >= 0 && !is_own) {
        close(handle);
        return -1;
    }
    return handle;
}

/// /tmp/perf-PID.map: perf looks there for the names of code that lies in no file. CPython's own
/// support of perf may write to the same file.
void write_map(const PublishedCode& code) {
    int handle = open_own("/tmp/perf-" + std::to_string(getpid()) + ".map");
    std::FILE* file = handle < 0 ? nullptr : fdopen(handle, "ae");
    if (!file) {
        if (handle >= 0) close(handle);
        return;
    }
    for (const CodeSymbol& s : code.placed.symbols) {
        std::fprintf(file, "%llx %llx %s\n", static_cast<unsigned long long>(s.address),
                     static_cast<unsigned long long>(s.size), shown_name(code, s).c_str());
    }
    std::fclose(file);
}

/// The dump that `perf inject --jit` reads: see tools/perf/Documentation/jitdump-specification.txt
/// of Linux. perf learns of the file because this process maps its first page executable.
class Dump {
  public:
    Dump() : process_(getpid()) {
        const char* folder = std::getenv("JITDUMPDIR");
        std::string path =
            std::string(folder ? folder : "/tmp") + "/jit-" + std::to_string(process_) + ".dump";
        unlink(path.c_str());  // of an earlier process of this number
        int handle = open(path.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, 0600);
        if (handle < 0) return;
        file_ = fdopen(handle, "w+e");
        if (!file_) {
            close(handle);
            return;
        }
        struct {
            std::uint32_t magic = 0x4A695444, version = 1, bytes = 40, machine = EM_X86_64, pad = 0,
                          process = 0;
            std::uint64_t time = 0, flags = 0;
        } header;
        header.process = static_cast<std::uint32_t>(process_);
        header.time = now();
        std::fwrite(&header, sizeof header, 1, file_);
        std::fflush(file_);
        mmap(nullptr, static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), PROT_READ | PROT_EXEC,
             MAP_PRIVATE, handle, 0);
    }

    void add(const PublishedCode& code) {
        if (!file_ || process_ != getpid()) return;  // a child of fork: the file is its parent's
        for (const CodeSymbol& s : code.placed.symbols) {
            lines_of(code, s);
            load_of(code, s);
        }
        std::fflush(file_);
    }

  private:
    static std::uint64_t now() {
        timespec t{};
        clock_gettime(CLOCK_MONOTONIC, &t);
        return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u +
               static_cast<std::uint64_t>(t.tv_nsec);
    }
    template <class T>
    static void put(std::string& to, T value) {
        to.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    void record(std::uint32_t id, const std::string& body) {
        std::string head;
        put(head, id);
        put(head, static_cast<std::uint32_t>(body.size() + 16));
        put(head, now());
        head += body;
        std::fwrite(head.data(), 1, head.size(), file_);
    }
    void lines_of(const PublishedCode& code, const CodeSymbol& s) {
        std::string entries;
        std::uint64_t count = 0;
        for (const CodeLine& l : code.lines) {
            std::uint64_t at = code.placed.code + l.offset;
            bool is_known = l.line > 0 && static_cast<std::size_t>(l.file) < code.files.size();
            if (!is_known || at < s.address || at >= s.address + s.size) continue;
            put(entries, at);
            put(entries, static_cast<std::uint32_t>(l.line));
            put(entries, std::uint32_t{0});
            entries += code.files[static_cast<std::size_t>(l.file)];
            entries += '\0';
            ++count;
        }
        if (count == 0) return;
        std::string body;
        put(body, s.address);
        put(body, count);
        record(2, body + entries);
    }
    void load_of(const PublishedCode& code, const CodeSymbol& s) {
        std::string body;
        put(body, static_cast<std::uint32_t>(process_));
        put(body, static_cast<std::uint32_t>(syscall(SYS_gettid)));
        put(body, s.address);
        put(body, s.address);
        put(body, s.size);
        put(body, number_++);
        body += shown_name(code, s);
        body += '\0';
        body.append(reinterpret_cast<const char*>(s.address), s.size);
        record(0, body);
    }

    pid_t process_;
    std::FILE* file_ = nullptr;
    std::uint64_t number_ = 0;
};

}  // namespace

std::shared_ptr<void> publish(PublishedCode code) {
    {
        std::lock_guard lock(published());
        static Dump& dump = *new Dump;  // written to until the process ends
        write_map(code);
        dump.add(code);
    }
    std::uint64_t begin = UINT64_MAX, end = 0;
    for (const CodeSymbol& s : code.placed.symbols) {
        begin = std::min(begin, s.address);
        end = std::max(end, s.address + s.size);
    }
    auto sampled =
        note_lines(code.placed.code, begin, end, std::move(code.lines), std::move(code.files));
    auto entry = std::make_shared<GdbEntry>(std::move(code.placed.object));
    return std::make_shared<std::pair<std::shared_ptr<void>, std::shared_ptr<void>>>(
        std::move(sampled), std::move(entry));
}

}  // namespace unisono::cpu
