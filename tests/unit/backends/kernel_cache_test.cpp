// The disk cache and the object loader: what they refuse, and that refusing costs a compilation,
// never a result.
#include "backends/codegen/cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "backends/backend.h"
#include "backends/codegen/plugin.h"
#include "backends/cpu/loader.h"
#include "backends/cpu/runtime.h"
#include "passes/lower.h"
#include "unit/backends/opencl_samples.h"

using namespace unisono;
using codegen::DiskCache;
namespace fs = std::filesystem;

namespace {

class KernelCache : public ::testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "unisono_cache_XXXXXX").string();
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
    }
    void TearDown() override {
        chmod(folder_.c_str(), 0700);
        fs::remove_all(folder_);
    }
    fs::path only_file() const { return fs::directory_iterator(folder_)->path(); }
    std::string folder_;
};

std::string object_of(ir::Module module) {
    passes::lower(module, {});
    return codegen::compile(module, {}).code;
}

}  // namespace

TEST_F(KernelCache, KeepsToItsSizeByDroppingWhatWasUnusedLongest) {
    DiskCache cache(folder_);
    auto age = [&](int hours) {
        for (const auto& file : fs::directory_iterator(folder_))
            fs::last_write_time(file, file.last_write_time() - std::chrono::hours(hours));
    };
    std::string code(1000, 'c');
    for (const char* key : {"a", "b", "c"}) {
        cache.store(key, code);
        age(3);
    }
    EXPECT_EQ(cache.find("a"), code);  // used: younger than b now
    std::ofstream(folder_ + "/dead.part") << "half";
    cache.evict(1 << 20);
    EXPECT_EQ(cache.find("b"), code);
    age(3);
    EXPECT_EQ(cache.find("a"), code);
    EXPECT_EQ(cache.find("b"), code);
    std::ofstream(folder_ + "/fresh.part") << "half";
    cache.evict(2500);
    EXPECT_EQ(cache.find("a"), code);
    EXPECT_EQ(cache.find("b"), code);
    EXPECT_EQ(cache.find("c"), "");
    EXPECT_FALSE(fs::exists(folder_ + "/dead.part"));
    EXPECT_TRUE(fs::exists(folder_ + "/fresh.part"));
    cache.evict(0);
    EXPECT_EQ(cache.find("a"), "");
}

TEST_F(KernelCache, GivesBackWhatWasStored) {
    DiskCache cache(folder_);
    EXPECT_EQ(cache.refusal(), "");
    EXPECT_EQ(cache.find("key"), "");
    cache.store("key", "code");
    EXPECT_EQ(cache.find("key"), "code");
    EXPECT_EQ(cache.find("other key"), "");
    cache.store("key", "newer code");
    EXPECT_EQ(cache.find("key"), "newer code");
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1) << "no part of a file stays";
}

TEST_F(KernelCache, AnyDamageCountsAsAbsent) {
    DiskCache cache(folder_);
    std::string code(100, 'x');
    cache.store("key", code);
    std::ifstream in(only_file(), std::ios::binary);
    std::string good((std::istreambuf_iterator<char>(in)), {});
    auto write = [&](const std::string& bytes) {
        std::ofstream(only_file(), std::ios::binary | std::ios::trunc) << bytes;
    };
    for (std::size_t k = 0; k < good.size(); ++k) {
        std::string bad = good;
        bad[k] = static_cast<char>(bad[k] ^ 0x10);
        write(bad);
        ASSERT_EQ(cache.find("key"), "") << "byte " << k;
    }
    for (std::size_t length : {std::size_t{0}, std::size_t{7}, std::size_t{40}, good.size() - 1}) {
        write(good.substr(0, length));
        ASSERT_EQ(cache.find("key"), "") << "length " << length;
    }
    write(good + "more");
    EXPECT_EQ(cache.find("key"), "");
    cache.store("key", code);
    EXPECT_EQ(cache.find("key"), code) << "a damaged entry is written again";
}

TEST_F(KernelCache, AFolderThatOthersCanWriteIsNotUsed) {
    chmod(folder_.c_str(), 0777);
    DiskCache cache(folder_);
    EXPECT_NE(cache.refusal(), "");
    cache.store("key", "code");
    EXPECT_TRUE(fs::is_empty(folder_));
    EXPECT_EQ(cache.find("key"), "");
}

TEST_F(KernelCache, WithoutAFolderNothingFails) {
    std::ofstream(folder_ + "/file") << "x";
    DiskCache cache(folder_ + "/file/below");
    EXPECT_NE(cache.refusal(), "");
    cache.store("key", "code");
    EXPECT_EQ(cache.find("key"), "");
}

TEST_F(KernelCache, AReadOnlyFolderStillGivesWhatItHolds) {
    DiskCache cache(folder_);
    cache.store("key", "code");
    chmod(folder_.c_str(), 0500);
    cache.store("other", "code");  // root may write all the same; others may not, and go on
    EXPECT_EQ(cache.find("key"), "code");
}

