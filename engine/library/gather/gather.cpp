// Gather and scatter loops: threads share rows; those of a scatter share the table.
#include "library/gather/gather.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "core/element_copies.h"
#include "core/limits.h"
#include "core/threads/parallel.h"
#include "core/threads/threads.h"

namespace unisono::library {

namespace {

constexpr std::int64_t cached_table = 1 << 19;  // bytes

/// Walks the points of block axes in row-major order.
class Walk {
  public:
    explicit Walk(const BlockAxes& axes) : axes_(axes) { std::fill_n(at_, axes.rank, 0); }
    void seek(std::int64_t point) {
        table = rows = 0;
        for (int k = axes_.rank; k-- > 0;) {
            at_[k] = point % axes_.shape[k];
            point /= axes_.shape[k];
            table += at_[k] * axes_.table[k];
            rows += at_[k] * axes_.rows[k];
        }
    }
    void next() {
        for (int k = axes_.rank; k-- > 0;) {
            table += axes_.table[k];
            rows += axes_.rows[k];
            if (++at_[k] < axes_.shape[k]) return;
            table -= axes_.shape[k] * axes_.table[k];
            rows -= axes_.shape[k] * axes_.rows[k];
            at_[k] = 0;
        }
    }
    std::int64_t table = 0, rows = 0;

