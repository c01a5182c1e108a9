// What forming an identity costs, beside the hash alone and beside GMime's own parser over the same octets.
#include <benchmark/benchmark.h>
#include <gmime/gmime.h>

#include <string>
#include <vector>

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

std::string noise(std::size_t octets) {
  std::string bytes(octets, '\0');
  for (std::size_t i = 0; i < octets; ++i) bytes[i] = static_cast<char>(i * 31 + i / 256);
  return bytes;
}

// A PDF file of pages that each hold one picture's worth of octets.
std::string pdf(std::size_t octets) {
  constexpr std::size_t pages = 20;
  std::vector<std::string> objects = {"<</Type/Catalog/Pages 2 0 R>>", ""};
  std::string kids;
  for (std::size_t page = 0; page < pages; ++page) {
    const auto number = std::to_string(objects.size() + 1);
    kids += number + " 0 R ";
    objects.push_back("<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents " +
                      std::to_string(objects.size() + 2) + " 0 R>>");
    objects.push_back("<</Length " + std::to_string(octets / pages) + ">>stream\n" + noise(octets / pages) +
                      "\nendstream");
  }
  objects[1] = "<</Type/Pages/Kids[" + kids + "]/Count " + std::to_string(pages) + ">>";
  std::string file = "%PDF-1.4\n";
  std::string table = "xref\n0 " + std::to_string(objects.size() + 1) + "\n0000000000 65535 f \n";
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const auto offset = std::to_string(file.size());
    table += std::string(10 - offset.size(), '0') + offset + " 00000 n \n";
    file += std::to_string(i + 1) + " 0 obj\n" + objects[i] + "\nendobj\n";
  }
  return file + table + "trailer\n<</Size " + std::to_string(objects.size() + 1) +
         "/Root 1 0 R>>\nstartxref\n" + std::to_string(file.size()) + "\n%%EOF\n";
}

std::string attachment(const std::string& bytes) {
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
    case 2:
      return attachment(noise(1024 * 1024));
    case 3:
      return attachment(pdf(1024 * 1024));
    case 4:
      return attachment(noise(20 * 1024 * 1024));
    default:
      return attachment(pdf(20 * 1024 * 1024));
  }
}

void finish(benchmark::State& state, const std::string& message) {
  constexpr const char* names[] = {"4 kB text",           "5 kB alternative", "1 MB attachment",
                                   "1 MB PDF attachment", "20 MB attachment", "20 MB PDF attachment"};
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

void identify_by_octets(benchmark::State& state) {
  const auto message = sample(state.range(0));
  message::IdentityOptions options;
  options.documents = false;
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

BENCHMARK(sha256_alone)->DenseRange(0, 5);
BENCHMARK(identify)->DenseRange(0, 5);
BENCHMARK(identify_by_octets)->DenseRange(2, 5);
BENCHMARK(gmime_parser)->DenseRange(0, 5);

}  // namespace
