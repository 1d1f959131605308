// Starts and meets other processes by MPI's calls. Those that MPI has no requests for are made on
// threads of their own (wait_for_call).
#include "comm/mpi/processes.h"

#include <mutex>
#include <numeric>

#include "comm/mpi/calls.h"

namespace unisono::comm {

namespace {

MPI_Comm comm_of(Communicator& c) { return MPI_Comm_f2c(static_cast<MPI_Fint>(c.handle())); }

/// Hints as MPI takes them.
class MpiInfo {
  public:
    explicit MpiInfo(const Hints& hints) {
        if (hints.empty()) return;
        MPI_Info_create(&info_);
        for (const auto& [key, value] : hints) MPI_Info_set(info_, key.c_str(), value.c_str());
    }
    ~MpiInfo() {
        int finalised = 0;
        MPI_Finalized(&finalised);
        if (info_ != MPI_INFO_NULL && !finalised) MPI_Info_free(&info_);
    }
    MpiInfo(const MpiInfo&) = delete;
    MpiInfo& operator=(const MpiInfo&) = delete;
    MPI_Info get() const { return info_; }

  private:
    MPI_Info info_ = MPI_INFO_NULL;
};

/// What call(&made) makes, on a thread of its own: the call owns what it uses.
template <class Call>
MPI_Comm made_by(const std::string& name, Call call) {
    auto made = std::make_shared<MPI_Comm>(MPI_COMM_NULL);
    auto what = [&] { return name; };
    check(wait_for_call([made, call = std::move(call)] { return call(made.get()); }, what), what);
    return *made;
}

/// Of a communicator of two groups, whose other one may be of processes that nobody knew.
std::unique_ptr<Communicator> met_by(MPI_Comm both) {
    if (both == MPI_COMM_NULL) return nullptr;
    MPI_Group there;
    MPI_Comm_remote_group(both, &there);
    numbers_of(there);
    MPI_Group_free(&there);
    return wrapped(both);
}

/// The arguments of MPI_Comm_spawn_multiple.
struct SpawnCall {
    explicit SpawnCall(const std::vector<Launch>& given) : launches(given) {
        for (Launch& one : launches) {
            commands.push_back(one.command.data());
            auto& list = arguments.emplace_back();
            for (std::string& a : one.arguments) list.push_back(a.data());
            list.push_back(nullptr);
            counts.push_back(one.count);
            infos.push_back(std::make_unique<MpiInfo>(one.hints));
            handles.push_back(infos.back()->get());
        }
        for (auto& list : arguments) lists.push_back(list.data());
        errors.resize(static_cast<std::size_t>(std::reduce(counts.begin(), counts.end())));
    }
    int start(int root, MPI_Comm comm) {
        const int n = static_cast<int>(commands.size());
        if (n == 1) {
            return MPI_Comm_spawn(commands[0], lists[0], counts[0], handles[0], root, comm, &made,
                                  errors.data());
        }
        return MPI_Comm_spawn_multiple(n, commands.data(), lists.data(), counts.data(),
                                       handles.data(), root, comm, &made, errors.data());
    }

    std::vector<Launch> launches;
    std::vector<char*> commands;
    std::vector<std::vector<char*>> arguments;
    std::vector<char**> lists;
    std::vector<int> counts, errors;
    std::vector<std::unique_ptr<MpiInfo>> infos;
    std::vector<MPI_Info> handles;
    MPI_Comm made = MPI_COMM_NULL;
};

/// What to do where a start failed.
#ifdef OPEN_MPI
constexpr const char* advice =
    "; Open MPI starts no more processes than it has slots, one for each core where no file of "
    "hosts says else: OMPI_MCA_rmaps_base_oversubscribe=1 in the environment of the first process, "
    "mpirun --oversubscribe, or the hint map_by=slot:OVERSUBSCRIBE allow more; where it says that "
    "a request has timed out, set EVENT_NOEPOLL=1 there too (MPI_ERR_SPAWN)";
#else
constexpr const char* advice =
    "; MPICH starts processes where its launcher, mpiexec, runs and can: use one that was built "
    "with it, start all ranks by mpiexec, or use Open MPI (MPI_ERR_SPAWN)";
#endif

class MpiProcesses final : public Processes {
  public:
    std::unique_ptr<Communicator> spawn(Communicator& comm, const std::vector<Launch>& launches,
                                        int root) override {
        auto call = std::make_shared<SpawnCall>(launches);
        auto what = [&] {
            return "Spawn of " + std::to_string(call->errors.size()) + " processes of '" +
                   launches[0].command + "', which must use MPI (unisono.mpi does at its import)";
        };
        const MPI_Comm from = comm_of(comm);
        const Starting starting;
        const int status = wait_for_call([=] { return call->start(root, from); }, what);
        if (status != MPI_SUCCESS) {
            char text[MPI_MAX_ERROR_STRING];
            int length = 0;
            MPI_Error_string(status, text, &length);
            fail(ErrorKind::Comm, "mpi: Spawn of " + std::to_string(call->errors.size()) +
                                      " processes of '" + launches[0].command + "'" +
                                      place_of_call() + " failed; got " +
                                      std::string(text, static_cast<std::size_t>(length)) + advice);
        }
        return met_by(call->made);
    }

