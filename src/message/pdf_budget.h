// Keeps libqpdf 11.3 within bounds, which has none of its own: what it reads and what it inflates.
#pragma once
#include <memory>
#include <string_view>

#include "qpdf_headers.h"

namespace mailonce::message {

// Of the document that this thread reads. Beyond it qpdf's calls end with a warning or an exception.
struct PdfBudget {
  std::size_t inflated_octets = 0;  // that decoders may still give
  std::size_t decoders = 0;         // that may still be made
};

// Makes `budget` the calling thread's while it lives. One at a time.
class PdfBudgetScope {
 public:
  explicit PdfBudgetScope(PdfBudget& budget);
  ~PdfBudgetScope();
  PdfBudgetScope(const PdfBudgetScope&) = delete;
  PdfBudgetScope& operator=(const PdfBudgetScope&) = delete;
};

// The octets of a file, without a copy; counts what the parser reads of them.
class PdfInput final : public InputSource {
 public:
  PdfInput(std::string_view octets, std::size_t structure_octets)
      : octets_(octets), structure_left_(structure_octets), data_left_(2 * octets.size()) {}

  // While true what is read is a stream's data. Each is read once or twice; when all are longer, they
  // overlap.
  void set_reading_data(bool reading) { reading_data_ = reading; }

  qpdf_offset_t findAndSkipNextEOL() override;
  std::string const& getName() const override { return name_; }
  qpdf_offset_t tell() override { return static_cast<qpdf_offset_t>(at_); }
  void seek(qpdf_offset_t offset, int whence) override;
  void rewind() override { at_ = 0; }
  size_t read(char* to, size_t length) override;
  void unreadCh(char ch) override;

 private:
  std::string name_ = "document";
  std::string_view octets_;
  std::size_t at_ = 0;
  std::size_t structure_left_;
  std::size_t data_left_;
  bool reading_data_ = false;
};

}  // namespace mailonce::message
