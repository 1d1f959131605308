// Which elements an output leaves as they were, and the memories that hold the others meanwhile.
#include "tape/run/store_anew.h"

#include <algorithm>
#include <array>
#include <utility>

#include "tape/block.h"
#include "tape/run/run_group.h"
#include "tape/run/submission.h"

namespace unisono {

namespace {

/// What a launch costs, in bytes that memory moves meanwhile.
constexpr std::int64_t launch_bytes = 256 << 10;
/// What memory moves at least.
constexpr std::int64_t line_bytes = 64;

DType bits_of_size(std::int64_t bytes) {
    switch (bytes) {
        case 1: return DType::UInt8;
        case 2: return DType::UInt16;
        case 4: return DType::UInt32;
        case 8: return DType::UInt64;
        default: return DType::Complex128;
    }
}

/// Whether nobody but the storage uses its memory.
bool is_hidden(const Storage& s) {
    return !s.shared_outside() && !block_of(s) && !(s.use && s.use->is_known_outside);
}

}  // namespace

StoreAnew::StoreAnew(const View& output, bool may_return, std::int64_t times) : output_(output) {
    const Storage& s = *output.storage;
    const std::int64_t written = output.layout->size() * size_of(output.dtype);
    // Compiled code and its objects know where arrays of the host are.
    may_move_ = !s.addressable() && !s.borrowed;
    is_whole_ = is_hidden(s) && (may_move_ || may_return) && find_rest();
    const auto cost = [](std::int64_t bytes, std::size_t launches) {
        return 2 * bytes + static_cast<std::int64_t>(launches) * launch_bytes;
    };
    if (is_whole_) is_whole_ = cost(bytes_copied_, rest_.size()) < times * cost(written, 1);
    if (!is_whole_) {
        rest_.clear();
        bytes_copied_ = written;
    }
}

void StoreAnew::add_piece(Dims shape, Dims strides, std::int64_t offset) {
    HeldLayout layout(Layout::make(shape, strides));
    layout->retain();
    if (layout->size() == 0) return;
    const std::int64_t size = size_of(output_.dtype);
    bytes_copied_ += layout->size() / shape.back() * std::max(shape.back() * size, line_bytes);
    rest_.push_back({std::move(layout), offset});
}

/// The elements of the storage that are not written. Returns false where rows of those that are do
/// not lie one behind the other.
bool StoreAnew::find_rest() {
    const std::int64_t size = size_of(output_.dtype);
    if (output_.storage->bytes % size != 0) return false;
    const std::int64_t all = output_.storage->bytes / size;
    std::vector<std::pair<std::int64_t, std::int64_t>> axes;  // stride and extent
    for (std::size_t k = 0; k < output_.layout->shape().size(); ++k) {
        const std::int64_t extent = output_.layout->shape()[k];
        const std::int64_t stride = output_.layout->strides()[k];
        if (extent == 1) continue;
        if (stride <= 0) return false;
        axes.emplace_back(stride, extent);
    }
    std::sort(axes.rbegin(), axes.rend());
    std::int64_t span = 1;  // of what the axes behind this one take
    std::vector<std::int64_t> shape, strides;
    for (std::size_t k = axes.size(); k-- > 0;) {
        const auto [stride, extent] = axes[k];
        if (stride < span) return false;
        if (stride > span) {  // what lies between one row and the next
            shape.clear();
            strides.clear();
            for (std::size_t outer = 0; outer <= k; ++outer) {
                shape.push_back(axes[outer].second - (outer == k ? 1 : 0));
                strides.push_back(axes[outer].first);
            }
            shape.push_back(stride - span);
            strides.push_back(1);
            add_piece(shape, strides, output_.offset + span);
        }
        span += stride * (extent - 1);
    }
    const std::int64_t one[] = {1}, before[] = {output_.offset},
                       after[] = {all - output_.offset - span};
    if (before[0] < 0 || after[0] < 0) return false;
    if (before[0] > 0) add_piece(before, one, 0);
    if (after[0] > 0) add_piece(after, one, output_.offset + span);
    return true;
}

View StoreAnew::begin() {
    Storage* s = output_.storage;
    View to = output_;
    if (is_whole_) {
        const std::int64_t bytes[] = {s->bytes};
        memory_ = std::make_unique<Temporary>(bytes, DType::UInt8, s->device);
        to.storage = memory_->view.storage;
        return to;
    }
    memory_ = std::make_unique<Temporary>(output_.layout->shape(), output_.dtype, s->device);
    return memory_->view;
}

void StoreAnew::copy(View from, View to) const {
    from.dtype = to.dtype = bits_of_size(size_of(to.dtype));
    GroupKernel::copying(from.dtype)
        .run({to.layout, {&from, 1}, {&to, 1}, {}, output_.storage->device});
}

void StoreAnew::complete() {
    if (!is_whole_) {
        copy(memory_->view, output_);
        memory_.reset();  // while its queue is known
        return;
    }
    for (const Piece& piece : rest_) {
        const View from{output_.storage, piece.layout.get(), piece.offset, output_.dtype};
        View to = from;
        to.storage = memory_->view.storage;
        copy(from, to);
    }
}

void StoreAnew::end() noexcept {
    if (!is_whole_) return;
    Storage* s = output_.storage;
    std::swap(s->memory, memory_->view.storage->memory);
    std::vector<Completion> users;
    if (s->use) {
        users = s->use->read;
        users.push_back(s->use->written);
    }
    memory_->give(std::move(users));
}

}  // namespace unisono
