// Writes objects of a PDF so that two graphs are equal exactly when their octets are: objects are numbered in
// the order they are reached, dictionaries stand in the order of their keys. Throws PdfDoubt, or what qpdf
// throws.
#pragma once
#include <deque>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "mailonce/base/digest.h"
#include "mailonce/message/document.h"
#include "pdf_budget.h"
#include "qpdf_headers.h"

namespace mailonce::message {

// The document compares by its octets.
struct PdfDoubt : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class PdfGraph {
 public:
  // What an object is decides which of its values are times of the document's making.
  enum class Role { plain, information, file_parameters, metadata, font, profile };
  using Dictionary = std::map<std::string, QPDFObjectHandle>;

  PdfGraph(PdfInput& input, Document& document) : input_(input), document_(document) {}

  // Gives an object its number now; what refers to it does not pull it into another item.
  void reserve(const QPDFObjectHandle& object);
  // Of objects that nothing but the length of a stream refers to it is false too: they say how the file is
  // written.
  bool is_unreached(QPDFObjGen object) const {
    return !numbers_.contains(object) && !lengths_.contains(object);
  }

  // An item is what is put between two calls of end_item, with all that it reaches and that has no number
  // yet.
  void put_object(QPDFObjectHandle object, Role role = Role::plain);  // itself, even if it is reserved
  void put_value(QPDFObjectHandle value, Role role = Role::plain);    // a reference when it is indirect
  void put_dictionary(const Dictionary& dictionary, Role role = Role::plain);
  void put_text(std::string_view text);
  void end_item(std::string name);

 private:
  struct Pending {
    QPDFObjectHandle object;
    Role role;
  };

  void put_reference(QPDFObjectHandle object, Role role);
  void put_array(QPDFObjectHandle array);
  static Role role_under(std::string_view key);
  void put_stream(QPDFObjectHandle stream, Role role);
  bool put_without_times(QPDFObjectHandle stream, Dictionary& dictionary, Role role);
  bool remove_times(std::string& data, Role role);
  void left_out(std::string_view name, std::string_view value);
  void put_digest(const Digest& digest);
  void put_number(std::size_t number);
  bool is_left_out(const std::string& key, QPDFObjectHandle& value, const Dictionary& dictionary, Role role);
  void hash_pending();

  PdfInput& input_;
  Document& document_;
  std::map<QPDFObjGen, std::size_t> numbers_;
  std::set<QPDFObjGen> lengths_;
  std::deque<Pending> pending_;
  std::string text_;  // of the object being written
  std::string scratch_;
  Hasher hasher_;
};

}  // namespace mailonce::message
