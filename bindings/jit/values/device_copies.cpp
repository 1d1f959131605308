// Arrays that overlap share a copy: what is written through one is seen through the other.
#include "jit/values/device_copies.h"

#include <algorithm>

#include "array/object.h"
#include "backends/memory/device_pool.h"
#include "context/context.h"

namespace unisono::python {

std::vector<DeviceCopies::Piece> DeviceCopies::pieces_of_host() const {
    std::vector<Piece> found;
    for (std::size_t k = 0; k < arguments_.arrays_.size(); ++k) {
        const Arguments::Held& h = arguments_.arrays_[k];
        if (h.device) continue;
        std::uintptr_t from = h.memory.handle;
        std::uintptr_t to = from + static_cast<std::uintptr_t>(h.memory.bytes);
        if (h.storage) {  // of ours: what the view sees of it
            h.storage->allocate();
            const std::int64_t size = size_of(array_of(h.object).view().dtype);
            std::int64_t low = 0, high = size;
            bool is_empty = false;
            for (int i = 0; i < h.rank; ++i) {
                is_empty = is_empty || h.shape[i] == 0;
                (h.strides[i] < 0 ? low : high) += (h.shape[i] - 1) * h.strides[i] * size;
            }
            if (is_empty) low = high = 0;
            const auto first = h.storage->memory.handle + static_cast<std::uintptr_t>(h.offset);
            from = first + static_cast<std::uintptr_t>(low);
            to = first + static_cast<std::uintptr_t>(high);
        }
        found.push_back({from, to, {k}, {}});
    }
    std::sort(found.begin(), found.end(),
              [](const Piece& a, const Piece& b) { return a.from < b.from; });
    return found;
}

void DeviceCopies::bring() {
    for (Piece& piece : pieces_of_host()) {
        if (pieces_.empty() || piece.from >= pieces_.back().to) {
            pieces_.push_back(std::move(piece));
            continue;
        }
        Piece& last = pieces_.back();
        last.to = std::max(last.to, piece.to);
        last.arrays.insert(last.arrays.end(), piece.arrays.begin(), piece.arrays.end());
    }
    if (pieces_.empty()) return;
    Device& device = *arguments_.device();
    for (Piece& piece : pieces_) {
        piece.there = device.pool().take(std::max<std::int64_t>(piece.start() + piece.bytes(), 1));
        device.copy_in(piece.there, piece.start(), reinterpret_cast<const void*>(piece.from),
                       piece.bytes());
        count_apart(counters_apart().bytes_copied, piece.bytes());
        for (std::size_t k : piece.arrays) {
            Arguments::Held& h = arguments_.arrays_[k];
            const std::uintptr_t memory = h.storage ? h.storage->memory.handle : h.memory.handle;
            h.there = piece.there;
            h.there_offset =
                piece.start() + static_cast<std::int64_t>(memory - piece.from) + h.offset;
        }
    }
}

void DeviceCopies::take_back(std::span<const passes::ArrayEffect> effects) {
    for (const Piece& piece : pieces_) {
        const bool is_written = std::any_of(piece.arrays.begin(), piece.arrays.end(),
                                            [&](std::size_t k) { return effects[k].writes; });
        if (!is_written) continue;
        arguments_.device()->copy_out(reinterpret_cast<void*>(piece.from), piece.there,
                                      piece.start(), piece.bytes());
        count_apart(counters_apart().bytes_copied, piece.bytes());
    }
}

DeviceCopies::~DeviceCopies() {
    for (const Piece& piece : pieces_) {
        if (piece.there.handle) arguments_.device()->pool().give(piece.there);
        for (std::size_t k : piece.arrays) arguments_.arrays_[k].there = {};
    }
}

}  // namespace unisono::python
