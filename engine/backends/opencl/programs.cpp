// Builds programs: from text, or from the binary that the driver made of it in an earlier process.
#include <vector>

#include "backends/codegen/cache.h"
#include "backends/codegen/put_off.h"
#include "backends/opencl/device.h"
#include "backends/opencl/query.h"
#include "core/error.h"

namespace unisono::opencl {

BuiltProgram::~BuiltProgram() {
    if (program && device.is_usable()) api().clReleaseProgram(program);
}

std::string OpenCLDevice::build_options(const CompileOptions& options) const {
    // Generated text may hold unused results and the like; some drivers print warnings to stderr.
    std::string out = "-cl-std=CL1.2 -w";
    // Without this, float32 division and sqrt may be 2.5 and 3 ULP off.
    if (query<cl_device_fp_config>(id_, CL_DEVICE_SINGLE_FP_CONFIG) &
        CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) {
        out += " -cl-fp32-correctly-rounded-divide-sqrt";
    }
    if (options.fastmath) out += " -cl-fast-relaxed-math";
    return out;
}

std::string OpenCLDevice::build_log(cl_program program) const {
    std::size_t length = 0;
    if (api().clGetProgramBuildInfo(program, id_, CL_PROGRAM_BUILD_LOG, 0, nullptr, &length) !=
        CL_SUCCESS)
        return {};
    std::string log(length, '\0');
    api().clGetProgramBuildInfo(program, id_, CL_PROGRAM_BUILD_LOG, length, log.data(), nullptr);
    while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.pop_back();
    return log;
}

cl_program OpenCLDevice::program_of_text(const std::string& source, const std::string& flags) {
    const char* text = source.c_str();
    cl_int code = CL_SUCCESS;
    cl_program program = api().clCreateProgramWithSource(context(), 1, &text, nullptr, &code);
    check(code, "clCreateProgramWithSource");
    code = api().clBuildProgram(program, 1, &id_, flags.c_str(), nullptr, nullptr);
    if (code == CL_SUCCESS) return program;
    const std::string log = build_log(program);
    api().clReleaseProgram(program);
    fail(ErrorKind::Device, "device '" + info_.name + "': clBuildProgram failed; got " +
                                error_name(code) + "; the compiler of the device said:\n" + log +
                                "\nwhile it compiled:\n" + source);
}

/// What was stored; null where there is nothing, or the driver does not take it.
cl_program OpenCLDevice::program_of_binary(const std::string& binary, const std::string& flags) {
    if (binary.empty()) return nullptr;
    const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
    const std::size_t length = binary.size();
    cl_int code = CL_SUCCESS;
    cl_program program =
        api().clCreateProgramWithBinary(context(), 1, &id_, &length, &bytes, nullptr, &code);
    if (code != CL_SUCCESS) return nullptr;
    if (api().clBuildProgram(program, 1, &id_, flags.c_str(), nullptr, nullptr) == CL_SUCCESS)
        return program;
    api().clReleaseProgram(program);
    return nullptr;
}

/// Of a program for this device; empty where the driver has none to give.
std::string OpenCLDevice::binary_of(cl_program program) const {
    std::size_t length = 0;
    if (api().clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof length, &length, nullptr) !=
        CL_SUCCESS)
        return {};
    std::string binary(length, '\0');
    char* to = binary.data();
    if (api().clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(char*), &to, nullptr) !=
        CL_SUCCESS)
        return {};
    return binary;
}

/// Whose binaries they are: those of another driver or processor are of no use.
std::string OpenCLDevice::driver() const {
    return "opencl\n" + query_text(id_, CL_DEVICE_VENDOR) + "\n" + info_.description + "\n";
}

std::shared_ptr<BuiltProgram> OpenCLDevice::build(const std::string& source,
                                                  const CompileOptions& options) {
    std::string flags = build_options(options);
    std::string key = flags + "\n" + source;
    std::lock_guard lock(programs_mutex_);
    if (auto known = programs_[key].lock()) return known;
    auto built = std::make_shared<BuiltProgram>(*this);
    static const codegen::DiskCache disk;
    const bool use_disk = options.use_cache && !options.debug;
    const std::string disk_key = use_disk ? driver() + key : std::string();
    if (use_disk) built->program = program_of_binary(disk.find(disk_key), flags);
    if (!built->program) {
        built->program = program_of_text(source, flags);
        // Drivers take their time for a binary.
        if (use_disk) {
            codegen::put_off([this, disk_key, made = std::weak_ptr(built)] {
                const auto kept = made.lock();
                if (!kept || !is_usable()) return;
                const std::string binary = binary_of(kept->program);
                if (!binary.empty()) disk.store(disk_key, binary);
            });
        }
    }
    programs_[key] = built;
    std::erase_if(programs_, [](const auto& entry) { return entry.second.expired(); });
    return built;
}

}  // namespace unisono::opencl
