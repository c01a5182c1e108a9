#include "mailonce/message/canonical_form.h"

#include <algorithm>
#include <array>
#include <optional>

#include "mailonce/base/encoding.h"
#include "mailonce/message/charset.h"
#include "mailonce/message/document.h"
#include "mailonce/message/header_value.h"
#include "mailonce/message/mime_tree.h"
#include "mailonce/message/text_content.h"

namespace mailonce::message {
namespace {

struct CountedField {
  std::string_view name;
  FieldSyntax syntax;
  bool family = false;  // every field whose name begins so
};

// What mail programs show or act on (DESIGN.md §5), in the order of the canonical form.
constexpr std::array counted_fields = {
    CountedField{"From", FieldSyntax::structured}, CountedField{"Sender", FieldSyntax::structured},
    CountedField{"Reply-To", FieldSyntax::structured}, CountedField{"To", FieldSyntax::structured},
    CountedField{"Cc", FieldSyntax::structured}, CountedField{"Bcc", FieldSyntax::structured},
    CountedField{"Subject", FieldSyntax::unstructured}, CountedField{"In-Reply-To", FieldSyntax::structured},
    CountedField{"References", FieldSyntax::structured},
    CountedField{"Resent-", FieldSyntax::structured, true}, CountedField{"List-Id", FieldSyntax::structured},
    CountedField{"Importance", FieldSyntax::unstructured},
    CountedField{"Priority", FieldSyntax::unstructured},
    CountedField{"X-Priority", FieldSyntax::unstructured},
    // With these the provider writes the reader's text, so two mails may differ in nothing else.
    CountedField{"X-SMTPAPI", FieldSyntax::unstructured},  // SendGrid
    CountedField{"X-Mailgun-Recipient-Variables", FieldSyntax::unstructured},
    CountedField{"X-Mailgun-Template-", FieldSyntax::unstructured, true},
    CountedField{"X-MC-MergeVars", FieldSyntax::unstructured},  // Mailchimp Transactional
    CountedField{"X-MC-Template", FieldSyntax::unstructured},
    CountedField{"X-MSYS-API", FieldSyntax::unstructured},  // SparkPost
};

// Inside message/rfc822 these are content: somebody chose that very message.
constexpr std::array attached_fields = {
    CountedField{"Date", FieldSyntax::unstructured},
    CountedField{"Message-ID", FieldSyntax::unstructured},
};

bool matches(const CountedField& counted, std::string_view name) {
  if (!counted.family) return equals_ignoring_case(counted.name, name);
  return name.size() > counted.name.size() &&
         equals_ignoring_case(counted.name, name.substr(0, counted.name.size()));
}

bool is_counted(std::string_view name) {
  return std::any_of(counted_fields.begin(), counted_fields.end(),
                     [&](const auto& f) { return matches(f, name); });
}

std::string_view why_not_counted(std::string_view name) {
  constexpr std::array made_anew = {"Date", "Message-ID", "Received", "Return-Path", "DKIM-Signature"};
  for (const std::string_view volatile_name : made_anew)
    if (equals_ignoring_case(volatile_name, name)) return "made anew for each build or on the way";
  if (name.size() > 8 && equals_ignoring_case(name.substr(0, 8), "Content-")) return "read with its part";
  return "not shown to the recipient";
}

// Patterns are for what a person reads: not for the inside of an encoded word.
bool is_legible(const HeaderValue& value) {
  return value.reading == Reading::decoded || value.text.find("=?") == std::string::npos;
}

// RFC 1847, RFC 8551: what stands in the second part of a multipart/signed.
bool is_signature(const Part& part) {
  return part.kind == Part::Kind::leaf &&
         (part.type == "application/pgp-signature" || part.type == "application/pkcs7-signature" ||
          part.type == "application/x-pkcs7-signature");
}

class Writer {
 public:
  Writer(const MimeTree& tree, const CanonicalOptions& options, CanonicalSink& sink)
      : content_ids_(tree.content_ids), options_(options), sink_(sink) {}

  void write_message(const Part& root, bool attached) {
    if (root.header_known) write_header(root, attached);
    write_part(root);
  }

