#include "io/pickle.h"

#include <gtest/gtest.h>

#include "support/throws.h"

namespace tidemark::io {
namespace {

using namespace std::string_literals;

Errc refusal_of_pickle(const std::string& bytes) {
  const auto error = error_of([&] { read_pickle(bytes, "p"); });
  EXPECT_TRUE(error);
  return error ? error->code() : Errc::usage;
}

TEST(Pickle, ReadsWhatProtocol4Writes) {
  // pickle.dumps({"a": [1, -2, 300, 1 << 40], "b": (None, True), "c": 0.5}, protocol=4)
  const std::string bytes =
      "\x80\x04\x95\x3b\0\0\0\0\0\0\0}\x94(\x8c\x01"
      "a\x94]\x94(K\x01J\xfe\xff\xff\xffM,\x01\x8a\x06\0\0\0\0\0\x01"
      "e\x8c\x01"
      "b\x94N\x88\x86\x94\x8c\x01"
      "c\x94G?\xe0\0\0\0\0\0\0u."s;
  const Pickle pickle = read_pickle(bytes, "p");
  const PickleNode* a = pickle.find(pickle.root(), "a");
  ASSERT_TRUE(a);
  ASSERT_EQ(a->items.size(), 4U);
  EXPECT_EQ(pickle.node(a->items[1]).integer, -2);
  EXPECT_EQ(pickle.node(a->items[2]).integer, 300);
  EXPECT_EQ(pickle.node(a->items[3]).integer, 1LL << 40);
  const PickleNode* b = pickle.find(pickle.root(), "b");
  EXPECT_EQ(pickle.node(b->items[0]).kind, PickleKind::none);
  EXPECT_EQ(pickle.node(b->items[1]).integer, 1);
  EXPECT_EQ(pickle.find(pickle.root(), "c")->real, 0.5);
  EXPECT_EQ(pickle.find(pickle.root(), "d"), nullptr);
}

TEST(Pickle, SharesWhatIsShared) {
  const Pickle pickle = read_pickle(
      "\x80\x02]q\0(]q\x01h\x01h\x00"
      "e."s,
      "p");
  const auto& items = pickle.root().items;
  ASSERT_EQ(items.size(), 3U);
  EXPECT_EQ(items[0], items[1]);
  EXPECT_EQ(&pickle.node(items[2]), &pickle.root());  // a list that holds itself
}

TEST(Pickle, NeverMakesObjects) {
  EXPECT_EQ(refusal_of_pickle("cos\nsystem\n(S'true'\ntR."), Errc::unsupported);
  EXPECT_EQ(refusal_of_pickle("\x80\x04\x8c\x02os\x8c\x06system\x93."s), Errc::unsupported);
}

TEST(Pickle, RefusesWhatIsBroken) {
  for (const std::string& bytes : {""s,
                                   "."s,
                                   "\x80"s,
                                   "\x80\x09N."s,
                                   "NN."s,
                                   "N"s,
                                   "h\x05."s,
                                   "K"s,
                                   "]a."s,
                                   "]t."s,
                                   "(NNu."s,
                                   "}(Nu."s,
                                   "NNs."s,
                                   "]NNs."s,
                                   "X\xff\xff\xff\xff"
                                   "abc."s,
                                   "\x8d\xff\xff\xff\xff\xff\xff\xff\xff"
                                   "abc."s,
                                   "\x94."s,
                                   "\x8a\x09\0\0\0\0\0\0\0\0\x01."s,
                                   "\x01."s,
                                   "]((e."s,
                                   "(]0e."s})
    EXPECT_EQ(refusal_of_pickle(bytes), Errc::bad_file) << testing::PrintToString(bytes);
}

TEST(Pickle, TakesAnAddressWithItsTopBitForTheLargestNumber) {
  const std::string bytes = "\x8a\x09\0\0\0\0\0\0\0\x80\0."s;
  EXPECT_EQ(read_pickle(bytes, "p").root().integer, INT64_MAX);
  const std::string minus = "\x8a\x01\xff."s, zero = "\x8a\0."s;
  EXPECT_EQ(read_pickle(minus, "p").root().integer, -1);
  EXPECT_EQ(read_pickle(zero, "p").root().integer, 0);
}

}  // namespace
}  // namespace tidemark::io
