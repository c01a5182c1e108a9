#include "mailonce/message/pdf_document.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "pdf_budget.h"
#include "pdf_graph.h"
#include "pdf_object_stream.h"

namespace mailonce::message {
namespace {

constexpr std::string_view blanks = " \t\r\n";
constexpr std::string_view digits = "0123456789";

void remove_end(std::string_view& text, std::string_view set) {
  text.remove_suffix(text.size() - (text.find_last_not_of(set) + 1));
}

bool remove_word(std::string_view& text, std::string_view word) {
  if (!text.ends_with(word)) return false;
  text.remove_suffix(word.size());
  return true;
}

// Nothing but cross-references and the trailer stands between their beginning and the end.
bool is_last_section(std::string_view section) {
  if (section.starts_with("xref")) return section.find("endobj") == std::string_view::npos;
  remove_end(section, blanks);
  return remove_word(section, "endobj") && section.find("endobj") == std::string_view::npos;
}

bool is_any_of(std::string_view set, char c) {
  return set.find(c) != std::string_view::npos;
}

// How often an object begins in the file, "12 0 obj", wherever that is.
std::size_t count_objects(std::string_view file) {
  constexpr std::string_view word = "obj";
  std::size_t count = 0;
  for (auto at = file.find(word); at != std::string_view::npos; at = file.find(word, at + word.size())) {
    auto before = at;
    while (before > 0 &&
           (is_any_of(blanks, file[before - 1]) || file[before - 1] == '\f' || file[before - 1] == '\0'))
      --before;
    if (before > 0 && is_any_of(digits, file[before - 1])) ++count;
  }
  return count;
}

// One PDF file from its first octet to its last (ISO 32000-1 §7.5.2, §7.5.5).
bool is_whole(std::string_view file) {
  const auto version = file.substr(0, 8);
  if (version.size() != 8 || digits.find(version[5]) == std::string_view::npos || version[6] != '.' ||
      digits.find(version[7]) == std::string_view::npos)
    return false;
  // The end of a ZIP file that would be one too, to whoever takes it for one.
  constexpr std::size_t zip_end_octets = 22 + 0xffff;
  const auto tail = file.substr(file.size() - std::min(file.size(), zip_end_octets));
  if (tail.find("PK\x05\x06") != std::string_view::npos) return false;
  remove_end(file, blanks);
  // A second end is an earlier revision, a linearised file or another file behind this one.
  if (!remove_word(file, "%%EOF") || file.find("%%EOF") != std::string_view::npos) return false;
  remove_end(file, blanks);
  const auto number_end = file.size();
  remove_end(file, digits);
  const auto number = file.data() + file.size();
  std::size_t offset = 0;
  if (std::from_chars(number, file.data() + number_end, offset).ec != std::errc()) return false;
  remove_end(file, blanks);
  return remove_word(file, "startxref") && offset < file.size() && is_last_section(file.substr(offset));
}

class PdfReader {
 public:
  explicit PdfReader(std::string_view file)
      : file_(file),
        input_(std::make_shared<PdfInput>(file, DocumentLimits::structure_octets)),
        graph_(*input_, document_) {
    document_.kind = "pdf";
    pdf_.setSuppressWarnings(true);
    pdf_.setAttemptRecovery(false);
  }

  Document read() {
    load();
    check_object_streams();
    find_pages();
    put_pages();
    put_rest();
    put_unreferenced();
    if (pdf_.anyWarnings()) throw PdfDoubt("damaged");
    return std::move(document_);
  }

 private:
  // One cross-reference section: of several, an older reader may show an older revision.
  void load() {
    budget_ = {DocumentLimits::cross_reference_octets, 1};
    pdf_.processInputSource(input_);
    const auto trailer = pdf_.getTrailer().getDictAsMap();
    for (const char* key : {"/Encrypt", "/Prev", "/XRefStm"})
      if (trailer.contains(key)) throw PdfDoubt(key);
    xref_ = pdf_.getXRefTable();
    // Whoever repairs files looks for objects by themselves and finds an older or a freed one.
    const auto in_file =
        std::count_if(xref_.begin(), xref_.end(), [](const auto& e) { return e.second.getType() == 1; });
    if (count_objects(file_) != static_cast<std::size_t>(in_file))
      throw PdfDoubt("objects outside the table");
  }

  // Their own dictionaries must not depend on what is packed, and they unpack to something with one reading.
  void check_object_streams() {
    auto& streams = object_streams_;
    std::size_t octets = DocumentLimits::structure_octets;
    for (const auto& [object, entry] : xref_) {
      if (entry.getType() != 2) continue;
      const auto number = entry.getObjStreamNumber();
      auto found = streams.find(number);
      if (found == streams.end()) found = streams.emplace(number, objects_in(number, octets)).first;
      const auto& objects = found->second;
      const auto index = static_cast<std::size_t>(entry.getObjStreamIndex());
      if (index >= objects.size() || objects[index] != object.getObj()) throw PdfDoubt("object stream");
    }
    budget_ = {DocumentLimits::structure_octets + DocumentLimits::inflated_octets,
               std::numeric_limits<std::size_t>::max()};
  }