 private:
  void write_header(const Part& root, bool attached) {
    for (const auto& counted : counted_fields) write_fields(root, counted);
    if (attached) {
      for (const auto& counted : attached_fields) write_fields(root, counted);
    }
    for (const auto& name : options_.identity_headers)
      write_fields(root, {to_lower_ascii(name), FieldSyntax::unstructured});
    if (sink_.wants_dropped()) explain_header(root, attached);
  }

  void write_fields(const Part& root, const CountedField& counted) {
    for (const auto& field : root.header) {
      if (!matches(counted, field.name)) continue;
      auto value = read_header_value(field.value, counted.syntax);
      if (counted.name == "Subject" && is_legible(value)) drop_ignored(value.text);
      const auto name = counted.family ? to_lower_ascii(field.name) : std::string(counted.name);
      sink_.header(name, value.text, value.reading);
    }
  }

  void explain_header(const Part& root, bool attached) {
    for (const auto& field : root.header) {
      const auto is = [&](std::string_view name) { return equals_ignoring_case(name, field.name); };
      if (is_counted(field.name) || (attached && (is("Date") || is("Message-ID")))) continue;
      if (std::any_of(options_.identity_headers.begin(), options_.identity_headers.end(), is)) continue;
      sink_.dropped(field.name, read_header_value(field.value, FieldSyntax::structured).text,
                    why_not_counted(field.name));
    }
  }

  void write_part(const Part& part) {
    switch (part.kind) {
      case Part::Kind::multipart:
        return write_multipart(part);
      case Part::Kind::message: {
        const auto file_name = content_ids_.number_file_name(part.file_name);
        sink_.open_message(describe_leaf(part, file_name));
        write_message(part.children.front(), true);
        return sink_.close(true);
      }
      case Part::Kind::raw:
        return write_raw(part);
      case Part::Kind::leaf:
        return write_leaf(part);
    }
  }

  void write_multipart(const Part& part) {
    const auto subtype = std::string_view(part.type).substr(std::string_view("multipart/").size());
    sink_.open_multipart(subtype, part.content_id);
    if (sink_.wants_dropped()) explain_multipart(part);
    const bool is_signed =
        part.type == "multipart/signed" && part.children.size() == 2 && is_signature(part.children[1]);
    if (is_signed) {
      write_part(part.children[0]);
      sink_.dropped("signature", part.children[1].type, "made over volatile fields; its signed part counts");
    } else {
      for (const auto& child : part.children) write_part(child);
    }
    sink_.close(part.complete);
  }

  void explain_multipart(const Part& part) {
    sink_.dropped("boundary", part.boundary, "made anew for each build");
    if (!part.preamble.empty()) sink_.dropped("preamble", part.preamble, "not shown to the recipient");
    if (!part.epilogue.empty()) sink_.dropped("epilogue", part.epilogue, "not shown to the recipient");
  }

  Leaf describe_leaf(const Part& part, std::string_view file_name) const {
    Leaf leaf;
    leaf.type = part.detailed_type.empty() ? part.type : part.detailed_type;
    leaf.disposition = part.disposition;
    leaf.file_name = file_name;
    leaf.content_id = part.content_id;
    leaf.reading = Reading::octets;
    return leaf;
  }

  void write_raw(const Part& part) {
    Leaf leaf;
    leaf.reading = Reading::raw;
    leaf.label = part.raw_reason;
    sink_.open_leaf(leaf);
    for (const auto& field : part.content_fields) sink_.content(field.raw);
    sink_.content("\r\n");
    sink_.content(part.body);
    sink_.close_leaf();
  }

  void write_leaf(const Part& part) {
    const auto file_name = content_ids_.number_file_name(part.file_name);
    auto leaf = describe_leaf(part, file_name);
    if (!follows(part.transfer_encoding, part.body)) {
      leaf.reading = Reading::raw;
      const auto label = "transfer encoding " + part.transfer_encoding_name;
      leaf.label = label;
      sink_.open_leaf(leaf);
      sink_.content(part.body);
      return sink_.close_leaf();
    }
    if (part.type.starts_with("text/") || part.type == "application/ics") return write_text(part, leaf);
    TransferDecoder decoder(part.transfer_encoding, part.body);
    std::string_view chunk;
    bool more = decoder.next(chunk);
    if (more && options_.documents && may_be_document(chunk) && write_document(part, leaf)) return;
    sink_.open_leaf(leaf);
    for (; more; more = decoder.next(chunk)) sink_.content(chunk);
    sink_.close_leaf();
  }

