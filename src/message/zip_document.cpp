#include "mailonce/message/zip_document.h"

#include <algorithm>
#include <array>

#include "mailonce/message/document_times.h"
#include "mailonce/message/inflated_entry.h"
#include "mailonce/message/shown_times.h"
#include "mailonce/message/zip_structure.h"

namespace mailonce::message {
namespace {

// Where each format keeps the time of its making. Times a person sees in the text are elsewhere and count.
constexpr std::array<std::string_view, 3> ooxml_times = {"dcterms:created", "dcterms:modified",
                                                         "cp:lastPrinted"};
constexpr std::array<std::string_view, 3> odf_times = {"meta:creation-date", "dc:date", "meta:print-date"};
// LibreOffice draws these numbers of the editing session at random whenever it writes.
constexpr std::array<std::string_view, 2> odf_sessions = {"Rsid", "RsidRoot"};
constexpr std::array<std::string_view, 1> epub_times = {"dcterms:modified"};

enum class Format { plain, ooxml, open_document, epub };

bool starts_ignoring_name_case(std::string_view name, std::string_view prefix) {
  return std::equal(prefix.begin(), prefix.end(), name.begin(),
                    name.begin() + std::min(prefix.size(), name.size()),
                    [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? b - 'A' + 'a' : b); });
}

Format format_of(const ZipStructure& zip) {
  const auto& first = zip.entries.front();
  if (first.name == "mimetype" && first.method == ZipEntry::Method::stored) {
    if (first.data.starts_with("application/vnd.oasis.opendocument.")) return Format::open_document;
    if (first.data == "application/epub+zip") return Format::epub;
  }
  const auto is_types = [](const ZipEntry& entry) { return entry.name == "[Content_Types].xml"; };
  return std::any_of(zip.entries.begin(), zip.entries.end(), is_types) ? Format::ooxml : Format::plain;
}

// A signature vouches for the very octets, what is encrypted is not seen, and a macro may show a time.
bool is_sealed(const ZipEntry& entry, Format format) {
  const auto name = entry.name;
  const auto begins = [&](std::string_view begin) { return starts_ignoring_name_case(name, begin); };
  const auto ends = [&](std::string_view end) {
    return name.size() >= end.size() && starts_ignoring_name_case(name.substr(name.size() - end.size()), end);
  };
  if (begins("_xmlsignatures/") || ends("vbaproject.bin")) return true;
  if (format == Format::open_document && (begins("basic/") || begins("scripts/"))) return true;
  if (!begins("meta-inf/")) return false;
  return ends("signatures.xml") || ends("encryption.xml") || ends(".sf") || ends(".rsa") || ends(".dsa") ||
         ends(".ec");
}

TimeNames times_of(Format format, std::string_view name) {
  TimeNames names;
  if (format == Format::ooxml && name == "docProps/core.xml") names.times = ooxml_times;
  if (format == Format::open_document && name == "meta.xml") names.times = odf_times;
  if (format == Format::open_document && name == "settings.xml") names.numbers = odf_sessions;
  if (format == Format::epub && name.ends_with(".opf")) names.times = epub_times;
  return names;
}

// A part whose text the reader sees.
bool is_text_of(Format format, std::string_view name) {
  if (format == Format::ooxml) return name.starts_with("word/") && name.ends_with(".xml");
  return format == Format::open_document && (name == "content.xml" || name == "styles.xml");
}

// Extra fields (APPNOTE.TXT §4.5, Info-ZIP's extrafld.txt) without the times of the file; the kind and length
// stay.
std::string without_extra_times(std::string_view extra) {
  constexpr std::size_t header_octets = 4;
  std::string kept;
  while (extra.size() >= header_octets) {
    const auto octet = [&](std::size_t i) {
      return static_cast<std::size_t>(static_cast<unsigned char>(extra[i]));
    };
    const auto kind = octet(0) | octet(1) << 8U;
    const auto octets = octet(2) | octet(3) << 8U;
    if (octets > extra.size() - header_octets) break;
    const auto data = extra.substr(header_octets, octets);
    std::size_t times_begin = octets;
    std::size_t times_octets = 0;
    if (kind == 0x5455 && octets % 4 == 1) {  // UT: which times, then those
      times_begin = 1;
      times_octets = octets - 1;
    } else if (kind == 0x5855 && octets >= 8) {  // UX: two times, then perhaps the owner
      times_begin = 0;
      times_octets = 8;
    } else if (kind == 0x000a && octets == 32 &&
               data.substr(4, 4) == std::string_view("\x01\x00\x18\x00", 4)) {
      times_begin = 8;  // NTFS: reserved, attribute 1 of 24 octets: three times
      times_octets = 24;
    }
    kept += extra.substr(0, header_octets + times_begin);
    kept += data.substr(times_begin + times_octets);
    extra.remove_prefix(header_octets + octets);
  }
  return kept.append(extra);
}

class ZipReader {
 public:
  ZipReader(const ZipStructure& zip, Format format) : zip_(zip), format_(format) { document_.kind = "zip"; }

