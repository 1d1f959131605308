// Delivers tagged messages between virtual ranks, and lets them meet in collective calls.
#include "comm/virtual/post.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>
#include <list>
#include <map>
#include <tuple>

#include "core/error.h"

namespace unisono::comm {

namespace {

constexpr const char* collective_names[] = {"barrier",   "bcast",    "gather", "scatter",
                                            "allgather", "alltoall", "reduce", "allreduce",
                                            "scan",      "exscan"};

std::string rank_text(int rank) {
    return rank == any_source ? "any rank"
           : rank == no_rank  ? "no rank"
                              : "rank " + std::to_string(rank);
}
std::string tag_text(int tag) { return tag == any_tag ? "any tag" : "tag " + std::to_string(tag); }

/// Where messages are told apart: a communicator.
struct Envelope {
    int group = 0, source = 0, tag = 0;  ///< source: rank in the group
    bool fits(const Envelope& wanted) const {
        return group == wanted.group && (wanted.source == any_source || wanted.source == source) &&
               (wanted.tag == any_tag || wanted.tag == tag);
    }
};

/// A message that was sent and that nobody has asked for yet.
struct Parcel {
    Envelope envelope;
    std::vector<char> bytes;
    double arrives = 0;
    std::shared_ptr<bool> taken;  ///< what the sender of a synchronous one waits for
    int sender = 0;               ///< position
};

/// A receive that was posted.
struct Posted {
    Envelope wanted;
    char* to = nullptr;
    std::int64_t room = 0;
    bool done = false;
    Delivery delivery;
    double arrives = 0;
};

/// Ranks that meet in a collective call, or to make a communicator.
struct Meeting {
    std::string what;
    int first = -1;  ///< the rank that came first
    struct Share {
        bool came = false;
        CollectiveCall call;
        std::vector<char> bytes;
        double clock = 0;
    };
    std::vector<Share> shares;
    int arrived = 0, left = 0;
    std::vector<int> waiting;  ///< positions
};

}  // namespace

/// What a world keeps for all of its ranks' messages.
struct Post {
    explicit Post(int ranks) : parcels(static_cast<std::size_t>(ranks)), posted(parcels.size()) {}

    std::vector<std::list<Parcel>> parcels;  ///< by position, in the order of arrival
    std::vector<std::list<Posted*>> posted;  ///< by position, in the order of posting
    std::map<std::pair<int, std::uint64_t>, Meeting> meetings;  ///< by group and number
    std::map<std::vector<int>, int> groups;  ///< made so far, by how they were made
    int group(const std::vector<int>& how) {
        return groups.try_emplace(how, static_cast<int>(groups.size()) + 2).first->second;
    }
};

namespace {

/// Of one rank: the world, its post, and the line of its call.
struct Station {
    std::shared_ptr<World> world;
    Post* post;
    int position;
    std::string (*place)();

    std::string here() const { return place ? place() : std::string(); }
    /// `what` in a deadlock's picture, which shows the line.
    Stamp stamp(const std::string& what) const { return {0, 0, what + here()}; }
};

class VirtualMatched final : public Matched {
  public:
    VirtualMatched(Station station, Parcel parcel)
        : station_(std::move(station)), parcel_(std::move(parcel)) {}
    Delivery delivery() const override {
        return {parcel_.envelope.source, parcel_.envelope.tag,
                static_cast<std::int64_t>(parcel_.bytes.size())};
    }
    void receive(void* to) override {
        World::Call call(*station_.world, station_.position);
        std::copy(parcel_.bytes.begin(), parcel_.bytes.end(), static_cast<char*>(to));
        call.wait_until(parcel_.arrives);
    }

  private:
    Station station_;
    Parcel parcel_;
};

/// A request that is done when `is_done` says so; then `finish` runs once.
class VirtualRequest : public Request {
  public:
    VirtualRequest(Station station, Stamp stamp, int source)
        : station_(std::move(station)), stamp_(std::move(stamp)), source_(source) {}
    bool test(Delivery* delivery) override {
        World::Call call(*station_.world, station_.position);
        if (!done_ && !is_done()) {
            call.yield();
            if (!is_done()) return false;
        }
        complete(call, delivery);
        return true;
    }
    void wait(Delivery* delivery) override {
        World::Call call(*station_.world, station_.position);
        if (!done_) call.wait(stamp_, source_, [&] { return is_done(); });
        complete(call, delivery);
    }
    std::size_t wait_any(std::span<Request* const> all) override {
        World::Call call(*station_.world, station_.position);
        std::size_t found = 0;
        auto look = [&] {
            found = 0;
            while (found < all.size() && !static_cast<VirtualRequest*>(all[found])->is_over())
                ++found;
            return found < all.size();
        };
        if (!look()) call.wait(stamp_, -1, look);
        return found;
    }

