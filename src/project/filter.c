/* filter.c: see filter.h. */
#include "project/filter.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/id.h"
#include "model/vocab.h"
#include "project/fold.h"

enum { KEY_SHOWN = 64 };

typedef enum field_type { S, W, B, C, T } field_type;

typedef struct field {
    const char *name;
    const char *label;
    field_type type;
    const hf_vocab *words; /* W */
    hf_piece condition;
} field;

typedef enum field_id {
#define HF_FILTER(id, name, label, type, words, condition) id,
#include "project/filter.def"
#undef HF_FILTER
    FIELD_COUNT
} field_id;

static const field fields[FIELD_COUNT] = {
#define HF_FILTER(id, name, label, type, words, condition) {name, label, type, words, condition},
#include "project/filter.def"
#undef HF_FILTER
};

static const char *const range_signs[][2] = {
    {"gte", ">="}, {"gt", ">"}, {"lte", "<="}, {"lt", "<"}, {"eq", "="}};

static bool key_ok(hf_slice key)
{
    if (key.len == 0 || key.len > 64)
        return false;
    for (size_t i = 0; i < key.len; i++) {
        char c = key.ptr[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_' || c == '.' || c == ':' || c == '-'))
            return false;
    }
    return true;
}

static hf_status value_bad(const char *name, const char *wanted, hf_err *err)
{
    return hf_err_set(err, HF_INVALID, "the filter %s takes %s", name, wanted);
}

/* ---- reading */

/* Texts and numbers alike, trimmed; an empty slice is no filter. */
static hf_status text_read(hf_mem *mem, const char *name, hf_value value, hf_slice *out_text,
                           hf_err *err)
{
    hf_value_kind kind = hf_value_kind_of(value);
    const char *text = NULL;

    *out_text = (hf_slice){0};
    if (kind == HF_VALUE_NULL)
        return HF_OK;
    if (kind == HF_VALUE_STRING)
        *out_text = hf_slice_trim(hf_value_slice(value));
    else if (kind == HF_VALUE_INT || kind == HF_VALUE_DOUBLE || kind == HF_VALUE_BOOL) {
        text = hf_text(mem, value);
        if (!text)
            return hf_err_nomem(err, "a filter");
        *out_text = hf_slice_of(text);
    } else {
        return value_bad(name, "one value", err);
    }
    if (out_text->len > HF_FILTER_VALUE_MAX)
        return value_bad(name, "at most 191 bytes", err);
    if (memchr(out_text->ptr ? out_text->ptr : "", '\0', out_text->len))
        return value_bad(name, "text without NUL bytes", err);
    return HF_OK;
}

static bool bool_read(hf_slice text, bool *out_flag)
{
    static const char *const yes[] = {"true", "1", "yes"};
    static const char *const no[] = {"false", "0", "no"};

    for (size_t i = 0; i < 3; i++) {
        if (hf_slice_equal(text, hf_slice_of(yes[i]))) {
            *out_flag = true;
            return true;
        }
        if (hf_slice_equal(text, hf_slice_of(no[i]))) {
            *out_flag = false;
            return true;
        }
    }
    return false;
}

static bool moment_of(hf_slice text, int64_t *out_us)
{
    return hf_clock_parse(text, out_us) || hf_slice_int(text, out_us);
}

static hf_status time_read(const field *f, hf_slice text, int64_t *out_us, hf_err *err)
{
    if (moment_of(text, out_us))
        return HF_OK;
    return value_bad(f->name, "a moment such as 2026-04-12T09:02:11Z, or microseconds since 1970",
                     err);
}

/* One field as it is kept: text, or a boolean. */
static hf_status field_read(hf_mem *mem, const field *f, hf_value given, hf_value *out_value,
                            hf_err *err)
{
    hf_slice text = {0};
    bool flag = false;
    int64_t us = 0;
    hf_status st = text_read(mem, f->name, given, &text, err);

    *out_value = NULL;
    if (st || !text.len)
        return st;
    if (f->type == B) {
        if (!bool_read(text, &flag))
            return value_bad(f->name, "true or false", err);
        *out_value = hf_value_bool(flag);
        return HF_OK;
    }
    if (f->type == W && !hf_vocab_by_text(f->words, text))
        return hf_err_set(err, HF_INVALID, "the filter %s has no value \"%.*s\"", f->name,
                          (int)text.len, text.ptr);
    if (f->type == T)
        st = time_read(f, text, &us, err);
    if (st)
        return st;
    *out_value = hf_value_string(mem, text);
    return *out_value ? HF_OK : hf_err_nomem(err, "a filter");
}

static int key_order(const void *a, const void *b)
{
    return hf_slice_compare(*(const hf_slice *)a, *(const hf_slice *)b);
}

/* The members of an object in the order of their keys. */
static hf_value sorted(hf_mem *mem, hf_value object)
{
    size_t count = hf_len(object);
    hf_slice *keys = hf_mem_array(mem, count ? count : 1, sizeof(*keys));
    hf_value_list *list = hf_value_object(mem);
    hf_value item;

    if (!keys || !object)
        return NULL;
    for (size_t i = 0; i < count; i++)
        (void)hf_value_member(object, i, &keys[i], &item);
    qsort(keys, count, sizeof(*keys), key_order);
    for (size_t i = 0; i < count; i++)
        hf_value_set(list, keys[i], hf_value_find(object, keys[i]));
    return hf_value_finish(list);
}

static hf_status labels_read(hf_mem *mem, const char *name, hf_value given, hf_value *out_value,
                             hf_err *err)
{
    hf_value_list *list = hf_value_object(mem);
    hf_slice key;
    hf_value item;

    if (given && hf_value_kind_of(given) != HF_VALUE_OBJECT)
        return value_bad(name, "an object of names and values", err);
    for (size_t i = 0; hf_value_member(given, i, &key, &item); i++) {
        hf_slice text = {0};
        hf_status st = text_read(mem, name, item, &text, err);

        if (st)
            return st;
        if (!key_ok(key))
            return value_bad(name, "names of 1 to 64 of A-Z a-z 0-9 _ . : -", err);
        if (text.len)
            hf_value_set(list, key, hf_value_string(mem, text));
    }
    *out_value = sorted(mem, hf_value_finish(list));
    return *out_value ? HF_OK : hf_err_nomem(err, "a filter");
}

static bool range_ok(hf_value range)
{
    hf_slice key;
    hf_value item;

    for (size_t i = 0; hf_value_member(range, i, &key, &item); i++) {
        bool known = false;

        for (size_t j = 0; j < sizeof(range_signs) / sizeof(range_signs[0]); j++)
            known |= hf_slice_equal(key, hf_slice_of(range_signs[j][0]));
        if (!known || hf_value_kind_of(item) == HF_VALUE_OBJECT ||
            hf_value_kind_of(item) == HF_VALUE_ARRAY || hf_value_kind_of(item) == HF_VALUE_NULL)
            return false;
    }
    return hf_len(range) > 0;
}

static hf_status attributes_read(hf_mem *mem, const char *name, hf_value given, hf_value *out_value,
                                 hf_err *err)
{
    hf_value_list *list = hf_value_object(mem);
    hf_slice key;
    hf_value item;

    if (given && hf_value_kind_of(given) != HF_VALUE_OBJECT)
        return value_bad(name, "an object of names and values", err);
    for (size_t i = 0; hf_value_member(given, i, &key, &item); i++) {
        hf_value_kind kind = hf_value_kind_of(item);

        if (!key_ok(key))
            return value_bad(name, "names of 1 to 64 of A-Z a-z 0-9 _ . : -", err);
        if (kind == HF_VALUE_NULL)
            continue;
        if (kind == HF_VALUE_ARRAY || kind == HF_VALUE_BYTES ||
            (kind == HF_VALUE_OBJECT && !range_ok(item)))
            return value_bad(name, "a value, or an object with gte, gt, lte, lt or eq", err);
        if (kind == HF_VALUE_STRING && hf_value_slice(item).len > 2048)
            return value_bad(name, "at most 2048 bytes", err);
        hf_value_set(list, key, item);
    }
    *out_value = sorted(mem, hf_value_finish(list));
    return *out_value ? HF_OK : hf_err_nomem(err, "a filter");
}

static const field *field_find(hf_slice name)
{
    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (hf_slice_equal(name, hf_slice_of(fields[i].name)))
            return &fields[i];
    return NULL;
}

static bool name_is(hf_slice name, const char *a, const char *b)
{
    return hf_slice_equal(name, hf_slice_of(a)) || hf_slice_equal(name, hf_slice_of(b));
}

/* ---- what is left out */

/* Of some runs only history can say what they have of the first; a moment has an opposite. */
static bool can_be_left_out(const field *f)
{
    static const int kept[] = {HF_FILTER_LIVENESS_STATE,   HF_FILTER_REPAIR_BLOCKED_REASON,
                               HF_FILTER_REPAIR_ATTENTION, HF_FILTER_TASK_PROBLEM,
                               HF_FILTER_RUN_ID,           HF_FILTER_RUN_ID_CONTAINS};

    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        if (f == &fields[kept[i]])
            return false;
    return f->type != T;
}

/* One value or a list of them, as a list; each is read as the filter `f`, or a label (NULL). */
static hf_status values_read(hf_mem *mem, const field *f, hf_value given, hf_value *out_list,
                             hf_err *err)
{
    bool many = hf_value_kind_of(given) == HF_VALUE_ARRAY;
    hf_value_list *list = hf_value_array(mem);
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < (many ? hf_len(given) : 1); i++) {
        hf_value item = many ? hf_at(given, i) : given;
        hf_value value = NULL;
        hf_slice text = {0};

        if (f) {
            st = field_read(mem, f, item, &value, err);
        } else {
            st = text_read(mem, "labels", item, &text, err);
            value = text.len ? hf_value_string(mem, text) : NULL;
        }
        if (!st && value)
            hf_value_append(list, value);
    }
    *out_list = hf_value_finish(list);
    return st ? st : *out_list ? HF_OK : hf_err_nomem(err, "a filter");
}

