// What forming an identity costs, beside the hash alone and beside GMime's own parser over the same octets.
#include <benchmark/benchmark.h>
#include <gmime/gmime.h>

#include <string>

#include "mailonce/base/digest.h"
#include "mailonce/base/encoding.h"
#include "mailonce/message/identity.h"

namespace {

using namespace mailonce;

std::string lines(std::size_t octets, std::string_view line) {
  std::string text;
  while (text.size() < octets) text += line;
  return text;
}

std::string header(std::string_view content_type) {
  return "Received: from app.example.org by mx.example.org; Tue, 1 Dec 2026 16:44:15 +0000\r\n"
         "From: Example Shop <orders@example.com>\r\nTo: Jordan Sample <jordan@example.org>\r\n"
         "Subject: =?utf-8?Q?Your_order_1001_=C3=BCber?=\r\n"
         "Message-ID: <c02290e5-de06-de2e-1df3-49fd1bccee54@example.com>\r\n"
         "Date: Tue, 01 Dec 2026 16:44:15 +0000\r\nMIME-Version: 1.0\r\nContent-Type: " +
         std::string(content_type) + "\r\n\r\n";
}

std::string plain_text(std::size_t octets) {
  return header("text/plain; charset=utf-8") +
         lines(octets, "The quick brown fox jumps over the lazy dog, then orders 10.00 of it.\r\n");
}

std::string alternative() {
  return header("multipart/alternative; boundary=\"=-b0undary\"") +
         "--=-b0undary\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n" +
         lines(2000, "The quick brown fox jumps over the lazy dog.\r\n") +
         "\r\n--=-b0undary\r\nContent-Type: text/html; charset=utf-8\r\n"
         "Content-Transfer-Encoding: quoted-printable\r\n\r\n" +
         lines(3000, "<p class=3D\"a\">The quick brown f=C3=B6x jumps over the lazy dog=\r\n.</p>\r\n") +
         "\r\n--=-b0undary--\r\n";
}

std::string attachment(std::size_t octets) {
  std::string bytes(octets, '\0');
  for (std::size_t i = 0; i < octets; ++i) bytes[i] = static_cast<char>(i * 31 + i / 256);
  const auto base64 = to_base64(bytes);
  auto message = header("multipart/mixed; boundary=b") + "--b\r\n\r\nSee attachment.\r\n--b\r\n" +
                 "Content-Type: application/pdf; name=a.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n";
  for (std::size_t i = 0; i < base64.size(); i += 76) message += base64.substr(i, 76) + "\r\n";
  return message + "--b--\r\n";
}

std::string sample(std::int64_t which) {
  switch (which) {
    case 0:
      return plain_text(4096);
    case 1:
      return alternative();
    default:
      return attachment(1024 * 1024);
  }
}

void finish(benchmark::State& state, const std::string& message) {
  constexpr const char* names[] = {"4 kB text", "5 kB alternative", "1 MB attachment"};
  state.SetLabel(names[state.range(0)]);
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * message.size()));
}

void sha256_alone(benchmark::State& state) {
  const auto message = sample(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(sha256(message));
  finish(state, message);
}

void identify(benchmark::State& state) {
  const auto message = sample(state.range(0));
  const message::IdentityOptions options;
  for (auto _ : state) benchmark::DoNotOptimize(message::identify(message, "default", options));
  finish(state, message);
}

void gmime_parser(benchmark::State& state) {
  g_mime_init();
  const auto message = sample(state.range(0));
  for (auto _ : state) {
    auto* stream = g_mime_stream_mem_new_with_buffer(message.data(), message.size());
    auto* parser = g_mime_parser_new_with_stream(stream);
    auto* parsed = g_mime_parser_construct_message(parser, nullptr);
    benchmark::DoNotOptimize(parsed);
    g_object_unref(parsed);
    g_object_unref(parser);
    g_object_unref(stream);
  }
  finish(state, message);
}

BENCHMARK(sha256_alone)->DenseRange(0, 2);
BENCHMARK(identify)->DenseRange(0, 2);
BENCHMARK(gmime_parser)->DenseRange(0, 2);

}  // namespace
