#include "host_pages.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

namespace tidemark {
namespace {

constexpr std::size_t kPage = 4096, kBytes = 64 * kPage;

using RunList = std::vector<std::pair<std::size_t, std::size_t>>;

RunList written(const void* pointer, std::size_t bytes, bool anonymous = true) {
  RunList runs;
  visit_written(pointer, bytes, anonymous,
                [&](std::size_t first, std::size_t last) { runs.emplace_back(first, last); });
  return runs;
}

class HostPagesTest : public testing::Test {
 protected:
  void TearDown() override { pages_.give_back(start_); }
  HostPages pages_;
  std::byte* const start_ = static_cast<std::byte*>(pages_.take(kBytes));
};

TEST_F(HostPagesTest, AnsweredForAsAWhole) {
  EXPECT_TRUE(pages_.owns(start_, kBytes));
  EXPECT_TRUE(pages_.owns(start_ + 5, 7));
  EXPECT_FALSE(pages_.owns(start_ + 1, kBytes));
  EXPECT_FALSE(pages_.owns(&pages_, 1));
  EXPECT_FALSE(pages_.give_back(start_ + kPage));
}

TEST_F(HostPagesTest, MoreThanTheHostHas) {
  void* much = pages_.take(std::size_t{1} << 40);
  ASSERT_NE(much, nullptr);
  EXPECT_TRUE(none_is_given(much, std::size_t{1} << 30));
  EXPECT_TRUE(pages_.give_back(much));
}

TEST_F(HostPagesTest, WrittenPagesAreFoundAndJoined) {
  EXPECT_EQ(written(start_, kBytes), RunList{});
  start_[3 * kPage] = start_[4 * kPage + 9] = start_[60 * kPage] = std::byte{1};
  EXPECT_EQ(written(start_, kBytes), (RunList{{3 * kPage, 5 * kPage}, {60 * kPage, 61 * kPage}}));
  EXPECT_EQ(written(start_ + 3 * kPage + 1, kPage + 9), (RunList{{kPage - 1, kPage + 9}}));
  EXPECT_EQ(written(start_ + 3 * kPage + 1, kPage + 8), RunList{})
      << "what was written in these pages lies before and behind";
  EXPECT_FALSE(none_is_given(start_, kBytes));
  EXPECT_TRUE(none_is_given(start_ + 5 * kPage, 55 * kPage));
}

TEST_F(HostPagesTest, ZerosThatWereWrittenOrReadAreZeros) {
  std::memset(start_, 0, 2 * kPage);
  EXPECT_EQ(*static_cast<volatile char*>(static_cast<void*>(start_ + 10 * kPage)), 0);
  EXPECT_EQ(written(start_, kBytes), RunList{});
}

TEST(VisitWritten, LooksAtEveryByteOfOthersMemory) {
  std::vector<std::byte> others(3 * kPage);
  EXPECT_EQ(written(others.data(), others.size(), false), RunList{});
  others.back() = std::byte{1};
  const RunList runs = written(others.data(), others.size(), false);
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].second, others.size());
}

TEST_F(HostPagesTest, PartsAreUnknown) {
  EXPECT_FALSE(pages_.is_unknown(start_, 1));
  pages_.mark_unknown(start_, 10 * kPage);
  pages_.mark_unknown(start_ + 10 * kPage, 10 * kPage);
  EXPECT_TRUE(pages_.is_unknown(start_, 20 * kPage));
  EXPECT_FALSE(pages_.is_unknown(start_, 20 * kPage + 1));
  pages_.mark_known(start_ + 5, 1);
  EXPECT_TRUE(pages_.is_unknown(start_, 5));
  EXPECT_FALSE(pages_.is_unknown(start_, 6));
  EXPECT_TRUE(pages_.is_unknown(start_ + 6, 20 * kPage - 6));
  pages_.mark_unknown(start_ + 5, 1);
  EXPECT_TRUE(pages_.is_unknown(start_, 20 * kPage));
}

TEST_F(HostPagesTest, WhatWasWrittenBehindOurBackIsKnown) {
  pages_.mark_unknown(start_, kBytes);
  start_[kBytes - 1] = std::byte{1};
  EXPECT_FALSE(pages_.is_unknown(start_, kBytes));
  EXPECT_TRUE(pages_.is_unknown(start_, kBytes - kPage));
}

TEST(HostPages, NothingIsKnownOfOthersMemoryOrOfWhatWasGivenBack) {
  HostPages pages;
  std::vector<std::byte> others(kBytes);
  pages.mark_unknown(others.data(), others.size());
  EXPECT_FALSE(pages.is_unknown(others.data(), others.size()));
  void* start = pages.take(kBytes);
  pages.mark_unknown(start, kBytes);
  pages.give_back(start);
  EXPECT_FALSE(pages.owns(start, 1));
  EXPECT_FALSE(pages.is_unknown(start, 1));
}

TEST(HostPages, AChildThatIsForkedMeanwhileCanGoOn) {
  host_pages();
  std::atomic<bool> over = false;
  std::thread busy([&] {
    while (!over) host_pages().give_back(host_pages().take(kPage));
  });
  for (int round = 0; round < 50; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20);  // ends one that hangs
      void* start = host_pages().take(kPage);
      ::_exit(host_pages().give_back(start) ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
  }
  over = true;
  busy.join();
}

}  // namespace
}  // namespace tidemark
