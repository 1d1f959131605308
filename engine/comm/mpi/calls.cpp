// MPI's types and operations of ours, and requests.
#include "comm/mpi/calls.h"

#include <map>
#include <mutex>
#include <set>

namespace unisono::comm {

MPI_Datatype type_of(DType dtype) {
    switch (dtype) {
        case DType::Bool: return MPI_C_BOOL;
        case DType::Int8: return MPI_INT8_T;
        case DType::UInt8: return MPI_UINT8_T;
        case DType::Int16: return MPI_INT16_T;
        case DType::UInt16: return MPI_UINT16_T;
        case DType::Float16: return MPI_UINT16_T;
        case DType::Int32: return MPI_INT32_T;
        case DType::UInt32: return MPI_UINT32_T;
        case DType::Int64: return MPI_INT64_T;
        case DType::UInt64: return MPI_UINT64_T;
        case DType::Float32: return MPI_FLOAT;
        case DType::Float64: return MPI_DOUBLE;
        case DType::Complex64: return MPI_C_FLOAT_COMPLEX;
        case DType::Complex128: return MPI_C_DOUBLE_COMPLEX;
    }
    return MPI_BYTE;
}

MPI_Op operation_of(Combine combine, DType dtype) {
    bool number = !is_bool(dtype) && !is_half(dtype), real = number && !is_complex(dtype);
    switch (combine) {
        case Combine::Sum:
            if (number) return MPI_SUM;
            if (is_bool(dtype)) return MPI_LOR;
            break;
        case Combine::Product:
            if (number) return MPI_PROD;
            if (is_bool(dtype)) return MPI_LAND;
            break;
        case Combine::Max:
            if (real) return MPI_MAX;
            if (is_bool(dtype)) return MPI_LOR;
            break;
        case Combine::Min:
            if (real) return MPI_MIN;
            if (is_bool(dtype)) return MPI_LAND;
            break;
        case Combine::And:
            if (is_integer(dtype)) return MPI_BAND;
            if (is_bool(dtype)) return MPI_LAND;
            break;
        case Combine::Or:
            if (is_integer(dtype)) return MPI_BOR;
            if (is_bool(dtype)) return MPI_LOR;
            break;
        case Combine::Xor:
            if (is_integer(dtype)) return MPI_BXOR;
            if (is_bool(dtype)) return MPI_LXOR;
            break;
        case Combine::Replace: return MPI_REPLACE;
        case Combine::Nothing: return MPI_NO_OP;
    }
    fail(ErrorKind::Type, "mpi: no such operation on elements of " + std::string(name(dtype)) +
                              place_of_call() + "; convert them with .astype first");
}

Elements::Elements(std::int64_t n, MPI_Datatype of, std::int64_t most)
    : type_(of), count_(static_cast<int>(n)) {
    if (n <= most) return;
    constexpr std::int64_t piece = 1 << 30;
    auto pieces = static_cast<int>(n / piece), rest = static_cast<int>(n % piece);
    MPI_Aint low = 0, extent = 0;
    MPI_Type_get_extent(of, &low, &extent);
    MPI_Datatype large, parts[2];
    MPI_Type_vector(pieces, static_cast<int>(piece), static_cast<int>(piece), of, &large);
    parts[0] = large;
    parts[1] = of;
    int counts[2] = {1, rest};
    MPI_Aint starts[2] = {0, static_cast<MPI_Aint>(pieces) * piece * extent};
    MPI_Type_create_struct(2, counts, starts, parts, &type_);
    MPI_Type_commit(&type_);
    MPI_Type_free(&large);
    count_ = 1;
    made_ = true;
}

Elements::~Elements() {
    if (made_) MPI_Type_free(&type_);  // pending calls keep it
}

Delivery delivery_of(const MPI_Status& status) {
    MPI_Count bytes = 0;
    MPI_Get_elements_x(&status, MPI_BYTE, &bytes);
    int source = status.MPI_SOURCE == MPI_PROC_NULL ? no_rank : status.MPI_SOURCE;
    return {source, status.MPI_TAG, bytes};
}

namespace {

/// Sends and receives that were started and not completed.
struct OpenRequests {
    std::mutex guard;
    std::set<MpiRequest*> all;
};
OpenRequests& open_requests() {
    static OpenRequests* const open = new OpenRequests;  // outlives objects that Python never frees
    return *open;
}

}  // namespace

/// What `note_left` notes.
struct LeftCalls {
    std::mutex guard;
    std::map<MPI_Comm, std::string> calls;
};
static LeftCalls& left_calls() {
    static auto* all = new LeftCalls;
    return *all;
}

void note_left(MPI_Comm comm, const std::string& call) {
    std::lock_guard lock(left_calls().guard);
    left_calls().calls[comm] = call;
    any_left = true;
}

void forget_left(MPI_Comm comm) {
    std::lock_guard lock(left_calls().guard);
    left_calls().calls.erase(comm);
}

std::string left_call(MPI_Comm comm) {
    std::lock_guard lock(left_calls().guard);
    auto found = left_calls().calls.find(comm);
    return found == left_calls().calls.end() ? std::string() : found->second;
}

void MpiRequest::track() {
    started_ = place_of_call();
    std::lock_guard lock(open_requests().guard);
    tracked_ = open_requests().all.insert(this).second;
}

std::string MpiRequest::give_up_open(int most) {
    std::lock_guard lock(open_requests().guard);
    std::string lines;
    for (MpiRequest* r : open_requests().all) {
        int done = r->done_ || r->request == MPI_REQUEST_NULL;
        if (!done) MPI_Test(&r->request, &done, MPI_STATUS_IGNORE);
        r->done_ = true;
        if (done) continue;
        if (most-- > 0) {
            lines += "mpi: a " + r->what_ + ", started" + r->started_ + ", met no " +
                     (r->cancels ? "send\n" : "receive\n");
        }
        if (r->cancels) MPI_Cancel(&r->request);
        MPI_Request_free(&r->request);
    }
    return lines;
}

MpiRequest::~MpiRequest() {
    if (tracked_) {
        std::lock_guard lock(open_requests().guard);
        open_requests().all.erase(this);
    }
    int finalised = 0;
    MPI_Finalized(&finalised);
    if (request == MPI_REQUEST_NULL || finalised) return;
    if (cancels) MPI_Cancel(&request);
    if (!collective) MPI_Request_free(&request);
}

bool MpiRequest::test(Delivery* delivery) {
    if (!done_) {
        int done = 0;
        MPI_Status status;
        check(MPI_Test(&request, &done, &status), [&] { return what_; });
        if (!done) return false;
        done_ = true;
        if (left_) forget_left(comm);
        if (cancels) delivery_ = delivery_of(status);
    }
    if (delivery) *delivery = delivery_;
    return true;
}

void MpiRequest::wait(Delivery* delivery) {
    try {
        wait_until([&] { return test(delivery); }, [&] { return what_; });
    } catch (const Error& e) {
        left_ = collective && e.kind() == ErrorKind::Interrupt;
        if (left_) note_left(comm, what_ + place_of_call());
        throw;
    }
}

std::size_t MpiRequest::wait_any(std::span<Request* const> all) {
    std::size_t found = 0;
    wait_until(
        [&] {
            found = 0;
            while (found < all.size() && !all[found]->test()) ++found;
            return found < all.size();
        },
        [&] { return "any of " + std::to_string(all.size()) + " requests, the first " + what_; });
    return found;
}

}  // namespace unisono::comm
