// Lists of commands that a queue is given again and again, as graphs of the driver.
//
// A list whose kernels, copies and sizes of blocks came before becomes a graph, which one call
// launches. Where addresses or numbers differ from those of all graphs made of such lists, a
// further graph is made, or the nearest one is updated in place. All commands of a graph run one
// behind the other, as those of a stream.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backends/cuda/commands.h"

namespace unisono::cuda {

class CudaDevice;

/// One graph, made of a list, and what the driver needs to launch it.
class Graph {
  public:
    explicit Graph(const CudaDevice& device) : device_(device) {}
    ~Graph();
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;

    /// Not 0: the driver refuses.
    Result make(const CommandList& list);
    /// How many commands have other values; -1: other commands.
    std::int64_t differences(const CommandList& list) const;
    Result update(const CommandList& list);
    Result launch(Stream stream) const;

    std::uint64_t used = 0;  ///< by the count of launches

  private:
    const CudaDevice& device_;
    GraphHandle graph_ = nullptr;
    GraphExec exec_ = nullptr;
    std::vector<GraphNode> nodes_;
    CommandList list_;
    std::vector<std::shared_ptr<const LoadedModule>> modules_;  ///< of its kernels
};

/// Those of one queue. The queue's order_ is held.
class Graphs {
  public:
    explicit Graphs(const CudaDevice& device) : device_(device) {}
    /// Gives the driver the list, as a graph where it has been seen before. `failed` is the call
    /// that the result, which is not 0, is of.
    Result run(const CommandList& list, Stream stream, const char*& failed);
    /// Graphs that are no longer kept; launches of them may be under way.
    std::vector<std::shared_ptr<const Graph>> take_dropped() { return std::move(dropped_); }

  private:
    /// Lists of the same commands.
    struct Family {
        std::uint64_t hash = 0;
        int times = 0;
        std::uint64_t used = 0;
        std::vector<std::shared_ptr<Graph>> graphs;
    };
    Result give_each(const CommandList& list, Stream stream, const char*& failed) const;
    Family& family_of(const CommandList& list);
    Graph* graph_for(Family& family, const CommandList& list);

    const CudaDevice& device_;
    std::vector<Family> families_;
    std::vector<std::shared_ptr<const Graph>> dropped_;
    std::uint64_t runs_ = 0;
    bool is_refused_ = false;  ///< the driver makes no graphs
};

}  // namespace unisono::cuda
