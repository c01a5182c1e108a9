#include "mailonce/message/mime_tree.h"

#include "mailonce/base/encoding.h"
#include "mailonce/message/canonical_form.h"
#include "mailonce/message/content_field.h"
#include "mailonce/message/multipart.h"

namespace mailonce::message {
namespace {

// The fields of one entity that say how its body is to be read; nothing repeated.
struct ContentFields {
  const HeaderField* type = nullptr;
  const HeaderField* disposition = nullptr;
  const HeaderField* transfer_encoding = nullptr;
  const HeaderField* id = nullptr;
  const HeaderField* location = nullptr;
  bool repeated = false;
};

bool is_content_field(const HeaderField& field) {
  return field.name.size() > 8 && equals_ignoring_case(field.name.substr(0, 8), "content-");
}

ContentFields content_fields(const std::vector<HeaderField>& fields) {
  ContentFields found;
  const auto keep = [&](const HeaderField*& slot, const HeaderField& field) {
    found.repeated = found.repeated || slot != nullptr;
    slot = &field;
  };
  for (const auto& field : fields) {
    if (!is_content_field(field)) continue;
    const auto name = field.name.substr(8);
    if (equals_ignoring_case(name, "type")) keep(found.type, field);
    if (equals_ignoring_case(name, "disposition")) keep(found.disposition, field);
    if (equals_ignoring_case(name, "transfer-encoding")) keep(found.transfer_encoding, field);
    if (equals_ignoring_case(name, "id")) keep(found.id, field);
    if (equals_ignoring_case(name, "location")) keep(found.location, field);
  }
  return found;
}

class TreeParser {
 public:
  MimeTree parse(std::string_view message) {
    MimeTree tree;
    tree.root = parse_message(message, 0);
    tree.content_ids = std::move(content_ids_);
    return tree;
  }

 private:
  Part parse_message(std::string_view message, std::size_t depth) {
    auto block = scan_fields(message, CanonicalLimits::header_fields);
    if (!block.well_formed) {
      Part part;
      make_raw(part, "malformed header", {}, message);
      part.header_known = false;
      return part;
    }
    auto part = parse_content(block, "text/plain", depth);
    part.header = std::move(block.fields);
    return part;
  }

  Part parse_entity(std::string_view entity, std::string_view default_type, std::size_t depth) {
    auto block = scan_fields(entity, CanonicalLimits::header_fields);
    if (block.well_formed) return parse_content(block, default_type, depth);
    Part part;
    make_raw(part, "malformed header", {}, entity);
    return part;
  }

  static void make_raw(Part& part, std::string_view reason, const std::vector<HeaderField>& fields,
                       std::string_view body) {
    part.kind = Part::Kind::raw;
    part.raw_reason = reason;
    part.body = body;
    part.children.clear();
    for (const auto& field : fields)
      if (is_content_field(field)) part.content_fields.push_back(field);
  }

  Part parse_content(const HeaderBlock& block, std::string_view default_type, std::size_t depth) {
    Part part;
    part.type = default_type;
    part.body = block.body;
    const auto fields = content_fields(block.fields);
    const auto reason = read_fields(part, fields);
    if (++parts_ > CanonicalLimits::parts) {
      make_raw(part, "too many parts", block.fields, block.body);
    } else if (!reason.empty()) {
      make_raw(part, reason, block.fields, block.body);
    } else if (part.type.starts_with("multipart/")) {
      parse_multipart(part, block, depth);
    } else if (part.type == "message/rfc822" || part.type == "message/global") {
      parse_attached_message(part, block, depth);
    }
    return part;
  }

  // Empty when all is clear, else why the part counts as it stands.
  std::string_view read_fields(Part& part, const ContentFields& fields) {
    if (fields.repeated) return "repeated Content field";
    if (fields.type != nullptr) {
      auto type = parse_content_field(fields.type->value);
      if (!type || type->value.find('/') == std::string::npos) return "malformed Content-Type";
      part.type = std::move(type->value);
      part.charset = type->parameter("charset");
      part.boundary = type->parameter("boundary");
      part.file_name = type->parameter("name");
      // The content is elsewhere, and the parameters say where.
      if (part.type == "message/external-body" || part.type == "message/partial") return "content elsewhere";
      // RFC 5546: whether a calendar asks, answers or cancels.
      if (const auto method = type->parameter("method"); !method.empty())
        part.detailed_type = part.type + "; method=" + to_lower_ascii(method);
    }
    // RFC 2557: HTML names its pictures by it.
    if (fields.location != nullptr) {
      std::string scratch;
      if (part.detailed_type.empty()) part.detailed_type = part.type;
      part.detailed_type.append("; location=").append(unfold(trim(fields.location->value), scratch));
    }
    if (fields.disposition != nullptr) {
      auto disposition = parse_content_field(fields.disposition->value);
      if (!disposition) return "malformed Content-Disposition";
      part.disposition = std::move(disposition->value);
      if (const auto name = disposition->parameter("filename"); !name.empty()) part.file_name = name;
    }
    if (fields.transfer_encoding != nullptr) {
      part.transfer_encoding_name = to_lower_ascii(trim(fields.transfer_encoding->value));
      part.transfer_encoding = transfer_encoding(part.transfer_encoding_name);
    }
    if (fields.id != nullptr) part.content_id = content_ids_.add(fields.id->value);
    return {};
  }

  void parse_multipart(Part& part, const HeaderBlock& block, std::size_t depth) {
    constexpr std::size_t longest_boundary = 250;  // RFC 2046 says 70; some libraries make longer ones
    if (depth >= CanonicalLimits::depth) return make_raw(part, "nested too deep", block.fields, block.body);
    if (part.transfer_encoding != TransferEncoding::identity)
      return make_raw(part, "encoded multipart", block.fields, block.body);
    if (part.boundary.empty() || part.boundary.size() > longest_boundary || part.boundary.ends_with(' '))
      return make_raw(part, "multipart without a boundary", block.fields, block.body);
    auto split = split_multipart(part.body, part.boundary, CanonicalLimits::parts);
    if (!split) return make_raw(part, "multipart without clear delimiters", block.fields, block.body);
    part.kind = Part::Kind::multipart;
    part.complete = split->complete;
    part.preamble = split->preamble;
    part.epilogue = split->epilogue;
    const std::string_view default_type = part.type == "multipart/digest" ? "message/rfc822" : "text/plain";
    part.children.reserve(split->parts.size());
    for (const auto entity : split->parts)
      part.children.push_back(parse_entity(entity, default_type, depth + 1));
  }

  void parse_attached_message(Part& part, const HeaderBlock& block, std::size_t depth) {
    if (part.transfer_encoding != TransferEncoding::identity)
      return;  // RFC 2046 §5.2.1 forbids it: counts as a file
    if (depth >= CanonicalLimits::depth) return make_raw(part, "nested too deep", block.fields, block.body);
    part.kind = Part::Kind::message;
    part.children.push_back(parse_message(part.body, depth + 1));
  }

  ContentIds content_ids_;
  std::size_t parts_ = 0;
};

}  // namespace

MimeTree parse_tree(std::string_view message) {
  return TreeParser().parse(message);
}

}  // namespace mailonce::message
