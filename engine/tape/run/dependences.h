// What each result of some kernels is computed from, by the memory of operands.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "tape/plan/group.h"
#include "tape/storage.h"

namespace unisono {

/// Of kernels that run one after the other as one step of a device. Asked only where something may
/// have gone wrong.
class Dependences {
  public:
    void add(const Group& group, std::span<const View> inputs, std::span<const View> outputs);
    /// Whether what is in the memory of `written` behind the kernels was computed from what was in
    /// that of `read`.
    bool operator()(const Storage& written, const Storage& read) const;

  private:
    /// Pairs of what is written and what it needs, each once.
    std::vector<std::pair<const Storage*, const Storage*>> pairs_;
    void note(const Storage* written, const Storage* read);
};

}  // namespace unisono
