/* query_line_word.c: query lines the other way round: filters as a line, and what a line that
   somebody is writing could go on with. See query_line.h. */
#include <string.h>

#include "base/buf.h"
#include "project/query_line_impl.h"

/* ---- writing */

/* Whether the value must stand in quotes behind a field (or, a word of its own, in front of none).
 */
static bool wants_quotes(hf_slice value, bool alone)
{
    if (!value.len)
        return true;
    for (size_t i = 0; i < value.len; i++)
        if (hf_query_space(value.ptr[i]) || strchr(alone ? "\"\\:<>" : "\"\\", value.ptr[i]))
            return true;
    return value.ptr[0] == '*' || value.ptr[value.len - 1] == '*';
}

static void value_write(hf_buf *out, hf_slice value, bool alone)
{
    if (!wants_quotes(value, alone)) {
        hf_buf_add(out, value.ptr, value.len);
        return;
    }
    hf_buf_add_text(out, "\"");
    for (size_t i = 0; i < value.len; i++) {
        if (value.ptr[i] == '"' || value.ptr[i] == '\\')
            hf_buf_add_text(out, "\\");
        hf_buf_add(out, value.ptr + i, 1);
    }
    hf_buf_add_text(out, "\"");
}

static hf_value buf_value(hf_mem *mem, hf_buf *text)
{
    hf_value value = hf_buf_ok(text) ? hf_value_string(mem, hf_buf_slice(text)) : NULL;

    hf_buf_fini(text);
    return value;
}

hf_value hf_query_line_word(hf_mem *mem, hf_slice head, hf_slice value)
{
    hf_buf text = {0};

    hf_buf_add(&text, head.ptr, head.len);
    value_write(&text, value, !head.len);
    return buf_value(mem, &text);
}

/* A text as it is, another value as JSON. */
static const char *plain(hf_mem *mem, hf_value item)
{
    return hf_value_kind_of(item) == HF_VALUE_STRING ? hf_str(item, "", NULL) : hf_text(mem, item);
}

static const char attribute[] = " attr."; /* its values have types */

/* "region:eu" or "amount>5" behind a prefix, such as " label.". False: it cannot be said. */
static bool member_write(hf_buf *out, const char *prefix, hf_slice name, const char *sign,
                         hf_mem *mem, hf_value item)
{
    const char *text = plain(mem, item);

    if (!text || memchr(name.ptr, ':', name.len))
        return false;
    hf_buf_add_format(out, "%s%.*s%s", prefix, (int)name.len, name.ptr, sign);
    if (prefix == attribute && hf_value_kind_of(item) == HF_VALUE_STRING &&
        !wants_quotes(hf_slice_of(text), false) && hf_parse_(mem, text, strlen(text)))
        hf_buf_add_format(out, "\"%s\"", text); /* 5 and "5" differ */
    else
        value_write(out, hf_slice_of(text), false);
    return true;
}

static bool attribute_write(hf_buf *out, hf_mem *mem, hf_slice name, hf_value item)
{
    static const char *const bounds[][2] = {
        {"lte", "<="}, {"gte", ">="}, {"lt", "<"}, {"gt", ">"}, {"eq", ":"}};
    bool said = true;

    if (hf_value_kind_of(item) != HF_VALUE_OBJECT)
        return member_write(out, attribute, name, ":", mem, item);
    for (size_t i = 0; said && i < sizeof(bounds) / sizeof(bounds[0]); i++) {
        hf_value bound = hf_value_find(item, hf_slice_of(bounds[i][0]));

        said = !bound || member_write(out, attribute, name, bounds[i][1], mem, bound);
    }
    return said;
}

static bool members_write(hf_buf *out, hf_mem *mem, hf_slice filter, hf_value all)
{
    bool said = true;
    hf_slice name;
    hf_value item;

    for (size_t i = 0; said && hf_value_member(all, i, &name, &item); i++)
        said = hf_slice_equal(filter, HF_SLICE("labels"))
                   ? member_write(out, " label.", name, ":", mem, item)
                   : attribute_write(out, mem, name, item);
    return said;
}