  std::optional<Document> read() {
    document_.items.push_back({"comment", sha256(zip_.comment)});
    for (const auto& entry : zip_.entries) {
      Digest content;
      if (!hash_content(entry, content)) return std::nullopt;
      document_.items.push_back({std::string(entry.name), hash_entry(entry, content)});
    }
    if (shown_times_.found()) return std::nullopt;
    return std::move(document_);
  }

 private:
  bool hash_content(const ZipEntry& entry, Digest& digest) {
    const auto names = times_of(format_, entry.name);
    const bool has_times =
        !(names.times.empty() && names.numbers.empty()) && entry.octets <= DocumentLimits::text_octets;
    const bool may_name_encryption =
        format_ == Format::open_document && entry.name == "META-INF/manifest.xml";
    if (may_name_encryption && entry.octets > DocumentLimits::text_octets) return false;
    const bool whole = has_times || may_name_encryption;
    const bool is_text = is_text_of(format_, entry.name);
    text_.clear();
    shown_times_.begin_part();
    Hasher hasher;
    InflatedEntry inflated(entry);
    std::string_view chunk;
    while (inflated.next(chunk)) {
      if (is_text) shown_times_.feed(chunk);
      if (whole)
        text_.append(chunk);
      else
        hasher.update(chunk);
    }
    if (!inflated.intact()) return false;
    if (may_name_encryption && text_.find("encryption-data") != std::string::npos) return false;
    if (has_times) {
      hasher.update(without_times(text_, names, scratch_, document_.times));
    } else if (whole) {
      hasher.update(text_);
    }
    digest = hasher.finish();
    return true;
  }

  // Not how it is compressed, and not when the file was written.
  static Digest hash_entry(const ZipEntry& entry, const Digest& content) {
    const auto put = [](Hasher& hasher, std::uint32_t value) {
      std::array<char, 4> octets{};
      for (auto& octet : octets) {
        octet = static_cast<char>(value & 0xffU);
        value >>= 8U;
      }
      hasher.update({octets.data(), octets.size()});
    };
    constexpr std::uint16_t utf8_flag = 1U << 11U;
    Hasher hasher;
    hasher.update_framed({reinterpret_cast<const char*>(content.bytes.data()), content.bytes.size()});
    put(hasher, entry.made_by);
    put(hasher, entry.flags & utf8_flag);
    put(hasher, entry.internal_attributes);
    put(hasher, entry.external_attributes);
    hasher.update_framed(entry.comment);
    hasher.update_framed(without_extra_times(entry.local_extra));
    hasher.update_framed(without_extra_times(entry.central_extra));
    return hasher.finish();
  }

  const ZipStructure& zip_;
  Format format_;
  Document document_;
  ShownTimes shown_times_;
  std::string text_;
  std::string scratch_;
};

}  // namespace

std::optional<Document> read_zip(std::string_view octets) {
  const auto zip = read_zip_structure(octets);
  if (!zip || zip->entries.empty()) return std::nullopt;
  const auto format = format_of(*zip);
  std::size_t inflated_octets = 0;
  for (const auto& entry : zip->entries) {
    inflated_octets += entry.octets;
    if (is_sealed(entry, format) || inflated_octets > DocumentLimits::inflated_octets) return std::nullopt;
  }
  return ZipReader(*zip, format).read();
}

}  // namespace mailonce::message
