// Measures arrays and lays shadow marks over their memory.
#include "backends/interp/memory.h"

#include <algorithm>

namespace unisono::interp {

void View::measure() {
    low = 0;
    high = 0;
    for (std::size_t k = 0; k < shape.size(); ++k) {
        if (shape[k] <= 0) {
            high = -1;
            return;
        }
        std::int64_t reach = (shape[k] - 1) * strides[k];
        (reach < 0 ? low : high) += reach;
    }
}

void ArgumentShadows::attach(std::vector<View>& views) {
    struct Range {
        const char* begin;
        const char* end;
        View* view;
    };
    std::vector<Range> ranges;
    for (View& v : views) {
        if (v.high < v.low) continue;
        ranges.push_back({v.data + v.low * v.element, v.data + (v.high + 1) * v.element, &v});
    }
    std::sort(ranges.begin(), ranges.end(),
              [](const Range& a, const Range& b) { return a.begin < b.begin; });
    for (std::size_t first = 0; first < ranges.size();) {
        const char* end = ranges[first].end;
        std::int64_t unit = ranges[first].view->element;
        std::size_t last = first + 1;
        for (; last < ranges.size() && ranges[last].begin < end; ++last) {
            end = std::max(end, ranges[last].end);
            unit = std::min(unit, ranges[last].view->element);
        }
        shadows_.push_back(
            std::make_unique<Shadow>(ranges[first].begin, end - ranges[first].begin, unit));
        for (; first < last; ++first) ranges[first].view->shadow = shadows_.back().get();
    }
}

}  // namespace unisono::interp
