/* schema.c: see schema.h. Recursion is bounded by the depth of the schemas. */
#include "lib/schema.h"

#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/value.h"
#include "lib/suite.h"

enum { PATH_SIZE = 256, WHY_SIZE = 512, FILE_BYTES_MAX = 1 << 20 };

typedef struct checker {
    hf_value root;
    char path[PATH_SIZE]; /* of the value at hand */
    char why[WHY_SIZE];   /* the first thing that did not fit */
} checker;

static bool wrong(checker *c, const char *what, const char *detail)
{
    if (!c->why[0])
        (void)snprintf(c->why, sizeof(c->why), "%s: %s %s", c->path[0] ? c->path : "(root)", what,
                       detail);
    return false;
}

static bool type_is(hf_value value, const char *type)
{
    static const char *const names[] = {
        [HF_VALUE_NULL] = "null",     [HF_VALUE_BOOL] = "boolean",  [HF_VALUE_INT] = "integer",
        [HF_VALUE_DOUBLE] = "number", [HF_VALUE_STRING] = "string", [HF_VALUE_BYTES] = "",
        [HF_VALUE_ARRAY] = "array",   [HF_VALUE_OBJECT] = "object"};
    hf_value_kind kind = hf_value_kind_of(value);

    return strcmp(names[kind], type) == 0 || (kind == HF_VALUE_INT && strcmp(type, "number") == 0);
}

static bool type_check(checker *c, hf_value type, hf_value value)
{
    if (hf_value_kind_of(type) == HF_VALUE_STRING)
        return type_is(value, hf_str(type, "", "")) || wrong(c, "is no", hf_str(type, "", ""));
    for (size_t i = 0; i < hf_len(type); i++)
        if (type_is(value, hf_str(hf_at(type, i), "", "")))
            return true;
    return wrong(c, "is of none of the types", "");
}

static bool enum_check(checker *c, hf_value allowed, hf_value value)
{
    for (size_t i = 0; i < hf_len(allowed); i++)
        if (hf_value_equal(hf_at(allowed, i), value))
            return true;
    return wrong(c, "is not one of the words", hf_str(value, "", ""));
}

