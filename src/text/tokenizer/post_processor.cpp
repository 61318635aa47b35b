#include "text/tokenizer/post_processor.h"

#include <array>
#include <string>

#include "base/error.h"

namespace hearth::text {
namespace {

constexpr int64_t kMaxIds = 4096;

class Parser {
 public:
  explicit Parser(int64_t id_end) : id_end_(id_end) {}

  void parse(const Json& json, const std::string& where) {
    require_data(json.is_object(), where, " must be an object");
    const std::string type = json.get_string("type", "");
    if (type == "Sequence") {
      const Json& list = json.at("processors");
      require_data(list.is_array(), where, ".processors must be an array");
      for (int64_t i = 0; i < list.size(); ++i)
        parse(list[i], where + ".processors[" + std::to_string(i) + "]");
    } else if (type == "TemplateProcessing") {
      parse_template(json, where);
    } else if (type == "BertProcessing" || type == "RobertaProcessing") {
      wrap({id_of_pair(json, "cls", where)}, {id_of_pair(json, "sep", where)}, where);
    } else if (type != "ByteLevel") {
      fail(Code::kUnsupported, where, ".type is \"", type,
           "\"; supported are BertProcessing, ByteLevel, RobertaProcessing, Sequence and "
           "TemplateProcessing");
    }
  }

  Wrapping take() { return std::move(out_); }

 private:
  int32_t checked(const Json& id, const std::string& where) const {
    require_data(id.is_int() && id.as_int() >= 0 && id.as_int() < id_end_, where,
                 " names an id outside of the vocabulary");
    return static_cast<int32_t>(id.as_int());
  }

  // ["[CLS]", 101]
  int32_t id_of_pair(const Json& json, const char* key, const std::string& where) const {
    const Json& pair = json.at(key);
    require_data(pair.is_array() && pair.size() == 2, where, ".", key, " must be [token, id]");
    return checked(pair[1], where + "." + key);
  }

  void parse_template(const Json& json, const std::string& where) {
    const Json& single = json.at("single");
    require_data(single.is_array(), where, ".single must be an array");
    std::vector<int32_t> before;
    std::vector<int32_t> after;
    bool has_text = false;
    for (int64_t i = 0; i < single.size(); ++i) {
      if (single[i].contains("Sequence")) {
        require_data(!has_text, where, ".single has the text twice");
        has_text = true;
        continue;
      }
      const std::string& token = single[i].at("SpecialToken").require_string("id");
      const Json* entry = json.at("special_tokens").find(token);
      require_data(entry != nullptr, where, ".special_tokens lacks \"", token, "\"");
      const Json& ids = entry->at("ids");
      require_data(ids.is_array(), where, ".special_tokens: ids must be an array");
      for (int64_t n = 0; n < ids.size(); ++n)
        (has_text ? after : before).push_back(checked(ids[n], where));
    }
    require_data(has_text, where, ".single has no place for the text");
    wrap(before, after, where);
  }

  // Later processors of a sequence go around earlier ones.
  void wrap(std::vector<int32_t> before, const std::vector<int32_t>& after,
            const std::string& where) {
    before.insert(before.end(), out_.before.begin(), out_.before.end());
    out_.before = std::move(before);
    out_.after.insert(out_.after.end(), after.begin(), after.end());
    require_data(static_cast<int64_t>(out_.before.size() + out_.after.size()) <= kMaxIds, where,
                 " adds more than ", kMaxIds, " tokens");
  }

  int64_t id_end_;
  Wrapping out_;
};

}  // namespace

Wrapping parse_post_processor(const Json& json, int64_t id_end, std::string_view where) {
  Parser parser(id_end);
  if (!json.is_null()) parser.parse(json, std::string(where));
  return parser.take();
}

}  // namespace hearth::text
