#include "comm/mpi/patience.h"

#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <functional>
#include <random>
#include <sstream>

namespace unisono::comm {

namespace {

struct Neighbours {
    Line* lines = nullptr;  ///< of `count` ranks; stays mapped
    std::size_t count = 0, own = 0;
    bool are_all = true;  ///< ranks of the job
};
Neighbours neighbours;

/// Who a rank is: ranks of one system and one name space of processes see each other.
struct Card {
    std::uint64_t system = 0, number = 0;
    std::int32_t process = 0, rank = 0;
};

std::uint64_t this_system() {
    std::string name;
    std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), name);
    struct stat space {};
    stat("/proc/self/ns/pid", &space);
    return std::hash<std::string>()(name + "/" + std::to_string(space.st_ino));
}

/// The steps in which ranks meet; each is started and then tested, so that a rank whose others do
/// not come can end the wait.
class Meeting {
  public:
    bool advance() {
        if (step_ == Step::Met) return true;
        if (step_ == Step::Begin) {
            MPI_Comm_size(MPI_COMM_WORLD, &size_);
            MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
            if (size_ == 1) {
                step_ = Step::Met;
                return true;
            }
            MPI_Comm_idup(MPI_COMM_WORLD, &comm_, &request_);
            step_ = Step::Connect;
        }
        int done = 0;
        MPI_Test(&request_, &done, MPI_STATUS_IGNORE);
        if (!done) return false;
        if (step_ == Step::Connect) {
            MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
            mine_ = {this_system(), std::random_device()(), static_cast<std::int32_t>(getpid()),
                     rank_};
            cards_.resize(static_cast<std::size_t>(size_));
            MPI_Iallgather(&mine_, sizeof mine_, MPI_BYTE, cards_.data(), sizeof mine_, MPI_BYTE,
                           comm_, &request_);
            step_ = Step::Tell;
        } else if (step_ == Step::Tell) {
            open();
            MPI_Ibarrier(comm_, &request_);
            step_ = Step::Open;
        } else {
            close();
            step_ = Step::Met;
        }
        return step_ == Step::Met;
    }

  private:
    enum class Step { Begin, Connect, Tell, Open, Met };

    /// Maps the file of this system's ranks, which the first of them to come makes.
    void open() {
        std::erase_if(cards_, [&](const Card& c) { return c.system != mine_.system; });
        const Card& first = cards_.front();
        char name[96];
        std::snprintf(name, sizeof name, "/dev/shm/unisono-ranks-%d-%llx", first.process,
                      static_cast<unsigned long long>(first.number));
        file_ = name;
        int file = ::open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (file < 0) return;
        const std::size_t bytes = sizeof(Line) * cards_.size();
        void* made = MAP_FAILED;
        if (ftruncate(file, static_cast<off_t>(bytes)) == 0)
            made = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        ::close(file);
        if (made == MAP_FAILED) return;
        auto* lines = static_cast<Line*>(made);  // zeros are lines of nobody
        neighbours.count = cards_.size();
        neighbours.own = static_cast<std::size_t>(std::ranges::find(cards_, rank_, &Card::rank) -
                                                  cards_.begin());
        lines[neighbours.own].rank = rank_;
        lines[neighbours.own].process = mine_.process;
        neighbours.lines = lines;
    }

    void close() {
        if (cards_.front().rank == rank_) unlink(file_.c_str());
        std::size_t present = 0;
        for (std::size_t k = 0; neighbours.lines && k < neighbours.count; ++k) {
            present += neighbours.lines[k].process != 0;
            leave_out(neighbours.lines[k].process);
        }
        neighbours.are_all = present == static_cast<std::size_t>(size_);
        cards_ = {};
        MPI_Comm_free(&comm_);
    }

    Step step_ = Step::Begin;
    MPI_Comm comm_ = MPI_COMM_NULL;
    MPI_Request request_ = MPI_REQUEST_NULL;
    int size_ = 1, rank_ = 0;
    Card mine_;
    std::vector<Card> cards_;
    std::string file_;
};

/// A process as /proc shows it.
struct Process {
    bool lives = false, is_ready = false;  ///< ready: it runs, or could, or waits for a disk
    std::int64_t ticks = 0;                ///< of the processor that it has used
};

Process process_of(std::int32_t number) {
    Process p;
    std::string text;
    std::getline(std::ifstream("/proc/" + std::to_string(number) + "/stat"), text);
    auto name_end = text.rfind(')');
    if (name_end == std::string::npos) return p;
    std::istringstream fields(text.substr(name_end + 1));
    char state = 'Z';
    std::int64_t skipped = 0, user = 0, system = 0;
    fields >> state;
    for (int k = 0; k < 10; ++k) fields >> skipped;
    fields >> user >> system;
    p.lives = state != 'Z' && state != 'X';
    p.is_ready = state == 'R' || state == 'D';
    p.ticks = user + system;
    return p;
}