static bool pattern_check(checker *c, const char *pattern, hf_value value)
{
    regex_t regex;
    bool good;

    if (hf_value_kind_of(value) != HF_VALUE_STRING)
        return true;
    ck_assert_int_eq(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
    good = regexec(&regex, hf_str(value, "", ""), 0, NULL, 0) == 0;
    regfree(&regex);
    return good || wrong(c, "does not match", pattern);
}

static bool required_check(checker *c, hf_value names, hf_value value)
{
    if (hf_value_kind_of(value) != HF_VALUE_OBJECT)
        return true;
    for (size_t i = 0; i < hf_len(names); i++)
        if (!hf_value_find(value, hf_value_slice(hf_at(names, i))))
            return wrong(c, "has no", hf_str(hf_at(names, i), "", ""));
    return true;
}

/* A keyword that says something of the value alone. */
static bool plain_check(checker *c, hf_slice key, hf_value rule, hf_value value)
{
    if (hf_slice_equal(key, HF_SLICE("type")))
        return type_check(c, rule, value);
    if (hf_slice_equal(key, HF_SLICE("required")))
        return required_check(c, rule, value);
    if (hf_slice_equal(key, HF_SLICE("enum")))
        return enum_check(c, rule, value);
    if (hf_slice_equal(key, HF_SLICE("const")))
        return hf_value_equal(rule, value) || wrong(c, "is not the constant", "");
    if (hf_slice_equal(key, HF_SLICE("pattern")))
        return pattern_check(c, hf_str(rule, "", ""), value);
    if (hf_slice_equal(key, HF_SLICE("minimum")))
        return (!type_is(value, "number") && !type_is(value, "integer")) ||
               hf_num(value, "", 0) >= hf_num(rule, "", 0) || wrong(c, "is too small", "");
    if (hf_slice_equal(key, HF_SLICE("minLength")))
        return !type_is(value, "string") ||
               hf_value_slice(value).len >= (size_t)hf_int(rule, "", 0) ||
               wrong(c, "is too short", "");
    ck_abort_msg("the schema has the unknown keyword %.*s", (int)key.len, key.ptr);
    return false;
}

static bool is_note(hf_slice key)
{
    static const char *const notes[] = {"$schema", "$id",         "$defs",
                                        "title",   "description", "format"};

    for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
        if (hf_slice_equal(key, hf_slice_of(notes[i])))
            return true;
    return hf_slice_starts(key, HF_SLICE("x-"));
}

/* Forward because schemas hold schemas. */
static bool fits(checker *c, hf_value schema, hf_value value);

/* The value one level down, whose name is in the path while it is looked at. */
static bool inner_fits(checker *c, hf_value schema, const char *name, hf_value value)
{
    size_t len = strlen(c->path);
    bool good;

    (void)snprintf(c->path + len, sizeof(c->path) - len, ".%s", name);
    good = fits(c, schema, value);
    c->path[len] = '\0';
    return good;
}

static bool members_fit(checker *c, hf_value schema, hf_value value)
{
    hf_value properties = hf_get(schema, "properties");
    hf_value others = hf_get(schema, "additionalProperties");
    hf_slice key;
    hf_value item;

    for (size_t i = 0; hf_value_member(value, i, &key, &item); i++) {
        hf_value rule = hf_value_find(properties, key);
        char name[64];

        (void)snprintf(name, sizeof(name), "%.*s", (int)key.len, key.ptr);
        if (!rule)
            rule = others;
        if (rule && !inner_fits(c, rule, name, item))
            return false;
    }
    return true;
}

static bool items_fit(checker *c, hf_value rule, hf_value value)
{
    char name[24];

    for (size_t i = 0; hf_value_kind_of(value) == HF_VALUE_ARRAY && i < hf_len(value); i++) {
        (void)snprintf(name, sizeof(name), "%zu", i);
        if (!inner_fits(c, rule, name, hf_at(value, i)))
            return false;
    }
    return true;
}

/* How many of the alternatives fit. */
static size_t choices_fit(checker *c, hf_value choices, hf_value value)
{
    size_t count = 0;

    for (size_t i = 0; i < hf_len(choices); i++) {
        checker alone = {.root = c->root};

        count += fits(&alone, hf_at(choices, i), value);
    }
    return count;
}

static bool fits(checker *c, hf_value schema, hf_value value)
{
    hf_slice key;
    hf_value rule;

    if (hf_value_kind_of(schema) == HF_VALUE_BOOL)
        return hf_bool(schema, "", false) || wrong(c, "is not allowed", "");
    for (size_t i = 0; hf_value_member(schema, i, &key, &rule); i++) {
        bool good = true;

        if (is_note(key))
            continue;
        if (hf_slice_equal(key, HF_SLICE("$ref"))) {
            const char *ref = hf_str(rule, "", "");

            ck_assert_int_eq(strncmp(ref, "#/$defs/", 8), 0);
            good = fits(c, hf_value_find(hf_get(c->root, "$defs"), hf_slice_of(ref + 8)), value);
        } else if (hf_slice_equal(key, HF_SLICE("properties"))) {
            good = members_fit(c, schema, value);
        } else if (hf_slice_equal(key, HF_SLICE("additionalProperties"))) {
            good = hf_get(schema, "properties") || members_fit(c, schema, value);
        } else if (hf_slice_equal(key, HF_SLICE("items"))) {
            good = items_fit(c, rule, value);
        } else if (hf_slice_equal(key, HF_SLICE("anyOf"))) {
            good = choices_fit(c, rule, value) > 0 || wrong(c, "fits no alternative", "");
        } else if (hf_slice_equal(key, HF_SLICE("oneOf"))) {
            good = choices_fit(c, rule, value) == 1 || wrong(c, "fits not one alternative", "");
        } else {
            good = plain_check(c, key, rule, value);
        }
        if (!good)
            return false;
    }
    return true;
}

void hf_schema_fits(const char *path, hf_value value)
{
    hf_mem *mem = hf_mem_new();
    FILE *file = fopen(path, "rb");
    char *text = hf_mem_alloc(mem, FILE_BYTES_MAX);
    checker c = {0};
    size_t len;

    ck_assert_msg(file != NULL, "there is no schema %s", path);
    len = fread(text, 1, FILE_BYTES_MAX, file);
    (void)fclose(file);
    c.root = hf_parse_(mem, text, len);
    ck_assert_msg(c.root != NULL, "%s is not JSON", path);
    if (!fits(&c, c.root, value))
        ck_abort_msg("%s: %s", path, c.why);
    hf_mem_free(mem);
}
