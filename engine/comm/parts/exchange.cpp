// Exchanges of counts and rows.
#include "comm/parts/exchange.h"

#include <numeric>

#include "comm/split.h"
#include "tape/record/record.h"

namespace unisono::comm {

namespace {

Array vector_of(std::span<const std::int64_t> values) {
    const std::int64_t shape[] = {static_cast<std::int64_t>(values.size())};
    Array made = empty(shape, DType::Int64, nullptr);
    std::ranges::copy(values, reinterpret_cast<std::int64_t*>(host_data(made, true)));
    return made;
}

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
    auto slice = [](const Array& a, std::int64_t begin, std::int64_t count) {
        IndexItem item{IndexItem::Kind::Slice, begin, begin + count, 1, true, true};
        return index(a, {&item, 1});
    };
    std::vector<Part> sends, receives;
    std::int64_t out = 0, in = 0;
    for (int r = 0; r < mesh.size(); ++r) {
        const auto k = static_cast<std::size_t>(r);
        if (r == mesh.rank()) {
            if (to_each[k] > 0)
                assign(slice(made, in, from_each[k]), slice(rows, out, to_each[k]).arg());
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

std::vector<std::int64_t> bounds_of(std::span<const std::int64_t> sizes) {
    std::vector<std::int64_t> bounds{0};
    for (std::int64_t n : sizes) bounds.push_back(bounds.back() + n);
    return bounds;
}

}  // namespace unisono::comm
