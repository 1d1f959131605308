// The disk cache of compiled kernels: one file per entry, found by a hash, compared by its full
// key.
//
// Only a folder that the user owns and nobody else can write is used. Entries carry a checksum and
// are renamed into place, so readers never see half of one; anything unreadable counts as absent.
// No operation fails: without a usable folder, kernels are compiled each time. The folder keeps to
// a size: entries carry the time of their last use (to the hour), and the ones unused longest go.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace unisono::codegen {

class DiskCache {
  public:
    /// The folder is made where it is missing; empty: the setting cache_dir, else unisono in the
    /// user's cache folder.
    explicit DiskCache(std::string folder = {});

    /// The code stored under that key, or an empty string.
    std::string find(std::string_view key) const;
    void store(std::string_view key, std::string_view code) const;

    /// Held by the process that makes the code of a key: several that want it at the same time,
    /// as ranks of a job do, compile it once.
    class Claim {
      public:
        Claim() = default;
        Claim(Claim&& other) noexcept;
        Claim& operator=(Claim&&) = delete;
        ~Claim();

      private:
        friend class DiskCache;
        int file_ = -1;
        std::string path_;
    };
    /// Waits until no other process makes the code, for some seconds at most; look for it again
    /// then. Holds nothing where the folder is not used.
    Claim claim(std::string_view key) const;
    /// Removes entries, those unused longest first, until at most `bytes` are left; also what
    /// writers left behind that died an hour ago or more.
    void evict(std::uint64_t bytes) const;

    const std::string& folder() const { return folder_; }
    /// Why the folder is not used; empty where it is.
    const std::string& refusal() const { return refusal_; }

  private:
    std::string path_of(std::string_view key) const;
    void keep_to_size() const;
    std::string folder_;
    std::string refusal_;
};

/// The first claims of this process wait some milliseconds longer, so that another one makes the
/// code if it wants it too: of a rank that need not load the compiler.
void let_others_compile();

/// 64 bits of FNV-1a over 8-byte words: names files and finds damage, no defence against intent.
std::uint64_t checksum(std::string_view text);

}  // namespace unisono::codegen
