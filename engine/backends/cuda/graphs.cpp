// Makes, updates and launches graphs; gives single commands.
#include "backends/cuda/graphs.h"

#include <algorithm>
#include <cstring>

#include "backends/cuda/device.h"
#include "core/error.h"

namespace unisono::cuda {

namespace {

/// One command gains nothing.
constexpr std::size_t fewest_commands = 2;
/// A list becomes a graph when it comes so many times: making one costs more than to launch it.
constexpr int times_before = 3;
constexpr std::size_t most_families = 32;
/// Of one family: a few of long lists, more of short ones, whose addresses may take turns for long.
constexpr std::size_t least_graphs = 4, most_nodes = 512;

/// The addresses of a kernel's arguments.
std::vector<void*> pointers_to(std::span<const std::uint64_t> values) {
    std::vector<void*> pointers;
    pointers.reserve(values.size());
    for (const std::uint64_t& v : values) pointers.push_back(const_cast<std::uint64_t*>(&v));
    return pointers;
}

KernelNode kernel_node(const Command& c, std::vector<void*>& pointers) {
    KernelNode node;
    node.function = c.function;
    std::copy(c.grid.begin(), c.grid.end(), node.grid);
    std::copy(c.block.begin(), c.block.end(), node.block);
    node.parameters = pointers.data();
    return node;
}

CopyNode copy_node(const Command& c, std::span<const std::uint64_t> values) {
    CopyNode node;
    node.from.memory_type = c.kind == Command::Kind::CopyIn ? memory_of_host : memory_of_device;
    node.to.memory_type = c.kind == Command::Kind::CopyOut ? memory_of_host : memory_of_device;
    auto set = [](CopyNode::Side& side, std::uint64_t address, std::size_t bytes) {
        if (side.memory_type == memory_of_host)
            side.host = reinterpret_cast<void*>(address);
        else
            side.device = address;
        side.pitch = bytes;
        side.height = 1;
    };
    node.width = values[2];
    set(node.to, values[0], values[2]);
    set(node.from, values[1], values[2]);
    return node;
}

std::uint64_t hash_of(const CommandList& list) {
    std::uint64_t h = 14695981039346656037u;
    auto put = [&](std::uint64_t v) { h = (h ^ v) * 1099511628211u; };
    for (const Command& c : list.commands()) {
        put(static_cast<std::uint64_t>(c.kind));
        put(reinterpret_cast<std::uintptr_t>(c.function));
        for (const unsigned n : c.grid) put(n);
        for (const unsigned n : c.block) put(n);
        put(c.count);
    }
    return h;
}

}  // namespace

const char* call_of(const Command& command) {
    switch (command.kind) {
        case Command::Kind::Kernel: return "cuLaunchKernel";
        case Command::Kind::CopyIn: return "cuMemcpyHtoDAsync";
        case Command::Kind::CopyOut: return "cuMemcpyDtoHAsync";
        case Command::Kind::Copy: return "cuMemcpyDtoDAsync";
    }
    return "";
}

Result give(const Api& api, const Command& c, std::span<const std::uint64_t> values,
            Stream stream) {
    switch (c.kind) {
        case Command::Kind::Kernel: {
            auto pointers = pointers_to(values);
            return api.launch_kernel(c.function, c.grid[0], c.grid[1], c.grid[2], c.block[0],
                                     c.block[1], c.block[2], 0, stream, pointers.data(), nullptr);
        }
        case Command::Kind::CopyIn:
            return api.copy_host_to_device(values[0], reinterpret_cast<void*>(values[1]), values[2],
                                           stream);
        case Command::Kind::CopyOut:
            return api.copy_device_to_host(reinterpret_cast<void*>(values[0]), values[1], values[2],
                                           stream);
        case Command::Kind::Copy:
            return api.copy_device_to_device(values[0], values[1], values[2], stream);
    }
    return 0;
}

// ---- One graph

Graph::~Graph() {
    if (!graph_ || !device_.is_usable() || device_.is_lost()) return;
    try {
        const CudaDevice::Entered entered(device_);
        if (exec_) device_.note_lost(device_.api().graph_exec_destroy(exec_));
        device_.note_lost(device_.api().graph_destroy(graph_));
    } catch (const Error&) {  // the device was just lost
    }
}

Result Graph::make(const CommandList& list) {
    const Api& api = device_.api();
    if (const Result r = api.graph_create(&graph_, 0)) return r;
    list_ = list;
    nodes_.reserve(list.size());
    for (const Command& c : list_.commands()) {
        const GraphNode* before = nodes_.empty() ? nullptr : &nodes_.back();
        const std::size_t count = nodes_.empty() ? 0 : 1;
        GraphNode node = nullptr;
        Result r = 0;
        if (c.kind == Command::Kind::Kernel) {
            auto pointers = pointers_to(list_.values_of(c));
            const KernelNode made = kernel_node(c, pointers);
            r = api.graph_add_kernel(&node, graph_, before, count, &made);
            auto module = c.module->shared_from_this();
            if (std::find(modules_.begin(), modules_.end(), module) == modules_.end())
                modules_.push_back(std::move(module));
        } else {
            const CopyNode made = copy_node(c, list_.values_of(c));
            r = api.graph_add_copy(&node, graph_, before, count, &made, device_.context());
        }
        if (r != 0) return r;
        nodes_.push_back(node);
    }
    return api.graph_instantiate(&exec_, graph_, 0);
}

std::int64_t Graph::differences(const CommandList& list) const {
    if (list.commands() != list_.commands()) return -1;
    if (list.has_values_of(list_)) return 0;
    return std::count_if(list.commands().begin(), list.commands().end(), [&](const Command& c) {
        const auto a = list.values_of(c), b = list_.values_of(c);
        return !std::equal(a.begin(), a.end(), b.begin());
    });
}

Result Graph::update(const CommandList& list) {
    const Api& api = device_.api();
    for (std::size_t k = 0; k < nodes_.size(); ++k) {
        const Command& c = list.commands()[k];
        const auto values = list.values_of(c), known = list_.values_of(c);
        if (std::equal(values.begin(), values.end(), known.begin())) continue;
        Result r = 0;
        if (c.kind == Command::Kind::Kernel) {
            auto pointers = pointers_to(values);
            const KernelNode node = kernel_node(c, pointers);
            r = api.graph_exec_set_kernel(exec_, nodes_[k], &node);
        } else {
            const CopyNode node = copy_node(c, values);
            r = api.graph_exec_set_copy(exec_, nodes_[k], &node, device_.context());
        }
        if (r != 0) return r;
    }
    list_ = list;
    return 0;
}

Result Graph::launch(Stream stream) const { return device_.api().graph_launch(exec_, stream); }

// ---- Those of a queue

Result Graphs::give_each(const CommandList& list, Stream stream, const char*& failed) const {
    for (const Command& c : list.commands()) {
        const Result r = give(device_.api(), c, list.values_of(c), stream);
        if (r == 0) continue;
        failed = call_of(c);
        return r;
    }
    return 0;
}

Graphs::Family& Graphs::family_of(const CommandList& list) {
    const std::uint64_t hash = hash_of(list);
    const auto known = std::find_if(families_.begin(), families_.end(),
                                    [&](const Family& f) { return f.hash == hash; });
    if (known != families_.end()) return *known;
    if (families_.size() >= most_families) {
        const auto oldest =
            std::min_element(families_.begin(), families_.end(),
                             [](const Family& a, const Family& b) { return a.used < b.used; });
        dropped_.insert(dropped_.end(), oldest->graphs.begin(), oldest->graphs.end());
        families_.erase(oldest);
    }
    families_.push_back({hash, 0, 0, {}});
    return families_.back();
}

/// Null where the list is better given command by command.
Graph* Graphs::graph_for(Family& family, const CommandList& list) {
    std::erase_if(family.graphs, [&](const std::shared_ptr<Graph>& g) {
        const bool is_other = g->differences(list) < 0;  // of a list with the same hash
        if (is_other) dropped_.push_back(g);
        return is_other;
    });
    Graph* nearest = nullptr;
    std::int64_t fewest = 0;
    for (const auto& g : family.graphs) {
        const std::int64_t n = g->differences(list);
        if (n == 0) return g.get();
        if (nearest && (n > fewest || (n == fewest && g->used > nearest->used))) continue;
        nearest = g.get();
        fewest = n;
    }
    if (family.times < times_before) return nullptr;
    const std::size_t most_graphs = std::max(least_graphs, most_nodes / list.size());
    const bool is_near = fewest <= static_cast<std::int64_t>(list.size() / 8);
    Result r = 0;
    if (nearest && (is_near || family.graphs.size() >= most_graphs)) {
        r = nearest->update(list);
        if (r == 0) return nearest;
        std::erase_if(family.graphs, [&](const std::shared_ptr<Graph>& g) {
            if (g.get() == nearest) dropped_.push_back(g);
            return g.get() == nearest;
        });
    } else {
        auto made = std::make_shared<Graph>(device_);
        r = made->make(list);
        if (r == 0) return family.graphs.emplace_back(std::move(made)).get();
    }
    is_refused_ = true;
    device_.note_lost(r);
    return nullptr;
}

Result Graphs::run(const CommandList& list, Stream stream, const char*& failed) {
    if (is_refused_ || !device_.api().graph_launch || list.size() < fewest_commands)
        return give_each(list, stream, failed);
    Family& family = family_of(list);
    ++family.times;
    family.used = ++runs_;
    Graph* graph = graph_for(family, list);
    if (!graph) return give_each(list, stream, failed);
    graph->used = runs_;
    failed = "cuGraphLaunch";
    return graph->launch(stream);
}

}  // namespace unisono::cuda
