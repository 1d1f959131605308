// A mesh: the ranks of a job, and the numbered operations that they make together.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "comm/ranges.h"
#include "comm/transport.h"
#include "tape/array.h"

namespace unisono {
struct OpaqueCall;
}

namespace unisono::comm {

class Partition;
class Place;

class Mesh {
  public:
    ~Mesh();
    /// The mesh of that kind; the plugin is loaded by the first call. Collective the first time.
    static Mesh& get(const std::string& kind, bool (*interrupted)() = nullptr);
    static Mesh* current();  ///< null if none was made
    /// The mesh of the context that the thread works in, over that transport.
    static Mesh& start(const std::string& kind, std::unique_ptr<Transport> transport);

    int rank() const { return transport_->rank(); }
    int size() const { return size_; }
    const std::string& kind() const { return kind_; }
    /// The device of arrays that are spread over the mesh.
    Place& place() { return *place_; }
    /// What records and runs statements on them.
    Partition& partition() { return *partition_; }

    /// Records a message operation on the tape: parts of `from` go out, parts of `to` come in.
    /// `what` is the same on all ranks, and all ranks make the call if one does. `settle`: a value
    /// will leave.
    void record(const std::string& what, const View& from, std::vector<Part> sends, const View& to,
                std::vector<Part> receives, bool settle);
    /// A message operation, as it is recorded again for other memory.
    struct Operation {
        std::string text;  ///< what it does and where
        std::vector<Part> sends, receives;
        bool settle = false;
        std::uint64_t behind = 0;  ///< operations after the one that its sends answer
    };
    /// Of an entry's call; null where that is no message operation.
    static std::shared_ptr<const Operation> operation_of(const OpaqueCall& call);
    void repeat(const std::shared_ptr<const Operation>& operation, const View& from,
                const View& to);
    /// One after the other: a rank gets `in` from rank `before` (-1: from none), and, once `out` is
    /// computed from that by what `compute` records, gives it to rank `after`.
    void pass_on(const std::string& what, int before, const Array& in,
                 const std::function<Array()>& compute, int after);

    /// A statement without messages of its own: all ranks make the same, in the same order. Ranks
    /// whose statements differ get the error of ranks that run different programs at their next
    /// operation.
    void note_statement(std::uint64_t what);

    /// Bytes of others that this rank got so that it has all of an array of several elements.
    std::int64_t bytes_gathered() const { return bytes_gathered_; }
    void count_gathered(std::int64_t bytes) { bytes_gathered_ += bytes; }
    /// The same of panels: pieces of an array that an algorithm takes one after the other.
    std::int64_t bytes_in_panels() const { return bytes_in_panels_; }
    void count_panel(std::int64_t bytes) { bytes_in_panels_ += bytes; }
    /// What `get` gathers is a panel.
    template <class Get>
    auto count_as_panel(Get&& get) {
        const std::int64_t before = bytes_gathered_;
        auto made = get();
        bytes_in_panels_ += std::exchange(bytes_gathered_, before) - before;
        return made;
    }

    /// Of a rank alone: storages that nothing refers to, with their blocks.
    std::vector<Storage*>& spare() { return spare_; }
    /// Another number for each way in which blocks of a rank alone are spread.
    std::uint64_t next_spread() { return ++spreads_; }

    /// Completes pending work and waits for all ranks.
    void barrier();
    /// At the end of the program: completes pending messages, then ends the connection.
    void finish();
    void abort(int status, double grace) { transport_->abort(status, grace); }

  private:
    Mesh(std::string kind, std::unique_ptr<Transport> transport);
    Stamp next(std::string text);
    void append(Stamp stamp, std::shared_ptr<const Operation> operation, const View& from,
                const View& to);

    std::string kind_;
    std::unique_ptr<Transport> transport_;
    int size_;  ///< asked for each statement
    std::unique_ptr<Place> place_;
    std::vector<Storage*> spare_;
    std::uint64_t spreads_ = 0;
    std::unique_ptr<Partition> partition_;
    std::int64_t bytes_gathered_ = 0, bytes_in_panels_ = 0;
    std::uint64_t number_ = 0, statements_ = 0;
    std::uint64_t hash_ = 0xcbf29ce484222325ull;
};

}  // namespace unisono::comm
