// Makes and ends objects of compiled classes, and keeps what they refer to.
#include "core/native/object.h"

#include <atomic>
#include <cstring>
#include <vector>

#include "core/native/native.h"

namespace unisono {

static KeepHook keep_hook = nullptr;
static std::atomic<std::int64_t> live{0};

void set_keep_hook(KeepHook hook) { keep_hook = hook; }
std::int64_t live_objects() noexcept { return live.load(std::memory_order_relaxed); }

/// Ends an object and those that it alone kept: a list of its own, since chains may be long.
static void drop_object(Block* block) {
    thread_local std::vector<Block*>* waiting = nullptr;
    if (waiting) return waiting->push_back(block);
    std::vector<Block*> list{block};
    waiting = &list;
    while (!list.empty()) {
        Block* last = list.back();
        list.pop_back();
        const auto* words = static_cast<const std::int64_t*>(last->data);
        for (std::int64_t k = 0; k < words[1]; ++k)
            release_block(reinterpret_cast<Block*>(static_cast<std::intptr_t>(words[2 + k])));
        live.fetch_sub(1, std::memory_order_relaxed);
        free_block(last);
    }
    waiting = nullptr;
}

Block* make_object(std::int64_t words, std::int64_t counted) noexcept {
    Block* block = make_block(8 * words);
    if (!block) return nullptr;
    auto* data = static_cast<std::int64_t*>(block->data);
    std::memset(data, 0, static_cast<std::size_t>(8 * words));
    data[0] = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(block));
    data[1] = counted;
    block->drop = drop_object;
    live.fetch_add(1, std::memory_order_relaxed);
    return block;
}

namespace {

Block* block_at(std::int64_t value) {
    return reinterpret_cast<Block*>(static_cast<std::intptr_t>(value));
}

/// [0, words, counted]: [status, address, block]
void object_new(std::int64_t* v) noexcept {
    Block* block = make_object(v[1], v[2]);
    v[0] = block ? 0 : native_out_of_memory;
    v[1] = block ? static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(block->data)) : 0;
    v[2] = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(block));
}

/// [0, address of an object or 0]: [0, block with one more reference]
void object_keep(std::int64_t* v) noexcept {
    if (v[1] == 0) return;
    v[1] = *reinterpret_cast<const std::int64_t*>(static_cast<std::intptr_t>(v[1]));
    retain_block(block_at(v[1]));
}

/// [0, block or 0, address]: [status, block with one more reference]. Without a block the address
/// is of an array that the program passed in, or 0.
void block_keep(std::int64_t* v) noexcept {
    if (v[1] == 0 && v[2] != 0 && keep_hook) {
        v[1] = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(keep_hook(v[2])));
        v[0] = v[1] == 0;
        return;
    }
    retain_block(block_at(v[1]));
}

/// [0, block or 0]
void block_drop(std::int64_t* v) noexcept { release_block(block_at(v[1])); }

[[maybe_unused]] const bool are_added = add_natives({{"object_new", object_new},
                                                     {"object_keep", object_keep},
                                                     {"block_keep", block_keep},
                                                     {"block_drop", block_drop}});

}  // namespace

}  // namespace unisono
