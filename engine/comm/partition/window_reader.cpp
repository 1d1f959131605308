// Names the structure of a window by a key.
#include <bit>
#include <utility>

#include "comm/partition/entries.h"
#include "comm/partition/window_plans.h"
#include "tape/record/element_function.h"

namespace unisono::comm {

namespace {

constexpr std::int64_t number_token = -1;  ///< where the number of a view's memory would be

std::int64_t header_of(const Entry& e) {
    static_assert(static_cast<int>(EntryKind::Opaque) < 256 && sizeof(Op) <= 2);
    const auto byte = [](auto value) { return static_cast<std::uint8_t>(value); };
    return static_cast<std::int64_t>(
        std::uint64_t{byte(e.kind)} | std::uint64_t{e.inputs} << 8 |
        std::uint64_t{static_cast<std::uint16_t>(e.op)} << 16 | std::uint64_t{byte(e.axis)} << 32 |
        std::uint64_t{byte(e.before)} << 40 | std::uint64_t{byte(e.compute)} << 48);
}

enum class Call : std::uint8_t { None, Function, Transfer, Reshape, Other };

Call call_of(const Entry& e) {
    if (!e.call) return Call::None;
    if (e.call->tail || e.inputs == 0) return Call::Other;
    if (e.kind == EntryKind::Function) return Call::Function;
    if (e.call->transfers() && is_spread(e)) return Call::Transfer;
    return is_reshape(e) ? Call::Reshape : Call::Other;
}

}  // namespace

std::uint64_t WindowReader::hash() const {
    std::uint64_t h = key_.size();
    for (const std::uint64_t token : key_) {
        h = (h ^ token) * 0x9E3779B97F4A7C15ull;
        h ^= h >> 32;
    }
    return h;
}

WindowReader::Slot& WindowReader::slot_of(const void* address) {
    const auto bits = reinterpret_cast<std::uintptr_t>(address);
    std::size_t at = static_cast<std::size_t>((bits >> 6) * 0x9E3779B97F4A7C15ull >> 32);
    for (;; ++at) {
        Slot& slot = slots_[at & (slots_.size() - 1)];
        if (slot.epoch != epoch_ || slot.address == address) return slot;
    }
}

/// So that at most half of the slots are taken.
void WindowReader::make_room(std::size_t count) {
    if (2 * count <= slots_.size()) return;
    const std::vector<Slot> before = std::exchange(slots_, {});
    slots_.resize(std::bit_ceil(4 * count));
    for (const Slot& s : before) {
        if (s.epoch == epoch_) slot_of(s.address) = s;
    }
}

std::int32_t WindowReader::number_of(const void* address) const {
    const Slot& slot = const_cast<WindowReader*>(this)->slot_of(address);
    return slot.epoch == epoch_ ? slot.number : -1;
}

std::int32_t WindowReader::add_made(const Storage* storage) {
    make_room(used_ + 1);
    const auto number = static_cast<std::int32_t>(used_ - blocks.size());
    slot_of(storage) = {storage, epoch_, number};
    ++used_;
    return number;
}

std::int32_t WindowReader::number_here(Storage* storage) {
    Slot& slot = slot_of(storage);
    if (slot.epoch != epoch_) {
        slot = {storage, epoch_, static_cast<std::int32_t>(memory.size())};
        memory.push_back(storage);
        ++used_;
    }
    return slot.number;
}

void WindowReader::put(const Layout* layout) {
    key_.push_back(reinterpret_cast<std::uintptr_t>(layout));
    layouts.push_back(layout);
}

bool WindowReader::put(const View& v) {
    if (!v.storage) {
        put(number_token);
        put(static_cast<std::int64_t>(v.dtype));
        return true;
    }
    std::int64_t number;
    if (is_on_mesh(v)) {
        Slot& slot = slot_of(v.storage);
        if (slot.epoch != epoch_) {
            slot = {v.storage, epoch_, static_cast<std::int32_t>(blocks.size())};
            blocks.push_back(Block::of(*v.storage));
            ++used_;
        }
        number = 2 * std::int64_t{slot.number};
    } else if (!v.storage->device) {
        number = 2 * std::int64_t{number_here(v.storage)} + 1;
    } else {
        return false;
    }
    put(number);
    put(v.layout);
    put(v.offset);
    put(static_cast<std::int64_t>(v.dtype));
    return true;
}

void WindowReader::put(const Held& held) {
    put(static_cast<std::int64_t>(held.kind));
    put(held.owner);
    put(static_cast<std::int64_t>(held.splits().size()));
    for (const Split& s : held.splits()) {
        for (const std::int64_t n :
             {std::int64_t{s.axis}, s.extent, std::int64_t{s.ranks}, std::int64_t{s.stride},
              std::int64_t{s.pin}, s.base, s.start, s.step, s.cycle})
            put(n);
        key_.push_back(reinterpret_cast<std::uintptr_t>(s.bounds.get()));
        if (s.bounds) bounds.push_back(s.bounds);
    }
}

void WindowReader::put_lie(const Block& block) {
    put(block.layout());
    put(static_cast<std::int64_t>(block.dtype()));
    put(std::int64_t{block.is_split()});
    if (!block.is_split()) return;
    put(block.held());
    for (std::size_t k = 0; k < block.held().splits().size(); ++k) {
        for (const Halo& h : {block.room()[k], block.current()[k]}) {
            put(h.before);
            put(h.after);
        }
    }
    const View& local = block.local().view();
    put(std::int64_t{number_here(local.storage)});
    put(local.layout);
    put(local.offset);
}

bool WindowReader::read(std::span<const Entry> window, std::int64_t how) {
    key_.clear();
    blocks.clear();
    memory.clear();
    layouts.clear();
    bounds.clear();
    used_ = 0;
    ++epoch_;
    // Each view may name an array and its part.
    make_room(8 * window.size());
    put(how);
    for (const Entry& e : window) {
        const Call call = call_of(e);
        if (call == Call::Other || (call == Call::None && e.kind == EntryKind::Opaque))
            return false;
        put(header_of(e));
        put(static_cast<std::int64_t>(call));
        key_.push_back(reinterpret_cast<std::uintptr_t>(e.line.code));
        put(e.line.offset);
        if (call == Call::Function) put(function_of(e).id());
        for (int k = 0; k < e.inputs; ++k) {
            if (!put(e.in[k])) return false;
        }
        if (!put(e.out)) return false;
    }
    for (const Block* block : blocks) put_lie(*block);
    return true;
}

}  // namespace unisono::comm