TEST_F(KernelCache, ConcurrentProcessesAndThreadsSeeWholeEntries) {
    constexpr int processes = 4, rounds = 60;
    auto work = [&](int seed) {
        DiskCache cache(folder_);
        for (int k = 0; k < rounds; ++k) {
            std::string key = "key " + std::to_string(k % 3);
            std::string code(static_cast<std::size_t>(1000 + 37 * (k % 3)),
                             static_cast<char>('a' + k % 3));
            std::string found = cache.find(key);
            if (!found.empty() && found != code) return false;
            if ((k + seed) % 2 == 0) cache.store(key, code);
        }
        return true;
    };
    std::vector<pid_t> children;
    for (int p = 0; p < processes; ++p) {
        pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) _exit(work(p) ? 0 : 1);
        children.push_back(child);
    }
    // One child dies at a random place; whatever it leaves must not disturb the others.
    kill(children.back(), SIGKILL);
    for (pid_t child : children) {
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        bool clean = WIFEXITED(status) && WEXITSTATUS(status) == 0;
        EXPECT_TRUE(clean || child == children.back());
    }
    std::vector<std::thread> threads;
    std::atomic<int> good{0};
    for (int t = 0; t < 3; ++t) threads.emplace_back([&, t] { good += work(t); });
    for (auto& t : threads) t.join();
    EXPECT_EQ(good, 3);
}

TEST(ObjectLoader, LoadsEveryObjectThatIsGenerated) {
    for (const auto& sample : unisono::testing::sample_modules()) {
        std::string why;
        auto code = cpu::load_object(object_of(sample.make()), codegen::kernel_symbol,
                                     cpu::find_import, why);
        EXPECT_NE(code, nullptr) << sample.name << ": " << why;
    }
}

TEST(ObjectLoader, LeavesTheCLibraryToCText) {
    // A kernel whose import is called as a function of the C library.
    std::string object = object_of(unisono::testing::saxpy()), name = "unisono_parallel_for";
    auto at = object.find(name);
    ASSERT_NE(at, std::string::npos);
    object.replace(at, name.size(), std::string("getpid") + std::string(name.size() - 6, '\0'));
    std::string why;
    EXPECT_EQ(cpu::load_object(object, codegen::kernel_symbol, cpu::find_import, why), nullptr);
    EXPECT_EQ(why, "unknown import getpid");
    EXPECT_NE(cpu::load_object(object, codegen::kernel_symbol, cpu::find_import_of_c, why),
              nullptr);
}

TEST(ObjectLoader, TellsWhereItPutTheCode) {
    cpu::PlacedObject placed;
    std::string why, object = object_of(unisono::testing::saxpy());
    auto code = cpu::load_object(object, codegen::kernel_symbol, cpu::find_import, why, &placed);
    ASSERT_NE(code, nullptr);
    EXPECT_EQ(placed.object.size(), object.size());
    auto entry = reinterpret_cast<std::uint64_t>(code->entry());
    bool is_found = false;
    for (const auto& s : placed.symbols)
        is_found = is_found || (s.name == codegen::kernel_symbol && s.address == entry && s.size);
    EXPECT_TRUE(is_found);
    EXPECT_TRUE(placed.code <= entry);
}

TEST(ObjectLoader, RefusesDamagedObjects) {
    std::string good = object_of(unisono::testing::saxpy());
    std::string why;
    EXPECT_EQ(cpu::load_object(std::string(), codegen::kernel_symbol, cpu::find_import, why),
              nullptr);
    EXPECT_EQ(cpu::load_object(good, "no_such_symbol", cpu::find_import, why), nullptr);
    EXPECT_EQ(why, "the object has no symbol no_such_symbol");
    auto none = [](const char*) -> void* { return nullptr; };
    EXPECT_EQ(cpu::load_object(good, codegen::kernel_symbol, none, why), nullptr);
    EXPECT_EQ(why, "unknown import unisono_parallel_for");
    // Any cut, and any byte of the ELF header and the section table replaced: loaded or refused,
    // never a crash.
    for (std::size_t length = 0; length < good.size(); length += 13)
        cpu::load_object(good.substr(0, length), codegen::kernel_symbol, cpu::find_import, why);
    std::uint64_t table = 0;
    std::memcpy(&table, good.data() + 40, sizeof table);
    for (std::size_t k = 0; k < good.size(); ++k) {
        if (k >= 64 && k < table) continue;
        for (char flip : {'\x01', '\x40', '\xff'}) {
            std::string bad = good;
            bad[k] = static_cast<char>(bad[k] ^ flip);
            cpu::load_object(bad, codegen::kernel_symbol, cpu::find_import, why);
        }
    }
}