static hf_status labels_without(hf_mem *mem, hf_value given, hf_value *out_labels, hf_err *err)
{
    hf_value_list *labels = hf_value_object(mem);
    hf_slice key;
    hf_value item;
    hf_value list = NULL;
    hf_status st = HF_OK;

    if (hf_value_kind_of(given) != HF_VALUE_OBJECT)
        return value_bad("labels", "an object of names and values", err);
    for (size_t i = 0; !st && hf_value_member(given, i, &key, &item); i++) {
        if (!key_ok(key))
            return value_bad("labels", "names of 1 to 64 of A-Z a-z 0-9 _ . : -", err);
        st = values_read(mem, NULL, item, &list, err);
        if (!st && hf_len(list))
            hf_value_set(labels, key, list);
    }
    *out_labels = hf_value_finish(labels);
    return st ? st : *out_labels ? HF_OK : hf_err_nomem(err, "a filter");
}

/* {field: value or [value, ...], ..., "labels": {name: value or [...]}} */
static hf_status without_read(hf_mem *mem, hf_value given, hf_value *out_without, hf_err *err)
{
    hf_value_list *all = hf_value_object(mem);
    hf_slice name;
    hf_value item;
    hf_status st = HF_OK;

    if (given && hf_value_kind_of(given) != HF_VALUE_OBJECT)
        return value_bad("not", "an object of names and values", err);
    for (size_t i = 0; !st && hf_value_member(given, i, &name, &item); i++) {
        const field *f = field_find(name);
        hf_value read = NULL;

        if (hf_slice_equal(name, HF_SLICE("labels")))
            st = labels_without(mem, item, &read, err);
        else if (f && can_be_left_out(f))
            st = values_read(mem, f, item, &read, err);
        else
            st = hf_err_set(err, HF_INVALID, "nothing can be left out by %.*s",
                            name.len > KEY_SHOWN ? KEY_SHOWN : (int)name.len, name.ptr);
        if (!st && hf_len(read))
            hf_value_set(all, name, read);
    }
    *out_without = hf_value_finish(all);
    return st ? st : *out_without ? HF_OK : hf_err_nomem(err, "a filter");
}