/* A filter of one value as a word behind `lead`, a blank or a blank and a minus. False: there is
   none for it. */
static bool field_write(hf_buf *out, const char *lead, hf_mem *mem, hf_slice name, hf_value item)
{
    const char *text = plain(mem, item);

    for (size_t i = 0; text && i < HF_QUERY_STATES; i++)
        if (hf_slice_equal(name, hf_slice_of(hf_query_states[i].filter)) &&
            strcmp(text, hf_query_states[i].value) == 0) {
            hf_buf_add_format(out, "%sis:%s", lead, hf_query_states[i].word);
            return true;
        }
    for (size_t i = 0; text && i < HF_QUERY_TIMES; i++) {
        bool from = hf_slice_equal(name, hf_slice_of(hf_query_times[i].from));

        if (!from && !hf_slice_equal(name, hf_slice_of(hf_query_times[i].to)))
            continue;
        hf_buf_add_format(out, "%s%s%s%s", lead, hf_query_times[i].word, from ? ">=" : "<", text);
        return true;
    }
    for (size_t i = 0; text && i < HF_QUERY_FIELDS; i++) {
        bool part =
            hf_query_fields[i].part && hf_slice_equal(name, hf_slice_of(hf_query_fields[i].part));

        if (!part && !hf_slice_equal(name, hf_slice_of(hf_query_fields[i].filter)))
            continue;
        hf_buf_add_format(out, "%s%s:", lead, hf_query_fields[i].word);
        if (part)
            hf_buf_add_format(out, "*%s*", text);
        else
            value_write(out, hf_slice_of(text), false);
        return !part || !wants_quotes(hf_slice_of(text), false);
    }
    return false;
}

/* What is left out: each value of each name. */
static bool without_write(hf_buf *out, hf_mem *mem, hf_value without)
{
    hf_value labels = hf_value_find(without, HF_SLICE("labels"));
    bool said = true;
    hf_slice name;
    hf_value list;

    for (size_t i = 0; said && hf_value_member(without, i, &name, &list); i++)
        for (size_t j = 0; said && list != labels && j < hf_len(list); j++)
            said = field_write(out, " -", mem, name, hf_at(list, j));
    for (size_t i = 0; said && hf_value_member(labels, i, &name, &list); i++)
        for (size_t j = 0; said && j < hf_len(list); j++)
            said = member_write(out, " -label.", name, ":", mem, hf_at(list, j));
    return said;
}

/* The filter as words behind a blank. False: there are none for it. */
static bool filter_write(hf_buf *out, hf_mem *mem, hf_slice name, hf_value item)
{
    if (hf_slice_equal(name, HF_SLICE("not")))
        return without_write(out, mem, item);
    return hf_value_kind_of(item) == HF_VALUE_OBJECT ? members_write(out, mem, name, item)
                                                     : field_write(out, " ", mem, name, item);
}

hf_value hf_query_line_write(hf_mem *mem, hf_value filters)
{
    hf_buf text = {0};
    bool said = true;
    hf_slice name;
    hf_value item;
    hf_value line;

    for (size_t i = 0; said && hf_value_member(filters, i, &name, &item); i++)
        said = filter_write(&text, mem, name, item);
    line = hf_buf_ok(&text) ? hf_value_string(mem, hf_slice_trim(hf_buf_slice(&text))) : NULL;
    hf_buf_fini(&text);
    return said ? line : hf_value_null();
}

/* ---- going on */

static const char *const others[][2] = {
    {"is:", "A state: open, failed, attention ..."},
    {"label.", "A label: label.NAME:VALUE."},
    {"attr.", "A search attribute: attr.NAME:VALUE, or with > >= < <=."},
    {"started<", "Less than an hour ago: started<1h; before: started<2026-04-12T00:00:00Z."},
    {"started>", "Longer ago: started>1h; after: started>2026-04-12T00:00:00Z."},
    {"closed<", "Closed less than two days ago: closed<2d."},
    {"closed>", "Closed longer ago: closed>2d."}};

