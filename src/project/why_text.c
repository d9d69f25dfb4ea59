/* why_text.c: see why_text.h. */
#include "project/why_text.h"

#include <string.h>

#include "base/buf.h"

static const char *word_find(const hf_why_word *words, size_t count, const char *name, size_t len)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(words[i].name) == len && memcmp(words[i].name, name, len) == 0)
            return words[i].text;
    return NULL;
}

/* Fills in the part up to `end`; false when a word in it is not known. */
static bool part_fill(hf_buf *out, const char *form, const char *end, const hf_why_word *words,
                      size_t count)
{
    bool known = true;

    while (form < end) {
        const char *close = *form == '{' ? memchr(form, '}', (size_t)(end - form)) : NULL;
        const char *text;

        if (!close) {
            hf_buf_add_byte(out, (uint8_t)*form++);
            continue;
        }
        text = word_find(words, count, form + 1, (size_t)(close - form - 1));
        known &= text != NULL;
        hf_buf_add_text(out, text ? text : "unknown");
        form = close + 1;
    }
    return known;
}

/* What stands in brackets, or its other half. */
static void choice_fill(hf_buf *out, const char *form, const char *end, const hf_why_word *words,
                        size_t count)
{
    const char *bar = memchr(form, '|', (size_t)(end - form));
    hf_buf part = {0};

    if (part_fill(&part, form, bar ? bar : end, words, count))
        hf_buf_add_slice(out, hf_buf_slice(&part));
    else if (bar)
        (void)part_fill(out, bar + 1, end, words, count);
    out->failed |= !hf_buf_ok(&part);
    hf_buf_fini(&part);
}

const char *hf_why_text_make(hf_mem *mem, const char *form, const hf_why_word *words, size_t count)
{
    hf_buf out = {0};
    const char *made = NULL;

    while (*form) {
        const char *open = strchr(form, '[');
        const char *end = open ? strchr(open, ']') : NULL;

        if (!end) {
            (void)part_fill(&out, form, form + strlen(form), words, count);
            break;
        }
        (void)part_fill(&out, form, open, words, count);
        choice_fill(&out, open + 1, end, words, count);
        form = end + 1;
    }
    if (hf_buf_ok(&out))
        made = hf_mem_text(mem, hf_buf_slice(&out));
    hf_buf_fini(&out);
    return made;
}

const char *hf_why_text_choice(hf_mem *mem, hf_slice names)
{
    const char *made = NULL;
    hf_slice name;

    while (names.len && hf_slice_split(&names, '|', &name))
        made = made ? hf_mem_format(mem, "%s%s%.*s", made, names.len ? ", " : " or ", (int)name.len,
                                    name.ptr)
                    : hf_mem_text(mem, name);
    return made;
}

const char *hf_why_text_span(hf_mem *mem, int64_t us)
{
    long long seconds = us > 0 ? (long long)(us / 1000000) : 0;
    long long minutes = seconds / 60;
    long long hours = minutes / 60;

    if (minutes == 0)
        return hf_mem_format(mem, "%lld s", seconds);
    if (hours == 0)
        return hf_mem_format(mem, "%lld min", minutes);
    if (hours < 24)
        return minutes % 60 ? hf_mem_format(mem, "%lld h %lld min", hours, minutes % 60)
                            : hf_mem_format(mem, "%lld h", hours);
    return hours % 24 ? hf_mem_format(mem, "%lld d %lld h", hours / 24, hours % 24)
                      : hf_mem_format(mem, "%lld d", hours / 24);
}
