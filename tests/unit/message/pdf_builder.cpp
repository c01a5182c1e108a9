#include "pdf_builder.h"

#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <numeric>

namespace mailonce::message::test {
namespace {

std::string big(std::size_t value, int octets) {
  std::string out;
  for (int shift = 8 * (octets - 1); shift >= 0; shift -= 8)
    out.push_back(static_cast<char>(value >> shift & 0xffU));
  return out;
}

class Numbers {
 public:
  explicit Numbers(const PdfFile& file) : order_(file.order) {
    if (!order_.empty()) return;
    order_.resize(file.objects.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
  }
  const std::vector<std::size_t>& order() const { return order_; }

  std::string resolved(const std::string& text) const {
    std::string out;
    const auto data = std::min(text.find("stream\n"), text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '@' || i > data) {
        out += text[i];
        continue;
      }
      std::size_t octets = 0;
      const auto object = std::stoul(text.substr(i + 1), &octets) - 1;
      const auto at = std::find(order_.begin(), order_.end(), object);
      out += std::to_string(at - order_.begin() + 1) + " 0 R";
      i += octets;
    }
    return out;
  }

 private:
  std::vector<std::size_t> order_;
};

std::string object(std::size_t number, const std::string& body) {
  return std::to_string(number) + " 0 obj\n" + body + "\nendobj\n";
}

}  // namespace

std::string zlib_data(const std::string& data) {
  auto octets = compressBound(data.size());
  std::string out(octets, '\0');
  compress(reinterpret_cast<Bytef*>(out.data()), &octets, reinterpret_cast<const Bytef*>(data.data()),
           data.size());
  out.resize(octets);
  return out;
}

std::string pdf_stream(const std::string& data, const std::string& keys) {
  return "<<" + keys + "/Length " + std::to_string(data.size()) + ">>stream\n" + data + "\nendstream";
}

std::string PdfFile::bytes() const {
  const Numbers numbers(*this);
  std::string out = "%PDF-1.4\n";
  std::string table = "0000000000 65535 f \n";
  std::size_t number = 0;
  for (const auto index : numbers.order()) {
    char entry[21];
    std::snprintf(entry, sizeof entry, "%010zu 00000 n \n", out.size());
    table += entry;
    out += object(++number, numbers.resolved(objects[index]));
  }
  const auto at = out.size();
  const auto size = std::to_string(objects.size() + 1);
  return out + "xref\n0 " + size + "\n" + table + "trailer\n<</Size " + size + numbers.resolved(trailer) +
         ">>\n" + before_end + "startxref\n" + std::to_string(at) + "\n%%EOF\n";
}

std::string PdfFile::packed(const std::string& packed_before, const std::string& offsets) const {
  const Numbers numbers(*this);
  const auto stream_number = objects.size() + 1;
  std::string out = "%PDF-1.5\n";
  std::string table = big(0, 1) + big(0, 4) + big(0, 2);
  std::string packed_objects = packed_before;
  std::string header;
  std::size_t count = 0;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const auto body = numbers.resolved(objects[numbers.order()[i]]);
    if (body.ends_with("endstream")) {
      table += big(1, 1) + big(out.size(), 4) + big(0, 2);
      out += object(i + 1, body);
      continue;
    }
    table += big(2, 1) + big(stream_number, 4) + big(count++, 2);
    header += std::to_string(i + 1) + " " + std::to_string(packed_objects.size()) + " ";
    packed_objects += body + "\n";
  }
  if (!offsets.empty()) header = offsets;
  table += big(1, 1) + big(out.size(), 4) + big(0, 2);
  out += object(stream_number, pdf_stream(zlib_data(header + packed_objects),
                                          "/Type/ObjStm/Filter/FlateDecode/N " + std::to_string(count) +
                                              "/First " + std::to_string(header.size())));
  const auto at = out.size();
  table += big(1, 1) + big(at, 4) + big(0, 2);
  out +=
      object(stream_number + 1,
             pdf_stream(zlib_data(table), "/Type/XRef/W[1 4 2]/Filter/FlateDecode/Size " +
                                              std::to_string(stream_number + 2) + numbers.resolved(trailer)));
  return out + "startxref\n" + std::to_string(at) + "\n%%EOF\n";
}

}  // namespace mailonce::message::test
