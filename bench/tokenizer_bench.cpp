// Tokenizers on one thread: milliseconds to load, MB/s of English and of code, and milliseconds for 10 MB of one
// character (which a careless merge loop takes minutes for).
//
//   tokenizer_bench [TOKENIZER.json[.xz]...] [-- TEXT...]
//
// Without arguments: the vocabularies of tests/golden/tokenizer, our own sources as code, and the English texts of
// ../shared/data/text where it lies beside the project. Run it from the source folder. CPU time of the thread, medians
// of five. "first" is the first pass, with empty caches; "MB/s" the later ones.
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "text/detokenizer.h"
#include "text/tokenizer.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMaxBytes = int64_t{1} << 30;

double seconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <class F>
double median_seconds(F f) {
  std::vector<double> times;
  for (int i = 0; i < 5; ++i) {
    const double begin = seconds();
    f();
    times.push_back(seconds() - begin);
  }
  std::nth_element(times.begin(), times.begin() + 2, times.end());
  return times[2];
}

std::string read(const fs::path& path) {
  if (path.extension() != ".xz") return read_text_file(path, kMaxBytes);
  std::string out;
  FILE* pipe = popen(("xz -dc '" + path.string() + "'").c_str(), "r");
  require(pipe != nullptr, "can't run xz");
  char buffer[1 << 16];
  for (size_t n = 0; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) out.append(buffer, n);
  require(pclose(pipe) == 0, "xz failed on ", path.string());
  return out;
}

std::string own_sources() {
  std::string out;
  for (const auto& entry : fs::recursive_directory_iterator("src")) {
    const auto extension = entry.path().extension();
    if (extension == ".cpp" || extension == ".h") out += read(entry.path());
  }
  return out;
}

struct Text {
  std::string name;
  std::string bytes;
};

void measure(const fs::path& path, const std::vector<Text>& texts) {
  const std::string json = read(path);
  const double load = median_seconds([&] { Tokenizer::parse(json, "", path.string()); });
  fmt::print("{}: {:.1f} MB, load {:.0f} ms\n", path.filename().string(),
             static_cast<double>(json.size()) / 1e6, load * 1e3);
  for (const Text& text : texts) {
    const Tokenizer tokenizer = Tokenizer::parse(json, "", path.string());
    const auto megabytes = static_cast<double>(text.bytes.size()) / 1e6;
    std::vector<int32_t> ids;
    const auto encode = [&] { ids = tokenizer.encode(text.bytes, {.add_special = false}); };
    const double begin = seconds();
    encode();
    const double first = seconds() - begin;
    const double time = median_seconds(encode);
    std::string back;
    const double decode = median_seconds([&] { back = tokenizer.decode(ids); });
    fmt::print(
        "  {:28} {:6.1f} MB  {:8} ids  first {:6.1f}  encode {:6.1f} MB/s  decode {:6.1f} MB/s\n",
        text.name, megabytes, ids.size(), megabytes / first, megabytes / time, megabytes / decode);
  }
  const Tokenizer tokenizer = Tokenizer::parse(json, "", path.string());
  for (const char* unit : {"a", " ", "\n", "=", "1", "\u4e2d"}) {
    std::string run;
    while (run.size() < 10'000'000) run += unit;
    const double begin = seconds();
    const size_t count = tokenizer.encode(run, {.add_special = false}).size();
    fmt::print("  10 MB of {:5} {:6.0f} ms  {} ids\n",
               *unit == '\n' ? "\\n" : fmt::format("'{}'", unit), (seconds() - begin) * 1e3, count);
  }
}

int run(int argc, char** argv) {
  std::vector<fs::path> tokenizers;
  std::vector<Text> texts;
  bool is_text = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--")
      is_text = true;
    else if (is_text)
      texts.push_back({fs::path(argument).filename().string(), read(argument)});
    else
      tokenizers.emplace_back(argument);
  }
  if (tokenizers.empty()) {
    for (const auto& entry : fs::directory_iterator("tests/golden/tokenizer")) {
      if (entry.path().extension() == ".xz") tokenizers.push_back(entry.path());
    }
    std::sort(tokenizers.begin(), tokenizers.end());
  }
  if (texts.empty()) {
    if (fs::exists("src")) texts.push_back({"code (src/)", own_sources()});
    for (const char* name : {"tinyshakespeare.txt", "public_domain_fiction.txt"}) {
      const fs::path path = fs::path("../shared/data/text") / name;
      if (fs::exists(path)) texts.push_back({name, read(path)});
    }
  }
  for (const fs::path& path : tokenizers) measure(path, texts);
  return 0;
}

}  // namespace
}  // namespace hearth

int main(int argc, char** argv) {
  try {
    return hearth::run(argc, argv);
  } catch (const hearth::Error& e) {
    fmt::print(stderr, "tokenizer_bench: {}\n", e.message());
    return hearth::exit_code(e.code());
  }
}