/* Names the filters that there are. */
static hf_status unknown(hf_slice name, hf_err *err)
{
    hf_buf names = {0};
    hf_status st;

    for (size_t i = 0; i < FIELD_COUNT; i++)
        hf_buf_add_format(&names, "%s, ", fields[i].name);
    st = hf_err_set(err, HF_INVALID,
                    "there is no filter \"%.*s\"; there are: %slabels, search_attributes and not",
                    name.len > KEY_SHOWN ? KEY_SHOWN : (int)name.len, name.ptr,
                    hf_buf_ok(&names) ? hf_buf_text(&names) : "");
    hf_buf_fini(&names);
    return st;
}

hf_status hf_filter_read(hf_mem *mem, hf_value given, hf_value *out_filters, hf_err *err)
{
    hf_value_list *list = hf_value_object(mem);
    hf_value labels = NULL;
    hf_value attributes = NULL;
    hf_value without = NULL;
    hf_slice name;
    hf_value item;
    hf_status st = HF_OK;

    if (given && hf_value_kind_of(given) != HF_VALUE_OBJECT &&
        hf_value_kind_of(given) != HF_VALUE_NULL)
        return hf_err_set(err, HF_INVALID, "filters are an object of names and values");
    for (size_t i = 0; !st && hf_value_member(given, i, &name, &item); i++) {
        const field *f = field_find(name);
        hf_value value = NULL;

        if (name_is(name, "labels", "label")
                ? labels != NULL
                : name_is(name, "search_attributes", "search_attribute") && attributes) {
            st = hf_err_set(err, HF_INVALID, "the filter %.*s is given twice", (int)name.len,
                            name.ptr);
        } else if (name_is(name, "labels", "label")) {
            st = labels_read(mem, "labels", item, &labels, err);
        } else if (name_is(name, "search_attributes", "search_attribute")) {
            st = attributes_read(mem, "search_attributes", item, &attributes, err);
        } else if (hf_slice_equal(name, HF_SLICE("not"))) {
            st = without_read(mem, item, &without, err);
        } else if (!f) {
            st = unknown(name, err);
        } else {
            st = field_read(mem, f, item, &value, err);
            if (!st && value)
                hf_value_set(list, name, value);
        }
    }
    if (labels && hf_len(labels))
        hf_value_set(list, HF_SLICE("labels"), labels);
    if (attributes && hf_len(attributes))
        hf_value_set(list, HF_SLICE("search_attributes"), attributes);
    if (without && hf_len(without))
        hf_value_set(list, HF_SLICE("not"), without);
    if (st)
        return st;
    *out_filters = hf_value_finish(list);
    return *out_filters ? HF_OK : hf_err_nomem(err, "filters");
}