  protected:
    virtual bool is_done() = 0;
    bool is_over() { return done_ || is_done(); }
    virtual void finish(World::Call&) {}
    Station station_;
    Delivery delivery_;

  private:
    void complete(World::Call& call, Delivery* delivery) {
        if (!done_) finish(call);
        done_ = true;
        if (delivery) *delivery = delivery_;
    }
    Stamp stamp_;
    int source_;
    bool done_ = false;
};

class SendRequest final : public VirtualRequest {
  public:
    SendRequest(Station station, Stamp stamp, int to, std::shared_ptr<bool> taken)
        : VirtualRequest(std::move(station), std::move(stamp), to), taken_(std::move(taken)) {}

  private:
    bool is_done() override { return !taken_ || *taken_; }
    std::shared_ptr<bool> taken_;
};

class ReceiveRequest final : public VirtualRequest {
  public:
    using VirtualRequest::VirtualRequest;
    ~ReceiveRequest() override {
        if (!posted.done) std::erase(station_.post->posted[index()], &posted);
    }
    std::size_t index() const { return static_cast<std::size_t>(station_.position); }
    Posted posted;

  private:
    bool is_done() override { return posted.done; }
    void finish(World::Call& call) override {
        call.wait_until(posted.arrives);
        delivery_ = posted.delivery;
        if (posted.delivery.bytes > posted.room)
            fail(ErrorKind::Comm, "mpi: a message of " + std::to_string(posted.delivery.bytes) +
                                      " bytes from " + rank_text(posted.delivery.source) +
                                      " is longer than the buffer of " +
                                      std::to_string(posted.room) + " bytes" + station_.here() +
                                      " (MPI_ERR_TRUNCATE)");
    }
};

/// Gives the parcel to the receive: its elements, as far as there is room.
void deliver(const Parcel& parcel, Posted& to) {
    const auto bytes = static_cast<std::int64_t>(parcel.bytes.size());
    std::copy_n(parcel.bytes.begin(), std::min(bytes, to.room), to.to);
    to.delivery = {parcel.envelope.source, parcel.envelope.tag, bytes};
    to.arrives = parcel.arrives;
    to.done = true;
    if (parcel.taken) *parcel.taken = true;
}

class VirtualCommunicator;

class CollectiveRequest final : public VirtualRequest {
  public:
    CollectiveRequest(Station station, Stamp stamp, std::pair<int, std::uint64_t> key, int rank,
                      int size)
        : VirtualRequest(std::move(station), std::move(stamp), -1),
          key_(key),
          rank_(rank),
          size_(size) {}

