/* schedule_query.c: see schedule_query.h. */
#include "server/schedule_query.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/value.h"

/* Fields of the system, and where a shown schedule has them; all others are search attributes. */
static const struct {
    const char *field;
    const char *path;
} system_fields[] = {{"ScheduleId", "schedule_id"},
                     {"Status", "status"},
                     {"WorkflowType", "workflow_type"},
                     {"TaskQueue", "action.task_queue"},
                     {"Note", "note"}};

static const char malformed[] = "invalid_schedule_visibility_query";
static const char unsupported[] = "unsupported_schedule_visibility_predicate";

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
}

static hf_slice word_take(const char **at)
{
    const char *start = *at + strspn(*at, " \t");
    const char *end = start;

    while (is_word(*end))
        end++;
    *at = end + strspn(end, " \t");
    return hf_slice_from(start, (size_t)(end - start));
}

static bool word_is(hf_slice word, const char *text)
{
    return word.len == strlen(text) && strncasecmp(word.ptr, text, word.len) == 0;
}

static bool literal_take(const char **at, hf_slice *out_literal, bool *out_quoted)
{
    char quote = **at;
    const char *end;

    *out_quoted = quote == '"' || quote == '\'';
    if (!*out_quoted) {
        *out_literal = word_take(at);
        return out_literal->len > 0;
    }
    end = strchr(*at + 1, quote);
    if (!end)
        return false;
    *out_literal = hf_slice_from(*at + 1, (size_t)(end - *at - 1));
    *at = end + 1 + strspn(end + 1, " \t");
    return true;
}

const char *hf_schedule_query_read(const char *text, hf_schedule_query *out_query)
{
    const char *at = text;
    hf_slice word;

    *out_query = (hf_schedule_query){0};
    do {
        size_t n = out_query->count;

        word = word_take(&at);
        if (word_is(word, "NOT"))
            return unsupported;
        if (!word.len || n == HF_SCHEDULE_PREDICATES_MAX)
            return malformed;
        out_query->predicates[n].field = word;
        if (*at != '=')
            return *at ? unsupported : malformed;
        at++;
        at += strspn(at, " \t");
        if (!literal_take(&at, &out_query->predicates[n].literal, &out_query->predicates[n].quoted))
            return malformed;
        out_query->count++;
        if (!*at)
            return NULL;
        word = word_take(&at);
    } while (word_is(word, "AND"));
    return word_is(word, "OR") ? unsupported : malformed;
}

static bool value_is(hf_value value, hf_slice literal, bool quoted)
{
    char digits[32] = "";
    char *end = digits;
    double number = 0;

    if (!quoted && literal.len < sizeof(digits)) {
        memcpy(digits, literal.ptr, literal.len);
        number = strtod(digits, &end);
    }
    switch (hf_value_kind_of(value)) {
    case HF_VALUE_STRING:
        return quoted && hf_slice_equal(hf_value_slice(value), literal);
    case HF_VALUE_BOOL:
        return !quoted && word_is(literal, hf_bool(value, "", false) ? "true" : "false");
    case HF_VALUE_INT:
    case HF_VALUE_DOUBLE:
        return end > digits && !*end && hf_num(value, "", 0) == number;
    case HF_VALUE_ARRAY:
        for (size_t i = 0; i < hf_len(value); i++)
            if (value_is(hf_at(value, i), literal, quoted))
                return true;
        return false;
    case HF_VALUE_NULL:
    case HF_VALUE_BYTES:
    case HF_VALUE_OBJECT:
        break;
    }
    return false;
}

bool hf_schedule_query_fits(const hf_schedule_query *query, hf_value schedule)
{
    for (size_t i = 0; i < query->count; i++) {
        hf_slice field = query->predicates[i].field;
        hf_value value = hf_value_find(hf_get(schedule, "search_attributes"), field);

        for (size_t j = 0; j < sizeof(system_fields) / sizeof(system_fields[0]); j++)
            if (hf_slice_equal(hf_slice_of(system_fields[j].field), field))
                value = hf_get(schedule, system_fields[j].path);
        if (!value_is(value, query->predicates[i].literal, query->predicates[i].quoted))
            return false;
    }
    return true;
}