  private:
    const BlockAxes& axes_;
    std::int64_t at_[max_rank];  // of the axes that there are
};

template <class T>
void copy_line(T* to, std::int64_t to_stride, const T* from, std::int64_t from_stride,
               std::int64_t n) {
    if (to_stride == 1 && from_stride == 1) {
        std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(T));
        return;
    }
    for (std::int64_t k = 0; k < n; ++k) to[k * to_stride] = from[k * from_stride];
}

/// Copies one block; `to_table` says in which direction.
template <class T, bool to_table>
void copy_block(const BlockAxes& axes, T* table, T* rows) {
    auto line = [](const BlockAxes& b, int k, T* t, T* r) {
        if constexpr (to_table) {
            copy_line(t, b.table[k], static_cast<const T*>(r), b.rows[k], b.shape[k]);
        } else {
            copy_line(r, b.rows[k], static_cast<const T*>(t), b.table[k], b.shape[k]);
        }
    };
    int last = axes.rank - 1;
    if (last == 0) {
        line(axes, 0, table, rows);
        return;
    }
    BlockAxes lines = axes;
    lines.rank = last;
    Walk walk(lines);
    for (std::int64_t k = lines.size(); k-- > 0; walk.next())
        line(axes, last, table + walk.table, rows + walk.rows);
}

/// Rows [begin, end) of one point of the outer axes; `extent` as RowMap's.
template <class T, bool to_table>
void move_rows(const RowMap& m, std::int64_t extent, const std::int64_t* positions, T* table,
               T* rows, std::int64_t begin, std::int64_t end) {
    std::int64_t stride = m.stride, row_stride = m.row_stride;
    auto at = [&](std::int64_t i) {
        std::int64_t p = positions[i];
        return (p + (p < 0 ? extent : 0)) * stride;
    };
    if (m.inner.rank == 0 && extent == 0 && stride == 1 && row_stride == 1) {
        for (std::int64_t i = begin; i < end; ++i) {
            if constexpr (to_table) {
                table[positions[i]] = rows[i];
            } else {
                rows[i] = table[positions[i]];
            }
        }
        return;
    }
    if (m.inner.rank == 0) {
        for (std::int64_t i = begin; i < end; ++i) {
            if constexpr (to_table) {
                table[at(i)] = rows[i * row_stride];
            } else {
                rows[i * row_stride] = table[at(i)];
            }
        }
        return;
    }
    if (m.inner.rank == 1 && m.inner.table[0] == 1 && m.inner.rows[0] == 1) {
        const auto bytes = static_cast<std::size_t>(m.inner.shape[0]) * sizeof(T);
        for (std::int64_t i = begin; i < end; ++i) {
            T *in_table = table + at(i), *in_rows = rows + i * row_stride;
            std::memcpy(to_table ? in_table : in_rows, to_table ? in_rows : in_table, bytes);
        }
        return;
    }
    for (std::int64_t i = begin; i < end; ++i)
        copy_block<T, to_table>(m.inner, table + at(i), rows + i * row_stride);
}

/// Bits whose sign tells: outside [-extent, extent) in the first, below 0 in the second.
struct IndexSigns {
    std::uint64_t outside = 0, negative = 0;
    void take(const std::int64_t* index, std::int64_t count, std::int64_t extent) {
        auto size = static_cast<std::uint64_t>(extent);
        std::uint64_t out = 0, below = 0;
        for (std::int64_t k = 0; k < count; ++k) {
            auto p = static_cast<std::uint64_t>(index[k]);
            out |= (p + size) | (size - 1 - p);
            below |= p;
        }
        outside |= out;
        negative |= below;
    }
    IndexCheck result() const {
        return {static_cast<std::int64_t>(outside) >= 0, static_cast<std::int64_t>(negative) < 0};
    }
};

/// Rows of one element: each piece of the positions is tested while it is in the cache.
template <class T>
bool gather_checked(const RowMap& m, const std::int64_t* positions, T* table, T* rows) {
    std::atomic<bool> inside = true;
    parallel_for(0, m.count, limits::thread_elements, [&](std::int64_t begin, std::int64_t end) {
        constexpr std::int64_t piece = 1024;
        for (std::int64_t first = begin; first < end; first += piece) {
            std::int64_t last = std::min(end, first + piece);
            IndexSigns signs;
            signs.take(positions + first, last - first, m.extent);
            if (!signs.result().inside) {
                inside.store(false, std::memory_order_relaxed);
                return;
            }
            const std::int64_t extent = signs.result().negative ? m.extent : 0;
            move_rows<T, false>(m, extent, positions, table, rows, first, last);
        }
    });
    return inside.load();
}

template <class T>
void gather_as(const RowMap& m, const std::int64_t* positions, T* table, T* rows) {
    std::int64_t grain = std::max<std::int64_t>(1, limits::thread_elements / m.inner.size());
    if (m.outer.rank == 0) {
        parallel_for(0, m.count, grain, [&](std::int64_t begin, std::int64_t end) {
            move_rows<T, false>(m, m.extent, positions, table, rows, begin, end);
        });
        return;
    }
    parallel_for(0, m.outer.size() * m.count, grain, [&](std::int64_t begin, std::int64_t end) {
        Walk outer(m.outer);
        outer.seek(begin / m.count);
        while (begin < end) {
            std::int64_t first = begin % m.count, n = std::min(m.count - first, end - begin);
            move_rows<T, false>(m, m.extent, positions, table + outer.table, rows + outer.rows,
                                first, first + n);
            outer.next();
            begin += n;
        }
    });
}

/// Each thread writes its own part of the table, in the order of the rows. Rows of a part are first
/// gathered in a list, without branches.
template <class T>
void scatter_parts(const RowMap& m, const std::int64_t* positions, T* table, T* rows,
                   IndexRange range) {
    std::int64_t parts = std::min<std::int64_t>(thread_count(), 16);
    std::int64_t size = (range.high - range.low) / parts + 1;
    parallel_for(0, parts, 1, [&](std::int64_t begin, std::int64_t end) {
        constexpr std::int64_t list_size = 1024;
        std::int64_t list[list_size];
        std::int64_t from = range.low + begin * size;
        auto span = static_cast<std::uint64_t>((end - begin) * size);
        for (std::int64_t first = 0; first < m.count; first += list_size) {
            std::int64_t last = std::min(m.count, first + list_size), n = 0;
            for (std::int64_t i = first; i < last; ++i) {
                std::int64_t p = positions[i] + (positions[i] < 0 ? m.extent : 0);
                list[n] = i;
                n += static_cast<std::uint64_t>(p - from) < span;
            }
            for (std::int64_t k = 0; k < n; ++k) {
                std::int64_t i = list[k];
                std::int64_t p = positions[i] + (positions[i] < 0 ? m.extent : 0);
                if (m.inner.rank == 0) {
                    table[p * m.stride] = rows[i * m.row_stride];
                } else {
                    copy_block<T, true>(m.inner, table + p * m.stride, rows + i * m.row_stride);
                }
            }
        }
    });
}

template <class T>
void scatter_as(const RowMap& m, const std::int64_t* positions, T* table, T* rows) {
    std::int64_t points = m.outer.size();
    if (points > 1) {
        // Points of the outer axes are apart in the table: threads share them.
        std::int64_t grain =
            std::max<std::int64_t>(1, limits::thread_elements / (m.count * m.inner.size()));
        parallel_for(0, points, grain, [&](std::int64_t begin, std::int64_t end) {
            Walk outer(m.outer);
            outer.seek(begin);
            for (std::int64_t k = begin; k < end; ++k, outer.next()) {
                move_rows<T, true>(m, m.extent, positions, table + outer.table, rows + outer.rows,
                                   0, m.count);
            }
        });
        return;
    }
    if (m.count * m.inner.size() > 4 * limits::thread_elements && thread_count() > 1) {
        IndexRange range = m.limit ? IndexRange{0, m.limit - 1} : index_range(positions, m.count);
        std::int64_t bytes =
            (range.high - range.low) * std::abs(m.stride) * static_cast<std::int64_t>(sizeof(T));
        // In a cache one thread is as fast as several that each read all positions.
        if (bytes > cached_table || m.inner.rank > 0)
            return scatter_parts(m, positions, table, rows, range);
    }
    move_rows<T, true>(m, m.extent, positions, table, rows, 0, m.count);
}

}  // namespace

