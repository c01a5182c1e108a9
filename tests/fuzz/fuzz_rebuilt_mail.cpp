// The same content built twice, with other boundaries, transfer encodings and folds, is one message; with one octet
// more in subject, address, text or attachment it is another (DESIGN.md §5).
#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <string>

#include "fuzz.h"
#include "mailonce/base/encoding.h"
#include "mailonce/message/identity.h"

namespace {

using mailonce::fuzz::check;

struct Content {
  std::string subject;     // printable ASCII, single spaces
  std::string local_part;  // letters
  std::string text;        // lines of printable ASCII, LF, not ending in an empty line
  std::string attachment;  // any octets
};

std::string printable(std::string octets) {
  for (auto& c : octets) c = static_cast<char>('!' + static_cast<unsigned char>(c) % ('~' - '!' + 1));
  // What may begin an encoded word would be read as one.
  std::replace(octets.begin(), octets.end(), '=', 'e');
  return octets;
}

std::string words(FuzzedDataProvider& data) {
  std::string out = "s";
  while (data.remaining_bytes() > 0 && data.ConsumeBool())
    out += " " + printable(data.ConsumeRandomLengthString(20) + "w");
  return out;
}

std::string lines(FuzzedDataProvider& data) {
  std::string out;
  while (data.remaining_bytes() > 0 && data.ConsumeBool())
    out += printable(data.ConsumeRandomLengthString(100)) + "\n";
  return out + "end";
}

Content draw(FuzzedDataProvider& data) {
  Content content;
  content.subject = words(data);
  content.local_part = "a" + std::string(data.ConsumeIntegralInRange<std::size_t>(0, 9), 'b');
  content.text = lines(data);
  content.attachment = data.ConsumeRandomLengthString(3000);
  return content;
}

// One way of building; each choice is the fuzzer's.
class Builder {
 public:
  explicit Builder(FuzzedDataProvider& data) : data_(data) {}

  std::string build(const Content& content) {
    const std::string boundary = "=_" + printable(data_.ConsumeRandomLengthString(8)).substr(0, 8) + "b0und";
    std::string quoted;
    for (const char c : boundary) {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
    std::string out = "From: " + content.local_part + "@example.com\r\nSubject: " + folded(content.subject) + "\r\n";
    out += "Message-ID: <" + std::to_string(data_.ConsumeIntegral<unsigned>()) + "@x>\r\n";
    out += "Content-Type: multipart/mixed; boundary=\"" + quoted + "\"\r\n\r\n";
    if (data_.ConsumeBool()) out += "A preamble.\r\n";
    out += "--" + boundary + "\r\n" + text_part(content.text) + "\r\n--" + boundary + "\r\n" +
           attached_part(content.attachment) + "\r\n--" + boundary + "--\r\n";
    return out;
  }

 private:
  std::string folded(const std::string& words) {
    std::string out;
    for (const char c : words) {
      if (c == ' ' && data_.ConsumeBool()) out += "\r\n";
      out += c;
    }
    return out;
  }

  std::string text_part(const std::string& text) {
    std::string crlf;
    for (const char c : text) crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
    const std::string head = "Content-Type: text/plain; charset=us-ascii\r\n";
    switch (data_.ConsumeIntegralInRange(0, 2)) {
      case 0:
        return head + "\r\n" + crlf;
      case 1:
        return head + "Content-Transfer-Encoding: quoted-printable\r\n\r\n" + quoted_printable(crlf, true);
      default:
        return head + "Content-Transfer-Encoding: base64\r\n\r\n" + base64(data_.ConsumeBool() ? crlf : text);
    }
  }

  std::string attached_part(const std::string& octets) {
    const std::string head =
        "Content-Type: application/octet-stream; name=a.bin\r\nContent-Disposition: attachment\r\n";
    if (data_.ConsumeBool())
      return head + "Content-Transfer-Encoding: BASE64\r\n\r\n" + base64(octets);
    return head + "Content-Transfer-Encoding: quoted-printable\r\n\r\n" + quoted_printable(octets, false);
  }

  std::string base64(const std::string& octets) {
    const auto width = 4 * data_.ConsumeIntegralInRange<std::size_t>(1, 19);
    const auto encoded = mailonce::to_base64(octets);
    std::string out;
    for (std::size_t i = 0; i < encoded.size(); i += width) out += encoded.substr(i, width) + "\r\n";
    return out;
  }

  std::string quoted_printable(const std::string& octets, bool keep_line_ends) {
    std::string out;
    std::size_t column = 0;
    for (std::size_t i = 0; i < octets.size(); ++i) {
      if (keep_line_ends && octets.compare(i, 2, "\r\n") == 0) {
        out += "\r\n";
        column = 0;
        ++i;
        continue;
      }
      const auto octet = static_cast<unsigned char>(octets[i]);
      const bool plain = octet > ' ' && octet < 0x7f && octet != '=' && data_.ConsumeBool();
      if (column > 70) {
        out += "=\r\n";
        column = 0;
      }
      const auto piece = plain ? std::string(1, octets[i]) : "=" + to_upper_hex(octet);
      out += piece;
      column += piece.size();
    }
    return out;
  }

  static std::string to_upper_hex(unsigned char octet) {
    constexpr char digits[] = "0123456789ABCDEF";
    return {digits[octet >> 4], digits[octet & 15]};
  }

  FuzzedDataProvider& data_;
};

void insert_one(FuzzedDataProvider& data, Content& content) {
  std::string* const parts[] = {&content.subject, &content.local_part, &content.text, &content.attachment};
  auto& part = *parts[data.ConsumeIntegralInRange<std::size_t>(0, 3)];
  part.insert(part.begin() + static_cast<std::ptrdiff_t>(data.ConsumeIntegralInRange<std::size_t>(0, part.size())),
              'z');
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  FuzzedDataProvider data(bytes, size);
  auto content = draw(data);
  const auto first = Builder(data).build(content);
  const auto second = Builder(data).build(content);
  insert_one(data, content);
  const auto other = Builder(data).build(content);

  mailonce::message::IdentityOptions options;
  options.documents = false;  // whose times do not count
  const auto a = mailonce::message::identify(first, "scope", options);
  const auto b = mailonce::message::identify(second, "scope", options);
  const auto c = mailonce::message::identify(other, "scope", options);
  check(a && b && c);
  check(a->fingerprint == b->fingerprint);
  check(a->fingerprint != c->fingerprint);
  return 0;
}
