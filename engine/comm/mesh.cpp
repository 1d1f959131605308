// Numbers the message operations of a mesh and puts them on the tape.
#include "comm/mesh.h"

#include <cstdlib>
#include <utility>

#include "comm/partition.h"
#include "comm/place.h"
#include "context/context.h"
#include "core/error.h"
#include "core/settings.h"
#include "tape/tape.h"

namespace unisono::comm {

namespace {

/// The mesh of a context.
struct MeshPart final : Context::Part {
    static constexpr Context::Slot slot = Context::Slot::Mesh;
    std::unique_ptr<Mesh> mesh;
};

/// " at file:line" of what is recorded now; without folders, which may differ between ranks.
std::string place_text() {
    Tape& tape = Tape::current();
    if (!tape.line.code || !tape.hooks.decode_line) return {};
    SourcePlace place = tape.hooks.decode_line(tape.line);
    if (place.line <= 0) return {};
    auto slash = place.file.rfind('/');
    return " at " + place.file.substr(slash == std::string::npos ? 0 : slash + 1) + ":" +
           std::to_string(place.line);
}

void mix(std::uint64_t& hash, std::uint64_t with) { hash = (hash ^ with) * 0x100000001b3ull; }

/// The messages of one operation, run by the flush that reaches it.
class Messages final : public OpaqueCall {
  public:
    Messages(Transport& transport, Stamp stamp, std::shared_ptr<const Mesh::Operation> operation)
        : transport_(transport), stamp_(std::move(stamp)), operation_(std::move(operation)) {}

    void run(std::span<const View> in, std::span<const View> out) override {
        const Mesh::Operation& o = *operation_;
        transport_.exchange(stamp_, in[0].data(), o.sends, out[0].data(), o.receives, o.settle);
        count_apart(counters_apart().messages_sent, static_cast<std::int64_t>(o.sends.size()));
    }
    std::string name() const override { return stamp_.text; }
    bool communicates() const override { return true; }
    const std::shared_ptr<const Mesh::Operation>& operation() const { return operation_; }

  private:
    Transport& transport_;
    Stamp stamp_;
    std::shared_ptr<const Mesh::Operation> operation_;
};

}  // namespace

Mesh::Mesh(std::string kind, std::unique_ptr<Transport> transport)
    : kind_(std::move(kind)),
      transport_(std::move(transport)),
      size_(transport_->size()),
      place_(std::make_unique<Place>(*this, kind_)),
      partition_(std::make_unique<Partition>(*this)) {
    Tape::current().record_apart(*place_, &partition_->tape());
}

Mesh::~Mesh() {
    Tape::current().record_apart(*place_, nullptr);
    for (Storage* s : std::exchange(spare_, {})) {
        s->retain();
        s->release();  // of a mesh that is not the current one none stays
    }
}

Mesh* Mesh::current() {
    auto* part = Context::current().part_if_made<MeshPart>();
    return part ? part->mesh.get() : nullptr;
}

Mesh& Mesh::get(const std::string& kind, bool (*interrupted)()) {
    auto& mesh = unisono::current<MeshPart>().mesh;
    if (!mesh || mesh->kind_ != kind) {
        TransportOptions options;
        options.timeout = std::atof(setting("comm_timeout").c_str());
        options.interrupted = interrupted;
        mesh.reset(new Mesh(kind, load_transport(kind, options)));
    }
    return *mesh;
}

Mesh& Mesh::start(const std::string& kind, std::unique_ptr<Transport> transport) {
    auto& mesh = unisono::current<MeshPart>().mesh;
    mesh.reset(new Mesh(kind, std::move(transport)));
    return *mesh;
}

void Mesh::note_statement(std::uint64_t what) {
    mix(hash_, what);
    ++statements_;
}

Stamp Mesh::next(std::string text) {
    Stamp stamp;
    stamp.number = stamp.answers = ++number_;
    stamp.text = std::move(text);
    for (char c : stamp.text) mix(hash_, static_cast<unsigned char>(c));
    stamp.hash = hash_;
    stamp.statements = statements_;
    return stamp;
}

void Mesh::append(Stamp stamp, std::shared_ptr<const Operation> operation, const View& from,
                  const View& to) {
    Entry e{};
    e.kind = EntryKind::Opaque;
    e.inputs = 1;
    e.in[0] = from;
    e.out = to;
    e.call =
        new Messages(*transport_, std::move(stamp), std::move(operation));  // owned by the tape
    Tape::current().append(e);
}

void Mesh::record(const std::string& what, const View& from, std::vector<Part> sends,
                  const View& to, std::vector<Part> receives, bool settle) {
    repeat(std::make_shared<const Operation>(
               Operation{what + place_text(), std::move(sends), std::move(receives), settle, 0}),
           from, to);
}

std::shared_ptr<const Mesh::Operation> Mesh::operation_of(const OpaqueCall& call) {
    const auto* messages = dynamic_cast<const Messages*>(&call);
    return messages ? messages->operation() : nullptr;
}

void Mesh::repeat(const std::shared_ptr<const Operation>& operation, const View& from,
                  const View& to) {
    Stamp stamp = next(operation->text);
    stamp.answers -= operation->behind;
    append(std::move(stamp), operation, from, to);
}

void Mesh::pass_on(const std::string& what, int before, const Array& in,
                   const std::function<Array()>& compute, int after) {
    auto bytes_of = [](const Array& a) { return a.size() * size_of(a.dtype()); };
    const std::string place = place_text();
    Operation getting{what + place, {}, {}, false, 0};
    if (before >= 0) getting.receives.push_back({before, 0, bytes_of(in)});
    repeat(std::make_shared<const Operation>(std::move(getting)), in.view(), in.view());
    const std::uint64_t got = number_;
    const Array out = compute();
    Operation giving{what + ", passed on" + place, {}, {}, false, number_ + 1 - got};
    if (after >= 0) giving.sends.push_back({after, 0, bytes_of(out)});
    repeat(std::make_shared<const Operation>(std::move(giving)), out.view(), out.view());
}

void Mesh::barrier() {
    Tape::current().flush_all(FlushReason::Eval);
    transport_->exchange(next("barrier" + place_text()), nullptr, {}, nullptr, {}, true);
}

void Mesh::finish() {
    Tape::current().flush_all(FlushReason::Exit);
    Tape::current().line = {};
    transport_->finish(next("the end of the program" + place_text()));
}

}  // namespace unisono::comm
