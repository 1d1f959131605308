// Counts the references of blocks, and keeps small ones for the thread that lets go of them.
#include "core/native/block.h"

#include <array>
#include <new>

#include "core/error.h"
#include "core/pool.h"

namespace unisono {

namespace {

/// Blocks without references and their memory, by the pool's size classes: loops that make arrays
/// of few elements take neither a lock nor the allocator.
class SmallBlocks {
  public:
    SmallBlocks() = default;
    SmallBlocks(const SmallBlocks&) = delete;
    SmallBlocks& operator=(const SmallBlocks&) = delete;
    ~SmallBlocks();

    static constexpr std::int64_t largest = 256;
    Block* take(std::int64_t bytes) noexcept {
        List& list = lists_[class_of(bytes)];
        return list.count ? list.blocks[--list.count] : nullptr;
    }
    bool put(Block* block) noexcept {
        List& list = lists_[class_of(block->bytes)];
        if (list.count == most) return false;
        list.blocks[list.count++] = block;
        return true;
    }

  private:
    static constexpr std::size_t most = 16, classes = 9;
    struct List {
        std::array<Block*, most> blocks;
        std::size_t count = 0;
    };
    /// Up to 64 bytes; steps of 16 up to 128; of 32 up to 256.
    static std::size_t class_of(std::int64_t bytes) noexcept {
        const auto n = static_cast<std::size_t>(bytes);
        return n <= 64 ? 0 : n <= 128 ? (n - 65) / 16 + 1 : (n - 129) / 32 + 5;
    }
    std::array<List, classes> lists_;
};

thread_local bool has_ended = false;  // of this thread's SmallBlocks
thread_local SmallBlocks small_blocks;

void give_back(Block* block) noexcept {
    pool::free(block->data, block->bytes);
    delete block;
}

/// Gives a reference up. Nobody can add one to the last, which so needs no atomic subtraction.
bool drops_last(Block& block) noexcept {
    return block.refs.load(std::memory_order_acquire) == 1 ||
           block.refs.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

SmallBlocks::~SmallBlocks() {
    has_ended = true;
    for (List& list : lists_) {
        while (list.count) give_back(list.blocks[--list.count]);
    }
}

}  // namespace

Block* make_block(std::int64_t bytes) noexcept {
    if (bytes == 0) bytes = 1;
    if (bytes > 0 && bytes <= SmallBlocks::largest && !has_ended) {
        if (Block* block = small_blocks.take(bytes)) {
            block->bytes = bytes;
            block->refs.store(1, std::memory_order_relaxed);
            return block;
        }
    }
    if (bytes < 0 || bytes > pool::limit()) return nullptr;
    try {
        return new Block{pool::allocate(bytes), bytes};
    } catch (const Error&) {
        return nullptr;
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

void retain_block(Block* block) noexcept {
    if (block) block->refs.fetch_add(1, std::memory_order_relaxed);
}

void forget_block(Block* block) noexcept {
    if (drops_last(*block)) delete block;
}

void release_block(Block* block) noexcept {
    if (!block || !drops_last(*block)) return;
    if (block->drop) return block->drop(block);
    free_block(block);
}

void free_block(Block* block) noexcept {
    const bool is_small = block->bytes <= SmallBlocks::largest && !block->drop;
    if (is_small && !has_ended && small_blocks.put(block)) return;
    give_back(block);
}

}  // namespace unisono
