/* name.c: checks names against name.def. A name that passes can be stored, shown, put into an
   address and compared byte by byte; a message about one that does not says where to look. */
#include "model/name.h"

#include "base/assert.h"
#include "base/utf8.h"

typedef struct name_rule {
    hf_name_kind kind;
    int longest; /* characters */
    hf_name_alphabet alphabet;
} name_rule;

static const name_rule name_rules[] = {
#define HF_NAME(enumerator, number, text, longest, alphabet, origin, sentence)                     \
    {enumerator, longest, alphabet},
#include "model/name.def"
#undef HF_NAME
};

static const name_rule *rule_get(hf_name_kind kind)
{
    const name_rule *rule = NULL;

    for (size_t i = 0; i < sizeof(name_rules) / sizeof(name_rules[0]); i++) {
        if (name_rules[i].kind == kind)
            rule = &name_rules[i];
    }
    HF_ASSERT(rule != NULL);
    return rule;
}

static bool point_allowed(uint32_t point, hf_name_alphabet alphabet)
{
    bool lower = point >= 'a' && point <= 'z';
    bool upper = point >= 'A' && point <= 'Z';
    bool digit = point >= '0' && point <= '9';
    bool mark = point == '.' || point == '_' || point == '-';

    switch (alphabet) {
    case HF_NAME_ALPHABET_ID:
        return lower || upper || digit || mark || point == ':';
    case HF_NAME_ALPHABET_LOWER:
        return lower || digit || mark;
    case HF_NAME_ALPHABET_ALIAS:
        return lower || upper || digit || mark;
    case HF_NAME_ALPHABET_PART:
    case HF_NAME_ALPHABET_TEXT:
        return !hf_utf8_is_control(point);
    }
    return false;
}

static hf_status bad_byte(const char *word, hf_slice text, size_t at, int position, hf_err *err)
{
    return hf_err_set(err, HF_INVALID,
                      "the %s is not well-formed UTF-8: byte 0x%02X at position %d", word,
                      (unsigned)(unsigned char)text.ptr[at], position);
}

static hf_status bad_character(const char *word, uint32_t point, int position,
                               hf_name_alphabet alphabet, hf_err *err)
{
    const char *allowed = hf_name_alphabet_text(alphabet);

    if (point > 0x20 && point < 0x7F)
        return hf_err_set(err, HF_INVALID, "the %s has '%c' at position %d; allowed are %s", word,
                          (char)point, position, allowed);
    return hf_err_set(err, HF_INVALID,
                      "the %s has the character U+%04X at position %d; allowed are %s", word,
                      (unsigned)point, position, allowed);
}

/* No address can have such a part. */
static bool is_dots(hf_slice name)
{
    return hf_slice_equal(name, HF_SLICE(".")) || hf_slice_equal(name, HF_SLICE(".."));
}

int hf_name_longest(hf_name_kind kind)
{
    return rule_get(kind)->longest;
}

hf_name_alphabet hf_name_alphabet_of(hf_name_kind kind)
{
    return rule_get(kind)->alphabet;
}

const char *hf_name_alphabet_text(hf_name_alphabet alphabet)
{
    switch (alphabet) {
    case HF_NAME_ALPHABET_ID:
        return "A-Z a-z 0-9 . _ : -";
    case HF_NAME_ALPHABET_LOWER:
        return "a-z 0-9 . _ -";
    case HF_NAME_ALPHABET_ALIAS:
        return "A-Z a-z 0-9 . _ -";
    case HF_NAME_ALPHABET_PART:
    case HF_NAME_ALPHABET_TEXT:
        return "characters that are no control characters, without spaces at the ends";
    }
    return "unknown";
}

hf_status hf_name_check(hf_name_kind kind, hf_slice name, hf_err *err)
{
    const name_rule *rule = rule_get(kind);
    const char *word = hf_name_kind_text(kind);
    int position = 0;

    if (name.len == 0)
        return hf_err_set(err, HF_INVALID, "the %s is empty", word);
    if (rule->alphabet != HF_NAME_ALPHABET_TEXT && is_dots(name))
        return hf_err_set(err, HF_INVALID, "the %s is \"%.*s\", which addresses have for folders",
                          word, (int)name.len, name.ptr);
    for (size_t at = 0; at < name.len;) {
        size_t size = hf_utf8_size(name.ptr + at, name.len - at);
        bool edge = at == 0 || at + size == name.len;
        uint32_t point;

        position++;
        if (size == 0)
            return bad_byte(word, name, at, position, err);
        point = hf_utf8_point(name.ptr + at, size);
        if (!point_allowed(point, rule->alphabet) || (edge && point == ' '))
            return bad_character(word, point, position, rule->alphabet, err);
        if (position > rule->longest)
            return hf_err_set(err, HF_INVALID, "the %s is longer than %d characters", word,
                              rule->longest);
        at += size;
    }
    return HF_OK;
}

hf_status hf_name_check_text(const char *word, hf_slice text, hf_err *err)
{
    int position = 0;

    for (size_t at = 0; at < text.len;) {
        size_t size = hf_utf8_size(text.ptr + at, text.len - at);
        uint32_t point;

        position++;
        if (size == 0)
            return bad_byte(word, text, at, position, err);
        point = hf_utf8_point(text.ptr + at, size);
        if (hf_utf8_is_control(point))
            return hf_err_set(err, HF_INVALID,
                              "the %s has the control character U+%04X at position %d", word,
                              (unsigned)point, position);
        at += size;
    }
    return HF_OK;
}
