#include "text/chat_template.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/file.h"

namespace hearth {
namespace {

constexpr int64_t kMaxTemplateBytes = int64_t{1} << 19;  // real ones stay below 40 kB
constexpr int64_t kMaxConfigBytes = int64_t{64}
                                    << 20;  // tokenizer_config.json lists every added token

using Sources = std::vector<std::pair<std::string, std::string>>;  // name and template

// Words of a request that templates build control tokens from.
bool is_trusted_word(std::string_view key, std::string_view text) {
  constexpr std::string_view kRoles[] = {
      "system",      "user",        "assistant", "tool",  "developer",    "function",
      "ipython",     "model",       "human",     "gpt",   "bot",          "context",
      "observation", "environment", "documents", "tools", "tool_response"};
  constexpr std::string_view kTypes[] = {"text",  "image",    "image_url", "video",
                                         "audio", "function", "file",      "document"};
  if (key == "role") return std::ranges::find(kRoles, text) != std::end(kRoles);
  return key == "type" && std::ranges::find(kTypes, text) != std::end(kTypes);
}

bool is_special_token_name(std::string_view name) {
  return name.ends_with("_token") || name.ends_with("_tokens");
}

// "<s>" or {"content": "<s>", ...}; null for anything else.
Json token_text(const Json& value) {
  if (value.is_string()) return value;
  if (const Json* content = value.find("content"); content != nullptr && content->is_string())
    return *content;
  return {};
}

// transformers' special_tokens_map of a tokenizer_config.json or special_tokens_map.json; what is there stays.
void read_special_tokens(const Json& config, Json& tokens) {
  if (!config.is_object()) return;
  const auto add = [&](std::string_view name, Json value) {
    if (!value.is_null() && tokens.find(name) == nullptr) tokens.set(name, std::move(value));
  };
  for (const std::string_view name : {"bos_token", "eos_token", "unk_token", "sep_token",
                                      "pad_token", "cls_token", "mask_token"}) {
    if (const Json* value = config.find(name)) add(name, token_text(*value));
  }
  if (const Json* list = config.find("additional_special_tokens");
      list != nullptr && list->is_array()) {
    Json texts = Json::array();
    for (const Json& item : list->as_array()) {
      if (Json text = token_text(item); !text.is_null()) texts.push_back(std::move(text));
    }
    add("additional_special_tokens", std::move(texts));
  }
  if (const Json* extra = config.find("extra_special_tokens");
      extra != nullptr && extra->is_object()) {
    for (const auto& [name, value] : extra->as_object()) add(name, token_text(value));
  }
}

std::optional<Json> read_json(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
  try {
    return Json::parse(read_text_file(path, kMaxConfigBytes), {.allow_nonfinite = true});
  } catch (const Error&) {
    rethrow_with(path.string());
  }
}

// The member `chat_template` of a config: a string or a list of {name, template}.
Sources template_member(const Json& config, const std::string& file) {
  Sources sources;
  const Json* value = config.find_value("chat_template");
  if (value == nullptr) return sources;
  if (value->is_string()) {
    sources.emplace_back("default", value->as_string());
    return sources;
  }
  require_data(value->is_array(), file,
               ": chat_template must be a string or a list of {\"name\", \"template\"}, found ",
               value->kind());
  for (const Json& item : value->as_array()) {
    try {
      sources.emplace_back(item.require_string("name"), item.require_string("template"));
    } catch (const Error&) {
      rethrow_with(file + ": chat_template");
    }
  }
  return sources;
}

Sources template_files(const std::filesystem::path& folder) {
  Sources sources;
  std::error_code ignored;
  const auto file = folder / "chat_template.jinja";
  if (std::filesystem::is_regular_file(file, ignored))
    sources.emplace_back("default", read_text_file(file, kMaxTemplateBytes));
  const auto more = folder / "additional_chat_templates";
  if (!std::filesystem::is_directory(more, ignored)) return sources;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(more, ignored)) {
    if (entry.path().extension() == ".jinja") paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  for (const auto& path : paths)
    sources.emplace_back(path.stem().string(), read_text_file(path, kMaxTemplateBytes));
  return sources;
}

std::tm local_time() {
  const std::time_t now = std::time(nullptr);
  std::tm out{};
  localtime_r(&now, &out);
  return out;
}

std::string_view trim_left(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(" \t\n\r\f\v"), text.size()));
}