/* What either leaves out: lists of the same name become one. */
static hf_value both_left_out(hf_mem *mem, hf_value a, hf_value b)
{
    bool lists = hf_value_kind_of(a) == HF_VALUE_ARRAY;
    hf_value_list *list = lists ? hf_value_array(mem) : hf_value_object(mem);
    hf_slice name;
    hf_value item;

    if (!a || !b)
        return a ? a : b;
    for (size_t i = 0; lists && i < hf_len(a) + hf_len(b); i++) {
        bool again = false;

        item = i < hf_len(a) ? hf_at(a, i) : hf_at(b, i - hf_len(a));
        for (size_t j = 0; i >= hf_len(a) && j < hf_len(a); j++)
            again = again || hf_value_equal(hf_at(a, j), item);
        if (!again)
            hf_value_append(list, item);
    }
    for (size_t i = 0; !lists && hf_value_member(a, i, &name, &item); i++)
        hf_value_set(list, name, both_left_out(mem, item, hf_value_find(b, name)));
    for (size_t i = 0; !lists && hf_value_member(b, i, &name, &item); i++)
        if (!hf_value_find(a, name))
            hf_value_set(list, name, item);
    return hf_value_finish(list);
}

static hf_value joined(hf_mem *mem, hf_value earlier, hf_value later)
{
    hf_value_list *list = hf_value_object(mem);
    hf_slice name;
    hf_value item;

    for (size_t i = 0; hf_value_member(earlier, i, &name, &item); i++)
        if (!hf_value_find(later, name))
            hf_value_set(list, name, item);
    for (size_t i = 0; hf_value_member(later, i, &name, &item); i++) {
        hf_value before = hf_value_find(earlier, name);

        if (before && hf_slice_equal(name, HF_SLICE("not")))
            item = both_left_out(mem, before, item);
        else if (before && name_is(name, "labels", "search_attributes"))
            item = sorted(mem, joined(mem, before, item));
        hf_value_set(list, name, item);
    }
    return hf_value_finish(list);
}

hf_value hf_filter_merge(hf_mem *mem, hf_value earlier, hf_value later)
{
    return joined(mem, earlier, later);
}

