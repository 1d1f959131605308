// From each output of a group down to the inputs.
#include "tape/run/dependences.h"

#include <algorithm>

namespace unisono {

/// The inputs that a node of the group is computed from.
static std::vector<bool> inputs_of(const Group& group, std::size_t node) {
    std::vector<bool> found(group.inputs.size()), needed(group.nodes.size());
    needed[node] = true;
    mark_needed(group, needed);
    for (std::size_t k = 0; k < needed.size(); ++k)
        if (needed[k] && group.nodes[k].kind == Group::Kind::Input) found[group.nodes[k].a] = true;
    return found;
}

void Dependences::note(const Storage* written, const Storage* read) {
    const std::pair pair{written, read};
    if (std::find(pairs_.begin(), pairs_.end(), pair) == pairs_.end()) pairs_.push_back(pair);
}

void Dependences::add(const Group& group, std::span<const View> inputs,
                      std::span<const View> outputs) {
    const auto before = pairs_;  // outputs are written together
    for (std::size_t o = 0; o < outputs.size(); ++o) {
        const Storage* written = outputs[o].storage;
        const std::vector<bool> needed = inputs_of(group, group.outputs[o].node);
        for (std::size_t k = 0; k < inputs.size(); ++k) {
            if (!needed[k]) continue;
            note(written, inputs[k].storage);
            for (const auto& [earlier, read] : before)
                if (earlier == inputs[k].storage) note(written, read);
        }
    }
}

bool Dependences::operator()(const Storage& written, const Storage& read) const {
    return std::find(pairs_.begin(), pairs_.end(), std::pair{&written, &read}) != pairs_.end();
}

}  // namespace unisono
