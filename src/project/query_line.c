/* query_line.c: see query_line.h. A line is cut into words, each word becomes an object of one
   filter, and what that may be is for filter.h to say. */
#include "project/query_line.h"

#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/json.h"
#include "base/utf8.h"
#include "project/filter.h"
#include "project/query_line_impl.h"

typedef hf_query_word word;

const hf_query_state hf_query_states[HF_QUERY_STATES] = {
#define HF_QUERY_STATE(word, filter, value, sentence) {word, filter, value, sentence},
#include "project/query_line.def"
};

const hf_query_field hf_query_fields[HF_QUERY_FIELDS] = {
#define HF_QUERY_FIELD(word, filter, part, facet, sentence) {word, filter, part, facet, sentence},
#include "project/query_line.def"
};

const hf_query_time hf_query_times[HF_QUERY_TIMES] = {{"started", "started_from", "started_to"},
                                                      {"closed", "closed_from", "closed_to"}};

/* ---- words */

bool hf_query_space(char c)
{
    return c == ' '; /* other white space is a control character: line_check */
}

/* Behind a word that begins here; blanks between quotes belong to it. */
size_t hf_query_word_end(hf_slice line, size_t at)
{
    bool quoted = false;

    for (; at < line.len && (quoted || !hf_query_space(line.ptr[at])); at++) {
        if (line.ptr[at] == '"')
            quoted = !quoted;
        else if (quoted && line.ptr[at] == '\\' && at + 1 < line.len)
            at++;
    }
    return at;
}

/* Takes the quotes away. False: the last one is missing. */
static bool unquote(hf_mem *mem, hf_slice raw, hf_slice *out_value, bool *out_quoted)
{
    char *text = hf_mem_bytes(mem, raw.len + 1);
    bool open = false;
    size_t len = 0;

    *out_value = (hf_slice){0};
    *out_quoted = false;
    for (size_t i = 0; text && i < raw.len; i++) {
        if (raw.ptr[i] == '"') {
            open = !open;
            *out_quoted = true;
        } else {
            if (open && raw.ptr[i] == '\\' && i + 1 < raw.len)
                i++;
            text[len++] = raw.ptr[i];
        }
    }
    if (text)
        *out_value = hf_slice_from(text, len);
    return !open;
}

/* Where the field ends: at the first sign in front of a quote; the length of the text: it has none.
 */
static size_t sign_find(hf_slice text)
{
    size_t at = 0;

    while (at < text.len && !strchr(":<>\"", text.ptr[at]))
        at++;
    return at < text.len && text.ptr[at] == '"' ? text.len : at;
}

void hf_query_word_read(hf_mem *mem, hf_slice line, size_t start, word *w)
{
    static const char *const signs[] = {"<=", ">=", "<", ">", ":"};
    size_t at;

    *w = (word){.start = start, .end = hf_query_word_end(line, start)};
    w->text = hf_slice_from(line.ptr + start, w->end - start);
    w->raw = w->text;
    at = sign_find(w->text);
    for (size_t i = 0; at < w->text.len && !w->sign; i++) {
        hf_slice rest = hf_slice_from(w->text.ptr + at, w->text.len - at);

        if (!hf_slice_starts(rest, hf_slice_of(signs[i])))
            continue;
        w->sign = signs[i];
        w->field = hf_slice_from(w->text.ptr, at);
        w->raw = hf_slice_from(rest.ptr + strlen(signs[i]), rest.len - strlen(signs[i]));
    }
    if (w->sign && w->field.len && w->field.ptr[0] == '-') {
        w->not = true;
        w->field = hf_slice_from(w->field.ptr + 1, w->field.len - 1);
    }
    if (!unquote(mem, w->raw, &w->value, &w->quoted))
        w->error = "The quote is not closed.";
}

/* ---- what a word asks for */

/* A line while it is read. */
typedef struct reading {
    hf_mem *mem;
    int64_t now_us;
    hf_value filters;
    hf_err *err;
} reading;

static hf_value pair(hf_mem *mem, hf_slice name, hf_value item)
{
    hf_value_list *list = hf_value_object(mem);

    hf_value_set(list, name, item);
    return hf_value_finish(list);
}

