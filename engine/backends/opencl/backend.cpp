// The back end "opencl": finds the devices of all platforms when first asked.
#include <map>
#include <memory>
#include <mutex>

#include "backends/opencl/device.h"
#include "core/error.h"

namespace unisono::opencl {

namespace {

class OpenCLBackend final : public Backend {
  public:
    std::string_view name() const override { return "opencl"; }

    std::vector<Device*> devices() override {
        find();
        return devices_;
    }

    std::vector<std::string> report() override {
        find();
        std::vector<std::string> lines = report_;
        if (devices_.empty()) return lines;
        for (const std::string& library : owned_.front()->library_report())
            lines.push_back("opencl: " + library);
        return lines;
    }

  private:
    void find() {
        std::call_once(found_, [this] { search(); });
    }

    void search() {
        const Api& cl = api();
        if (!cl.problem.empty()) {
            report_.push_back("opencl: not usable: " + cl.problem +
                              "; install an OpenCL loader (ocl-icd-libopencl1)");
            return;
        }
        cl_uint count = 0;
        cl_int code = cl.clGetPlatformIDs(0, nullptr, &count);
        if (code != CL_SUCCESS || count == 0) {
            report_.push_back("opencl: the loader is there, but no platform (" + error_name(code) +
                              "); install a driver, for instance pocl-opencl-icd");
            return;
        }
        std::vector<cl_platform_id> platforms(count);
        cl.clGetPlatformIDs(count, platforms.data(), nullptr);
        for (cl_platform_id platform : platforms) search(platform);
    }

    void search(cl_platform_id platform) {
        const Api& cl = api();
        std::string name(256, '\0');
        std::size_t length = 0;
        cl.clGetPlatformInfo(platform, CL_PLATFORM_NAME, name.size(), name.data(), &length);
        name.resize(length ? length - 1 : 0);
        cl_uint count = 0;
        cl_int code = cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count);
        if (code != CL_SUCCESS || count == 0) {
            report_.push_back("opencl: platform " + name + " has no devices (" + error_name(code) +
                              ")");
            return;
        }
        std::vector<cl_device_id> ids(count);
        cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, ids.data(), nullptr);
        for (cl_device_id id : ids) {
            DeviceInfo info = describe(id);
            info.name = "opencl:" + info.kind + ":" + std::to_string(number_[info.kind]++);
            report_.push_back(info.name + ": " + info.description + " of platform " + name);
            owned_.push_back(std::make_unique<OpenCLDevice>(id, platform, std::move(info)));
            devices_.push_back(owned_.back().get());
        }
    }

    std::once_flag found_;
    std::vector<std::unique_ptr<OpenCLDevice>> owned_;
    std::vector<Device*> devices_;
    std::vector<std::string> report_;
    std::map<std::string, int> number_;
};

OpenCLBackend& instance() {
    // Never deleted: arrays and kernels may outlive static destruction, and so must their devices.
    static auto* backend = new OpenCLBackend;
    return *backend;
}

const Registration registration(instance());

}  // namespace

}  // namespace unisono::opencl
