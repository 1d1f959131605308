// Processes that a program starts or meets while it runs: the third interface of the plugin that
// carries bytes.
//
// They come as the other group of a communicator of two (Communicator::remote_size): its messages
// go to the other group, whose ranks count from 0, and its collective calls are those between two
// groups (Communicator::start_between, call_between). Calls here wait as those of comm/messages.h
// do. All ranks of the communicator that is given make them together.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "comm/messages.h"

namespace unisono::comm {

/// What MPI is told by name, such as the folder in which a program starts.
using Hints = std::vector<std::pair<std::string, std::string>>;

/// A program to start, and how many processes of it.
struct Launch {
    std::string command;
    std::vector<std::string> arguments;
    int count = 1;
    Hints hints;
};

class Processes {
  public:
    virtual ~Processes() = default;
    /// Starts programs; returns when all their processes use MPI. Only the root's `launches` count.
    virtual std::unique_ptr<Communicator> spawn(Communicator& comm,
                                                const std::vector<Launch>& launches, int root) = 0;
    /// The processes that started this one; null where a launcher did.
    virtual std::unique_ptr<Communicator> parent() = 0;

    virtual std::string open_port(const Hints& hints) = 0;
    virtual void close_port(const std::string& port) = 0;
    virtual std::unique_ptr<Communicator> accept(Communicator& comm, const std::string& port,
                                                 const Hints& hints, int root) = 0;
    virtual std::unique_ptr<Communicator> connect(Communicator& comm, const std::string& port,
                                                  const Hints& hints, int root) = 0;
    /// The process at the other end of a socket, which makes the same call; null where they cannot
    /// be connected.
    virtual std::unique_ptr<Communicator> join(int socket) = 0;
    virtual void publish(const std::string& name, const std::string& port, const Hints& hints) = 0;
    virtual void unpublish(const std::string& name, const std::string& port,
                           const Hints& hints) = 0;
    virtual std::string lookup(const std::string& name, const Hints& hints) = 0;

    /// Two groups, whose leaders meet in `peers`, which only they use.
    virtual std::unique_ptr<Communicator> pair(Communicator& local, int leader, Communicator* peers,
                                               int remote_leader, int tag) = 0;

    // Of a communicator of two groups; all ranks of both call.
    /// One of all ranks; those of the group that gives `is_last` come behind the others.
    virtual std::unique_ptr<Communicator> merge(Communicator& both, bool is_last) = 0;
    virtual std::unique_ptr<Communicator> split(Communicator& both, int colour, int key) = 0;
    /// Numbers of the ranks of the other group, as those of Communicator::world_ranks.
    virtual std::vector<int> remote_ranks(Communicator& both) = 0;
};

}  // namespace unisono::comm