/* Adds a filter that a word asks for: one value for each, but any number that are left out. */
static hf_status filter_add(reading *r, word *w, hf_value given)
{
    hf_value checked = NULL;
    hf_value before;
    hf_value item = NULL;
    hf_slice name = {0};
    hf_err why = {0};
    hf_status st;

    if (given && w->not )
        given = pair(r->mem, HF_SLICE("not"), given);
    st = given ? hf_filter_read(r->mem, given, &checked, &why) : hf_err_nomem(&why, "a query");
    if (st == HF_INVALID) {
        char first = why.text[0];

        w->error =
            hf_mem_format(r->mem, "%c%s.", first >= 'a' && first <= 'z' ? first - 'a' + 'A' : first,
                          why.text + (first != 0));
        return w->error ? HF_OK : hf_err_nomem(r->err, "a query");
    }
    if (st)
        return hf_err_set(r->err, st, "%s", why.text);
    if (!hf_value_member(checked, 0, &name, &item)) {
        w->error = "A value is missing.";
        return HF_OK;
    }
    before = w->not ? NULL : hf_value_find(r->filters, name);
    if (before && !hf_value_equal(before, item)) {
        w->error = "Something else is asked for already, and both cannot be at once.";
        return HF_OK;
    }
    r->filters = hf_filter_merge(r->mem, r->filters, checked);
    return r->filters ? HF_OK : hf_err_nomem(r->err, "a query");
}

static hf_status text_add(reading *r, word *w, const char *filter, hf_slice value)
{
    return filter_add(r, w, pair(r->mem, hf_slice_of(filter), hf_value_string(r->mem, value)));
}

/* A word without a field: a run when it looks like its id, else a part of a workflow id. */
static hf_status plain_add(reading *r, word *w)
{
    hf_ulid id;

    return text_add(r, w, hf_ulid_parse(w->value, &id) ? "run_id" : "instance_id_contains",
                    w->value);
}

static hf_status state_add(reading *r, word *w)
{
    for (size_t i = 0; i < HF_QUERY_STATES; i++)
        if (hf_slice_equal(w->value, hf_slice_of(hf_query_states[i].word)))
            return text_add(r, w, hf_query_states[i].filter, hf_slice_of(hf_query_states[i].value));
    w->error =
        "There is no such state: open, closed, running, waiting, completed, failed, cancelled, "
        "terminated, attention, problem, repair, blocked, paused, archived or current.";
    return HF_OK;
}

static hf_status field_add(reading *r, word *w, const hf_query_field *f)
{
    bool first = w->value.len && w->value.ptr[0] == '*';
    bool last = w->value.len > 1 && w->value.ptr[w->value.len - 1] == '*';

    if (w->quoted || (!first && !last))
        return text_add(r, w, f->filter, w->value);
    if (!f->part || !first || !last) {
        w->error =
            f->part ? "Stars stand at both ends: *part*."
                    : "This field has no parts: give the whole value, in quotes if it has a star.";
        return HF_OK;
    }
    return text_add(r, w, f->part, hf_slice_from(w->value.ptr + 1, w->value.len - 2));
}

/* Another member of the object that a filter of this name is: a label, a search attribute. */
static hf_status member_add(reading *r, word *w, const char *filter, hf_slice name, hf_value item)
{
    hf_value all = hf_value_find(r->filters, hf_slice_of(filter));
    hf_value before = hf_value_find(all, name);
    hf_value kept = r->filters;
    hf_slice bound = {0};
    hf_value ignored = NULL;
    hf_status st;

    if (hf_value_member(item, 0, &bound, &ignored) && hf_value_kind_of(before) == HF_VALUE_OBJECT &&
        !hf_value_find(before, bound)) {
        item = hf_value_merge(r->mem, before, item); /* the other end of a range */
    } else if (before && !hf_value_equal(before, item)) {
        w->error = "Something else is asked for already, and both cannot be at once.";
        return HF_OK;
    }
    r->filters = NULL;
    st = filter_add(r, w, pair(r->mem, hf_slice_of(filter), pair(r->mem, name, item)));
    r->filters = hf_filter_merge(r->mem, kept, r->filters);
    return st ? st : r->filters ? HF_OK : hf_err_nomem(r->err, "a query");
}

/* A number or a boolean when it reads as one and has no quotes, else the text. */
static hf_value scalar(hf_mem *mem, const word *w)
{
    hf_value value = NULL;

    if (!w->quoted && !hf_json_read(mem, w->value, NULL, &value, NULL) &&
        (hf_value_kind_of(value) == HF_VALUE_INT || hf_value_kind_of(value) == HF_VALUE_DOUBLE ||
         hf_value_kind_of(value) == HF_VALUE_BOOL))
        return value;
    return hf_value_string(mem, w->value);
}