  private:
    Meeting& meeting() { return station_.post->meetings.at(key_); }
    const Meeting::Share& share(int rank) {
        return meeting().shares[static_cast<std::size_t>(rank)];
    }
    /// The ranks whose shares this one needs.
    std::pair<int, int> needed() {
        const CollectiveCall& c = share(rank_).call;
        switch (c.kind) {
            case CollectiveKind::Broadcast:
            case CollectiveKind::Scatter: return {c.root, c.root + 1};
            case CollectiveKind::Gather:
            case CollectiveKind::Reduce:
                return rank_ == c.root ? std::pair(0, size_) : std::pair(rank_, rank_ + 1);
            case CollectiveKind::Scan:
            case CollectiveKind::ExclusiveScan: return {0, rank_ + 1};
            default: return {0, size_};
        }
    }
    bool is_done() override {
        const auto [first, last] = needed();
        for (int r = first; r < last; ++r)
            if (!share(r).came) return false;
        return true;
    }
    void finish(World::Call& call) override {
        const auto [first, last] = needed();
        double clock = 0;
        std::int64_t bytes = 0;
        for (int r = first; r < last; ++r) {
            clock = std::max(clock, share(r).clock);
            bytes += static_cast<std::int64_t>(share(r).bytes.size());
        }
        take();
        call.wait_until(clock + call.tree_time(size_) + call.transfer_time(bytes));
        if (++meeting().left == size_) station_.post->meetings.erase(key_);
    }
    void copy(const char* from, std::int64_t first, std::int64_t at, std::int64_t count) {
        const CollectiveCall& c = share(rank_).call;
        const std::int64_t item = size_of(c.dtype);
        std::copy_n(from + first * item, count * item, static_cast<char*>(c.to) + at * item);
    }
    static std::int64_t count_of(const Shares& s, int rank, std::int64_t each) {
        return s.even() ? each : s.counts[static_cast<std::size_t>(rank)];
    }
    static std::int64_t start_of(const Shares& s, int rank, std::int64_t each) {
        return s.even() ? rank * each : s.starts[static_cast<std::size_t>(rank)];
    }
    void refuse_length(int source, std::int64_t got, std::int64_t expected) {
        fail(ErrorKind::Comm, "mpi: " + meeting().what + ": rank " + std::to_string(source) +
                                  " gave " + std::to_string(got) + " elements to rank " +
                                  std::to_string(rank_) + ", which expected " +
                                  std::to_string(expected) + station_.here());
    }
    /// What rank r has for this one, into the place for it.
    void take_from(int r) {
        const CollectiveCall& mine = share(rank_).call;
        const CollectiveCall& theirs = share(r).call;
        const bool per_rank =
            theirs.kind == CollectiveKind::Scatter || theirs.kind == CollectiveKind::AllToAll;
        const bool in_place = r == rank_ && !mine.from && mine.kind != CollectiveKind::AllToAll;
        if (in_place) return;  // already there
        // In place, what is sent lies as what is received.
        const Shares& sends = theirs.from ? theirs.sends : theirs.receives;
        const std::int64_t each = theirs.from ? theirs.sent : theirs.received;
        const std::int64_t first = per_rank ? start_of(sends, rank_, each) : 0;
        const std::int64_t sent =
            per_rank ? count_of(sends, rank_, each)
                     : static_cast<std::int64_t>(share(r).bytes.size()) / size_of(theirs.dtype);
        const bool all_in_one =
            mine.kind == CollectiveKind::Broadcast || mine.kind == CollectiveKind::Scatter;
        const std::int64_t expected =
            all_in_one ? mine.received : count_of(mine.receives, r, mine.received);
        if (sent > expected) refuse_length(r, sent, expected);
        copy(share(r).bytes.data(), first,
             all_in_one ? 0 : start_of(mine.receives, r, mine.received), sent);
    }
    void reduce_upto(int last) {
        const CollectiveCall& c = share(rank_).call;
        if (last == 0) return;
        std::vector<char> sum = share(0).bytes;
        for (int r = 1; r < last; ++r) {
            if (share(r).bytes.size() != sum.size())
                refuse_length(r, share(r).call.sent, share(0).call.sent);
            // As MPI: what comes from the lower rank stands first.
            combine(c.combine, c.dtype, sum.data(), share(r).bytes.data(), c.sent);
        }
        std::copy(sum.begin(), sum.end(), static_cast<char*>(c.to));
    }
    void take() {
        const CollectiveCall& c = share(rank_).call;
        const bool is_root = rank_ == c.root;
        switch (c.kind) {
            case CollectiveKind::Barrier: return;
            case CollectiveKind::Broadcast:
                if (!is_root) take_from(c.root);
                return;
            case CollectiveKind::Scatter:
                if (c.to) take_from(c.root);
                return;
            case CollectiveKind::Gather:
                for (int r = 0; is_root && r < size_; ++r) take_from(r);
                return;
            case CollectiveKind::AllGather:
            case CollectiveKind::AllToAll:
                for (int r = 0; r < size_; ++r) take_from(r);
                return;
            case CollectiveKind::Reduce:
                if (is_root) reduce_upto(size_);
                return;
            case CollectiveKind::AllReduce: return reduce_upto(size_);
            case CollectiveKind::Scan: return reduce_upto(rank_ + 1);
            case CollectiveKind::ExclusiveScan: return reduce_upto(rank_);
            case CollectiveKind::ReduceScatter: return;  // never here
        }
    }

    std::pair<int, std::uint64_t> key_;
    int rank_, size_;
};

class VirtualCommunicator final : public Communicator {
  public:
    VirtualCommunicator(Station station, int group, std::vector<int> positions, int rank)
        : station_(std::move(station)),
          group_(group),
          positions_(std::move(positions)),
          rank_(rank) {}