  std::vector<int> objects_in(int number, std::size_t& octets) {
    budget_ = {octets, 0};
    const auto entry = xref_.find(QPDFObjGen(number, 0));
    if (entry == xref_.end() || entry->second.getType() != 1) throw PdfDoubt("object stream");
    auto stream = pdf_.getObject(number, 0);
    if (!stream.isStream() || pdf_.anyWarnings()) throw PdfDoubt("object stream");
    auto dictionary = stream.getDict().getDictAsMap();
    for (const auto& [key, value] : dictionary)
      if (value.isIndirect()) throw PdfDoubt("object stream");
    if (dictionary.contains("/Extends")) throw PdfDoubt("object stream");
    const auto integer = [&](const char* key) {
      auto value = dictionary[key];
      if (!value.isInitialized() || !value.isInteger() || value.getIntValue() < 0)
        throw PdfDoubt("object stream");
      return static_cast<std::size_t>(value.getIntValue());
    };
    budget_.decoders = 1;
    const auto data = stream.getStreamData(qpdf_dl_specialized);
    octets -= std::min(octets, data->getSize());
    const std::string_view text(reinterpret_cast<const char*>(data->getBuffer()), data->getSize());
    auto objects = read_object_stream(text, integer("/N"), integer("/First"));
    if (!objects) throw PdfDoubt("object stream");
    return std::move(*objects);
  }

  // Every node of the page tree gets its number first, so that a page does not reach another one.
  void find_pages() {
    root_ = pdf_.getTrailer().getKey("/Root");
    information_ = pdf_.getTrailer().getKey("/Info");
    if (!root_.isDictionary()) throw PdfDoubt("catalog");
    metadata_ = root_.getKey("/Metadata");
    graph_.reserve(root_);
    if (information_.isIndirect()) graph_.reserve(information_);
    if (metadata_.isIndirect()) graph_.reserve(metadata_);
    std::vector<QPDFObjectHandle> open = {root_.getKey("/Pages")};
    while (!open.empty()) {
      auto node = open.back();
      open.pop_back();
      if (!node.isDictionary()) throw PdfDoubt("page tree");
      graph_.reserve(node);
      auto kids = node.getKey("/Kids");
      if (kids.isNull()) {
        pages_.push_back(node);
        continue;
      }
      nodes_.push_back(node);
      if (!kids.isArray()) throw PdfDoubt("page tree");
      auto children = kids.getArrayAsVector();
      open.insert(open.end(), children.rbegin(), children.rend());
    }
  }

  void put_pages() {
    std::size_t number = 0;
    for (auto& page : pages_) {
      const auto name = "page " + std::to_string(++number);
      auto rest = page.getDictAsMap();
      put_part(rest, "/Contents", name + " content");
      put_part(rest, "/Resources", name + " resources");
      graph_.put_dictionary(rest);
      graph_.end_item(name);
    }
  }

  void put_part(PdfGraph::Dictionary& page, const char* key, const std::string& name) {
    const auto part = page.extract(key);
    if (!part.empty()) graph_.put_value(part.mapped());
    graph_.end_item(name);
  }

  void put_rest() {
    for (const auto& node : nodes_) graph_.put_object(node);
    graph_.end_item("page tree");
    graph_.put_object(information_, PdfGraph::Role::information);
    graph_.end_item("document information");
    graph_.put_object(metadata_, PdfGraph::Role::metadata);
    graph_.end_item("metadata");
    graph_.put_object(root_);
    graph_.end_item("catalog");
    graph_.put_text(file_.substr(0, 8));
    graph_.put_dictionary(trailer_without_file_layout());
    graph_.end_item("trailer");
  }

  PdfGraph::Dictionary trailer_without_file_layout() {
    auto trailer = pdf_.getTrailer().getDictAsMap();
    // ISO 32000-1 tables 15 and 17: how the file is written, and its identifier.
    for (const char* key : {"/Size", "/ID", "/Type", "/W", "/Index", "/Filter", "/DecodeParms", "/Length"})
      trailer.erase(key);
    // LibreOffice's sum over what it wrote, times included.
    constexpr std::size_t checksum_octets = 33;
    const auto checksum = trailer.find("/DocChecksum");
    if (checksum != trailer.end() && checksum->second.isName()) {
      const auto name = checksum->second.getName();
      if (name.size() == checksum_octets &&
          name.find_first_not_of("0123456789ABCDEFabcdef", 1) == std::string::npos)
        trailer.erase(checksum);
    }
    return trailer;
  }

  // No reader that follows the cross-references shows these; they count all the same.
  void put_unreferenced() {
    for (const auto& [id, entry] : xref_) {
      if (entry.getType() == 0 || !graph_.is_unreached(id)) continue;
      auto object = pdf_.getObject(id);
      if (object_streams_.contains(id.getObj()) || object.isStreamOfType("/XRef") || object.isNull())
        continue;
      graph_.put_value(object);
      graph_.end_item("object without reference");
    }
  }

  std::string_view file_;
  PdfBudget budget_;
  PdfBudgetScope scope_{budget_};
  Document document_;
  std::shared_ptr<PdfInput> input_;
  QPDF pdf_;
  PdfGraph graph_;
  std::map<QPDFObjGen, QPDFXRefEntry> xref_;
  std::map<int, std::vector<int>> object_streams_;  // their objects, in order
  QPDFObjectHandle root_;
  QPDFObjectHandle information_;
  QPDFObjectHandle metadata_;
  std::vector<QPDFObjectHandle> nodes_;
  std::vector<QPDFObjectHandle> pages_;
};

}  // namespace

std::optional<Document> read_pdf(std::string_view octets) {
  if (!is_whole(octets)) return std::nullopt;
  try {
    return PdfReader(octets).read();
  } catch (const std::exception&) {
    // qpdf, or a doubt of ours: whatever it is, the octets still compare.
    return std::nullopt;
  }
}

}  // namespace mailonce::message
