// Counts the references of blocks.
#include "core/native/block.h"

#include <new>

#include "core/error.h"
#include "core/pool.h"

namespace unisono {

Block* make_block(std::int64_t bytes) noexcept {
    if (bytes < 0 || bytes > pool::limit()) return nullptr;
    try {
        return new Block{pool::allocate(bytes > 0 ? bytes : 1), bytes > 0 ? bytes : 1};
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
    if (block->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) delete block;
}

void release_block(Block* block) noexcept {
    if (!block || block->refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    if (block->drop) return block->drop(block);
    free_block(block);
}

void free_block(Block* block) noexcept {
    pool::free(block->data, block->bytes);
    delete block;
}

}  // namespace unisono