bool gather(std::int64_t item_size, const RowMap& map, const std::int64_t* positions,
            const char* table, char* rows, bool checked) {
    if (map.count * map.outer.size() * map.inner.size() == 0) return true;
    bool inside = true;
    with_size(item_size, [&]<class T>() {
        auto* from = reinterpret_cast<T*>(const_cast<char*>(table));
        auto* to = reinterpret_cast<T*>(rows);
        if (checked) {
            inside = gather_checked(map, positions, from, to);
        } else {
            gather_as(map, positions, from, to);
        }
    });
    return inside;
}

void scatter(std::int64_t item_size, const RowMap& map, const std::int64_t* positions, char* table,
             const char* rows) {
    if (map.count * map.outer.size() * map.inner.size() == 0) return;
    with_size(item_size, [&]<class T>() {
        scatter_as(map, positions, reinterpret_cast<T*>(table),
                   reinterpret_cast<T*>(const_cast<char*>(rows)));
    });
}

IndexCheck check_index(const std::int64_t* index, std::int64_t count, std::int64_t extent) {
    if (count <= limits::thread_elements) {
        IndexSigns signs;
        signs.take(index, count, extent);
        return signs.result();
    }
    std::atomic<std::uint64_t> outside = 0, negative = 0;
    parallel_for(0, count, 4 * limits::thread_elements, [&](std::int64_t begin, std::int64_t end) {
        IndexSigns signs;
        signs.take(index + begin, end - begin, extent);
        outside |= signs.outside;
        negative |= signs.negative;
    });
    return IndexSigns{outside, negative}.result();
}

IndexRange index_range(const std::int64_t* index, std::int64_t count) {
    IndexRange all{index[0], index[0]};
    std::mutex mutex;
    parallel_for(0, count, 4 * limits::thread_elements, [&](std::int64_t begin, std::int64_t end) {
        std::int64_t low = index[begin], high = low;
        for (std::int64_t k = begin; k < end; ++k) {
            low = std::min(low, index[k]);
            high = std::max(high, index[k]);
        }
        std::lock_guard lock(mutex);
        all.low = std::min(all.low, low);
        all.high = std::max(all.high, high);
    });
    return all;
}

}  // namespace unisono::library
