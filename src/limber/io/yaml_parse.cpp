#include "limber/io/yaml_parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <istream>
#include <optional>
#include <streambuf>
#include <vector>

#include "limber/math/interruption.hpp"
#include "limber/model/error.hpp"

namespace limber {
namespace {

// yaml-cpp recurses on nested collections; refuse depths that no model needs before it does.
void check_nesting(const std::string& text, const std::string& name) {
    int depth = 0;
    int line = 1;
    std::size_t indent = 0;
    bool at_line_start = true;
    for (const char c : text) {
        if (c == '\n') {
            ++line;
            indent = 0;
            at_line_start = true;
            continue;
        }
        if (at_line_start && (c == ' ' || c == '-' || c == '?' || c == ':')) ++indent;
        if (c != ' ' && c != '-' && c != '?' && c != ':') at_line_start = false;
        if (c == '[' || c == '{') ++depth;
        if ((c == ']' || c == '}') && depth > 0) --depth;
        if (depth > 60 || indent > 300) throw ModelError(fmt::format("{}:{}: nested too deeply", name, line));
    }
}

// Files of other programs are often XML, which YAML would take for a very long word.
void check_language(const std::string& text, const std::string& name) {
    const auto first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
    if (first == std::string::npos || text[first] != '<') return;
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(first), '\n');
    throw ModelError(
        fmt::format("{}:{}: this is XML, which Limber does not read; a model file is YAML and begins with 'limber: 1'",
                    name, line));
}

// The text a piece at a time, so that parsing can be interrupted.
class TextPieces : public std::streambuf {
public:
    explicit TextPieces(const std::string& text) : text_(text) {}

protected:
    int_type underflow() override {
        check_interruption();
        if (next_ >= text_.size()) return traits_type::eof();
        const std::size_t count = std::min<std::size_t>(2048, text_.size() - next_);
        char* piece = const_cast<char*>(text_.data()) + next_;  // is only read
        setg(piece, piece, piece + count);
        next_ += count;
        return traits_type::to_int_type(*piece);
    }

private:
    const std::string& text_;
    std::size_t next_ = 0;
};

// ---------------------------------------------------------------- what may be wrong

struct Finding {
    long line = 0, column = 0;  // from 1
    std::string message;
};

// Follows brackets and quotation marks through the text; says which one has no partner.
class BracketScan {
public:
    explicit BracketScan(const std::string& text) : text_(text) {}

    std::optional<Finding> find() {
        for (at_ = 0; at_ < text_.size() && !found_; advance()) look();
        if (found_) return found_;
        if (quote_) return Finding{quote_->line, quote_->column, "this quotation mark is not closed"};
        if (open_.empty()) return std::nullopt;
        const Opened& last = open_.back();
        return Finding{last.line, last.column,
                       fmt::format("this '{}' is not closed: '{}' is missing", last.sign, partner(last.sign))};
    }

private:
    struct Opened {
        char sign;
        long line, column;
    };

    static char partner(char sign) { return sign == '{' ? '}' : ']'; }

    void look() {
        const char c = text_[at_];
        if (quote_) {
            if (c == '\\' && quote_->sign == '"')
                advance();
            else if (c == quote_->sign)
                quote_.reset();
            return;
        }
        const bool after_space = at_ == 0 || text_[at_ - 1] == ' ' || text_[at_ - 1] == '\n' || text_[at_ - 1] == '\t';
        if (c == '#' && after_space) {
            while (at_ + 1 < text_.size() && text_[at_ + 1] != '\n') advance();
        } else if ((c == '"' || c == '\'') && starts_value_) {
            quote_ = Opened{c, line_, column_};
        } else if ((c == '{' || c == '[') && (starts_value_ || !open_.empty())) {
            open_.push_back({c, line_, column_});
        } else if ((c == '}' || c == ']') && !open_.empty()) {
            close(c);
        }
        if (c != ' ' && c != '\t' && c != '\r')
            starts_value_ = c == ':' || c == ',' || c == '[' || c == '{' || c == '-' || c == '\n';
    }

    void close(char c) {
        const Opened last = open_.back();
        open_.pop_back();
        if (c == partner(last.sign)) return;
        found_ = Finding{line_, column_,
                         fmt::format("found '{}' where '{}' was expected, for the '{}' of line {}, column {}", c,
                                     partner(last.sign), last.sign, last.line, last.column)};
    }

    void advance() {
        ++column_;
        if (at_ < text_.size() && text_[at_] == '\n') {
            ++line_;
            column_ = 1;
        }
        ++at_;
    }

    const std::string& text_;
    std::size_t at_ = 0;
    long line_ = 1, column_ = 1;
    bool starts_value_ = true;
    std::vector<Opened> open_;
    std::optional<Opened> quote_;
    std::optional<Finding> found_;
};

// A line up to the given one that is indented with a tab; the last one.
std::optional<Finding> find_tab(const std::string& text, long up_to) {
    std::optional<Finding> found;
    long line = 1;
    for (std::size_t start = 0; start < text.size() && line <= up_to; ++line) {
        const std::size_t end = std::min(text.find('\n', start), text.size());
        const std::size_t word = std::min(text.find_first_not_of(" \t", start), end);
        const std::size_t tab = text.find('\t', start);
        if (tab < word)
            found = Finding{line, static_cast<long>(tab - start) + 1,
                            "the line is indented with a tab, which YAML does not take: use spaces"};
        start = end + 1;
    }
    return found;
}

// What the parser's own words mean for somebody who has written a model.
std::string in_plain_words(const std::string& message) {
    if (message == "illegal map value")
        return "there is a second ': ' in this line: put a text that contains it into quotation marks, and a mapping "
               "into "
               "{braces} or onto lines of its own";
    if (message == "end of map not found" || message == "end of sequence not found" ||
        message == "bad indentation of a mapping entry")
        return "this line does not fit the lines before it: is it indented like its neighbours, and is there a ':' "
               "after "
               "the key?";
    return message;
}

Finding explain(const std::string& text, const YAML::Exception& error) {
    const long line = error.mark.is_null() ? 1 : error.mark.line + 1;
    if (const auto tab = find_tab(text, line)) return *tab;
    if (const auto bracket = BracketScan(text).find()) return *bracket;
    return {line, error.mark.is_null() ? 1 : error.mark.column + 1, in_plain_words(error.msg)};
}

}  // namespace

YAML::Node parse_yaml(const std::string& text, const std::string& name) {
    if (text.size() > longest_yaml)
        throw ModelError(fmt::format("{}: the file is larger than {} bytes", name, longest_yaml));
    check_language(text, name);
    check_nesting(text, name);
    try {
        TextPieces pieces(text);
        std::istream stream(&pieces);
        return YAML::Load(stream);
    } catch (const YAML::Exception& error) {
        const Finding finding = explain(text, error);
        throw ModelError(fmt::format("{}:{}: column {}: {}", name, finding.line, finding.column, finding.message));
    }
}

}  // namespace limber
