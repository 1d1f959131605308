// What OpenCL drivers tell of their devices.
#include "backends/properties.h"

#include <algorithm>
#include <string_view>

#include "backends/opencl/device.h"
#include "backends/opencl/query.h"
#include "core/settings.h"

namespace unisono::opencl {

std::string query_text(cl_device_id id, cl_device_info what) {
    std::size_t size = 0;
    if (api().clGetDeviceInfo(id, what, 0, nullptr, &size) != CL_SUCCESS || size == 0) return {};
    std::string text(size, '\0');
    if (api().clGetDeviceInfo(id, what, size, text.data(), nullptr) != CL_SUCCESS) return {};
    while (!text.empty() && (text.back() == '\0' || text.back() == ' ')) text.pop_back();
    return text;
}

namespace {

enum class Answer { Text, Words, Bool, UInt, ULong, Size, Sizes };

struct Question {
    const char* name;  ///< PyOpenCL's, in lower case
    cl_device_info what;
    Answer answer;
};

constexpr Question questions[] = {
    {"name", CL_DEVICE_NAME, Answer::Text},
    {"vendor", CL_DEVICE_VENDOR, Answer::Text},
    {"vendor_id", CL_DEVICE_VENDOR_ID, Answer::UInt},
    {"version", CL_DEVICE_VERSION, Answer::Text},
    {"driver_version", CL_DRIVER_VERSION, Answer::Text},
    {"opencl_c_version", CL_DEVICE_OPENCL_C_VERSION, Answer::Text},
    {"profile", CL_DEVICE_PROFILE, Answer::Text},
    {"available", CL_DEVICE_AVAILABLE, Answer::Bool},
    {"compiler_available", CL_DEVICE_COMPILER_AVAILABLE, Answer::Bool},
    {"endian_little", CL_DEVICE_ENDIAN_LITTLE, Answer::Bool},
    {"address_bits", CL_DEVICE_ADDRESS_BITS, Answer::UInt},
    {"max_compute_units", CL_DEVICE_MAX_COMPUTE_UNITS, Answer::UInt},
    {"max_clock_frequency", CL_DEVICE_MAX_CLOCK_FREQUENCY, Answer::UInt},
    {"max_work_item_dimensions", CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, Answer::UInt},
    {"max_work_item_sizes", CL_DEVICE_MAX_WORK_ITEM_SIZES, Answer::Sizes},
    {"max_work_group_size", CL_DEVICE_MAX_WORK_GROUP_SIZE, Answer::Size},
    {"preferred_vector_width_char", CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR, Answer::UInt},
    {"preferred_vector_width_short", CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT, Answer::UInt},
    {"preferred_vector_width_int", CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT, Answer::UInt},
    {"preferred_vector_width_long", CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG, Answer::UInt},
    {"preferred_vector_width_half", CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF, Answer::UInt},
    {"preferred_vector_width_float", CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, Answer::UInt},
    {"preferred_vector_width_double", CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, Answer::UInt},
    {"native_vector_width_float", CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, Answer::UInt},
    {"native_vector_width_double", CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, Answer::UInt},
    {"single_fp_config", CL_DEVICE_SINGLE_FP_CONFIG, Answer::ULong},
    {"double_fp_config", CL_DEVICE_DOUBLE_FP_CONFIG, Answer::ULong},
    {"global_mem_size", CL_DEVICE_GLOBAL_MEM_SIZE, Answer::ULong},
    {"global_mem_cache_size", CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, Answer::ULong},
    {"global_mem_cacheline_size", CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, Answer::UInt},
    {"max_mem_alloc_size", CL_DEVICE_MAX_MEM_ALLOC_SIZE, Answer::ULong},
    {"max_constant_buffer_size", CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, Answer::ULong},
    {"max_constant_args", CL_DEVICE_MAX_CONSTANT_ARGS, Answer::UInt},
    {"max_parameter_size", CL_DEVICE_MAX_PARAMETER_SIZE, Answer::Size},
    {"local_mem_size", CL_DEVICE_LOCAL_MEM_SIZE, Answer::ULong},
    {"local_mem_type", CL_DEVICE_LOCAL_MEM_TYPE, Answer::UInt},
    {"mem_base_addr_align", CL_DEVICE_MEM_BASE_ADDR_ALIGN, Answer::UInt},
    {"host_unified_memory", CL_DEVICE_HOST_UNIFIED_MEMORY, Answer::Bool},
    {"error_correction_support", CL_DEVICE_ERROR_CORRECTION_SUPPORT, Answer::Bool},
    {"image_support", CL_DEVICE_IMAGE_SUPPORT, Answer::Bool},
    {"max_read_image_args", CL_DEVICE_MAX_READ_IMAGE_ARGS, Answer::UInt},
    {"max_write_image_args", CL_DEVICE_MAX_WRITE_IMAGE_ARGS, Answer::UInt},
    {"image2d_max_width", CL_DEVICE_IMAGE2D_MAX_WIDTH, Answer::Size},
    {"image2d_max_height", CL_DEVICE_IMAGE2D_MAX_HEIGHT, Answer::Size},
    {"image3d_max_width", CL_DEVICE_IMAGE3D_MAX_WIDTH, Answer::Size},
    {"image3d_max_height", CL_DEVICE_IMAGE3D_MAX_HEIGHT, Answer::Size},
    {"image3d_max_depth", CL_DEVICE_IMAGE3D_MAX_DEPTH, Answer::Size},
    {"max_samplers", CL_DEVICE_MAX_SAMPLERS, Answer::UInt},
    {"profiling_timer_resolution", CL_DEVICE_PROFILING_TIMER_RESOLUTION, Answer::Size},
    {"queue_properties", CL_DEVICE_QUEUE_PROPERTIES, Answer::ULong},
    {"execution_capabilities", CL_DEVICE_EXECUTION_CAPABILITIES, Answer::ULong},
    {"partition_max_sub_devices", CL_DEVICE_PARTITION_MAX_SUB_DEVICES, Answer::UInt},
    {"printf_buffer_size", CL_DEVICE_PRINTF_BUFFER_SIZE, Answer::Size},
    {"preferred_interop_user_sync", CL_DEVICE_PREFERRED_INTEROP_USER_SYNC, Answer::Bool},
    {"built_in_kernels", CL_DEVICE_BUILT_IN_KERNELS, Answer::Words},
    {"extensions", CL_DEVICE_EXTENSIONS, Answer::Words},
};

std::vector<std::string> words(const std::string& text) {
    std::vector<std::string> list;
    std::string word;
    for (const char c : text + " ") {
        if (c != ' ' && c != ';') {
            word += c;
        } else if (!word.empty()) {
            list.push_back(std::exchange(word, {}));
        }
    }
    return list;
}

decltype(DeviceProperty::value) answer(cl_device_id id, const Question& q) {
    switch (q.answer) {
        case Answer::Text: return query_text(id, q.what);
        case Answer::Words: return words(query_text(id, q.what));
        case Answer::Bool: return query<cl_bool>(id, q.what) != 0;
        case Answer::UInt: return static_cast<std::int64_t>(query<cl_uint>(id, q.what));
        case Answer::ULong: return static_cast<std::int64_t>(query<cl_ulong>(id, q.what));
        case Answer::Size: return static_cast<std::int64_t>(query<std::size_t>(id, q.what));
        case Answer::Sizes: break;
    }
    const auto sizes = query_list<std::size_t>(id, q.what);
    return std::vector<std::int64_t>(sizes.begin(), sizes.end());
}

std::string platform_text(cl_platform_id platform, cl_platform_info what) {
    std::size_t size = 0;
    if (api().clGetPlatformInfo(platform, what, 0, nullptr, &size) != CL_SUCCESS || !size)
        return {};
    std::string text(size, '\0');
    api().clGetPlatformInfo(platform, what, size, text.data(), nullptr);
    text.resize(size - 1);
    return text;
}

std::vector<std::string> aspects(cl_device_id id) {
    const auto extensions = words(query_text(id, CL_DEVICE_EXTENSIONS));
    const auto queues = query<cl_command_queue_properties>(id, CL_DEVICE_QUEUE_PROPERTIES);
    std::vector<std::string> found;
    auto add = [&](bool has, const char* aspect) {
        if (has) found.emplace_back(aspect);
    };
    add(std::find(extensions.begin(), extensions.end(), "cl_khr_fp16") != extensions.end(), "fp16");
    add(query<cl_bool>(id, CL_DEVICE_IMAGE_SUPPORT) != 0, "image");
    add(query<cl_bool>(id, CL_DEVICE_HOST_UNIFIED_MEMORY) != 0, "host_unified_memory");
    add((queues & CL_QUEUE_PROFILING_ENABLE) != 0, "queue_profiling");
    add((queues & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0, "out_of_order_queue");
    add(query<cl_uint>(id, CL_DEVICE_PARTITION_MAX_SUB_DEVICES) > 1, "sub_devices");
    return found;
}

}  // namespace

std::vector<DeviceProperty> OpenCLDevice::properties() {
    std::vector<DeviceProperty> list{
        {"platform", platform_text(platform_, CL_PLATFORM_NAME)},
        {"platform_version", platform_text(platform_, CL_PLATFORM_VERSION)},
        {"aspects", aspects(id_)},
    };
    for (const Question& q : questions) list.push_back({q.name, answer(id_, q)});
    return list;
}

DeviceInfo describe(cl_device_id id) {
    DeviceInfo info;
    auto type = query<cl_device_type>(id, CL_DEVICE_TYPE);
    info.kind = type & CL_DEVICE_TYPE_GPU   ? "gpu"
                : type & CL_DEVICE_TYPE_CPU ? "cpu"
                                            : "accelerator";
    info.vendor = query_text(id, CL_DEVICE_VENDOR);
    info.description = query_text(id, CL_DEVICE_NAME) + " (" + query_text(id, CL_DEVICE_VERSION) +
                       ", driver " + query_text(id, CL_DRIVER_VERSION) + ")";
    info.compute_units = static_cast<int>(query<cl_uint>(id, CL_DEVICE_MAX_COMPUTE_UNITS, 1));
    info.memory_bytes = static_cast<std::int64_t>(query<cl_ulong>(id, CL_DEVICE_GLOBAL_MEM_SIZE));
    info.max_work_group_size =
        static_cast<std::int64_t>(query<std::size_t>(id, CL_DEVICE_MAX_WORK_GROUP_SIZE, 1));
    const auto sizes = query_list<std::size_t>(id, CL_DEVICE_MAX_WORK_ITEM_SIZES);
    for (std::size_t i = 0; i < std::min<std::size_t>(3, sizes.size()); ++i)
        info.max_work_item_sizes[i] = static_cast<std::int64_t>(sizes[i]);
    info.local_memory_bytes =
        static_cast<std::int64_t>(query<cl_ulong>(id, CL_DEVICE_LOCAL_MEM_SIZE));
    std::string extensions = " " + query_text(id, CL_DEVICE_EXTENSIONS) + " ";
    auto has = [&](const char* name) {
        return extensions.find(std::string(" ") + name + " ") != std::string::npos;
    };
    info.has_float64 =
        (has("cl_khr_fp64") || query<cl_device_fp_config>(id, CL_DEVICE_DOUBLE_FP_CONFIG) != 0) &&
        setting("device_float64") == "1";
    info.has_int64_atomics =
        has("cl_khr_int64_base_atomics") && has("cl_khr_int64_extended_atomics");
    return info;
}

}  // namespace unisono::opencl