    std::unique_ptr<Communicator> parent() override {
        MPI_Comm found = MPI_COMM_NULL;
        MPI_Comm_get_parent(&found);
        return met_by(found);
    }

    std::string open_port(const Hints& hints) override {
        char port[MPI_MAX_PORT_NAME];
        const MpiInfo info(hints);
        check(MPI_Open_port(info.get(), port), [] { return std::string("Open_port"); });
        return port;
    }
    void close_port(const std::string& port) override {
        check(MPI_Close_port(port.c_str()), [] { return std::string("Close_port"); });
    }
    std::unique_ptr<Communicator> accept(Communicator& comm, const std::string& port,
                                         const Hints& hints, int root) override {
        return met(MPI_Comm_accept, comm, port, hints, root, "Accept");
    }
    std::unique_ptr<Communicator> connect(Communicator& comm, const std::string& port,
                                          const Hints& hints, int root) override {
        return met(MPI_Comm_connect, comm, port, hints, root, "Connect");
    }
    std::unique_ptr<Communicator> join(int socket) override {
        return met_by(made_by("Join", [=](MPI_Comm* made) { return MPI_Comm_join(socket, made); }));
    }
    void publish(const std::string& name, const std::string& port, const Hints& hints) override {
        const MpiInfo info(hints);
        check(MPI_Publish_name(name.c_str(), info.get(), port.c_str()),
              [&] { return "Publish_name of '" + name + "'"; });
    }
    void unpublish(const std::string& name, const std::string& port, const Hints& hints) override {
        const MpiInfo info(hints);
        check(MPI_Unpublish_name(name.c_str(), info.get(), port.c_str()),
              [&] { return "Unpublish_name of '" + name + "'"; });
    }
    std::string lookup(const std::string& name, const Hints& hints) override {
        char port[MPI_MAX_PORT_NAME];
        const MpiInfo info(hints);
        check(MPI_Lookup_name(name.c_str(), info.get(), port), [&] {
            return "Lookup_name of '" + name + "', which a program that runs must have published,";
        });
        return port;
    }

    std::unique_ptr<Communicator> pair(Communicator& local, int leader, Communicator* peers,
                                       int remote_leader, int tag) override {
        const MPI_Comm from = comm_of(local), over = peers ? comm_of(*peers) : MPI_COMM_NULL;
        return wrapped(made_by("Create_intercomm", [=](MPI_Comm* made) {
            return MPI_Intercomm_create(from, leader, over, remote_leader, tag, made);
        }));
    }
    std::unique_ptr<Communicator> merge(Communicator& both, bool is_last) override {
        const MPI_Comm from = comm_of(both);
        return wrapped(made_by(
            "Merge", [=](MPI_Comm* made) { return MPI_Intercomm_merge(from, is_last, made); }));
    }
    std::unique_ptr<Communicator> split(Communicator& both, int colour, int key) override {
        const MPI_Comm from = comm_of(both);
        return wrapped(made_by("Split", [=](MPI_Comm* made) {
            return MPI_Comm_split(from, colour < 0 ? MPI_UNDEFINED : colour, key, made);
        }));
    }
    std::vector<int> remote_ranks(Communicator& both) override {
        MPI_Group there;
        MPI_Comm_remote_group(comm_of(both), &there);
        std::vector<int> found = numbers_of(there);
        MPI_Group_free(&there);
        return found;
    }

  private:
    template <class Call>
    static std::unique_ptr<Communicator> met(Call call, Communicator& comm, const std::string& port,
                                             const Hints& hints, int root, const char* name) {
        auto info = std::make_shared<MpiInfo>(hints);
        const MPI_Comm from = comm_of(comm);
        return met_by(made_by(std::string(name) + " at port '" + port + "'", [=](MPI_Comm* made) {
            return call(port.c_str(), info->get(), root, from, made);
        }));
    }
};

/// All processes that this one has met, those of MPI_COMM_WORLD first.
struct Met {
    std::mutex guard;
    MPI_Group all = MPI_GROUP_NULL;
};

}  // namespace

std::vector<int> numbers_of(MPI_Group group) {
    static auto* const met = new Met;
    std::lock_guard lock(met->guard);
    if (met->all == MPI_GROUP_NULL) MPI_Comm_group(MPI_COMM_WORLD, &met->all);
    int size = 0;
    MPI_Group_size(group, &size);
    std::vector<int> own(static_cast<std::size_t>(size)), found(own.size());
    std::iota(own.begin(), own.end(), 0);
    MPI_Group_translate_ranks(group, size, own.data(), met->all, found.data());
    if (std::ranges::find(found, MPI_UNDEFINED) == found.end()) return found;
    MPI_Group more;
    MPI_Group_union(met->all, group, &more);
    MPI_Group_free(&met->all);
    met->all = more;
    int count = 0, world = 0;
    MPI_Group_size(more, &count);
    MPI_Comm_size(MPI_COMM_WORLD, &world);
    expect_relatives(static_cast<std::size_t>(count - world));
    MPI_Group_translate_ranks(group, size, own.data(), met->all, found.data());
    return found;
}

std::unique_ptr<Processes> make_processes() { return std::make_unique<MpiProcesses>(); }

}  // namespace unisono::comm