    int rank() const override { return rank_; }
    int size() const override { return static_cast<int>(positions_.size()); }
    std::vector<int> world_ranks() const override { return positions_; }
    std::int64_t handle() const override {
        fail(ErrorKind::Unsupported, "mpi: a communicator of virtual ranks has no handle of MPI's");
    }
    void free() override { freed_ = true; }

    std::unique_ptr<Communicator> duplicate() override { return split(0, rank_); }
    std::unique_ptr<Communicator> split_nodes(bool joins, int key) override {
        return split(joins ? 0 : -1, key);
    }
    std::unique_ptr<Communicator> split(int colour, int key) override {
        const int mine[2] = {colour, key};
        std::vector<int> all(2 * positions_.size());
        CollectiveCall c;
        c.kind = CollectiveKind::AllGather;
        c.from = mine;
        c.to = all.data();
        c.sent = c.received = 2;
        c.dtype = DType::Int32;
        const std::uint64_t number = meetings_ + 1;
        start(c)->wait();
        if (colour < 0) return nullptr;
        std::vector<std::pair<int, int>> members;  // key, rank
        for (int r = 0; r < size(); ++r)
            if (all[2 * static_cast<std::size_t>(r)] == colour)
                members.emplace_back(all[2 * static_cast<std::size_t>(r) + 1], r);
        std::ranges::sort(members);
        std::vector<int> ranks;
        for (const auto& [order, r] : members) ranks.push_back(r);
        return made_of(ranks, {0, group_, static_cast<int>(number), colour});
    }
    std::unique_ptr<Communicator> part(std::span<const int> ranks, int tag) override {
        std::vector<int> how{1, group_, tag};
        how.insert(how.end(), ranks.begin(), ranks.end());
        how.push_back(parts_[how]++);  // made so far of the same ranks
        return made_of({ranks.begin(), ranks.end()}, how);
    }

    void send(const void* from, std::int64_t bytes, int to, int tag, bool synchronous) override {
        start_send(from, bytes, to, tag, synchronous)->wait();
    }
    void receive(void* to, std::int64_t bytes, int source, int tag, Delivery* delivery) override {
        start_receive(to, bytes, source, tag)->wait(delivery);
    }
    std::unique_ptr<Request> start_send(const void* from, std::int64_t bytes, int to, int tag,
                                        bool synchronous) override {
        use();
        World::Call call(*station_.world, station_.position);
        std::shared_ptr<bool> taken = synchronous ? std::make_shared<bool>(false) : nullptr;
        const std::string what = "send from rank " + std::to_string(rank_) + " to " +
                                 rank_text(to) + ", " + tag_text(tag);
        if (to == no_rank) {
            taken = nullptr;
        } else {
            check_rank(to, what);
            const auto* first = static_cast<const char*>(from);
            const int position = position_of(to);
            Parcel parcel{{group_, rank_, tag},
                          {first, first + bytes},
                          call.message(bytes),
                          taken,
                          station_.position};
            if (!post_directly(parcel, position))
                station_.post->parcels[static_cast<std::size_t>(position)].push_back(
                    std::move(parcel));
            station_.world->wake(position);
        }
        return std::make_unique<SendRequest>(station_, station_.stamp(what), world_rank(to), taken);
    }
    std::unique_ptr<Request> start_receive(void* to, std::int64_t bytes, int source,
                                           int tag) override {
        use();
        World::Call call(*station_.world, station_.position);
        const std::string what = "recv on rank " + std::to_string(rank_) + " from " +
                                 rank_text(source) + ", " + tag_text(tag);
        auto made =
            std::make_unique<ReceiveRequest>(station_, station_.stamp(what), world_rank(source));
        Posted& posted = made->posted;
        posted.wanted = {group_, source, tag};
        posted.to = static_cast<char*>(to);
        posted.room = bytes;
        if (source == no_rank) {
            posted.done = true;
            posted.delivery = {no_rank, any_tag, 0};
            return made;
        }
        if (source != any_source) check_rank(source, what);
        auto found = find(source, tag);
        if (found == parcels().end()) {
            station_.post->posted[made->index()].push_back(&posted);
            return made;
        }
        deliver(*found, posted);
        if (found->taken) station_.world->wake(found->sender);
        parcels().erase(found);
        return made;
    }

