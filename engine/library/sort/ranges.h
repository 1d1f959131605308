// Deals the elements of a vector out to ranges of the order: the first half of a sort whose second
// half may run elsewhere.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "library/sort/bucket_sort.h"
#include "tape/array.h"

namespace unisono::library {

/// Range b has what is above cut b - 1 and not above cut b, in the order of the vector. Equal
/// elements are in one range, NaN in the last one that is not empty.
class Ranges {
  public:
    static constexpr int most = most_buckets;
    /// Packed vectors of one dtype, not complex, ready in host memory; fewer cuts than `most`, in
    /// order.
    Ranges(const View& vector, const View& cuts);
    /// One more than there are cuts.
    std::span<const std::int64_t> sizes() const { return sizes_; }
    /// The elements of range b go to to[b]...
    void deal(const View& vector, std::span<char* const> to) const;
    /// ... and so do the numbers from `first` on that stand for them.
    void deal_numbers(std::int64_t first, std::span<char* const> to) const;

  private:
    template <class T, class Get>
    void deal_items(std::span<char* const> to, Get get) const;

    Dealing dealing_;
    std::span<const std::int64_t> sizes_;
};

/// Sorts runs of a packed vector of the host where they lie, each by itself: those between bounds.
void sort_runs(const View& vector, std::span<const std::int64_t> bounds);

}  // namespace unisono::library