static hf_status attribute_add(reading *r, word *w, hf_slice name)
{
    static const char *const bounds[][2] = {{"<=", "lte"}, {">=", "gte"}, {"<", "lt"}, {">", "gt"}};
    hf_value item = scalar(r->mem, w);

    if (!w->value.len && !w->quoted) {
        w->error = "A value is missing.";
        return HF_OK;
    }
    for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++)
        if (strcmp(w->sign, bounds[i][0]) == 0)
            item = pair(r->mem, hf_slice_of(bounds[i][1]), item);
    return member_add(r, w, "search_attributes", name, item);
}

/* "90s", "5m", "1h", "2d", "1w" */
static bool age_read(hf_slice text, int64_t *out_us)
{
    static const char units[] = "smhdw";
    static const int64_t seconds[] = {1, 60, 3600, 86400, 604800};
    const char *unit = text.len ? memchr(units, text.ptr[text.len - 1], sizeof(units) - 1) : NULL;
    int64_t n = 0;

    if (!unit || !hf_slice_int(hf_slice_from(text.ptr, text.len - 1), &n) || n < 0 || n > 100000)
        return false;
    *out_us = n * seconds[unit - units] * 1000000;
    return true;
}

static bool moment_read(hf_mem *mem, hf_slice text, int64_t *out_us)
{
    const char *day = hf_mem_format(mem, "%.*sT00:00:00Z", (int)text.len, text.ptr ? text.ptr : "");

    return hf_clock_parse(text, out_us) || (day && hf_clock_parse(hf_slice_of(day), out_us));
}

/* An age: `<` is younger than it. A moment: `<` is before it. */
static hf_status time_add(reading *r, word *w, const hf_query_time *time)
{
    bool less = w->sign[0] == '<';
    bool equal = w->sign[1] == '=';
    char text[HF_CLOCK_TEXT_SIZE];
    int64_t us = 0;
    bool from;

    if (w->sign[0] == ':') {
        w->error = "It takes < or > and an age such as 1h, or a moment.";
        return HF_OK;
    }
    if (age_read(w->value, &us)) {
        from = less;
        us = r->now_us > us ? r->now_us - us : 0;
    } else if (moment_read(r->mem, w->value, &us)) {
        from = !less;
        us += from ? !equal : equal;
    } else {
        w->error = "This is no age (90s, 5m, 1h, 2d, 1w) and no moment (2026-04-12T09:02:11Z).";
        return HF_OK;
    }
    if (!hf_clock_print(us, text)) {
        w->error = "The moment is too far away.";
        return HF_OK;
    }
    return text_add(r, w, from ? time->from : time->to, hf_slice_of(text));
}

bool hf_query_word_named(const word *w, const char *prefix, hf_slice *out_name)
{
    size_t len = strlen(prefix);

    if (w->field.len <= len || !hf_slice_starts(w->field, hf_slice_of(prefix)))
        return false;
    *out_name = hf_slice_from(w->field.ptr + len, w->field.len - len);
    return true;
}

static void unknown_field(reading *r, word *w)
{
    hf_buf text = {0};

    hf_buf_add_format(&text, "There is no field %.*s; there are: is",
                      w->field.len > 64 ? 64 : (int)w->field.len, w->field.len ? w->field.ptr : "");
    for (size_t i = 0; i < HF_QUERY_FIELDS; i++)
        hf_buf_add_format(&text, ", %s", hf_query_fields[i].word);
    hf_buf_add_text(&text,
                    ", label.NAME, attr.NAME, started, closed. Ids with a colon go in quotes.");
    w->error = hf_buf_ok(&text) ? hf_mem_text(r->mem, hf_buf_slice(&text)) : NULL;
    hf_buf_fini(&text);
    if (!w->error)
        w->error = "There is no such field.";
}

/* What a word with a colon asks for. */
static hf_status colon_add(reading *r, word *w)
{
    hf_slice name = {0};

    if (hf_slice_equal(w->field, HF_SLICE("is")))
        return state_add(r, w);
    if (hf_query_word_named(w, "label.", &name))
        return w->not ? filter_add(r, w,
                                   pair(r->mem, HF_SLICE("labels"),
                                        pair(r->mem, name, hf_value_string(r->mem, w->value))))
                      : member_add(r, w, "labels", name, hf_value_string(r->mem, w->value));
    for (size_t i = 0; i < HF_QUERY_FIELDS; i++)
        if (hf_slice_equal(w->field, hf_slice_of(hf_query_fields[i].word)))
            return field_add(r, w, &hf_query_fields[i]);
    unknown_field(r, w);
    return HF_OK;
}