/* ---- conditions */

static void run_id_sql(hf_piece_sql *sql, hf_slice text, hf_filter_rest *rest)
{
    hf_ulid id;

    if (!hf_ulid_parse(text, &id)) {
        rest->never = true;
        return;
    }
    rest->never |= hf_ulid_counter(&id) != 0;
    hf_piece_param(sql, hf_db_int(hf_ulid_key(&id)));
    hf_piece_param(sql, hf_db_int(hf_ulid_time_ms(&id)));
    hf_piece_and(sql, HF_PIECE_FILTER_RUN_ID);
}

/* Adds a condition that follows from a filter and that an index answers: what is rare among a
   million runs is then found without looking at each. */
static void index_sql(hf_piece_sql *sql, field_id id, int64_t number)
{
    bool open = (id == HF_FILTER_STATUS_BUCKET && number == HF_STATUS_BUCKET_RUNNING) ||
                (id == HF_FILTER_LIVENESS_STATE && number != HF_LIVENESS_CLOSED) ||
                ((id == HF_FILTER_TASK_PROBLEM || id == HF_FILTER_REPAIR_ATTENTION) && number) ||
                (id == HF_FILTER_IS_TERMINAL && !number);

    if (id == HF_FILTER_STATUS)
        open = hf_run_status_bucket((hf_run_status)number) == HF_STATUS_BUCKET_RUNNING;
    if (open) {
        hf_piece_and(sql, HF_PIECE_FILTER_OPEN);
    } else if (id == HF_FILTER_STATUS) {
        hf_piece_and(sql, HF_PIECE_FILTER_ENDED);
    }
}

/* The value as a condition compares with it. */
static hf_db_value param_of(const field *f, hf_value value)
{
    hf_slice text = hf_value_slice(value);
    int64_t us = 0;

    switch (f->type) {
    case S:
    case C:
        break;
    case W:
        return hf_db_int(hf_vocab_by_text(f->words, text)->number);
    case B:
        return hf_db_int(hf_bool(value, "", false));
    case T:
        (void)moment_of(text, &us);
        return hf_db_int(us);
    }
    return hf_db_text(text);
}

static void number_sql(hf_piece_sql *sql, field_id id, int64_t number, hf_filter_rest *rest)
{
    if (id == HF_FILTER_STATUS_BUCKET && number == HF_STATUS_BUCKET_COMPLETED) {
        hf_piece_param(sql, hf_db_int(HF_RUN_STATUS_COMPLETED));
        hf_piece_and(sql, HF_PIECE_FILTER_ENDED); /* says all of it */
        return;
    }
    hf_piece_param(sql, hf_db_int(number));
    index_sql(sql, id, number);
    hf_piece_and(sql, fields[id].condition);
    if (id == HF_FILTER_LIVENESS_STATE)
        rest->liveness = number;
    else if (id == HF_FILTER_REPAIR_BLOCKED_REASON)
        rest->repair = number;
    else if (id == HF_FILTER_TASK_PROBLEM)
        rest->problem = number;
    else if (id == HF_FILTER_REPAIR_ATTENTION)
        rest->attention = number;
}

static void field_sql(hf_piece_sql *sql, field_id id, hf_value value, hf_filter_rest *rest)
{
    const field *f = &fields[id];

    if (id == HF_FILTER_RUN_ID) {
        run_id_sql(sql, hf_value_slice(value), rest);
    } else if (id == HF_FILTER_RUN_ID_CONTAINS) {
        rest->run_id_part = hf_value_slice(value);
    } else if (f->type == W || f->type == B) {
        number_sql(sql, id, param_of(f, value).number, rest);
    } else {
        hf_piece_param(sql, param_of(f, value));
        hf_piece_and(sql, f->condition);
    }
}

static void label_params(hf_piece_sql *sql, hf_slice name, hf_value value)
{
    hf_piece_param(sql, hf_db_text(name));
    hf_piece_param(sql, hf_db_text(hf_value_slice(value)));
}

static void labels_sql(hf_piece_sql *sql, hf_value labels)
{
    hf_slice name;
    hf_value item;

    for (size_t i = 0; hf_value_member(labels, i, &name, &item); i++) {
        label_params(sql, name, item);
        hf_piece_and(sql, HF_PIECE_FILTER_LABEL);
    }
}

