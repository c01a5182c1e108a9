#include "mailonce/message/identity.h"

#include <gtest/gtest.h>

#include "builders.h"

namespace mailonce::message {
namespace {

using test::text_message;

IdentityOptions by(std::string_view strategy) {
  IdentityOptions options;
  options.strategies = {*Strategy::parse(strategy)};
  return options;
}

std::string with_key(std::string_view key, std::string_view body = "hello\r\n") {
  return text_message(body, "Idempotency-Key: " + std::string(key) + "\r\n");
}

TEST(Strategy, NamesAreReadAndWritten) {
  for (const std::string_view name : {"key", "content", "message-id", "header:x-job-id"})
    EXPECT_EQ(Strategy::parse(name)->name(), name);
  EXPECT_EQ(Strategy::parse("header:X-Job-ID")->header, "X-Job-ID");
  for (const std::string_view name : {"", "Key", "header:", "header:a b", "header:a:b", "messageid"})
    EXPECT_FALSE(Strategy::parse(name)) << name;
}

TEST(Identity, AKeyIsTakenBeforeTheContent) {
  const auto a = identify(with_key("job-1", "one\r\n"), "s", {});
  const auto b = identify(with_key("job-1", "two\r\n"), "s", {});
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->strategy.kind, Strategy::Kind::key);
  EXPECT_EQ(a->fingerprint, b->fingerprint);
  EXPECT_NE(a->content, b->content);
  EXPECT_NE(fingerprint_of_other_content(*a, ""), fingerprint_of_other_content(*b, ""));
  EXPECT_NE(identify(with_key("job-2"), "s", {})->fingerprint, a->fingerprint);
}

TEST(Identity, WithoutAKeyTheContentDecides) {
  const auto identity = identify(text_message("hello\r\n"), "s", {});
  ASSERT_TRUE(identity);
  EXPECT_EQ(identity->strategy.kind, Strategy::Kind::content);
  EXPECT_NE(identity->fingerprint, identity->content);
}

// An application that sends a broken key meant one; neither guessing nor dropping is ours to do.
TEST(Identity, AnUnusableKeyMeansNeverADuplicate) {
  EXPECT_FALSE(identify(with_key(""), "s", {}));
  EXPECT_FALSE(identify(with_key("  \t"), "s", {}));
  EXPECT_FALSE(identify(with_key(std::string(257, 'k')), "s", {}));
  EXPECT_FALSE(identify(with_key("a\tb"), "s", {}));
  EXPECT_FALSE(identify(with_key("caf\xe9"), "s", {}));
  EXPECT_FALSE(identify(with_key("one\r\nIdempotency-Key: two"), "s", {}));
  EXPECT_FALSE(identify(with_key("one\r\nX-Idempotency-Key: two"), "s", {}));
  EXPECT_TRUE(identify(with_key(std::string(256, 'k')), "s", {}));
  EXPECT_TRUE(identify(with_key("one\r\nResend-Idempotency-Key: one"), "s", {}));
}

TEST(Identity, AKeyInTheBodyIsNoKey) {
  const auto identity = identify(text_message("\r\nIdempotency-Key: x\r\n"), "s", {});
  EXPECT_EQ(identity->strategy.kind, Strategy::Kind::content);
}

TEST(Identity, KeysOfDifferentFieldsAreTheSameKey) {
  const auto x = text_message("hello\r\n", "X-Idempotency-Key: job-1\r\n");
  EXPECT_EQ(identify(x, "s", {})->fingerprint, identify(with_key("job-1"), "s", {})->fingerprint);
}

TEST(Identity, MessageIdAndHeaderStrategiesTakeTheirField) {
  const auto message = text_message("hello\r\n", "Message-ID:\r\n <a@b>\r\nX-Job: 7\r\n");
  const auto other = text_message("other\r\n", "Message-ID: <a@b>\r\nX-Job: 7\r\n");
  for (const std::string_view strategy : {"message-id", "header:x-job"}) {
    const auto a = identify(message, "s", by(strategy));
    const auto b = identify(other, "s", by(strategy));
    ASSERT_TRUE(a && b) << strategy;
    EXPECT_EQ(a->fingerprint, b->fingerprint) << strategy;
    EXPECT_NE(a->content, b->content);
  }
  EXPECT_FALSE(identify(text_message("hello\r\n"), "s", by("message-id"))) << "no strategy applies";
  EXPECT_FALSE(identify(text_message("hello\r\n", "Message-ID: <a@b>\r\nMessage-ID: <c@d>\r\n"), "s",
                        by("message-id")));
}

TEST(Identity, NeverCollidesAcrossScopesStrategiesAndSecrets) {
  const auto message = text_message("hello\r\n", "Message-ID: k\r\nIdempotency-Key: k\r\nX-K: k\r\n");
  std::vector<Digest> fingerprints;
  for (const std::string_view scope : {"", "a", "b"})
    for (const std::string_view strategy : {"key", "content", "message-id", "header:X-K"})
      for (const std::string_view secret : {"", "one", "two"}) {
        auto options = by(strategy);
        options.secret = secret;
        fingerprints.push_back(identify(message, scope, options)->fingerprint);
      }
  const auto count = fingerprints.size();
  std::sort(fingerprints.begin(), fingerprints.end());
  fingerprints.erase(std::unique(fingerprints.begin(), fingerprints.end()), fingerprints.end());
  EXPECT_EQ(fingerprints.size(), count);
}

// Records outlive a process: another value here would forget every window, and needs another canonical form
// version.
TEST(Identity, FingerprintsStayTheSameBetweenReleases) {
  EXPECT_EQ(identify(text_message("hello\r\n"), "scope", {})->fingerprint.hex(),
            "21c668f149ef703f237894145c0bc0cb63c8b528e9755795c06990cfc834c0e0");
  const auto message = test::multipart_message(
      "mixed",
      {"Content-Type: text/html\r\n\r\n<img src=\"cid:a@b\">",
       "Content-Type: image/png; name=a.png\r\nContent-ID: <a@b>\r\nContent-Transfer-Encoding: "
       "base64\r\n\r\nQUFB",
       "Content-Type: message/rfc822\r\nContent-Disposition: inline\r\n\r\nSubject: x\r\nDate: y\r\n\r\nhi",
       "Content-Type: text/plain; charset=none\r\n\r\nraw"});
  IdentityOptions keyed;
  keyed.secret = "secret";
  EXPECT_EQ(identify(message, "scope", keyed)->fingerprint.hex(),
            "99cb367bb8fa1283acdc8c6e26d08a59364965d3ba0c40467dd69cbeb1d68074");
  EXPECT_EQ(recipient_digest("jo@example.org", ""), "dSI8hs4GOvD0F9mRDQTWCQ");
}

TEST(Identity, RecipientDigestsAreShortAndKeyed) {
  EXPECT_EQ(recipient_digest("a@b", "").size(), 22U);
  EXPECT_NE(recipient_digest("a@b", ""), recipient_digest("c@b", ""));
  EXPECT_NE(recipient_digest("a@b", ""), recipient_digest("a@b", "secret"));
}

TEST(HeaderFacts, SayWhereTheMessageIdStands) {
  const auto message =
      text_message("x", "Received: a\r\nreceived: b\r\nMessage-Id:\r\n  <a@b> \r\nDKIM-Signature: v=1\r\n");
  const auto facts = scan_header(message);
  EXPECT_EQ(facts.message_id, "<a@b>");
  ASSERT_TRUE(facts.message_id_value);
  EXPECT_EQ(message.substr(facts.message_id_value->offset, facts.message_id_value->length), "<a@b>");
  EXPECT_TRUE(facts.dkim_signed);
  EXPECT_EQ(facts.received_fields, 2U);
}

TEST(HeaderFacts, ARepeatedMessageIdIsNone) {
  const auto facts = scan_header("Message-ID: <a@b>\r\nMessage-ID: <a@b>\r\n\r\n");
  EXPECT_EQ(facts.message_id, "");
  EXPECT_FALSE(facts.message_id_value);
}

TEST(HeaderFacts, AnyBeginningOfAMessageIsRead) {
  const auto message = text_message("x", "Received: a\r\nMessage-Id:\r\n  <a@b> \r\n");
  for (std::size_t size = 0; size <= message.size(); ++size) {
    const auto facts = scan_header(std::string_view(message).substr(0, size));
    EXPECT_TRUE(std::string_view("<a@b>").starts_with(facts.message_id)) << size;
    if (facts.message_id_value) {
      EXPECT_LE(facts.message_id_value->offset + facts.message_id_value->length, size);
    }
  }
}

}  // namespace
}  // namespace mailonce::message