    bool probe(int source, int tag, bool wait, Delivery& delivery) override {
        World::Call call(*station_.world, station_.position);
        if (!await(call, source, tag, wait)) return false;
        const auto found = find(source, tag);
        delivery = {found->envelope.source, found->envelope.tag,
                    static_cast<std::int64_t>(found->bytes.size())};
        return true;
    }
    std::unique_ptr<Matched> match(int source, int tag, bool wait) override {
        World::Call call(*station_.world, station_.position);
        if (!await(call, source, tag, wait)) return nullptr;
        const auto found = find(source, tag);
        Parcel parcel = std::move(*found);
        parcels().erase(found);
        if (parcel.taken) {
            *parcel.taken = true;
            station_.world->wake(parcel.sender);
        }
        return std::make_unique<VirtualMatched>(station_, std::move(parcel));
    }

    std::unique_ptr<Request> start(const CollectiveCall& given) override {
        use();
        World::Call call(*station_.world, station_.position);
        const std::string what = collective_names[static_cast<int>(given.kind)];
        const std::pair<int, std::uint64_t> key{group_, ++meetings_};
        Meeting& m = station_.post->meetings[key];
        if (m.first < 0) {
            m.what = what;
            m.first = rank_;
            m.shares.resize(positions_.size());
        } else if (m.what != what) {
            fail(ErrorKind::Comm, "mpi: ranks make different collective calls; got " + m.what +
                                      " on rank " + std::to_string(m.first) + " and " + what +
                                      " on rank " + std::to_string(rank_) + station_.here());
        }
        Meeting::Share& share = m.shares[static_cast<std::size_t>(rank_)];
        share.came = true;
        share.call = given;
        share.bytes = contribution(given);
        share.clock = call.clock();
        if (given.kind != CollectiveKind::Barrier)
            call.message(static_cast<std::int64_t>(share.bytes.size()));
        for (int p : positions_) station_.world->wake(p);
        return std::make_unique<CollectiveRequest>(station_, station_.stamp(what), key, rank_,
                                                   size());
    }

    std::unique_ptr<Window> window(std::int64_t, Window::Kind, void*) override {
        fail(ErrorKind::Unsupported,
             "mpi: windows on the memory of virtual ranks are not supported; "
             "use messages, or run the program under mpirun" +
                 station_.here());
    }

  private:
    std::list<Parcel>& parcels() {
        return station_.post->parcels[static_cast<std::size_t>(station_.position)];
    }
    std::list<Parcel>::iterator find(int source, int tag) {
        const Envelope wanted{group_, source, tag};
        return std::ranges::find_if(parcels(),
                                    [&](const Parcel& p) { return p.envelope.fits(wanted); });
    }
    int position_of(int rank) const { return positions_[static_cast<std::size_t>(rank)]; }
    int world_rank(int rank) const { return rank >= 0 && rank < size() ? position_of(rank) : -1; }
    bool await(World::Call& call, int source, int tag, bool wait) {
        use();
        const std::string what = "recv on rank " + std::to_string(rank_) + " from " +
                                 rank_text(source) + ", " + tag_text(tag);
        auto is_there = [&] { return find(source, tag) != parcels().end(); };
        if (wait)
            call.wait(station_.stamp(what), world_rank(source), is_there);
        else if (!is_there())
            call.yield();
        return is_there();
    }
    /// To a receive that waits for it.
    bool post_directly(const Parcel& parcel, int position) {
        auto& posted = station_.post->posted[static_cast<std::size_t>(position)];
        const auto found = std::ranges::find_if(
            posted, [&](const Posted* p) { return parcel.envelope.fits(p->wanted); });
        if (found == posted.end()) return false;
        deliver(parcel, **found);
        posted.erase(found);
        return true;
    }
    void use() const {
        if (freed_) fail(ErrorKind::Comm, "mpi: the communicator was freed" + station_.here());
    }
    void check_rank(int rank, const std::string& what) const {
        if (rank < 0 || rank >= size())
            fail(ErrorKind::Comm, "mpi: " + what + ": there are ranks 0 to " +
                                      std::to_string(size() - 1) + station_.here());
    }
    std::unique_ptr<Communicator> made_of(const std::vector<int>& ranks,
                                          const std::vector<int>& how) {
        std::vector<int> positions;
        int mine = -1;
        for (int r : ranks) {
            if (r == rank_) mine = static_cast<int>(positions.size());
            positions.push_back(position_of(r));
        }
        if (mine < 0) return nullptr;
        return std::make_unique<VirtualCommunicator>(station_, station_.post->group(how),
                                                     std::move(positions), mine);
    }
    /// What the rank gives, as bytes.
    std::vector<char> contribution(const CollectiveCall& c) const {
        const bool is_root = rank_ == c.root;
        const std::int64_t item = size_of(c.dtype);
        auto bytes = [&](const void* first, std::int64_t at, std::int64_t count) {
            const auto* p = static_cast<const char*>(first) + at * item;
            return std::vector<char>(p, p + count * item);
        };
        auto all_of = [&](const Shares& s, std::int64_t each) {
            if (s.even()) return each * size();
            std::int64_t end = 0;
            for (std::size_t r = 0; r < s.counts.size(); ++r)
                end = std::max<std::int64_t>(end, std::int64_t{s.starts[r]} + s.counts[r]);
            return end;
        };
        switch (c.kind) {
            case CollectiveKind::Barrier: return {};
            case CollectiveKind::Broadcast:
                return is_root ? bytes(c.to, 0, c.received) : std::vector<char>();
            case CollectiveKind::Scatter:
                return is_root ? bytes(c.from, 0, all_of(c.sends, c.sent)) : std::vector<char>();
            case CollectiveKind::AllToAll:
                return c.from ? bytes(c.from, 0, all_of(c.sends, c.sent))
                              : bytes(c.to, 0, all_of(c.receives, c.received));
            case CollectiveKind::Gather:
                if (!c.from) return {};  // the root's own part is in its place
                return bytes(c.from, 0, c.sent);
            case CollectiveKind::AllGather: {
                if (c.from) return bytes(c.from, 0, c.sent);
                const bool even = c.receives.even();
                const auto r = static_cast<std::size_t>(rank_);
                return bytes(c.to, even ? rank_ * c.received : c.receives.starts[r],
                             even ? c.received : c.receives.counts[r]);
            }
            default: return bytes(c.from ? c.from : c.to, 0, c.sent);
        }
    }

