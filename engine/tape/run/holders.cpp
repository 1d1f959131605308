// Lists storages on a device.
#include "tape/run/holders.h"

#include <algorithm>
#include <string>
#include <tuple>

#include "core/pool.h"
#include "tape/tape.h"

namespace unisono {

std::vector<Holder> holders(const Device& device) {
    std::vector<Holder> found;
    const auto decode = Tape::current().hooks.decode_line;
    for (const Storage* s : current<Places>().on_devices()) {
        if (s->device != &device) continue;
        found.push_back({s->bytes, {}});  // its block may have more
        if (s->use && s->use->line.code && decode) found.back().written = decode(s->use->line);
    }
    auto order = [](const Holder& h) { return std::tie(h.bytes, h.written.file, h.written.line); };
    std::sort(found.begin(), found.end(),
              [&](const Holder& a, const Holder& b) { return order(b) < order(a); });
    return found;
}

Error with_holders(const Error& error, const Device& device) {
    constexpr std::size_t most = 4;
    const std::vector<Holder> all = holders(device);
    if (all.empty()) return error;
    std::string text = error.what();
    text += "; held by";
    for (std::size_t k = 0; k < std::min(all.size(), most); ++k) {
        const SourcePlace& place = all[k].written;
        text += (k ? ", " : " ") + pool::megabytes(all[k].bytes);
        if (place.line) text += " written at " + place.file + ":" + std::to_string(place.line);
    }
    if (all.size() > most) text += " and " + std::to_string(all.size() - most) + " more";
    return Error(error.kind(), text, error.place());
}

}  // namespace unisono
