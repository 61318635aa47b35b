#include "text/tokenizer/scripts.h"

#include <algorithm>
#include <string_view>

namespace hearth::text {
namespace {

// The scripts of Unicode 14, which is what PCRE2 10.42 knows; Han and Common are treated apart.
constexpr std::string_view kScripts =
    "Adlam Caucasian_Albanian Ahom Arabic Imperial_Aramaic Armenian Avestan Balinese Bamum "
    "Bassa_Vah "
    "Batak Bengali Bhaiksuki Bopomofo Brahmi Braille Buginese Buhid Chakma Canadian_Aboriginal "
    "Carian "
    "Cham Cherokee Chorasmian Coptic Cypro_Minoan Cypriot Cyrillic Devanagari Dives_Akuru Dogra "
    "Deseret "
    "Duployan Egyptian_Hieroglyphs Elbasan Elymaic Ethiopic Georgian Glagolitic Gunjala_Gondi "
    "Masaram_Gondi Gothic Grantha Greek Gujarati Gurmukhi Hangul Hanunoo Hatran Hebrew "
    "Anatolian_Hieroglyphs Pahawh_Hmong Nyiakeng_Puachue_Hmong Old_Hungarian Old_Italic Javanese "
    "Kayah_Li "
    "Kharoshthi Khmer Khojki Khitan_Small_Script Kannada Kaithi Tai_Tham Lao Latin Lepcha Limbu "
    "Linear_A "
    "Linear_B Lisu Lycian Lydian Mahajani Makasar Mandaic Manichaean Marchen Medefaidrin "
    "Mende_Kikakui "
    "Meroitic_Cursive Meroitic_Hieroglyphs Malayalam Modi Mongolian Mro Meetei_Mayek Multani "
    "Myanmar "
    "Nandinagari Old_North_Arabian Nabataean Newa Nko Nushu Ogham Ol_Chiki Old_Turkic Oriya Osage "
    "Osmanya "
    "Old_Uyghur Palmyrene Pau_Cin_Hau Old_Permic Phags_Pa Inscriptional_Pahlavi Psalter_Pahlavi "
    "Phoenician Miao Inscriptional_Parthian Rejang Hanifi_Rohingya Runic Samaritan "
    "Old_South_Arabian "
    "Saurashtra SignWriting Shavian Sharada Siddham Khudawadi Sinhala Sogdian Old_Sogdian "
    "Sora_Sompeng "
    "Soyombo Sundanese Syloti_Nagri Syriac Tagbanwa Takri Tai_Le New_Tai_Lue Tamil Tangut Tai_Viet "
    "Telugu "
    "Tifinagh Tagalog Thaana Thai Tibetan Tirhuta Tangsa Toto Ugaritic Vai Vithkuqi Warang_Citi "
    "Wancho "
    "Old_Persian Cuneiform Yezidi Yi Zanabazar_Square Inherited Unknown";

}  // namespace

std::string script_run_pattern() {
  const auto run = [](const std::string& set) { return "[" + set + "][" + set + " ]*"; };
  std::string pattern = run("\\p{sc:Han}\\p{sc:Hiragana}\\p{sc:Katakana}\\x{30FC}");
  pattern += "|(?![ \\x{30FC}])\\p{sc:Common}(?:(?!\\x{30FC})\\p{sc:Common})*";
  for (std::string_view rest = kScripts; !rest.empty();) {
    const std::string_view name = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(name.size() + 1, rest.size()));
    pattern += "|" + run("\\p{sc:" + std::string(name) + "}");
  }
  return pattern;
}

}  // namespace hearth::text
