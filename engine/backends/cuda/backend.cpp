// The back end "cuda": NVIDIA devices through their driver, which is looked for when devices are
// first used.
#include "backends/cuda/device.h"
#include "core/error.h"

namespace unisono::cuda {

namespace {

class CudaBackend final : public Backend {
  public:
    std::string_view name() const override { return "cuda"; }

    std::vector<unisono::Device*> devices() override {
        std::vector<unisono::Device*> all;
        for (const auto& device : found().devices) all.push_back(device.get());
        return all;
    }

    std::vector<std::string> report() override {
        std::vector<std::string> lines = found().lines;
        if (found().devices.empty()) return lines;
        for (const std::string& library : found().devices.front()->libraries()->report())
            lines.push_back("cuda: " + library);
        return lines;
    }

  private:
    struct Found {
        std::vector<std::unique_ptr<CudaDevice>> devices;
        std::vector<std::string> lines;
    };

    static Found& found() {
        static Found& result = *new Found(search());  // freed memory may come back very late
        return result;
    }

    static Found search() {
        Found result;
        std::string why;
        const Api* driver = api(why);
        if (!driver) {
            result.lines.push_back("cuda: no device, " + why);
            return result;
        }
        int count = 0;
        driver->device_get_count(&count);
        for (int k = 0; k < count; ++k) {
            try {
                result.devices.push_back(std::make_unique<CudaDevice>(*driver, k));
                const DeviceInfo& info = result.devices.back()->info();
                result.lines.push_back(info.name + ": " + info.description);
            } catch (const Error& e) {
                result.lines.push_back("cuda: device " + std::to_string(k) +
                                       " is not used: " + e.what());
            }
        }
        if (count == 0) result.lines.push_back("cuda: the driver is present, no device");
        return result;
    }
};

CudaBackend backend;
const Registration registration(backend);

}  // namespace

}  // namespace unisono::cuda