    Station station_;
    int group_;
    std::vector<int> positions_;  ///< of the ranks, in their order
    int rank_;
    bool freed_ = false;
    std::uint64_t meetings_ = 0;
    std::map<std::vector<int>, int> parts_;
};

class VirtualJob final : public Job {
  public:
    explicit VirtualJob(Station station) : station_(std::move(station)) {}
    std::unique_ptr<Communicator> world() override {
        std::vector<int> positions;
        for (int k = 0; k < station_.world->living(); ++k) positions.push_back(k);
        return std::make_unique<VirtualCommunicator>(station_, 0, std::move(positions),
                                                     station_.position);
    }
    std::unique_ptr<Communicator> self() override {
        const std::vector<int> how{2, station_.position};
        return std::make_unique<VirtualCommunicator>(station_, station_.post->group(how),
                                                     std::vector<int>{station_.position}, 0);
    }
    std::string library() const override { return "virtual ranks of unisono, without an MPI"; }
    double wall_time() const override {
        return World::Call(*station_.world, station_.position).clock();
    }
    /// The messages that nobody received.
    std::string finish() override {
        std::string lines;
        for (const Parcel& p : station_.post->parcels[static_cast<std::size_t>(station_.position)])
            lines += "mpi: a message of " + std::to_string(p.bytes.size()) + " bytes from " +
                     rank_text(p.envelope.source) + " to rank " +
                     std::to_string(station_.position) + " with " + tag_text(p.envelope.tag) +
                     " was never received\n";
        return lines;
    }
    [[noreturn]] void abort(int status) override {
        fail(ErrorKind::Comm,
             "mpi: Abort was called with status " + std::to_string(status) + station_.here());
    }

  private:
    Station station_;
};

}  // namespace

std::unique_ptr<Job> virtual_job(std::shared_ptr<World> world, int position,
                                 const JobOptions& options) {
    if (world->is_sampled())
        fail(ErrorKind::Unsupported,
             "mpi: messages between ranks of which a few are sampled; expected a mesh without "
             "sample=, or distributed arrays");
    std::shared_ptr<Post>& post = world->post;
    if (!post) post = std::make_shared<Post>(world->living());
    return std::make_unique<VirtualJob>(
        Station{std::move(world), post.get(), position, options.place});
}

}  // namespace unisono::comm