std::string_view trim(std::string_view text) {
  text = trim_left(text);
  return text.substr(0, text.find_last_not_of(" \t\n\r\f\v") + 1);
}

// The text of the last message: a string, or the last text part of a list.
std::string_view final_text(const Json& messages) {
  require(messages.size() > 0, "continue_final_message needs at least one message");
  const Json* content = messages[messages.size() - 1].find("content");
  if (content != nullptr && content->is_array()) {
    const auto& parts = content->as_array();
    const auto found = std::find_if(parts.rbegin(), parts.rend(),
                                    [](const Json& part) { return part.find("text") != nullptr; });
    content = found == parts.rend() ? nullptr : found->find("text");
  }
  require(content != nullptr && content->is_string(),
          "continue_final_message needs text in the last message");
  return content->as_string();
}

// Cuts the prompt behind the last message, as transformers does.
void cut_behind_final_message(RenderedPrompt& prompt, const Json& messages) {
  const std::string_view wanted = final_text(messages);
  const std::string text = prompt.text();
  const size_t at = text.rfind(trim(wanted));
  require(at != std::string::npos,
          "continue_final_message: the chat template doesn't keep the last message as it is");
  const std::string_view kept = trim_left(wanted);
  size_t end =
      at + (std::string_view(text).substr(at).starts_with(kept) ? kept : trim(wanted)).size();
  std::vector<PromptSegment> segments;
  for (PromptSegment& segment : prompt.segments) {
    if (end == 0) break;
    segment.text.resize(std::min(end, segment.text.size()));
    end -= segment.text.size();
    segments.push_back(std::move(segment));
  }
  prompt.segments = std::move(segments);
}

}  // namespace

struct ChatTemplate::Named {
  std::string name;
  std::string source;
  jinja::Template parsed;
};

struct ChatTemplate::Data {
  std::vector<Named> templates;  // at least one
  Json special_tokens;
};

std::string RenderedPrompt::text() const { return jinja::joined_text(segments); }

std::optional<ChatTemplate> ChatTemplate::make(Sources sources, std::string_view file,
                                               Json special_tokens) {
  if (sources.empty()) return std::nullopt;
  auto data = std::make_shared<Data>();
  for (auto& [name, source] : sources) {
    std::string shown(file);
    if (sources.size() > 1) shown += " (" + name + ")";
    require_data(static_cast<int64_t>(source.size()) <= kMaxTemplateBytes, shown,
                 ": a chat template of ", source.size(), " bytes is refused; the limit is ",
                 kMaxTemplateBytes);
    jinja::Template parsed = jinja::Template::parse(source, shown);
    data->templates.push_back({std::move(name), std::move(source), std::move(parsed)});
  }
  data->special_tokens = std::move(special_tokens);
  return ChatTemplate(std::move(data));
}

ChatTemplate ChatTemplate::parse(std::string_view source, std::string_view name,
                                 const Json& special_tokens) {
  Json tokens = special_tokens.is_null() ? Json::object() : special_tokens;
  require(tokens.is_object(), "special tokens must be an object, found ", tokens.kind());
  return *make({{"default", std::string(source)}}, name, std::move(tokens));
}

std::optional<ChatTemplate> ChatTemplate::find(const std::filesystem::path& folder) {
  const auto config_path = folder / "tokenizer_config.json";
  const std::optional<Json> config = read_json(config_path);
  Json tokens = Json::object();
  if (config) read_special_tokens(*config, tokens);
  if (const auto map = read_json(folder / "special_tokens_map.json"))
    read_special_tokens(*map, tokens);
  if (Sources files = template_files(folder); !files.empty()) {
    return make(std::move(files), (folder / "chat_template.jinja").string(), std::move(tokens));
  }
  if (config) {
    if (Sources sources = template_member(*config, config_path.string()); !sources.empty()) {
      return make(std::move(sources), config_path.string() + " chat_template", std::move(tokens));
    }
  }
  const auto json_path = folder / "chat_template.json";
  if (const auto json = read_json(json_path))
    return make(template_member(*json, json_path.string()), json_path.string(), std::move(tokens));
  return std::nullopt;
}

