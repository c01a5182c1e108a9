// What counts and what does not (docs/canonical-form.md), by pairs of messages.
#include "mailonce/message/canonical_form.h"

#include <gtest/gtest.h>

#include <chrono>
#include <set>

#include "builders.h"
#include "mailonce/base/digest.h"
#include "mailonce/message/hashing_sink.h"

namespace mailonce::message {
namespace {

using test::base64_lines;
using test::content;
using test::multipart_message;
using test::quoted_printable;
using test::text_message;

const std::string utf8 = "Content-Type: text/plain; charset=utf-8\r\n";
const std::string base64 = "Content-Transfer-Encoding: base64\r\n";
const std::string printable = "Content-Transfer-Encoding: quoted-printable\r\n";

TEST(CanonicalForm, WhatIsMadeAnewForEachBuildDoesNotCount) {
  const auto plain = content(text_message("hi\r\n"));
  for (const std::string_view field :
       {"Date: Tue, 1 Dec 2026 10:00:00 +0000\r\n", "Message-ID: <a@b>\r\n", "Received: x\r\n",
        "X-Mailer: y\r\n", "DKIM-Signature: v=1\r\n", "MIME-Version: 1.0\r\n", "Content-Type: text/plain\r\n",
        "Content-Transfer-Encoding: 7bit\r\n", "Content-Type: text/plain; format=flowed; charset=UTF-8\r\n"})
    EXPECT_EQ(content(text_message("hi\r\n", field)), plain) << field;
}

TEST(CanonicalForm, EachVisibleFieldCounts) {
  std::set<Digest> seen = {content(text_message("hi\r\n"))};
  for (const std::string_view field :
       {"From: a@b\r\n", "Sender: a@b\r\n", "Reply-To: a@b\r\n", "To: a@b\r\n", "Cc: a@b\r\n", "Bcc: a@b\r\n",
        "Subject: a@b\r\n", "In-Reply-To: a@b\r\n", "References: a@b\r\n", "Resent-From: a@b\r\n",
        "Resent-To: a@b\r\n", "List-Id: a@b\r\n", "Importance: a@b\r\n", "Priority: a@b\r\n",
        "X-Priority: a@b\r\n", "Cc: a@b\r\nCc: a@b\r\n", "Cc: a@b\r\nCc: c@d\r\n", "Cc: c@d\r\nCc: a@b\r\n",
        "Cc:\r\n"})
    EXPECT_TRUE(seen.insert(content(text_message("hi\r\n", field))).second) << field;
}

// What a provider merges into the text makes another mail of it (P3).
TEST(CanonicalForm, MergeVariablesOfProvidersCount) {
  for (const char* name : {"X-SMTPAPI", "X-Mailgun-Recipient-Variables", "X-Mailgun-Template-Variables",
                           "X-MC-MergeVars", "X-MC-Template", "X-MSYS-API"}) {
    const std::string field = std::string(name) + ": {\"code\": \"";
    EXPECT_NE(content(text_message("Your code: -code-\r\n", field + "111\"}\r\n")),
              content(text_message("Your code: -code-\r\n", field + "222\"}\r\n")))
        << name;
  }
}

// RFC 2557: the pictures are exchanged, nothing else differs.
TEST(CanonicalForm, ContentLocationCounts) {
  const std::string html = "Content-Type: text/html\r\n\r\n<img src=a.png> then <img src=b.png>\r\n";
  const auto picture = [](const std::string& location, const std::string& octets) {
    return "Content-Type: image/png\r\nContent-Location: " + location + "\r\n\r\n" + octets + "\r\n";
  };
  EXPECT_NE(content(multipart_message("related", {html, picture("a.png", "X"), picture("b.png", "Y")})),
            content(multipart_message("related", {html, picture("b.png", "X"), picture("a.png", "Y")})));
}

TEST(CanonicalForm, ParametersThatAreTheContentCount) {
  const auto part = [](const std::string& type) {
    return multipart_message("mixed", {"Content-Type: " + type + "\r\n\r\nBEGIN:VCALENDAR\r\n"});
  };
  EXPECT_NE(content(part("text/calendar; method=REQUEST")), content(part("text/calendar; method=CANCEL")));
  EXPECT_EQ(content(part("text/calendar; method=REQUEST")), content(part("text/calendar; method=request")));
  EXPECT_NE(content(part("message/external-body; access-type=URL; URL=\"https://x.example/1\"")),
            content(part("message/external-body; access-type=URL; URL=\"https://x.example/2\"")));
}

TEST(CanonicalForm, ConfiguredFieldsCountToo) {
  IdentityOptions options;
  options.identity_headers = {"x-order-id"};
  const auto a = text_message("hi\r\n", "X-Order-ID: 1\r\n");
  const auto b = text_message("hi\r\n", "X-Order-ID: 2\r\n");
  EXPECT_EQ(content(a), content(b));
  EXPECT_NE(identify(a, "", options)->content, identify(b, "", options)->content);
}

TEST(CanonicalForm, TheOrderAndFoldingOfFieldsDoNotCount) {
  const std::string body = "\r\nhi\r\n";
  const auto a = content("From: a@b\r\nTo: c@d,\r\n\te@f\r\nSubject: one two\r\n" + body);
  EXPECT_EQ(content("subject:one\r\n two\r\nTO: c@d, e@f\r\nFrom: a@b\r\n" + body), a);
  EXPECT_EQ(content("From: a@b\nTo: c@d, e@f\nSubject: =?utf-8?Q?one_two?=\n\nhi\n"), a);
}

TEST(CanonicalForm, TheSameTextInAnotherEncodingIsTheSame) {
  const std::string text = "Grüße\r\n\r\n  zwei  Leerzeichen \r\n";
  const auto plain = content(text_message(text, utf8));
  EXPECT_EQ(content(text_message(base64_lines(text), utf8 + base64)), plain);
  EXPECT_EQ(content(text_message(base64_lines(text, 20), utf8 + base64)), plain);
  EXPECT_EQ(content(text_message(quoted_printable(text), utf8 + printable)), plain);
  EXPECT_EQ(content(text_message("Gr\xfc\xdf"
                                 "e\r\n\r\n  zwei  Leerzeichen \r\n",
                                 "Content-Type: text/plain; charset=iso-8859-1\r\n")),
            plain);
  EXPECT_EQ(content(text_message("Grüße\n\n  zwei  Leerzeichen \n\n\n", utf8)), plain);
}

TEST(CanonicalForm, EachOctetOfTextCounts) {
  const std::string text = "Order 1001: 10.00 EUR\r\nthank you\r\n";
  const auto plain = content(text_message(text));
  std::set<Digest> seen = {plain};
  for (std::size_t at = 0; at + 2 < text.size(); ++at) {
    if (text[at] == '\n') continue;  // between CR and LF
    EXPECT_TRUE(seen.insert(content(text_message(text.substr(0, at) + '#' + text.substr(at)))).second) << at;
    EXPECT_NE(content(text_message(text.substr(0, at) + ' ' + text.substr(at))), plain) << at;
  }
}

TEST(CanonicalForm, EachOctetOfASubjectAndAnAddressCounts) {
  const std::string header = "From: Jo <jo@example.org>\r\nSubject: Order 1001\r\n";
  const auto plain = content(header + "\r\nhi\r\n");
  for (std::size_t at = header.find(' ') + 1; at < header.size(); ++at) {
    if (header[at] == '\n' || header.substr(at).starts_with("Subject") || header[at - 1] == ' ') continue;
    auto changed = header;
    changed.insert(at, "x");
    EXPECT_NE(content(changed + "\r\nhi\r\n"), plain) << changed;
  }
}

TEST(CanonicalForm, EachOctetOfAnAttachmentCounts) {
  std::string bytes(5000, 'x');
  const auto message = [&](const std::string& data) {
    return multipart_message("mixed", {"\r\nsee attachment", "Content-Type: application/pdf\r\n" + base64 +
                                                                 "\r\n" + base64_lines(data)});
  };
  const auto plain = content(message(bytes));
  for (const std::size_t at : {0, 1, 4095, 4096, 4097, 4999}) {
    auto changed = bytes;
    changed[at] ^= 1;
    EXPECT_NE(content(message(changed)), plain) << at;
  }
  EXPECT_NE(content(message(bytes + '\n')), plain) << "only text has blank lines at its end";
  EXPECT_NE(content(message(bytes.substr(1))), plain);
}

TEST(CanonicalForm, BoundariesPreambleAndEpilogueDoNotCount) {
  const std::vector<std::string> parts = {"\r\none", "Content-Type: text/html\r\n\r\n<p>two"};
  const auto plain = content(multipart_message("alternative", parts));
  EXPECT_EQ(content(multipart_message("alternative", parts, "----=_Part_17")), plain);
  EXPECT_EQ(content(multipart_message("alternative", parts) + "epilogue\r\n"), plain);
  auto with_preamble = multipart_message("alternative", parts);
  with_preamble.insert(with_preamble.find("\r\n\r\n") + 4, "a MIME message\r\n");
  EXPECT_EQ(content(with_preamble), plain);
}

TEST(CanonicalForm, TheShapeOfTheTreeCounts) {
  const std::string one = "\r\none", two = "\r\ntwo";
  const std::string inner =
      "Content-Type: multipart/mixed; boundary=i\r\n\r\n--i\r\n\r\none\r\n--i\r\n\r\ntwo\r\n--i--";
  const std::set<Digest> seen = {
      content(multipart_message("mixed", {one, two})),
      content(multipart_message("mixed", {two, one})),
      content(multipart_message("alternative", {one, two})),
      content(multipart_message("mixed", {one})),
      content(multipart_message("mixed", {one, two, ""})),
      content(multipart_message("mixed", {inner})),
      content(multipart_message("mixed", {"\r\nonetwo"})),
      content(multipart_message("mixed", {one + "\r\ntwo"})),
      content(text_message("one\r\ntwo")),
  };
  EXPECT_EQ(seen.size(), 9U);
}

TEST(CanonicalForm, ACutMultipartIsAnother) {
  auto cut = multipart_message("mixed", {"\r\none", "\r\ntwo"});
  const auto whole = content(cut);
  cut.resize(cut.size() - std::string_view("--b--\r\n").size());
  EXPECT_NE(content(cut), whole);
}

TEST(CanonicalForm, TypeDispositionAndFileNameCount) {
  std::set<Digest> seen;
  for (const std::string_view field :
       {"", "Content-Type: application/pdf\r\n", "Content-Type: application/x-pdf\r\n",
        "Content-Type: application/pdf; name=a\r\n", "Content-Type: application/pdf; name=b\r\n",
        "Content-Disposition: attachment\r\n", "Content-Disposition: inline\r\n",
        "Content-Disposition: inline; filename=a\r\n", "Content-Disposition: inline; filename=b\r\n",
        "Content-Type: application/pdf\r\nContent-ID: <a@b>\r\n"})
    EXPECT_TRUE(seen.insert(content(text_message("hi", field))).second) << field;
}

std::string with_images(std::string_view first, std::string_view second, std::string_view id1,
                        std::string_view id2) {
  const auto image = [](std::string_view id, std::string_view bytes) {
    return "Content-Type: image/png\r\nContent-ID: <" + std::string(id) + ">\r\n\r\n" + std::string(bytes);
  };
  const auto html = "Content-Type: text/html\r\n\r\n<img src=\"cid:" + std::string(first) +
                    "\"><img src=\"cid:" + std::string(second) + "\">";
  return multipart_message("related", {html, image(id1, "red"), image(id2, "blue")});
}

TEST(CanonicalForm, ContentIdsCountByWhichPartTheyReferTo) {
  const auto plain = content(with_images("a@x", "b@x", "a@x", "b@x"));
  EXPECT_EQ(content(with_images("71@y", "93@y", "71@y", "93@y")), plain);
  EXPECT_NE(content(with_images("b@x", "a@x", "a@x", "b@x")), plain) << "images exchanged";
  EXPECT_NE(content(with_images("a@x", "a@x", "a@x", "b@x")), plain);
  EXPECT_NE(content(with_images("gone@x", "b@x", "a@x", "b@x")), plain);
  EXPECT_NE(content(with_images("1", "2", "a@x", "b@x")), plain) << "a text that looks like a number";
}

TEST(CanonicalForm, AReferenceSplitBySoftLineBreaksIsStillAReference) {
  const auto message = [](const std::string& id) {
    const std::string html = "<img src=3D\"cid:" + id.substr(0, 3) + "=\r\n" + id.substr(3) + "\">";
    return multipart_message("related", {"Content-Type: text/html\r\n" + printable + "\r\n" + html,
                                         "Content-Type: image/png\r\nContent-ID: <" + id + ">\r\n\r\nred"});
  };
  EXPECT_EQ(content(message("abcdef@x")), content(message("71@example.org")));
}

TEST(CanonicalForm, ASignedMessageCountsAsItsSignedPart) {
  const auto message = [](std::string_view text, std::string_view signature, std::string_view type) {
    return multipart_message(
        "signed", {"\r\n" + std::string(text),
                   "Content-Type: application/" + std::string(type) + "\r\n\r\n" + std::string(signature)});
  };
  const auto plain = content(message("hi", "one", "pgp-signature"));
  EXPECT_EQ(content(message("hi", "two", "pgp-signature")), plain);
  EXPECT_NE(content(message("ho", "one", "pgp-signature")), plain);
  EXPECT_NE(content(message("hi", "one", "pdf")), content(message("hi", "two", "pdf")))
      << "no signature at all";
  EXPECT_NE(content(text_message("hi")), plain) << "a reader sees whether it is signed";
}

TEST(CanonicalForm, ACalendarCountsWithoutItsTimeOfBuilding) {
  for (const std::string type : {"text/calendar; charset=utf-8", "application/ics"}) {
    const auto message = [&](std::string_view stamp, std::string_view start) {
      return text_message("BEGIN:VEVENT\r\nDTSTAMP:" + std::string(stamp) +
                              "\r\nDTSTART:" + std::string(start) + "\r\nEND:VEVENT\r\n",
                          "Content-Type: " + type + "\r\n");
    };
    EXPECT_EQ(content(message("1", "2")), content(message("3", "2"))) << type;
    EXPECT_NE(content(message("1", "2")), content(message("1", "3"))) << type;
  }
  EXPECT_NE(content(text_message("DTSTAMP:1\r\n")), content(text_message("DTSTAMP:2\r\n")))
      << "in other text it counts";
}

TEST(CanonicalForm, AnAttachedMessageCountsInFull) {
  const auto message = [](std::string_view fields, std::string_view text = "hi") {
    return multipart_message("mixed", {"Content-Type: message/rfc822\r\n\r\nSubject: x\r\n" +
                                       std::string(fields) + "\r\n" + std::string(text)});
  };
  const auto plain = content(message("Date: 1\r\nMessage-ID: <1@x>\r\n"));
  EXPECT_NE(content(message("Date: 2\r\nMessage-ID: <1@x>\r\n")), plain);
  EXPECT_NE(content(message("Date: 1\r\nMessage-ID: <2@x>\r\n")), plain);
  EXPECT_NE(content(message("Date: 1\r\nMessage-ID: <1@x>\r\n", "ho")), plain);
  EXPECT_EQ(content(message("Message-ID: <1@x>\r\nX-Trace: 1\r\nDate: 1\r\n")), plain);
}

// Two bodies that a lenient decoder would make one.
TEST(CanonicalForm, MalformedContentIsTakenAsBytes) {
  struct Row {
    std::string fields, one, two;
  };
  const std::vector<Row> rows = {
      {utf8 + base64, "aGk=", "aG!k="},
      {utf8 + base64, "aGk=", "aGk"},
      {utf8 + base64, "aGk=aGk=", "aGk="},
      {utf8 + printable, "=zz", "=yy"},
      {utf8, "\xff", "\xfe"},
      {"Content-Type: text/plain\r\n", "\xff", "\xfe"},
      {"Content-Type: text/plain; charset=x-unknown\r\n", "a", "b"},
      {"Content-Type: text/plain; charset\r\n", "a", "b"},
      {"Content-Type: text/plain\r\nContent-Type: text/html\r\n", "a", "b"},
      {"Content-Transfer-Encoding: x-none\r\n", "a", "b"},
      {"Content-Type: multipart/mixed\r\n", "--b\r\n\r\na\r\n--b--", "--b\r\n\r\nb\r\n--b--"},
      {"Content-Type: multipart/mixed; boundary=b\r\n", "preamble only a", "preamble only b"},
      {"Content-Type: multipart/mixed; boundary=b\r\n" + base64, "LS1i", "LS1j"},
      {"broken\r\n", "a", "b"},
  };
  for (const auto& row : rows) {
    EXPECT_NE(content(text_message(row.one, row.fields)), content(text_message(row.two, row.fields)))
        << row.fields << row.one;
    EXPECT_EQ(content(text_message(row.one, row.fields)), content(text_message(row.one, row.fields)));
  }
  EXPECT_NE(content(text_message("a", "Content-Type: text/plain; charset=x-a\r\n")),
            content(text_message("a", "Content-Type: text/plain; charset=x-b\r\n")));
}

// Raw bytes that read like the decoded ones are another item.
TEST(CanonicalForm, WhatWasDecodedNeverEqualsWhatWasNot) {
  EXPECT_NE(content(text_message("abc", "Content-Type: text/plain; charset=x-unknown\r\n")),
            content(text_message("abc", "Content-Type: text/plain\r\n")));
  EXPECT_NE(content(text_message("hi", "Content-Transfer-Encoding: x-none\r\n")),
            content(text_message("hi")));
}

TEST(CanonicalForm, AnEmptyMessageHasAnIdentity) {
  EXPECT_EQ(content(""), content(""));
  EXPECT_NE(content(""), content("\r\nx"));
}

std::string nested(std::size_t depth, std::string_view innermost) {
  std::string message = "\r\n" + std::string(innermost);
  for (std::size_t i = 0; i < depth; ++i) {
    const auto b = "b" + std::to_string(i) + "e";
    message = "Content-Type: multipart/mixed; boundary=" + b + "\r\n\r\n--" + b + "\r\n" + message +
              "\r\n--" + b + "--";
  }
  return "Subject: x\r\n" + message;
}

TEST(CanonicalForm, BeyondTheDepthLimitBytesCount) {
  for (const std::size_t depth : {1U, 19U, 20U, 21U, 300U})
    EXPECT_NE(content(nested(depth, "one")), content(nested(depth, "two"))) << depth;
}

TEST(CanonicalForm, TooManyPartsCountAsBytes) {
  const auto message = [](std::string_view last) {
    std::vector<std::string> parts(CanonicalLimits::parts + 10, "\r\nx");
    parts.push_back("\r\n" + std::string(last));
    return multipart_message("mixed", parts);
  };
  EXPECT_NE(content(message("one")), content(message("two")));
}

// However the pieces arrive, blocks of equal length are hashed.
TEST(HashingSink, HowContentIsSplitMeansNothing) {
  const std::string data(9000, 'x');
  const auto digest = [&](std::size_t piece) {
    Hasher hasher;
    HashingSink sink(hasher);
    sink.open_leaf({});
    for (std::size_t i = 0; i < data.size(); i += piece)
      sink.content(std::string_view(data).substr(i, piece));
    sink.close_leaf();
    sink.flush();
    return hasher.finish();
  };
  const auto whole = digest(data.size());
  for (const std::size_t piece : {1, 2, 7, 4095, 4096, 4097, 5000, 8192})
    EXPECT_EQ(digest(piece), whole) << piece;
}

// Hostile shapes, each with a size at which quadratic work would take minutes.
TEST(CanonicalForm, TakesLinearTimeForAnyShape) {
  const auto repeat = [](std::string_view text, std::size_t octets) {
    std::string out;
    while (out.size() < octets) out += text;
    return out;
  };
  constexpr std::size_t octets = 2'000'000;
  const std::string html = "Content-Type: text/html; charset=utf-8\r\n";
  const std::vector<std::string> messages = {
      nested(2000, "x"),
      repeat("a:\r\n", octets) + "\r\n",
      "Subject: " + repeat("=?utf-8?Q?a?= ", octets) + "\r\n\r\n",
      "Subject: " + repeat("=?iso-8859-1?Q?=E4?= =?koi8-r?Q?=E4?= ", octets / 8) + "\r\n\r\n",
      "Subject: " + repeat("=?", octets) + "\r\n\r\n",
      "Subject: " + repeat("=?a?q?", octets) + "\r\n\r\n",
      "Subject: a" + repeat("\r\n ", octets) + "\r\n\r\n",
      text_message("", "Content-Type: text/plain" + repeat("; a", octets) + "\r\n"),
      text_message("", "Content-Type: text/plain" + repeat("(", octets) + "\r\n"),
      text_message("",
                   "Content-Disposition: a; filename=" + repeat("a@.", octets) + "\r\nContent-ID: <x@y>\r\n"),
      multipart_message("related", {html + "\r\n" + repeat("cid:", octets), "Content-ID: <a@b>\r\n\r\nx"}),
      multipart_message("related",
                        {html + "\r\n" + repeat("cid:a@b ", octets), "Content-ID: <a@b>\r\n\r\nx"}),
      text_message(repeat("--b\r\n", octets), "Content-Type: multipart/mixed; boundary=b\r\n"),
      text_message(repeat("-", octets),
                   "Content-Type: multipart/mixed; boundary=" + repeat("-", 200) + "\r\n"),
      text_message(repeat("\r\n", octets)),
      text_message(repeat("DTSTAMP:1\r\n", octets), "Content-Type: text/calendar\r\n"),
      text_message(repeat("=\r\n", octets), printable),
      text_message(repeat("Content-Type: message/rfc822\r\n\r\n", octets),
                   "Content-Type: message/rfc822\r\n"),
  };
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const auto begin = std::chrono::steady_clock::now();
    (void)identify(messages[i], "", {});
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    EXPECT_LT(elapsed.count(), 5.0) << "shape " << i;
  }
}

}  // namespace
}  // namespace mailonce::message
