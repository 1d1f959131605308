// Numbers the message operations of a mesh and puts them on the tape.
#include "comm/mesh.h"

#include <cstdlib>

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
    Messages(Transport& transport, Stamp stamp, std::vector<Part> sends, std::vector<Part> receives,
             bool settle)
        : transport_(transport),
          stamp_(std::move(stamp)),
          sends_(std::move(sends)),
          receives_(std::move(receives)),
          settle_(settle) {}

    void run(std::span<const View> in, std::span<const View> out) override {
        transport_.exchange(stamp_, in[0].data(), sends_, out[0].data(), receives_, settle_);
        count_apart(counters_apart().messages_sent, static_cast<std::int64_t>(sends_.size()));
    }
    std::string name() const override { return stamp_.text; }
    bool communicates() const override { return true; }

  private:
    Transport& transport_;
    Stamp stamp_;
    std::vector<Part> sends_, receives_;
    bool settle_;
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

Mesh::~Mesh() { Tape::current().record_apart(*place_, nullptr); }

Mesh* Mesh::current() { return unisono::current<MeshPart>().mesh.get(); }

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

Stamp Mesh::next(const std::string& what) {
    Stamp stamp;
    stamp.number = stamp.answers = ++number_;
    stamp.text = what + place_text();
    for (char c : stamp.text) mix(hash_, static_cast<unsigned char>(c));
    stamp.hash = hash_;
    stamp.statements = statements_;
    return stamp;
}

void Mesh::append(Stamp stamp, const View& from, std::vector<Part> sends, const View& to,
                  std::vector<Part> receives, bool settle) {
    Entry e{};
    e.kind = EntryKind::Opaque;
    e.inputs = 1;
    e.in[0] = from;
    e.out = to;
    e.call = new Messages(*transport_, std::move(stamp), std::move(sends), std::move(receives),
                          settle);  // owned by the tape
    Tape::current().append(e);
}

void Mesh::record(const std::string& what, const View& from, std::vector<Part> sends,
                  const View& to, std::vector<Part> receives, bool settle) {
    append(next(what), from, std::move(sends), to, std::move(receives), settle);
}

void Mesh::pass_on(const std::string& what, int before, const Array& in,
                   const std::function<Array()>& compute, int after) {
    auto bytes_of = [](const Array& a) { return a.size() * size_of(a.dtype()); };
    std::vector<Part> receives, sends;
    if (before >= 0) receives.push_back({before, 0, bytes_of(in)});
    const Stamp got = next(what);
    append(got, in.view(), {}, in.view(), std::move(receives), false);
    const Array out = compute();
    Stamp given = next(what + ", passed on");
    given.answers = got.number;
    if (after >= 0) sends.push_back({after, 0, bytes_of(out)});
    append(std::move(given), out.view(), std::move(sends), out.view(), {}, false);
}

void Mesh::barrier() {
    Tape::current().flush_all(FlushReason::Eval);
    transport_->exchange(next("barrier"), nullptr, {}, nullptr, {}, true);
}

void Mesh::finish() {
    Tape::current().flush_all(FlushReason::Exit);
    Tape::current().line = {};
    transport_->finish(next("the end of the program"));
}

}  // namespace unisono::comm