static void propose(hf_mem *mem, hf_value_list *list, const char *text, const char *help,
                    hf_slice written)
{
    bool not = written.len && written.ptr[0] == '-'; /* in front of whatever stands with a colon */

    if (not &&!strpbrk(text, "<>"))
        text = hf_mem_format(mem, "-%s", text);
    if (hf_slice_starts(hf_slice_of(text), written))
        hf_value_append(list, hf_json_(mem, "{'text': %s, 'help': %s}", text, help));
}

/* What could stand where `written` is the beginning of a word. */
static hf_value words_value(hf_mem *mem, hf_slice written)
{
    hf_value_list *list = hf_value_array(mem);

    for (size_t i = 0; i < HF_QUERY_STATES; i++)
        if (written.len)
            propose(mem, list, hf_mem_format(mem, "is:%s", hf_query_states[i].word),
                    hf_query_states[i].help, written);
    for (size_t i = 0; i < HF_QUERY_FIELDS; i++)
        propose(mem, list, hf_mem_format(mem, "%s:", hf_query_fields[i].word),
                hf_query_fields[i].help, written);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (!written.len || strcmp(others[i][0], "is:") != 0)
            propose(mem, list, others[i][0], others[i][1], written);
    return hf_value_finish(list);
}

/* Which values a list knows of the field. */
static hf_slice facet_of(hf_mem *mem, const hf_query_word *w)
{
    hf_slice name = {0};

    for (size_t i = 0; i < HF_QUERY_FIELDS; i++)
        if (hf_slice_equal(w->field, hf_slice_of(hf_query_fields[i].word)))
            return hf_slice_of(hf_query_fields[i].facet);
    if (!hf_query_word_named(w, "label.", &name))
        return (hf_slice){0};
    return hf_slice_of(hf_mem_format(mem, "label:%.*s", (int)name.len, name.ptr));
}

/* The line without the word in focus. */
static hf_status rest_read(hf_mem *mem, hf_slice line, const hf_query_focus *focus, int64_t now_us,
                           hf_value *out_rest, hf_err *err)
{
    hf_value read = NULL;
    const char *rest =
        hf_mem_format(mem, "%.*s %.*s", (int)focus->start, line.ptr ? line.ptr : "",
                      (int)(line.len - focus->end), line.ptr ? line.ptr + focus->end : "");
    hf_slice text = hf_slice_trim(hf_slice_of(rest));
    hf_status st =
        rest ? hf_query_line_read(mem, text, now_us, &read, err) : hf_err_nomem(err, "a query");

    *out_rest = hf_get(read, "filters");
    return st;
}

hf_status hf_query_line_focus(hf_mem *mem, hf_slice line, size_t at, int64_t now_us,
                              hf_query_focus *out_focus, hf_err *err)
{
    hf_query_focus focus = {0};
    hf_query_word before = {0};
    hf_query_word w = {0};
    hf_status st = hf_query_line_check(line, err);

    if (st)
        return st;
    at = at > line.len ? line.len : at;
    while (w.end < at && hf_query_word_next(mem, line, w.end, &w)) {
    }
    if (w.text.len && w.start <= at && at <= w.end) {
        focus.start = w.start;
        focus.end = w.end;
        hf_query_word_read(mem, hf_slice_from(line.ptr, at), w.start, &before);
    } else if (line.len && at < line.len && !hf_query_space(line.ptr[at])) {
        focus.start = at;
        focus.end = hf_query_word_end(line, at);
    } else {
        focus.start = focus.end = at;
    }
    if (before.sign && strcmp(before.sign, ":") == 0) {
        focus.head = hf_slice_from(before.text.ptr, (size_t)(before.raw.ptr - before.text.ptr));
        focus.part = before.value;
        focus.facet = facet_of(mem, &before);
    } else {
        focus.part = before.value;
    }
    focus.words = words_value(mem, before.text);
    st = rest_read(mem, line, &focus, now_us, &focus.rest, err);
    *out_focus = focus;
    return st ? st : focus.words ? HF_OK : hf_err_nomem(err, "a query");
}
