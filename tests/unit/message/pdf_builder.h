// Small PDF files, right by default, and everything that can be wrong with them.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace mailonce::message::test {

std::string zlib_data(const std::string& data);
std::string pdf_stream(const std::string& data, const std::string& keys = "");

struct PdfFile {
  // The body of object i + 1; "@2" stands for a reference to the second of these, whatever its number.
  std::vector<std::string> objects = {
      "<</Type/Catalog/Pages @2>>",
      "<</Type/Pages/Kids[@3]/Count 1>>",
      "<</Type/Page/Parent @2/MediaBox[0 0 200 200]/Contents @4/Resources<</Font<</F1 @5>>>>>>",
      pdf_stream("BT /F1 12 Tf (Pay 1234) Tj ET"),
      "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
      "<</Producer(p)/CreationDate(D:20261202100000Z)/ModDate(D:20261202100000Z)>>",
  };
  std::vector<std::size_t> order;  // in which they are written and numbered; empty: as they stand
  std::string trailer = "/Root @1/Info @6/ID[<01><02>]";
  std::string before_end;

  std::string bytes() const;
  // All but streams in one object stream (ISO 32000-1 §7.5.7); what is packed stands behind `packed_before`.
  std::string packed(const std::string& packed_before = "", const std::string& offsets = "") const;
};

}  // namespace mailonce::message::test
