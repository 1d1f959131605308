// When kernels that follow one another may run on which rows.
//
// Kernels over rows of the same arrays may take turns on bands of rows, so that what they share
// lies in the caches: each runs on a band, then the next one runs on it. Where a kernel reads rows
// beside those that an earlier one writes, or writes rows that an earlier one still reads beside
// its own (a stencil), it runs some rows behind. These distances follow from the views alone: two
// views of one storage whose rows are equally far apart meet in the rows of the storage.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tape/storage.h"

namespace unisono {

/// Counts the bytes of cache lines that views touch. Neighbouring views share lines.
class LineCount {
  public:
    void add(const View& view);
    std::int64_t bytes() const { return bytes_; }

  private:
    struct Seen {
        const Storage* storage;
        const Layout* layout;
        std::int64_t line;
        bool operator==(const Seen&) const = default;
    };
    std::vector<Seen> seen_;
    std::int64_t bytes_ = 0;
};

class BandSchedule {
  public:
    /// One kernel. Its rows are numbered as those of the storage that it writes, so that kernels
    /// which touch the same rows have about the same numbers.
    struct Step {
        std::size_t axis = 0;     ///< of its space: what a row is an index of
        bool is_one_row = false;  ///< as a whole, whatever its shape
        std::int64_t first = 0, rows = 1;
        std::int64_t shift = 0;  ///< rows by which it is behind the first step
        std::int64_t shift_down =
            0;                    ///< the same where the bands go from the last row to the first
        bool has_others = false;  ///< meets earlier steps in rows that are not its own
        std::int64_t end() const { return first + rows; }
    };
    /// An operand of a step, in rows of its storage.
    struct Use {
        std::uint32_t step;
        std::uint32_t operand;
        bool writes;
        View view;
        std::int64_t pitch;  ///< bytes from one row of the step to the next; 0: it has one
    };
    /// A storage with all that touches it.
    struct Field {
        Storage* storage;
        std::int64_t pitch = 0;  ///< the largest of its uses
        std::vector<Use> uses;
    };

    /// Takes one more kernel, its operands with the inputs first; false, having changed nothing
    /// that the steps before need, where it cannot take turns with them.
    bool take(Dims space, std::span<const View> operands, std::size_t inputs);

    /// Takes a kernel that runs as a whole behind those before it, whatever they touch.
    void take_whole(Dims space);

    std::span<const Step> steps() const { return steps_; }
    std::span<const Field> fields() const { return fields_; }
    /// Row of the field at which the use begins, counted from the number of its step's row; none
    /// where it does not lie in rows of that pitch.
    std::optional<std::int64_t> row_of(const Use& use, std::int64_t pitch) const;

    /// Rows of a field that the first `count` steps touch while they work on a band of one row,
    /// beyond that one row; bytes of one of these rows that they touch.
    struct Window {
        std::int64_t rows = 0, row_bytes = 0;
    };
    Window window(const Field& field, std::size_t count) const;

  private:
    Field* known(const Storage* storage);
    std::optional<std::int64_t> lag(const Use& later, const Step& step, const Use& earlier) const;

    std::vector<Step> steps_;
    std::vector<Field> fields_;
};

}  // namespace unisono
