// Exchanges of counts and rows.
#include "comm/parts/exchange.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "comm/pieces.h"
#include "core/error.h"
#include "library/gather/index.h"
#include "tape/record/record.h"
#include "tape/tape.h"

namespace unisono::comm {

Array vector_of(std::span<const std::int64_t> values) {
    const std::int64_t shape[] = {static_cast<std::int64_t>(values.size())};
    Array made = empty(shape, DType::Int64, nullptr);
    std::ranges::copy(values, reinterpret_cast<std::int64_t*>(host_data(made, true)));
    return made;
}

char* memory_of(const Array& a, bool for_write) {
    return a.size() > 0 ? host_data(a, for_write) : nullptr;
}

namespace {

std::vector<std::int64_t> numbers_of(const Array& a) {
    const auto all = values_of<const std::int64_t>(a);
    return {all.begin(), all.end()};
}

}  // namespace

template <class T>
std::span<T> values_of(const Array& a) {
    char* data = host_data(a, !std::is_const_v<T>);
    return {reinterpret_cast<T*>(data), static_cast<std::size_t>(a.size())};
}
template std::span<const std::int64_t> values_of<const std::int64_t>(const Array&);
template std::span<std::int64_t> values_of<std::int64_t>(const Array&);

Array at_positions(const Array& a, const Array& positions) {
    library::IndexPart part;
    part.is_array = true;
    part.array = positions;
    return library::get_items(a, {&part, 1});
}

std::vector<std::int64_t> gather_numbers(Mesh& mesh, std::int64_t mine, const std::string& what) {
    const std::vector<std::int64_t> same(static_cast<std::size_t>(mesh.size()), mine);
    return swap_counts(mesh, same, what);
}

std::vector<std::int64_t> swap_counts(Mesh& mesh, std::span<const std::int64_t> to_each,
                                      const std::string& what) {
    const std::vector<std::int64_t> ones(to_each.size(), 1);
    return numbers_of(swap_rows(mesh, vector_of(to_each), ones, ones, "counts of " + what));
}

Array swap_rows(Mesh& mesh, const Array& given, std::span<const std::int64_t> to_each,
                std::span<const std::int64_t> from_each, const std::string& what) {
    const Array rows = given.view().layout->contiguous() ? given : copy(given);
    const DType t = rows.dtype();
    std::vector<std::int64_t> shape(rows.shape().begin(), rows.shape().end());
    std::int64_t row = size_of(t);
    for (std::size_t k = 1; k < shape.size(); ++k) row *= shape[k];
    shape[0] = std::accumulate(from_each.begin(), from_each.end(), std::int64_t{0});
    const Array made = empty(shape, t, nullptr);
    std::vector<Part> sends, receives;
    std::int64_t out = 0, in = 0;
    for (int r = 0; r < mesh.size(); ++r) {
        const auto k = static_cast<std::size_t>(r);
        if (r == mesh.rank()) {
            if (to_each[k] > 0)
                assign(rows_of(made, {in, in + from_each[k]}),
                       rows_of(rows, {out, out + to_each[k]}).arg());
        } else {
            if (to_each[k] > 0) sends.push_back({r, out * row, to_each[k] * row});
            if (from_each[k] > 0) receives.push_back({r, in * row, from_each[k] * row});
        }
        out += to_each[k];
        in += from_each[k];
    }
    if (mesh.size() > 1)
        mesh.record(what, rows.view(), std::move(sends), made.view(), std::move(receives), false);
    return made;
}

std::vector<std::string> gather_texts(Mesh& mesh, const std::string& mine,
                                      const std::string& what) {
    const auto length = static_cast<std::int64_t>(mine.size());
    const std::vector<std::int64_t> to_each(static_cast<std::size_t>(mesh.size()), length);
    const auto from_each = swap_counts(mesh, to_each, what);
    const std::int64_t shape[] = {length * mesh.size()};
    const Array out = empty(shape, DType::UInt8, nullptr);
    char* to = length > 0 ? host_data(out, true) : nullptr;
    for (int r = 0; r < mesh.size() && length > 0; ++r, to += length) std::ranges::copy(mine, to);
    const Array in = swap_rows(mesh, out, to_each, from_each, what);
    const char* at = in.size() > 0 ? host_data(in, false) : nullptr;
    std::vector<std::string> texts;
    for (const std::int64_t n : from_each) {
        texts.emplace_back(n > 0 ? std::string(at, static_cast<std::size_t>(n)) : std::string());
        at += n;
    }
    return texts;
}

void agree(Mesh& mesh, const std::string& what, const std::function<void()>& work) {
    if (mesh.size() == 1) return work();
    std::optional<Error> mine;
    try {
        work();
    } catch (const Error& error) {
        // Its own end of the program is no statement of all.
        if (error.kind() == ErrorKind::Interrupt || error.kind() == ErrorKind::Comm) throw;
        mine = error;
    }
    const std::int64_t own = mine ? 1 + static_cast<std::int64_t>(mine->kind()) : 0;
    const auto kinds = gather_numbers(mesh, own, what);
    const auto failed = std::ranges::find_if(kinds, [](std::int64_t kind) { return kind != 0; });
    if (failed == kinds.end()) return;
    const auto first = static_cast<std::size_t>(failed - kinds.begin());
    const bool speaks = static_cast<std::size_t>(mesh.rank()) == first;
    const auto texts = gather_texts(mesh, speaks ? mine->what() : "", "error in " + what);
    throw Error(static_cast<ErrorKind>(*failed - 1), texts[first] + " (on rank " +
                                                         std::to_string(first) + " of " +
                                                         std::to_string(mesh.size()) + ")");
}

std::vector<std::int64_t> bounds_of(std::span<const std::int64_t> sizes) {
    std::vector<std::int64_t> bounds{0};
    for (std::int64_t n : sizes) bounds.push_back(bounds.back() + n);
    return bounds;
}

Held parts_of_sizes(std::span<const std::int64_t> sizes, int axis) {
    const std::vector<std::int64_t> bounds = bounds_of(sizes);
    Split split = Split::even(axis, bounds.back(), static_cast<int>(sizes.size()));
    split.bounds = std::make_shared<const std::vector<std::int64_t>>(bounds);
    return Held::along(split);
}

}  // namespace unisono::comm
