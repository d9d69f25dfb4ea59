/* schema.h: checks a value against a JSON Schema, as much of it as the published bundle schemas
   use. A keyword that is not known here fails the case: nothing is left unchecked by accident. */
#ifndef HF_TEST_PROJECT_SCHEMA_H
#define HF_TEST_PROJECT_SCHEMA_H

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/value.h"
#include "holdfast/value.h"

typedef struct schema {
    hf_value root;   /* of the file the rule stands in */
    hf_value events; /* history-event-payloads.schema.json */
} schema;

static inline void file_text(const char *path, hf_buf *text)
{
    FILE *file = fopen(path, "rb");
    size_t taken = 1;

    ck_assert_msg(file != NULL, "cannot open %s", path);
    while (taken) {
        char *room = hf_buf_reserve(text, 65536);

        ck_assert_ptr_nonnull(room);
        taken = fread(room, 1, 65536, file);
        hf_buf_advance(text, taken);
    }
    fclose(file);
}

static inline bool schema_is(hf_value value, const char *type)
{
    static const char *const names[] = {
        [HF_VALUE_NULL] = "null",     [HF_VALUE_BOOL] = "boolean",  [HF_VALUE_INT] = "integer",
        [HF_VALUE_DOUBLE] = "number", [HF_VALUE_STRING] = "string", [HF_VALUE_BYTES] = "bytes",
        [HF_VALUE_ARRAY] = "array",   [HF_VALUE_OBJECT] = "object"};

    return strcmp(names[hf_value_kind_of(value)], type) == 0;
}

static inline void schema_type(hf_value rule, hf_value value, const char *path)
{
    bool fits = hf_value_kind_of(rule) == HF_VALUE_STRING && schema_is(value, hf_str(rule, "", ""));

    for (size_t i = 0; hf_value_kind_of(rule) == HF_VALUE_ARRAY && i < hf_len(rule); i++)
        fits = fits || schema_is(value, hf_str(hf_at(rule, i), "", ""));
    ck_assert_msg(fits, "%s has the wrong type", path);
}

static inline bool schema_silent(hf_slice name)
{
    static const char *const names[] = {"$schema",     "$id",   "title",
                                        "description", "$defs", "additionalProperties"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (hf_slice_equal(name, hf_slice_of(names[i])))
            return true;
    return hf_slice_starts(name, HF_SLICE("x-"));
}

static void schema_check(const schema *s, hf_value rule, hf_value value, const char *path);

static inline void schema_ref(const schema *s, const char *ref, hf_value value, const char *path)
{
    schema other = {.root = s->events, .events = s->events};

    if (strcmp(ref, "./history-event-payloads.schema.json") == 0) {
        schema_check(&other, s->events, value, path);
        return;
    }
    ck_assert_msg(strncmp(ref, "#/$defs/", 8) == 0, "unknown reference %s", ref);
    schema_check(s, hf_value_find(hf_value_find(s->root, HF_SLICE("$defs")), hf_slice_of(ref + 8)),
                 value, path);
}

static inline void schema_members(const schema *s, hf_value rules, hf_value value, const char *path)
{
    hf_slice name;
    hf_value rule;

    for (size_t i = 0; hf_value_member(rules, i, &name, &rule); i++) {
        char deeper[256];
        hf_value item = hf_value_find(value, name);

        snprintf(deeper, sizeof(deeper), "%s.%.*s", path, (int)name.len, name.ptr);
        if (item)
            schema_check(s, rule, item, deeper);
    }
}

static inline void schema_enum(hf_value allowed, hf_value value, const char *path)
{
    bool found = false;

    for (size_t i = 0; i < hf_len(allowed); i++)
        found = found || hf_value_equal(hf_at(allowed, i), value);
    ck_assert_msg(found, "%s is none of the allowed values", path);
}

static void schema_check(const schema *s, hf_value rule, hf_value value, const char *path)
{
    hf_slice name;
    hf_value part;

    if (hf_value_kind_of(rule) == HF_VALUE_BOOL)
        return;
    ck_assert_msg(hf_value_kind_of(rule) == HF_VALUE_OBJECT, "%s has no rule", path);
    for (size_t i = 0; hf_value_member(rule, i, &name, &part); i++) {
        char deeper[256];
        int64_t ignored;

        if (schema_silent(name))
            continue;
        if (hf_slice_equal(name, HF_SLICE("type"))) {
            schema_type(part, value, path);
        } else if (hf_slice_equal(name, HF_SLICE("required"))) {
            for (size_t j = 0; j < hf_len(part); j++)
                ck_assert_msg(hf_value_find(value, hf_value_slice(hf_at(part, j))) != NULL,
                              "%s lacks %s", path, hf_str(hf_at(part, j), "", ""));
        } else if (hf_slice_equal(name, HF_SLICE("const"))) {
            ck_assert_msg(hf_value_equal(part, value), "%s is not the constant", path);
        } else if (hf_slice_equal(name, HF_SLICE("enum"))) {
            schema_enum(part, value, path);
        } else if (hf_slice_equal(name, HF_SLICE("minimum"))) {
            if (hf_value_kind_of(value) == HF_VALUE_INT)
                ck_assert_msg(hf_int(value, "", 0) >= hf_int(part, "", 0), "%s is too small", path);
        } else if (hf_slice_equal(name, HF_SLICE("minLength"))) {
            ck_assert_msg(hf_len(value) >= (size_t)hf_int(part, "", 0), "%s is too short", path);
        } else if (hf_slice_equal(name, HF_SLICE("format"))) {
            ck_assert_msg(hf_value_kind_of(value) == HF_VALUE_NULL ||
                              hf_clock_parse(hf_value_slice(value), &ignored),
                          "%s is no time", path);
        } else if (hf_slice_equal(name, HF_SLICE("properties"))) {
            schema_members(s, part, value, path);
        } else if (hf_slice_equal(name, HF_SLICE("items"))) {
            for (size_t j = 0; j < hf_len(value); j++) {
                snprintf(deeper, sizeof(deeper), "%s.%zu", path, j);
                schema_check(s, part, hf_at(value, j), deeper);
            }
        } else if (hf_slice_equal(name, HF_SLICE("$ref"))) {
            schema_ref(s, hf_str(part, "", ""), value, path);
        } else {
            ck_abort_msg("%s: unknown keyword %.*s", path, (int)name.len, name.ptr);
        }
    }
}

/* Fails the case when the bundle is not what the published schemas say. */
static inline void schema_check_bundle(hf_mem *mem, hf_value bundle)
{
    hf_buf text = {0};
    schema s;

    file_text(HF_TEST_DIR "/project/data/history-export-bundle.schema.json", &text);
    s.root = hf_parse_(mem, text.ptr, text.len);
    hf_buf_clear(&text);
    file_text(HF_TEST_DIR "/project/data/history-event-payloads.schema.json", &text);
    s.events = hf_parse_(mem, text.ptr, text.len);
    hf_buf_fini(&text);
    ck_assert_ptr_nonnull(s.root);
    ck_assert_ptr_nonnull(s.events);
    schema_check(&s, s.root, bundle, "bundle");
}

#endif