/* Runs that have one of these values are left out; those that have none at all are not. */
static void without_sql(hf_piece_sql *sql, hf_value without)
{
    hf_value labels = hf_value_find(without, HF_SLICE("labels"));
    hf_slice name;
    hf_value list;

    for (size_t i = 0; i < FIELD_COUNT; i++) {
        list = hf_value_find(without, hf_slice_of(fields[i].name));
        for (size_t j = 0; j < hf_len(list); j++) {
            hf_piece_param(sql, param_of(&fields[i], hf_at(list, j)));
            hf_piece_and_not(sql, fields[i].condition);
        }
    }
    for (size_t i = 0; hf_value_member(labels, i, &name, &list); i++)
        for (size_t j = 0; j < hf_len(list); j++) {
            label_params(sql, name, hf_at(list, j));
            hf_piece_and_not(sql, HF_PIECE_FILTER_LABEL);
        }
}

/* A number that a text says; false when it says none. */
static bool number_of(hf_value value, double *out_real)
{
    hf_slice text = hf_value_slice(value);
    char copy[64];
    char *end = NULL;

    if (hf_value_kind_of(value) == HF_VALUE_DOUBLE || hf_value_kind_of(value) == HF_VALUE_INT) {
        *out_real = hf_num(value, "", 0);
        return true;
    }
    if (hf_value_kind_of(value) != HF_VALUE_STRING || !text.len || text.len >= sizeof(copy))
        return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    *out_real = strtod(copy, &end);
    return end == copy + text.len && *out_real == *out_real && *out_real - *out_real == 0;
}

static bool integer_of(hf_value value, int64_t *out_number)
{
    bool flag = false;

    if (hf_value_kind_of(value) == HF_VALUE_INT) {
        *out_number = hf_int(value, "", 0);
        return true;
    }
    if (hf_value_kind_of(value) == HF_VALUE_BOOL) {
        *out_number = hf_bool(value, "", false);
        return true;
    }
    if (hf_slice_int(hf_value_slice(value), out_number))
        return true;
    if (!hf_slice_equal(hf_value_slice(value), HF_SLICE("true")) &&
        !hf_slice_equal(hf_value_slice(value), HF_SLICE("false")))
        return false;
    (void)bool_read(hf_value_slice(value), &flag);
    *out_number = flag;
    return true;
}

/* Compares with whichever column can hold the value: what comes from an address is text only. */
static void attribute_sql(hf_piece_sql *sql, hf_value value, const char *sign)
{
    int64_t number = 0;
    double real = 0;
    const char *before = "";

    sql->sign = sign;
    hf_piece_and(sql, HF_PIECE_FILTER_ATTRIBUTE);
    if (hf_value_kind_of(value) == HF_VALUE_STRING) {
        hf_piece_param(sql, hf_db_text(hf_value_slice(value)));
        hf_piece_add(sql, HF_PIECE_FILTER_ATTRIBUTE_TEXT);
        before = " OR";
    }
    if (integer_of(value, &number)) {
        hf_piece_param(sql, hf_db_int(number));
        hf_buf_add_text(&sql->text, before);
        hf_piece_add(sql, HF_PIECE_FILTER_ATTRIBUTE_NUMBER);
        before = " OR";
    }
    if (number_of(value, &real)) {
        hf_piece_param(sql, hf_db_real(real));
        hf_buf_add_text(&sql->text, before);
        hf_piece_add(sql, HF_PIECE_FILTER_ATTRIBUTE_REAL);
    }
    hf_buf_add_text(&sql->text, "))");
}

static void attributes_sql(hf_piece_sql *sql, hf_value attributes)
{
    hf_slice name;
    hf_value item;

    for (size_t i = 0; hf_value_member(attributes, i, &name, &item); i++) {
        hf_piece_param(sql, hf_db_text(name));
        sql->name = sql->count;
        if (hf_value_kind_of(item) != HF_VALUE_OBJECT) {
            attribute_sql(sql, item, "=");
            continue;
        }
        for (size_t j = 0; j < sizeof(range_signs) / sizeof(range_signs[0]); j++) {
            hf_value bound = hf_value_find(item, hf_slice_of(range_signs[j][0]));

            if (bound)
                attribute_sql(sql, bound, range_signs[j][1]);
        }
    }
}

