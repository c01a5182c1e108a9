#include "pdf_budget.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <vector>

namespace mailonce::message {
namespace {

thread_local PdfBudget* current_budget = nullptr;

[[noreturn]] void refuse(const char* why) {
  throw std::runtime_error(why);
}

// PNG's predictors (ISO 32000-1 §7.4.4.4), which cross-reference streams are written with.
class Unpredicted final : public Pipeline {
 public:
  Unpredicted(Pipeline* behind, std::size_t columns)
      : Pipeline("unpredicted", behind), previous_(columns), row_(columns + 1) {}

  void write(unsigned char const* data, size_t size) override {
    while (size > 0) {
      const auto taken = std::min(size, row_.size() - used_);
      std::memcpy(row_.data() + used_, data, taken);
      used_ += taken;
      data += taken;
      size -= taken;
      if (used_ == row_.size()) end_row();
    }
  }
  void finish() override {
    if (used_ != 0) refuse("a row is cut off");
    getNext()->finish();
  }

 private:
  void end_row() {
    const auto kind = row_[0];
    if (kind != 0 && kind != 2) refuse("a predictor that cross-reference streams do not use");
    for (std::size_t i = 0; i < previous_.size(); ++i)
      previous_[i] = static_cast<unsigned char>(row_[i + 1] + (kind == 2 ? previous_[i] : 0));
    getNext()->write(previous_.data(), previous_.size());
    used_ = 0;
  }

  std::vector<unsigned char> previous_;
  std::vector<unsigned char> row_;
  std::size_t used_ = 0;
};

// zlib data (RFC 1950) that must end where the stream does.
class BoundedInflater final : public Pipeline {
 public:
  explicit BoundedInflater(Pipeline* behind) : Pipeline("inflater", behind) {
    if (current_budget == nullptr || current_budget->decoders == 0) refuse("too many decoders");
    --current_budget->decoders;
    if (inflateInit(&stream_) != Z_OK) refuse("no memory");
  }
  ~BoundedInflater() override { inflateEnd(&stream_); }

  void write(unsigned char const* data, size_t size) override {
    stream_.next_in = const_cast<Bytef*>(data);
    stream_.avail_in = static_cast<uInt>(size);
    while (stream_.avail_in > 0) {
      // A line end before "endstream" counts as data in some files.
      if (ended_ && --trailing_allowed_ == 0) refuse("data behind the end");
      if (ended_) {
        check_blank(*stream_.next_in++);
        --stream_.avail_in;
        continue;
      }
      stream_.next_out = buffer_.data();
      stream_.avail_out = static_cast<uInt>(buffer_.size());
      const auto result = inflate(&stream_, Z_SYNC_FLUSH);
      if (result != Z_OK && result != Z_STREAM_END) refuse("broken data");
      pass_on(buffer_.size() - stream_.avail_out);
      ended_ = result == Z_STREAM_END;
    }
  }
  void finish() override {
    while (!ended_) {
      stream_.next_out = buffer_.data();
      stream_.avail_out = static_cast<uInt>(buffer_.size());
      const auto result = inflate(&stream_, Z_SYNC_FLUSH);
      if (result != Z_OK && result != Z_STREAM_END) refuse("data is cut off");
      pass_on(buffer_.size() - stream_.avail_out);
      ended_ = result == Z_STREAM_END;
    }
    getNext()->finish();
  }

 private:
  static void check_blank(unsigned char octet) {
    if (octet != '\r' && octet != '\n') refuse("data behind the end");
  }
  void pass_on(std::size_t octets) {
    if (octets > current_budget->inflated_octets) refuse("inflates to too much");
    current_budget->inflated_octets -= octets;
    getNext()->write(buffer_.data(), octets);
  }

  z_stream stream_{};
  std::array<unsigned char, 16384> buffer_;
  bool ended_ = false;
  int trailing_allowed_ = 3;
};

class BoundedFlate final : public QPDFStreamFilter {
 public:
  bool setDecodeParms(QPDFObjectHandle parms) override {
    if (parms.isNull()) return true;
    if (!parms.isDictionary()) return false;
    constexpr int widest = 32;
    for (const auto& key : parms.getKeys()) {
      auto value = parms.getKey(key);
      if (value.isIndirect() || !value.isInteger()) return false;
      const auto number = value.getIntValueAsInt();
      if (key == "/Predictor" && (number == 1 || (number >= 10 && number <= 15))) {
        predicted_ = number != 1;
      } else if (key == "/Columns" && number >= 1 && number <= widest) {
        columns_ = static_cast<std::size_t>(number);
      } else if (!(key == "/Colors" && number == 1) && !(key == "/BitsPerComponent" && number == 8)) {
        return false;
      }
    }
    return true;
  }
  Pipeline* getDecodePipeline(Pipeline* next) override {
    if (predicted_) {
      unpredicted_ = std::make_unique<Unpredicted>(next, columns_);
      next = unpredicted_.get();
    }
    inflater_ = std::make_unique<BoundedInflater>(next);
    return inflater_.get();
  }

 private:
  bool predicted_ = false;
  std::size_t columns_ = 1;
  std::unique_ptr<Unpredicted> unpredicted_;
  std::unique_ptr<BoundedInflater> inflater_;
};

// A filter structure is never written with.
class Refused final : public QPDFStreamFilter {
 public:
  bool setDecodeParms(QPDFObjectHandle /*parms*/) override { return false; }
  Pipeline* getDecodePipeline(Pipeline* /*next*/) override { return nullptr; }
};

// qpdf's filters are the process's; nothing else here uses them.
void register_filters() {
  static std::once_flag once;
  std::call_once(once, [] {
    QPDF::registerStreamFilter("/FlateDecode", [] { return std::make_shared<BoundedFlate>(); });
    for (const char* name :
         {"/Crypt", "/LZWDecode", "/RunLengthDecode", "/DCTDecode", "/ASCII85Decode", "/ASCIIHexDecode"})
      QPDF::registerStreamFilter(name, [] { return std::make_shared<Refused>(); });
  });
}

}  // namespace

PdfBudgetScope::PdfBudgetScope(PdfBudget& budget) {
  register_filters();
  current_budget = &budget;
}

PdfBudgetScope::~PdfBudgetScope() {
  current_budget = nullptr;
}

void PdfInput::seek(qpdf_offset_t offset, int whence) {
  const auto base = whence == SEEK_SET   ? 0
                    : whence == SEEK_CUR ? tell()
                                         : static_cast<qpdf_offset_t>(octets_.size());
  if (offset < -base) refuse("seek before the beginning");
  at_ = static_cast<std::size_t>(base + offset);
}

size_t PdfInput::read(char* to, size_t length) {
  last_offset = tell();
  const auto octets = at_ < octets_.size() ? octets_.substr(at_, length) : std::string_view();
  auto& left = reading_data_ ? data_left_ : structure_left_;
  if (octets.size() > left) refuse("too much to read");
  left -= octets.size();
  if (!octets.empty()) std::memcpy(to, octets.data(), octets.size());
  at_ += octets.size();
  return octets.size();
}

void PdfInput::unreadCh(char /*ch*/) {
  if (at_ > 0) --at_;
}

qpdf_offset_t PdfInput::findAndSkipNextEOL() {
  const auto eol = octets_.find_first_of("\r\n", at_);
  if (eol == std::string_view::npos) {
    at_ = octets_.size();
    return tell();
  }
  at_ = std::min(octets_.find_first_not_of("\r\n", eol), octets_.size());
  return static_cast<qpdf_offset_t>(eol);
}

}  // namespace mailonce::message
