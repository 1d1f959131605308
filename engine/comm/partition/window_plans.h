// Windows that repeat: what the statements of a window recorded on this rank's own tape is kept,
// and recorded again where the same statements come on other memory.
//
// A key names the structure of a window: its statements and lines, how their views are connected,
// and how each array lies on the rank, with its halos. All that the partition decides follows from
// these. Numbers that statements take are parameters. A window is kept when it is met for the
// second time; one is not kept that records library calls, or in which the rank's tape was cut.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "comm/block.h"
#include "tape/tape.h"

namespace unisono {
class ElementFunction;
}

namespace unisono::comm {

/// Reads windows into keys, and numbers the memory that they name.
class WindowReader {
  public:
    /// False where the window has statements that are not kept. `how`: what else decides how it is
    /// recorded.
    bool read(std::span<const Entry> window, std::int64_t how);
    std::span<const std::uint64_t> key() const { return key_; }
    std::uint64_t hash() const;

    /// The number of what the window names, -1 of anything else.
    std::int32_t number_of(const void* address) const;
    /// Memory that is made while the window is recorded.
    std::int32_t add_made(const Storage* storage);

    std::vector<Block*> blocks;          ///< of the arrays on the mesh
    std::vector<Storage*> memory;        ///< the host's: parts of these, and what statements read
    std::vector<const Layout*> layouts;  ///< that the key names
    std::vector<std::shared_ptr<const std::vector<std::int64_t>>> bounds;

  private:
    struct Slot {
        const void* address = nullptr;
        std::uint32_t epoch = 0;
        std::int32_t number = 0;
    };
    Slot& slot_of(const void* address);
    void make_room(std::size_t count);
    void put(const Layout* layout);
    void put(std::int64_t number) { key_.push_back(static_cast<std::uint64_t>(number)); }
    bool put(const View& view);
    void put(const Held& held);
    void put_lie(const Block& block);
    std::int32_t number_here(Storage* storage);

    std::vector<std::uint64_t> key_;
    std::vector<Slot> slots_;
    std::size_t used_ = 0;
    std::uint32_t epoch_ = 0;
};

/// What a window recorded. Memory is named by number: first what the window names, in the order of
/// WindowReader, then what was made meanwhile.
struct WindowPlan {
    WindowPlan() = default;
    ~WindowPlan();
    WindowPlan(const WindowPlan&) = delete;
    WindowPlan& operator=(const WindowPlan&) = delete;

    /// An entry of the rank's tape.
    struct Local {
        Entry entry;  ///< its storages and call are not valid
        std::array<std::int32_t, 4> memory{-1, -1, -1, -1};  ///< of in and out
        bool takes_numbers = false;                          ///< those of the statement
        std::shared_ptr<const Mesh::Operation> operation;
        std::shared_ptr<const ElementFunction> function;
    };
    /// How an array lies from then on.
    struct Lie {
        std::int32_t block, memory;
        const Layout* layout;
        std::int64_t offset;
        Held held;
        Halos room, current;
    };
    /// What one statement recorded: before all statements what its halos need, then itself.
    struct Part {
        std::uint32_t statement;
        bool is_step;
        std::uint32_t entries_end = 0, lies_end = 0, drops_end = 0;
    };
    struct Made {
        const Layout* layout;  ///< any of its views
        DType dtype;
        std::int64_t bytes;
    };

    std::vector<std::uint64_t> key;
    std::vector<Part> parts;
    std::vector<Local> entries;
    std::vector<Lie> lies;
    std::vector<std::int32_t> drops;  ///< memory that is made and not named behind the part
    std::vector<Made> made;
    std::int64_t bytes_gathered = 0, bytes_in_panels = 0;
    // Named by address.
    std::vector<const Layout*> layouts;
    std::vector<LineRef> lines;
    std::vector<std::shared_ptr<const std::vector<std::int64_t>>> bounds;
    HostHooks hooks;

    void keep(const Layout* layout);
};

class WindowPlans {
  public:
    explicit WindowPlans(Mesh& mesh);
    ~WindowPlans();

    /// Before a window is recorded: where the same one was kept, records that for its memory and
    /// returns true.
    bool repeat(std::span<Entry> window, std::int64_t how, const std::function<void(Entry&)>& done);
    /// What has been recorded since the last call is a part of that statement, which holds its
    /// memory yet.
    void note(std::span<const Entry> window, std::size_t statement, bool is_step);
    /// The window is recorded.
    void end();
    /// It could not be.
    void give_up();

    std::int64_t repeated() const { return repeated_; }

  private:
    struct Trace;
    void begin(std::span<const Entry> window, std::uint64_t hash);
    void play(const WindowPlan& plan, std::span<Entry> window,
              const std::function<void(Entry&)>& done);

    Mesh& mesh_;
    WindowReader reader_;
    std::array<std::uint64_t, 256> met_{};  ///< hashes of windows that were not kept
    std::unordered_multimap<std::uint64_t, std::shared_ptr<const WindowPlan>> plans_;
    std::size_t kept_entries_ = 0;
    std::unique_ptr<Trace> trace_;
    std::int64_t repeated_ = 0;
};

}  // namespace unisono::comm