void hf_filter_add(hf_value filters, hf_piece_sql *sql, hf_filter_rest *out_rest)
{
    *out_rest = (hf_filter_rest){.problem = -1, .attention = -1};
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        hf_value value = hf_value_find(filters, hf_slice_of(fields[i].name));

        if (value)
            field_sql(sql, (field_id)i, value, out_rest);
    }
    labels_sql(sql, hf_value_find(filters, HF_SLICE("labels")));
    attributes_sql(sql, hf_value_find(filters, HF_SLICE("search_attributes")));
    without_sql(sql, hf_value_find(filters, HF_SLICE("not")));
}

bool hf_filter_moment(hf_value filters, const char *name, int64_t *out_us)
{
    hf_value value = hf_value_find(filters, hf_slice_of(name));

    return value && moment_of(hf_value_slice(value), out_us);
}

/* ---- the definition */

static hf_value options_value(hf_mem *mem, const field *f)
{
    hf_value_list *list = hf_value_array(mem);

    for (size_t i = 0; f->words && i < f->words->count; i++) {
        const hf_vocab_item *item = &f->words->items[i];
        const hf_repair_blocked_look *look =
            f->words == &hf_repair_blocked_reason_list
                ? hf_repair_blocked_look_get((hf_repair_blocked_reason)item->number)
                : NULL;

        hf_value_append(
            list, look ? hf_json_(mem,
                                  "{'value': %s, 'label': %s, 'description': %s, "
                                  "'tone': %s, 'badge_visible': %p}",
                                  item->text, look->label, item->sentence, look->tone,
                                  (const void *)hf_value_bool(look->badge))
                       : hf_json_(mem, "{'value': %s, 'label': %s}", item->text, item->sentence));
    }
    for (size_t i = 0; f->type == B && i < 2; i++)
        hf_value_append(list, hf_json_(mem, "{'value': %p, 'label': %s}",
                                       (const void *)hf_value_bool(!i), i ? "No" : "Yes"));
    return hf_value_finish(list);
}

static hf_value field_value(hf_mem *mem, const field *f, size_t order)
{
    static const char *const types[] = {"string", "string", "boolean", "string", "datetime"};
    static const char *const inputs[] = {"text", "select", "boolean_select", "text", "datetime"};
    static const char *const signs[] = {"exact", "exact", "exact", "contains", "range"};

    return hf_json_(mem,
                    "{'label': %s, 'type': %s, 'input': %s, 'operator': %s, 'filterable': true, "
                    "'saved_view_compatible': true, 'order': %zu, 'query_parameter': %s, "
                    "'options': %p}",
                    f->label, types[f->type], inputs[f->type], signs[f->type], order, f->name,
                    (const void *)options_value(mem, f));
}

hf_value hf_filter_definition(hf_mem *mem)
{
    hf_value_list *list = hf_value_object(mem);
    hf_value described;

    for (size_t i = 0; i < FIELD_COUNT; i++)
        hf_value_set(list, hf_slice_of(fields[i].name), field_value(mem, &fields[i], i + 1));
    described = hf_value_finish(list);
    return hf_json_(
        mem,
        "{'version': %d, 'supported_versions': [1,2,3,4,5,6], 'minimum_supported_version': 1, "
        "'deprecated_versions': [1,2], 'reserved_view_id_prefix': 'system:', 'fields': %p, "
        "'labels': {'label': 'Labels', 'type': 'map', 'input': 'key_value_textarea', "
        "'operator': 'exact', 'filterable': true, 'saved_view_compatible': true, "
        "'query_parameter': 'label', 'key_pattern': '[A-Za-z0-9_.:-]{1,64}', "
        "'key_value_separator': '='}, "
        "'search_attributes': {'label': 'Search attributes', 'type': 'map', "
        "'input': 'key_value_textarea', 'operator': 'exact', 'filterable': true, "
        "'saved_view_compatible': true, 'query_parameter': 'search_attribute', "
        "'key_pattern': '[A-Za-z0-9_.:-]{1,64}', 'key_value_separator': '='}, "
        "'indexed_metadata': ['business_key', 'labels', 'search_attributes'], "
        "'detail_metadata': {'memo': {'filterable': false}}, 'projection_schema_version': %d}",
        HF_FILTER_VERSION, (const void *)described, HF_RUNFOLD_VERSION);
}