  // False, and nothing written, when it is to be compared by its octets.
  bool write_document(const Part& part, Leaf leaf) {
    if (documents_tried_ == DocumentLimits::documents) return false;
    ++documents_tried_;
    const auto octets = decode(part, DocumentLimits::octets);
    const auto document = read_document(octets);
    if (!document) return false;
    leaf.reading = Reading::document;
    leaf.label = document->kind;
    sink_.open_leaf(leaf);
    for (const auto& item : document->items) sink_.document_item(item.name, item.digest);
    for (const auto& time : document->times)
      sink_.dropped(time.name, time.value, "made anew for each build of the document");
    sink_.close_leaf();
    return true;
  }

  void write_text(const Part& part, Leaf& leaf) {
    const auto octets = decode(part, part.body.size());
    // RFC 2045 §5.2; for calendars RFC 5545 §3.1.4.
    const bool calendar = part.type == "text/calendar" || part.type == "application/ics";
    const std::string_view default_charset = calendar ? "utf-8" : "us-ascii";
    const auto charset = part.charset.empty() ? default_charset : std::string_view(part.charset);
    auto text = to_utf8(octets, charset, converted_);
    const auto label = text ? std::string() : "charset " + to_lower_ascii(charset);
    if (text) {
      leaf.reading = Reading::text;
      *text = with_lf_line_ends(*text, unix_text_);
      if (calendar) *text = drop_dtstamp(*text);
      *text = without_ignored(*text);
      if (part.type == "text/html") *text = content_ids_.number_references(*text, filtered_);
      *text = without_trailing_blank_lines(*text);
    } else {
      leaf.reading = Reading::raw;
      leaf.label = label;
      text = is_utf8_or_ascii(charset) ? without_ignored(octets) : octets;
    }
    sink_.open_leaf(leaf);
    sink_.content(*text);
    sink_.close_leaf();
  }

  std::string_view without_ignored(std::string_view text) {
    if (options_.ignore.empty()) return text;
    ignored_.assign(text);
    drop_ignored(ignored_);
    return ignored_;
  }

  void drop_ignored(std::string& text) {
    for (const auto& pattern : options_.ignore) {
      const auto before = text.size();
      pattern.remove_from(text);
      if (text.size() != before) sink_.dropped("ignored", pattern.written(), "taken out of the text");
    }
  }

  std::string_view drop_dtstamp(std::string_view text) {
    const auto kept = without_dtstamp(text, filtered_);
    if (kept.size() != text.size()) sink_.dropped("DTSTAMP", {}, "the time of building");
    return kept;
  }

  // At most a piece more than `most_octets`.
  std::string_view decode(const Part& part, std::size_t most_octets) {
    if (part.transfer_encoding == TransferEncoding::identity) return part.body;
    decoded_.clear();
    decoded_.reserve(std::min(part.body.size(), most_octets));
    TransferDecoder decoder(part.transfer_encoding, part.body);
    std::string_view chunk;
    while (decoded_.size() <= most_octets && decoder.next(chunk)) decoded_.append(chunk);
    return decoded_;
  }

  const ContentIds& content_ids_;
  const CanonicalOptions& options_;
  CanonicalSink& sink_;
  std::size_t documents_tried_ = 0;
  // Reused from part to part; each holds one step of a text.
  std::string decoded_;
  std::string converted_;
  std::string unix_text_;
  std::string filtered_;
  std::string ignored_;
};

}  // namespace

void write_canonical_form(std::string_view message, const CanonicalOptions& options, CanonicalSink& sink) {
  const auto tree = parse_tree(message);
  Writer(tree, options, sink).write_message(tree.root, false);
}

}  // namespace mailonce::message
