#include "pdf_graph.h"

#include <array>

#include "mailonce/message/document_times.h"
#include "mailonce/message/embedded_time.h"

namespace mailonce::message {
namespace {

// XMP part 1 §8.4; "xap" is what its first version called "xmp". Ghostscript writes the identifier in
// rdf:about too.
constexpr std::array<std::string_view, 6> xmp_times = {"xmp:CreateDate",   "xmp:ModifyDate",
                                                       "xmp:MetadataDate", "xap:CreateDate",
                                                       "xap:ModifyDate",   "xap:MetadataDate"};
constexpr std::array<std::string_view, 5> xmp_identifiers = {
    "xmpMM:DocumentID", "xmpMM:InstanceID", "xapMM:DocumentID", "xapMM:InstanceID", "rdf:about"};

class HashPipeline final : public Pipeline {
 public:
  explicit HashPipeline(Hasher& hasher) : Pipeline("hash", nullptr), hasher_(hasher) {}
  void write(unsigned char const* data, size_t size) override {
    hasher_.update({reinterpret_cast<const char*>(data), size});
  }
  void finish() override {}

 private:
  Hasher& hasher_;
};

bool is_name(const PdfGraph::Dictionary& dictionary, const char* key, std::string_view name) {
  const auto found = dictionary.find(key);
  if (found == dictionary.end()) return false;
  auto value = found->second;
  return value.isName() && value.getName() == name;
}

// Signatures vouch for the very octets; scripts may show a time that is left out; data elsewhere is not seen.
void refuse_what_is_not_seen(const PdfGraph::Dictionary& dictionary) {
  for (const char* key : {"/ByteRange", "/Perms", "/JS", "/XFA", "/FFilter"})
    if (dictionary.contains(key)) throw PdfDoubt(key);
  if (is_name(dictionary, "/Type", "/Sig") || is_name(dictionary, "/Type", "/DocTimeStamp") ||
      (is_name(dictionary, "/FT", "/Sig") && dictionary.contains("/V")))
    throw PdfDoubt("signed");
}

// Where the time of making stands. TCPDF writes it to pages and links too; no reader shows it there, while
// that of a comment is shown.
bool is_time_key(std::string_view key, const PdfGraph::Dictionary& dictionary, PdfGraph::Role role) {
  if (role == PdfGraph::Role::information || role == PdfGraph::Role::file_parameters)
    return key == "/CreationDate" || key == "/ModDate";
  if (key == "/LastModified") return is_name(dictionary, "/Type", "/Page");
  return key == "/M" &&
         (is_name(dictionary, "/Subtype", "/Link") || is_name(dictionary, "/Subtype", "/Widget"));
}

}  // namespace

void PdfGraph::reserve(const QPDFObjectHandle& object) {
  if (!object.isIndirect() || !numbers_.emplace(object.getObjGen(), numbers_.size()).second)
    throw PdfDoubt("an object of two uses");
}

void PdfGraph::put_text(std::string_view text) {
  put_number(text.size());
  text_.append(text);
}

void PdfGraph::put_number(std::size_t number) {
  for (int shift = 56; shift >= 0; shift -= 8) text_.push_back(static_cast<char>(number >> shift & 0xffU));
}

void PdfGraph::put_digest(const Digest& digest) {
  text_.append(reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size());
}

void PdfGraph::put_reference(QPDFObjectHandle object, Role role) {
  // A reference to what is not there: readers that repair files may find something.
  if (object.isNull()) throw PdfDoubt("dangling reference");
  const auto [known, is_new] = numbers_.emplace(object.getObjGen(), numbers_.size());
  if (is_new) pending_.push_back({object, role});
  text_.push_back('R');
  put_number(known->second);
}

void PdfGraph::put_value(QPDFObjectHandle value, Role role) {
  if (value.isIndirect()) return put_reference(value, role);
  put_object(value, role);
}

void PdfGraph::put_object(QPDFObjectHandle object, Role role) {
  switch (object.getTypeCode()) {
    case ::ot_null:
      text_.push_back('n');
      return;
    case ::ot_boolean:
      text_.append(object.getBoolValue() ? "b1" : "b0");
      return;
    case ::ot_integer:
    case ::ot_real:
      text_.push_back('#');
      return put_text(object.unparseResolved());
    case ::ot_string:
      text_.push_back('s');
      return put_text(object.getStringValue());
    case ::ot_name:
      text_.push_back('/');
      return put_text(object.getName());
    case ::ot_array:
      return put_array(object);
    case ::ot_dictionary:
      return put_dictionary(object.getDictAsMap(), role);
    case ::ot_stream:
      return put_stream(object, role);
    default:
      throw PdfDoubt("no object");
  }
}

void PdfGraph::put_array(QPDFObjectHandle array) {
  text_.push_back('[');
  auto items = array.getArrayAsVector();
  const bool is_profile = items.size() == 2 && items[0].isNameAndEquals("/ICCBased");
  for (const auto& item : items) put_value(item, is_profile ? Role::profile : Role::plain);
  text_.push_back(']');
}

void PdfGraph::put_dictionary(const Dictionary& dictionary, Role role) {
  refuse_what_is_not_seen(dictionary);
  const bool embedded = is_name(dictionary, "/Type", "/EmbeddedFile");
  text_.push_back('<');
  for (const auto& [key, held] : dictionary) {
    auto value = held;
    put_text(key);
    if (is_left_out(key, value, dictionary, role)) {
      text_.push_back('T');
      continue;
    }
    put_value(value, embedded && key == "/Params" ? Role::file_parameters : role_under(key));
  }
  text_.push_back('>');
}

PdfGraph::Role PdfGraph::role_under(std::string_view key) {
  if (key == "/FontFile2" || key == "/FontFile3") return Role::font;
  return key == "/DestOutputProfile" ? Role::profile : Role::plain;
}

bool PdfGraph::is_left_out(const std::string& key, QPDFObjectHandle& value, const Dictionary& dictionary,
                           Role role) {
  if (!is_time_key(key, dictionary, role) || !value.isString() || !is_pdf_date(value.getStringValue()))
    return false;
  left_out(std::string_view(key).substr(1), value.getStringValue());
  return true;
}

void PdfGraph::left_out(std::string_view name, std::string_view value) {
  if (document_.times.size() < DocumentLimits::shown_times)
    document_.times.push_back({std::string(name), std::string(value)});
}

void PdfGraph::put_stream(QPDFObjectHandle stream, Role role) {
  auto dictionary = stream.getDict().getDictAsMap();
  lengths_.insert(dictionary["/Length"].getObjGen());
  if (dictionary.contains("/F")) throw PdfDoubt("data in another file");
  text_.push_back('S');
  if (put_without_times(stream, dictionary, role)) return;
  Hasher data;
  HashPipeline pipeline(data);
  input_.set_reading_data(true);
  stream.pipeStreamData(&pipeline, nullptr, 0, qpdf_dl_none);
  input_.set_reading_data(false);
  put_digest(data.finish());
  dictionary.erase("/Length");
  put_dictionary(dictionary);
}

// Inflated; false when it is coded otherwise or holds no time.
bool PdfGraph::put_without_times(QPDFObjectHandle stream, Dictionary& dictionary, Role role) {
  const bool is_metadata = role == Role::metadata && is_name(dictionary, "/Subtype", "/XML");
  const bool is_font = role == Role::font &&
                       (!dictionary.contains("/Subtype") || is_name(dictionary, "/Subtype", "/OpenType"));
  if (!is_metadata && !is_font && role != Role::profile) return false;
  if (dictionary.contains("/Filter") && !is_name(dictionary, "/Filter", "/FlateDecode")) return false;
  if (dictionary.contains("/DecodeParms") && dictionary["/DecodeParms"].isIndirect()) return false;
  input_.set_reading_data(true);
  const auto buffer = stream.getStreamData(qpdf_dl_generalized);
  input_.set_reading_data(false);
  std::string data(reinterpret_cast<const char*>(buffer->getBuffer()), buffer->getSize());
  if (!remove_times(data, role)) return false;
  put_digest(sha256(data));
  for (const char* key : {"/Length", "/Filter", "/DecodeParms"}) dictionary.erase(key);
  text_.push_back('T');
  put_dictionary(dictionary);
  return true;
}

bool PdfGraph::remove_times(std::string& data, Role role) {
  if (role == Role::font || role == Role::profile) {
    const bool is_font = role == Role::font;
    const auto time = is_font ? remove_font_time(data) : remove_profile_time(data);
    if (time) left_out(is_font ? "font modified" : "colour profile made", *time);
    return time.has_value();
  }
  if (data.size() > DocumentLimits::text_octets) return false;
  data = without_times(data, {xmp_times, xmp_identifiers, {}}, scratch_, document_.times);
  return true;
}

void PdfGraph::hash_pending() {
  while (!pending_.empty()) {
    hasher_.update_framed(text_);
    text_.clear();
    const auto next = pending_.front();
    pending_.pop_front();
    put_object(next.object, next.role);
  }
}

void PdfGraph::end_item(std::string name) {
  hash_pending();
  hasher_.update_framed(text_);
  text_.clear();
  document_.items.push_back({std::move(name), hasher_.finish()});
  hasher_ = Hasher();
}

}  // namespace mailonce::message
