// The registry of back ends and the search for devices by name.
#include "backends/backend.h"

#include <algorithm>
#include <atomic>

#include "backends/listing.h"
#include "backends/parts.h"
#include "backends/properties.h"

namespace unisono {

static std::vector<Backend*>& registry() {
    static std::vector<Backend*> list;
    return list;
}

Registration::Registration(Backend& backend) { registry().push_back(&backend); }

std::span<Backend* const> backends() { return registry(); }

Backend* find_backend(std::string_view name) {
    for (Backend* b : registry()) {
        if (b->name() == name) return b;
    }
    return nullptr;
}

static bool is_listed(std::string_view backend) { return backend != "interp" && backend != "null"; }

std::vector<Device*> all_devices() {
    std::vector<Backend*> order(registry());
    // Link order decides registration order; the list that users see must not depend on it.
    auto rank = [](std::string_view n) {
        return n == "cpu" ? 0 : n == "cuda" ? 1 : n == "opencl" ? 2 : 3;
    };
    std::sort(order.begin(), order.end(),
              [&](Backend* a, Backend* b) { return rank(a->name()) < rank(b->name()); });
    std::vector<Device*> all;
    for (Backend* b : order) {
        if (!is_listed(b->name())) continue;
        for (Device* d : b->devices()) all.push_back(d);
    }
    return all;
}

/// Whether a device called `have` answers to `want`: the name itself, a prefix of it up to a colon,
/// or its kind.
static bool answers(const DeviceInfo& have, std::string_view want) {
    std::string_view n = have.name;
    if (n == want) return true;
    if (n.size() > want.size() && n.substr(0, want.size()) == want && n[want.size()] == ':')
        return true;
    if (have.kind == want && want != "cpu") return true;
    // "opencl:0" counts devices of the back end, whatever their kind.
    auto first = n.find(':');
    auto last = n.rfind(':');
    return first != std::string_view::npos && last > first &&
           want == std::string(n.substr(0, first)) + std::string(n.substr(last));
}

std::uint32_t Device::next_number() {
    static std::atomic<std::uint32_t> last = 0;
    return ++last;
}

static CallbackFault callback_hook = nullptr;
void set_callback_hook(CallbackFault hook) { callback_hook = hook; }
void report_callback_fault(const void* callback, const Fault* fault) noexcept {
    if (callback_hook) callback_hook(callback, *fault);
}

/// The first device that answers to the name; null where none does.
static Device* look_up(std::string_view name) {
    auto first_of = [&](const std::vector<Device*>& devices) -> Device* {
        for (Device* d : devices) {
            if (answers(d->info(), name)) return d;
        }
        return nullptr;
    };
    Backend* b = find_backend(name.substr(0, name.find(':')));
    if (Device* found = first_of(b ? b->devices() : all_devices())) return found;
    return find_part(name);
}

static std::string_view stripped(std::string_view text) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    return text;
}

Device& find_device(std::string_view name) {
    for (std::string_view rest = name;;) {
        const auto comma = rest.find(',');
        if (Device* found = look_up(stripped(rest.substr(0, comma)))) return *found;
        if (comma == std::string_view::npos) break;
        rest.remove_prefix(comma + 1);
    }
    const std::string_view head = name.substr(0, name.find(':'));
    // A back end without devices says why: a library that is not there, a driver that is too old.
    std::string why;
    if (Backend* b = find_backend(head)) {
        for (const std::string& line : b->report()) why += (why.empty() ? "" : "; ") + line;
    }
    if (!why.empty()) why = " (" + why + ")";
    std::string have;
    for (Device* d : all_devices()) have += (have.empty() ? "" : ", ") + d->info().name;
    fail(ErrorKind::Device, "device: there is no device '" + std::string(name) + "'" + why +
                                "; present: " + have +
                                "; see un.devices() and `python -m unisono doctor`");
}

bool Device::is_usable() const { return info().host_memory || forks_ == LongMutex::forks(); }

void Device::require_usable() const {
    if (is_usable()) return;
    fail(ErrorKind::Device,
         "device '" + info().name +
             "': it was found before this process was forked and cannot be used in a child of "
             "fork; start processes with multiprocessing's 'spawn' method, or use devices in the "
             "child only");
}

namespace {
class KnownFault final : public PendingFault {
  public:
    explicit KnownFault(const Fault& fault) : fault_(fault) {}
    Fault read() const override { return fault_; }

  private:
    Fault fault_;
};
}  // namespace

std::shared_ptr<const PendingFault> Executable::submit(const LaunchArgs& args) {
    const Fault fault = launch(args);
    return fault.site < 0 ? nullptr : std::make_unique<KnownFault>(fault);
}

std::vector<DeviceProperty> Device::properties() { return {}; }

std::vector<Device*> Device::divided(std::span<const int>) {
    fail(ErrorKind::Device, "create_sub_devices: device '" + info().name +
                                "' cannot be divided; expected an OpenCL device whose driver "
                                "divides it (see unisono.devices())");
}

Queue& Device::make_queue(const QueueOptions&) {
    fail(ErrorKind::Device, "Queue: device '" + info().name +
                                "' has no further queues; expected an OpenCL device (see "
                                "unisono.devices())");
}

Fault Executable::launch_packed(std::int64_t*, int) {
    fail(ErrorKind::Internal, "launch_packed: this back end takes no packed arguments");
}

Listing Executable::listing() const { return {{}, source(), {}, {}, {}, {}}; }

}  // namespace unisono