/// Where this process says whether it waits.
std::vector<Line*> own_lines() {
    std::vector<Line*> found;
    if (Line* own = own_line()) found.push_back(own);
    if (neighbours.lines) found.push_back(neighbours.lines + neighbours.own);
    return found;
}

constexpr double least_share = 0.05;  ///< of a core, that a rank which works uses
constexpr std::int64_t least_ticks = 2;
constexpr double waiting_share = 0.01;    ///< of a core, that a rank has which waits in MPI's calls
constexpr std::uint32_t least_looks = 4;  ///< of a rank that could take a message

}  // namespace

bool meet_neighbours() {
    static Meeting meeting;
    return meeting.advance();
}

Waiting::Waiting() {
    for (Line* own : own_lines()) {
        ++own->waits;
        ++own->waiting;
    }
}
Waiting::~Waiting() {
    for (Line* own : own_lines()) --own->waiting;
}

Patience::Patience(double timeout)
    : limit_(timeout * (neighbours.are_all && !lacks_relatives() ? 1 : far_factor)),
      interval_(std::min(1.0, timeout / 8)),
      own_(own_lines()) {}

void Patience::begin(double now) {
    since_ = now;
    looks_ = 0;
    seen_.clear();
    for (std::size_t k = 0; neighbours.lines && k < neighbours.count; ++k) {
        // Neighbours' lines stay.
        const Line* line = neighbours.lines + k;
        if (k != neighbours.own) seen_.push_back({line->process, {std::shared_ptr<void>(), line}});
    }
    for (auto& line : relatives()) seen_.push_back({line->process, line});
    for (std::int32_t process : arriving()) seen_.push_back({process, nullptr});
    for (Seen& other : seen_) {
        if (other.line) {
            other.waits = other.line->waits;
            other.looks = other.line->looks;
        }
        other.ticks = process_of(other.process).ticks;
    }
}

/// Whether a process came that was not there.
bool Patience::has_news() const {
    return std::ranges::any_of(arriving(), [&](std::int32_t process) {
        return std::ranges::find(seen_, process, &Seen::process) == seen_.end();
    });
}

bool Patience::works(const Seen& other, double counted) {
    if (other.line && other.line->waits != other.waits) return true;
    if (other.process == 0 || (other.line && other.line->waiting > 0)) return false;
    const Process p = process_of(other.process);
    const double share = least_share * counted * static_cast<double>(sysconf(_SC_CLK_TCK));
    const auto used = p.ticks - other.ticks;
    return p.lives &&
           (p.is_ready || used >= std::max(least_ticks, static_cast<std::int64_t>(share)));
}

/// Whether a rank that waits could not run, though it was ready to.
bool Patience::lacked_processor(const Seen& other, double counted) {
    if (other.process == 0 || !other.line || other.line->waiting <= 0) return false;
    if (other.line->looks - other.looks >= least_looks) return false;
    const Process p = process_of(other.process);
    const double share = waiting_share * counted * static_cast<double>(sysconf(_SC_CLK_TCK));
    return p.lives && p.is_ready &&
           p.ticks - other.ticks < std::max(least_ticks, static_cast<std::int64_t>(share));
}

bool Patience::is_over(double waited) {
    ++looks_;
    for (Line* own : own_) own->looks.fetch_add(1, std::memory_order_relaxed);
    if (limit_ <= 0 || waited < next_) return false;
    if (next_ == 0) begin(waited);
    next_ = waited + interval_;
    const double counted = waited - since_;
    const auto are_working = [&](const Seen& other) { return works(other, counted); };
    if (std::ranges::any_of(seen_, are_working) || has_news()) {
        begin(waited);
        return false;
    }
    if (counted <= limit_) return false;
    const auto lacked = [&](const Seen& other) { return lacked_processor(other, counted); };
    if (looks_ >= least_looks && std::ranges::none_of(seen_, lacked)) return true;
    begin(waited);
    return false;
}

std::string Patience::seconds() const {
    char text[32];
    std::snprintf(text, sizeof text, "%g", limit_);
    return text;
}

std::string Patience::gone() {
    std::string text;
    for (std::size_t k = 0; neighbours.lines && k < neighbours.count; ++k) {
        const Line& line = neighbours.lines[k];
        if (line.process != 0 && !process_of(line.process).lives)
            text += (text.empty() ? " (rank " : ", rank ") + std::to_string(line.rank);
    }
    return text.empty() ? text : text + " has ended)";
}

}  // namespace unisono::comm
