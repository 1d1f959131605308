// Arrays on host memory for tests that launch IR.
#pragma once

#include <deque>
#include <vector>

#include "backends/backend.h"

namespace unisono::testing {

/// Owns shapes and strides of array arguments; data stays with the test.
class HostArrays {
  public:
    template <class T>
    HostArrays& add(std::vector<T>& data, std::vector<std::int64_t> shape,
                    std::vector<std::int64_t> strides = {}, std::int64_t first = 0) {
        if (strides.empty()) {
            strides.resize(shape.size());
            std::int64_t count = 1;
            for (std::size_t k = shape.size(); k-- > 0; count *= shape[k]) strides[k] = count;
        }
        lists_.push_back(std::move(shape));
        const auto& kept_shape = lists_.back();
        lists_.push_back(std::move(strides));
        Memory m{reinterpret_cast<std::uintptr_t>(data.data()),
                 static_cast<std::int64_t>(data.size() * sizeof(T))};
        args_.push_back(
            {m, first * static_cast<std::int64_t>(sizeof(T)), kept_shape, lists_.back()});
        return *this;
    }
    std::span<const ArrayArg> args() const { return args_; }

  private:
    std::deque<std::vector<std::int64_t>> lists_;
    std::vector<ArrayArg> args_;
};

}  // namespace unisono::testing
