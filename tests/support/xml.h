// Reads XML as far as a test needs: is it well-formed, and which texts does it hold?
#pragma once

#include <map>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

struct XmlElement {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text;  // directly inside it
};

// The text with its references replaced. Throws for a bare '&' or '<', and for characters that XML does not allow.
inline std::string xml_text(std::string_view raw) {
  static const std::map<std::string, char> known = {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
  std::string text;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const auto byte = static_cast<unsigned char>(raw[i]);
    if (raw[i] == '<' || (byte < 0x20 && raw[i] != '\n' && raw[i] != '\t'))
      throw std::runtime_error("forbidden character in " + std::string(raw));
    if (raw[i] != '&') {
      text += raw[i];
      continue;
    }
    const std::size_t end = raw.find(';', i);
    const auto found = known.find(std::string(raw.substr(i + 1, end == std::string_view::npos ? 0 : end - i - 1)));
    if (found == known.end()) throw std::runtime_error("bare '&' in " + std::string(raw));
    text += found->second;
    i = end;
  }
  return text;
}

// What stands between '<' and '>': name="value" pairs, each name once.
inline XmlElement xml_tag(const std::string& inside) {
  static const std::regex whole("^([A-Za-z]+)((?:\\s+[A-Za-z:][A-Za-z0-9:-]*=\"[^\"<]*\")*)\\s*$");
  static const std::regex one("([A-Za-z:][A-Za-z0-9:-]*)=\"([^\"]*)\"");
  std::smatch match;
  if (!std::regex_match(inside, match, whole)) throw std::runtime_error("no tag: <" + inside + ">");
  XmlElement element{match[1], {}, {}};
  const std::string attributes = match[2];
  for (std::sregex_iterator at(attributes.begin(), attributes.end(), one), end; at != end; ++at) {
    if (!element.attributes.try_emplace((*at)[1], xml_text((*at)[2].str())).second) throw std::runtime_error("attribute twice: " + inside);
  }
  return element;
}

// All elements in the order in which they end. Throws std::runtime_error unless `xml` is one well-formed element.
inline std::vector<XmlElement> parse_xml(const std::string& xml) {
  std::vector<XmlElement> done;
  std::vector<XmlElement> open;
  for (std::size_t at = 0; at < xml.size();) {
    const std::size_t tag = xml.find('<', at);
    const std::string_view between(xml.data() + at, std::min(tag, xml.size()) - at);
    if (!open.empty())
      open.back().text += xml_text(between);
    else if (between.find_first_not_of(" \n") != std::string_view::npos)
      throw std::runtime_error("text outside of the root");
    if (tag == std::string::npos) break;
    const std::size_t end = xml.find('>', tag);
    if (end == std::string::npos) throw std::runtime_error("a tag that does not end");
    std::string inside = xml.substr(tag + 1, end - tag - 1);
    at = end + 1;
    if (inside.starts_with('/')) {
      if (open.empty() || open.back().name != inside.substr(1)) throw std::runtime_error("unexpected <" + inside + ">");
      done.push_back(open.back());
      open.pop_back();
      continue;
    }
    if (open.empty() && !done.empty()) throw std::runtime_error("a second root");
    const bool closed = inside.ends_with('/');
    if (closed) inside.pop_back();
    (closed ? done : open).push_back(xml_tag(inside));
  }
  if (!open.empty()) throw std::runtime_error("<" + open.back().name + "> stays open");
  return done;
}

}  // namespace attn