ChatTemplate ChatTemplate::load(const std::filesystem::path& folder) {
  std::optional<ChatTemplate> found = find(folder);
  if (!found) {
    fail(Code::kNotFound, folder.string(),
         " has no chat template (no chat_template.jinja, no chat_template in tokenizer_config.json "
         "or chat_template.json): it is a base model. Give it plain text (generate --raw), or put "
         "the template of its "
         "family beside it as chat_template.jinja");
  }
  return *std::move(found);
}

std::vector<std::string> ChatTemplate::names() const {
  std::vector<std::string> names;
  for (const Named& named : data_->templates) names.push_back(named.name);
  return names;
}

bool ChatTemplate::uses_variable(std::string_view name) const {
  return std::ranges::any_of(data_->templates,
                             [&](const Named& named) { return named.parsed.uses_variable(name); });
}

std::string_view ChatTemplate::source(bool has_tools) const { return choose({}, has_tools).source; }

const Json& ChatTemplate::special_tokens() const { return data_->special_tokens; }

const ChatTemplate::Named& ChatTemplate::choose(std::string_view name, bool has_tools) const {
  const auto find_name = [&](std::string_view wanted) {
    const auto found = std::ranges::find(data_->templates, wanted, &Named::name);
    return found == data_->templates.end() ? nullptr : &*found;
  };
  const Named* found = nullptr;
  if (!name.empty()) {
    found = find_name(name);
  } else {
    if (has_tools) found = find_name("tool_use");
    if (found == nullptr) found = find_name("default");
    if (found == nullptr && data_->templates.size() == 1) found = &data_->templates.front();
  }
  if (found != nullptr) return *found;
  std::string known;
  for (const Named& named : data_->templates) known += (known.empty() ? "" : ", ") + named.name;
  fail(Code::kInvalidArgument, "chat template '", name.empty() ? "default" : name,
       "' is not there; this model has: ", known);
}

RenderedPrompt ChatTemplate::render(const Json& messages, const Json& tools,
                                    const RenderOptions& options) const {
  require(messages.is_array(), "messages must be an array, found ", messages.kind());
  require(tools.is_null() || tools.is_array(), "tools must be an array, found ", tools.kind());
  require(options.kwargs.is_null() || options.kwargs.is_object(),
          "template arguments must be an object, found ", options.kwargs.kind());
  require(options.documents.is_null() || options.documents.is_array(),
          "documents must be an array, found ", options.documents.kind());
  const Json add_generation_prompt(options.add_generation_prompt &&
                                   !options.continue_final_message);
  const Json enable_thinking(options.enable_thinking.value_or(false));
  std::vector<jinja::Variable> variables = {
      {"messages", &messages, jinja::Trust::kRequest},
      {"tools", &tools, jinja::Trust::kRequest},
      {"documents", &options.documents, jinja::Trust::kRequest},
      {"add_generation_prompt", &add_generation_prompt, jinja::Trust::kTemplate}};
  if (options.enable_thinking)
    variables.push_back({"enable_thinking", &enable_thinking, jinja::Trust::kTemplate});
  const size_t own = variables.size();
  for (const auto& [name, value] : data_->special_tokens.as_object())
    variables.push_back({name, &value, jinja::Trust::kTemplate});
  if (options.kwargs.is_object()) {
    for (const auto& [name, value] : options.kwargs.as_object()) {
      // A request may set what a template asks for, not what we vouch for.
      const auto taken =
          std::ranges::find(variables.begin(), variables.begin() + static_cast<int64_t>(own),
                            std::string_view(name), &jinja::Variable::name);
      const bool is_documents = name == "documents" && options.documents.is_null();
      require((taken == variables.begin() + static_cast<int64_t>(own) || is_documents) &&
                  !is_special_token_name(name),
              "template argument '", name,
              "' can't be given this way: it has a meaning of its own");
      variables.push_back({name, &value, jinja::Trust::kRequest});
    }
  }
  jinja::Template::Settings settings;
  settings.limits = options.limits;
  settings.now = options.now ? *options.now : local_time();
  settings.trusted_word = is_trusted_word;
  const Named& chosen = choose(options.template_name, tools.size() > 0);
  RenderedPrompt prompt{chosen.parsed.render(variables, settings)};
  if (options.continue_final_message) cut_behind_final_message(prompt, messages);
  return prompt;
}

}  // namespace hearth
