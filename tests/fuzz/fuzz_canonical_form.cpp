// Any octets as a message: no crash, no undefined behaviour, time linear in the input, and the same identity
// each time. The first octet chooses the options.
#include "fuzz.h"
#include "mailonce/message/comparison.h"
#include "mailonce/message/description.h"

namespace {

using namespace mailonce::message;

using mailonce::fuzz::check;

IdentityOptions options_of(std::uint8_t choice) {
  IdentityOptions options;
  if ((choice & 1U) != 0)
    options.strategies.insert(options.strategies.begin(), *Strategy::parse("message-id"));
  if ((choice & 2U) != 0)
    options.strategies.insert(options.strategies.begin(), *Strategy::parse("header:X-Id"));
  if ((choice & 4U) != 0) options.identity_headers = {"X-Order-ID", "Subject"};
  if ((choice & 8U) != 0) options.secret = "secret";
  if ((choice & 16U) != 0) options.ignore = {*Pattern::regex("[0-9]{2}:[0-9]{2}"), *Pattern::regex("(?i)id=\\w+")};
  options.documents = (choice & 32U) == 0;
  return options;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto options = options_of(data[0]);
  const auto message = mailonce::fuzz::text(data + 1, size - 1);

  const auto facts = scan_header(message);
  if (facts.message_id_value) {
    const auto& extent = *facts.message_id_value;
    check(extent.length > 0 && extent.offset + extent.length <= message.size());
  }
  const auto comparison = compare(message, message, "scope", options);
  check(comparison.differences.empty() && comparison.ignored.empty());
  check(!comparison.a || comparison.verdict == Comparison::Verdict::duplicate);
  if (comparison.a)
    check(identify(message, "other scope", options)->fingerprint != comparison.a->fingerprint);
  (void)describe(message, options);
  return 0;
}