static bool known(const word *w)
{
    hf_slice name;
    bool found =
        hf_slice_equal(w->field, HF_SLICE("is")) || hf_query_word_named(w, "label.", &name);

    for (size_t i = 0; i < HF_QUERY_FIELDS && !found; i++)
        found = hf_slice_equal(w->field, hf_slice_of(hf_query_fields[i].word));
    return found;
}

static bool is_time(const word *w)
{
    bool found = false;

    for (size_t i = 0; i < HF_QUERY_TIMES && !found; i++)
        found = hf_slice_equal(w->field, hf_slice_of(hf_query_times[i].word));
    return found;
}

static hf_status word_add(reading *r, word *w)
{
    hf_slice name = {0};

    if (w->error)
        return HF_OK;
    if (!w->sign)
        return plain_add(r, w);
    for (size_t i = 0; !w->not &&i < HF_QUERY_TIMES; i++)
        if (hf_slice_equal(w->field, hf_slice_of(hf_query_times[i].word)))
            return time_add(r, w, &hf_query_times[i]);
    if (!w->not &&hf_query_word_named(w, "attr.", &name))
        return attribute_add(r, w, name);
    if (w->sign[0] != ':' && known(w))
        w->error = "This field takes a colon and a value.";
    else if (w->not &&!known(w) && (is_time(w) || hf_query_word_named(w, "attr.", &name)))
        w->error = "A minus leaves out states, fields and labels; ask for the opposite of this.";
    return w->error ? HF_OK : colon_add(r, w);
}

/* ---- lines */

hf_status hf_query_line_check(hf_slice line, hf_err *err)
{
    if (line.len > HF_QUERY_LINE_BYTES_MAX)
        return hf_err_set(err, HF_INVALID, "a query has at most %d bytes", HF_QUERY_LINE_BYTES_MAX);
    if (!hf_utf8_valid(line) || hf_utf8_has_control(line))
        return hf_err_set(err, HF_INVALID, "a query is text without control characters");
    return HF_OK;
}

/* The next word behind `at`; false: there is none. */
bool hf_query_word_next(hf_mem *mem, hf_slice line, size_t at, word *w)
{
    while (at < line.len && hf_query_space(line.ptr[at]))
        at++;
    if (at == line.len)
        return false;
    hf_query_word_read(mem, line, at, w);
    return true;
}

static hf_value word_value(hf_mem *mem, const word *w)
{
    return hf_json_(mem,
                    "{'text': %p, 'start': %zu, 'end': %zu, 'field': %p, 'not': %p, 'value': %p, "
                    "'error': %s}",
                    (const void *)hf_value_string(mem, w->text), w->start, w->end,
                    (const void *)(w->sign ? hf_value_string(mem, w->field) : hf_value_null()),
                    (const void *)hf_value_bool(w->not ),
                    (const void *)hf_value_string(mem, w->value), w->error);
}

hf_status hf_query_line_read(hf_mem *mem, hf_slice line, int64_t now_us, hf_value *out_read,
                             hf_err *err)
{
    reading r = {.mem = mem, .now_us = now_us, .filters = hf_json_(mem, "{}"), .err = err};
    hf_value_list *tokens = hf_value_array(mem);
    hf_value_list *errors = hf_value_array(mem);
    size_t count = 0;
    word w = {0};
    hf_status st = hf_query_line_check(line, err);

    for (; !st && hf_query_word_next(mem, line, w.end, &w); count++) {
        if (count >= HF_QUERY_LINE_TOKENS_MAX)
            w.error = "There are too many words.";
        st = word_add(&r, &w);
        hf_value_append(tokens, word_value(mem, &w));
        if (w.error)
            hf_value_append(errors,
                            hf_json_(mem, "{'text': %p, 'start': %zu, 'end': %zu, 'message': %s}",
                                     (const void *)hf_value_string(mem, w.text), w.start, w.end,
                                     w.error));
    }
    if (st)
        return st;
    *out_read = hf_json_(mem, "{'tokens': %p, 'errors': %p, 'filters': %p}",
                         (const void *)hf_value_finish(tokens),
                         (const void *)hf_value_finish(errors), (const void *)r.filters);
    return r.filters && *out_read ? HF_OK : hf_err_nomem(err, "a query");
}
