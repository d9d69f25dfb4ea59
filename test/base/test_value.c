/* test_value.c: making values, walking them, comparing, copying, and the public way to build and
   read them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "base/json.h"
#include "base/random_value.h"
#include "base/value.h"
#include "lib/suite.h"

/* Null and booleans are there without an arena. */
START_TEST(constants)
{
    ck_assert_int_eq(hf_value_kind_of(hf_value_null()), HF_VALUE_NULL);
    ck_assert_int_eq(hf_value_kind_of(hf_value_bool(true)), HF_VALUE_BOOL);
    ck_assert_int_eq(hf_value_kind_of(NULL), HF_VALUE_NULL);
    ck_assert(hf_bool(hf_value_bool(true), "", false));
    ck_assert(!hf_bool(hf_value_bool(false), "", true));
}
END_TEST

/* Objects of every size, with too little, just enough and too much room from the beginning, keep
   their members and find them; a key that is kept and not copied is the one that was given. */
START_TEST(rooms_do_not_matter)
{
    static const size_t rooms[] = {0, 1, 7, 8, 30, 100};
    static char keys[64][8];

    for (size_t i = 0; i < 64; i++)
        (void)snprintf(keys[i], sizeof(keys[i]), "k%zu", i);
    for (size_t r = 0; r < sizeof(rooms) / sizeof(rooms[0]); r++)
        for (size_t count = 0; count <= 64; count++) {
            hf_mem *mem = hf_mem_new();
            hf_value_list *list = hf_value_object_of(mem, rooms[r]);
            hf_slice name = {0};
            hf_value item = NULL;
            hf_value object;

            for (size_t i = 0; i < count; i++)
                hf_value_put(list, keys[i], hf_value_int(mem, (int64_t)i));
            object = hf_value_finish(list);
            ck_assert_uint_eq(hf_len(object), count);
            for (size_t i = 0; i < count; i++) {
                ck_assert(hf_value_member(object, i, &name, &item));
                ck_assert_ptr_eq(name.ptr, keys[i]);
                ck_assert_int_eq(hf_int(object, keys[i], -1), (int64_t)i);
            }
            list = hf_value_object_of(mem, rooms[r]);
            hf_value_put(list, "a", hf_value_null());
            hf_value_put(list, "a", hf_value_null());
            ck_assert_ptr_null(hf_value_finish(list));
            list = hf_value_object_of(mem, rooms[r]);
            hf_value_put(list, NULL, hf_value_null());
            ck_assert_ptr_null(hf_value_finish(list));
            hf_mem_free(mem);
        }
}
END_TEST

/* What JSON cannot hold is refused where it would be made. */
START_TEST(impossible_scalars)
{
    hf_mem *mem = hf_mem_new();

    ck_assert_ptr_null(hf_value_double(mem, NAN));
    ck_assert_ptr_null(hf_value_double(mem, INFINITY));
    ck_assert_ptr_null(hf_value_double(mem, -INFINITY));
    ck_assert_ptr_null(hf_value_string(mem, HF_SLICE("\xFF")));
    ck_assert_ptr_nonnull(hf_value_bytes(mem, HF_SLICE("\xFF")));
    hf_mem_free(mem);
}
END_TEST

/* Arrays and objects are built item by item and keep their order. */
START_TEST(containers_are_built)
{
    hf_mem *mem = hf_mem_new();
    hf_value_list *array = hf_value_array(mem);
    hf_value_list *object = hf_value_object(mem);
    hf_value value;
    hf_value item;
    hf_slice key;

    for (int i = 0; i < 100; i++)
        hf_value_append(array, hf_value_int(mem, i));
    hf_value_set(object, HF_SLICE("z"), hf_value_finish(array));
    hf_value_set(object, HF_SLICE("a"), hf_value_string(mem, HF_SLICE("x\0y")));
    hf_value_set(object, HF_SLICE("e\0f"), hf_value_null());
    value = hf_value_finish(object);
    ck_assert_ptr_nonnull(value);
    ck_assert_uint_eq(hf_len(value), 3);
    ck_assert_uint_eq(hf_len(hf_get(value, "z")), 100);
    ck_assert_int_eq(hf_int(value, "z.99", -1), 99);
    ck_assert_uint_eq(hf_value_slice(hf_get(value, "a")).len, 3);
    ck_assert(hf_value_member(value, 0, &key, &item));
    ck_assert(hf_slice_equal(key, HF_SLICE("z")));
    ck_assert(hf_value_member(value, 2, &key, &item));
    ck_assert(hf_slice_equal(key, HF_SLICE("e\0f")));
    ck_assert_int_eq(hf_value_kind_of(item), HF_VALUE_NULL);
    ck_assert(!hf_value_member(value, 3, &key, &item));
    ck_assert(!hf_value_member(hf_get(value, "z"), 0, &key, &item));
    ck_assert_ptr_eq(hf_value_find(value, HF_SLICE("e\0f")), item);
    ck_assert_ptr_null(hf_value_find(value, HF_SLICE("e")));
    hf_mem_free(mem);
}
END_TEST

/* A list that was given something wrong stays failed to its end. */
START_TEST(failed_lists)
{
    hf_mem *mem = hf_mem_new();
    hf_value_list *list = hf_value_array(mem);

    hf_value_append(list, NULL);
    hf_value_append(list, hf_value_null());
    ck_assert_ptr_null(hf_value_finish(list));
    list = hf_value_array(mem);
    hf_value_set(list, HF_SLICE("a"), hf_value_null());
    ck_assert_ptr_null(hf_value_finish(list));
    list = hf_value_object(mem);
    hf_value_append(list, hf_value_null());
    ck_assert_ptr_null(hf_value_finish(list));
    list = hf_value_object(mem);
    hf_value_set(list, HF_SLICE("\xFF"), hf_value_null());
    ck_assert_ptr_null(hf_value_finish(list));
    list = hf_value_object(mem);
    hf_value_set(list, HF_SLICE("a"), hf_value_null());
    hf_value_set(list, HF_SLICE("a"), hf_value_null());
    ck_assert_ptr_null(hf_value_finish(list));
    list = hf_value_array(mem);
    ck_assert_ptr_nonnull(hf_value_finish(list));
    ck_assert_ptr_null(hf_value_finish(list));
    hf_value_append(NULL, hf_value_null());
    hf_value_set(NULL, HF_SLICE("a"), hf_value_null());
    ck_assert_ptr_null(hf_value_finish(NULL));
    hf_mem_free(mem);
}
END_TEST

/* No value is deeper than the limit, however it is put together. */
START_TEST(depth_is_bounded)
{
    hf_mem *mem = hf_mem_new();
    hf_value value = hf_value_null();
    hf_value deepest = NULL;
    int levels = 0;

    while (value) {
        hf_value_list *list = hf_value_object(mem);

        deepest = value;
        hf_value_set(list, HF_SLICE("in"), value);
        value = hf_value_finish(list);
        levels += value != NULL;
    }
    ck_assert_int_eq(levels, HF_VALUE_DEPTH_MAX);
    ck_assert_ptr_null(hf_json_(mem, "[%p]", (const void *)deepest));
    ck_assert_ptr_nonnull(hf_json_(mem, "%p", (const void *)deepest));
    ck_assert(hf_value_equal(hf_value_copy(mem, deepest), deepest));
    hf_mem_free(mem);
}
END_TEST

/* Objects of every size around the border of the index find all their members and no others, and
   see a key that comes twice wherever it stands. */
START_TEST(members_are_found)
{
    for (size_t count = 0; count < 150; count++) {
        hf_mem *mem = hf_mem_new();
        hf_value_list *object = hf_value_object(mem);
        hf_value value;
        char key[40];

        for (size_t i = 0; i < count; i++) {
            /* An order that is neither up nor down, with prefixes longer than a word. */
            (void)snprintf(key, sizeof(key), "common prefix %zu", i * 7919 % 1009);
            hf_value_set(object, hf_slice_of(key), hf_value_int(mem, (int64_t)i));
        }
        value = hf_value_finish(object);
        ck_assert_ptr_nonnull(value);
        for (size_t i = 0; i < count; i++) {
            (void)snprintf(key, sizeof(key), "common prefix %zu", i * 7919 % 1009);
            ck_assert_int_eq(hf_int(value, key, -1), (int64_t)i);
        }
        ck_assert_ptr_null(hf_get(value, "common prefix"));
        ck_assert_ptr_null(hf_get(value, "common prefix 1010"));
        ck_assert_ptr_null(hf_value_find(value, HF_SLICE("")));
        for (size_t twice = 0; twice < count; twice += 1 + count / 5) {
            object = hf_value_object(mem);
            for (size_t i = 0; i <= count; i++) {
                (void)snprintf(key, sizeof(key), "k%zu", i == count ? twice : i);
                hf_value_set(object, hf_slice_of(key), hf_value_null());
            }
            ck_assert_ptr_null(hf_value_finish(object));
        }
        hf_mem_free(mem);
    }
}
END_TEST

/* Equality looks at kinds, bits and members, not at the order of members. */
START_TEST(equality)
{
    static const char *const values[] = {"null",       "true",       "false",
                                         "0",          "1",          "0.0",
                                         "-0.0",       "1.0",        "\"\"",
                                         "\"0\"",      "\"1\"",      "[]",
                                         "{}",         "[1]",        "[1,2]",
                                         "[2,1]",      "[[]]",       "{\"a\":1}",
                                         "{\"a\":2}",  "{\"b\":1}",  "{\"a\":1,\"b\":2}",
                                         "{\"a\":[]}", "{\"a\":{}}", "{\"a\":1,\"c\":2}"};
    const size_t count = sizeof(values) / sizeof(values[0]);
    hf_mem *mem = hf_mem_new();

    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < count; k++) {
            hf_value a = hf_parse_(mem, values[i], strlen(values[i]));
            hf_value b = hf_parse_(mem, values[k], strlen(values[k]));

            ck_assert_msg(hf_value_equal(a, b) == (i == k), "%s %s", values[i], values[k]);
        }
    }
    ck_assert(hf_value_equal(hf_json_(mem, "{'a': 1, 'b': 2}"), hf_json_(mem, "{'b': 2, 'a': 1}")));
    ck_assert(hf_value_equal(NULL, NULL));
    ck_assert(!hf_value_equal(NULL, hf_value_null()));
    ck_assert(!hf_value_equal(hf_value_null(), NULL));
    ck_assert(
        !hf_value_equal(hf_value_bytes(mem, HF_SLICE("a")), hf_value_string(mem, HF_SLICE("a"))));
    hf_mem_free(mem);
}
END_TEST

/* Members are replaced where they stand, or come behind; what is no object has none. */
START_TEST(merging)
{
    hf_mem *mem = hf_mem_new();
    hf_value left = hf_json_(mem, "{'a': 1, 'b': 2}");
    hf_value right = hf_json_(mem, "{'b': 3, 'c': 4}");

    ck_assert_str_eq(hf_text(mem, hf_value_merge(mem, left, right)), "{\"a\":1,\"b\":3,\"c\":4}");
    ck_assert(hf_value_equal(hf_value_merge(mem, left, NULL), left));
    ck_assert(hf_value_equal(hf_value_merge(mem, hf_value_null(), right), right));
    hf_mem_free(mem);
}
END_TEST

/* A copy is equal and does not need the arena it came from. */
START_TEST(copies_stand_alone)
{
    hf_mem *to = hf_mem_new();
    hf_rng rng;

    ck_assert_ptr_null(hf_value_copy(to, NULL));
    hf_rng_init_seeded(&rng, 11);
    for (int i = 0; i < 500; i++) {
        hf_mem *from = hf_mem_new();
        hf_value value = random_value(&rng, from, RANDOM_DEPTH);
        hf_value copy = hf_value_copy(to, value);
        hf_buf before = {0};
        hf_buf after = {0};

        ck_assert(hf_value_equal(value, copy));
        hf_json_write_canonical(&before, value);
        hf_mem_free(from); /* a pointer that was kept would now be reported */
        hf_json_write_canonical(&after, copy);
        ck_assert(hf_slice_equal(hf_buf_slice(&before), hf_buf_slice(&after)));
        hf_buf_fini(&before);
        hf_buf_fini(&after);
        hf_mem_reset(to);
    }
    hf_mem_free(to);
}
END_TEST

/* Paths walk keys and positions, and miss without harm. */
START_TEST(paths)
{
    hf_mem *mem = hf_mem_new();
    hf_value value = hf_json_(mem, "{'a': {'b': [10, {'c': 'deep'}], '0': 'zero', '': 'empty'},"
                                   " 'n': null, 's': 'text'}");

    ck_assert_ptr_eq(hf_get(value, ""), value);
    ck_assert_ptr_eq(hf_get(value, NULL), value);
    ck_assert_str_eq(hf_str(value, "a.b.1.c", "?"), "deep");
    ck_assert_int_eq(hf_int(value, "a.b.0", 0), 10);
    ck_assert_str_eq(hf_str(value, "a.0", "?"), "zero");
    ck_assert_str_eq(hf_str(value, "a.", "?"), "empty");
    ck_assert_ptr_eq(hf_get(value, "n"), hf_at(value, 1));
    ck_assert_ptr_null(hf_get(value, "a.b.2"));
    ck_assert_ptr_null(hf_get(value, "a.b.-1"));
    ck_assert_ptr_null(hf_get(value, "a.b.x"));
    ck_assert_ptr_null(hf_get(value, "a.b.99999999999999999999"));
    ck_assert_ptr_null(hf_get(value, "s.0"));
    ck_assert_ptr_null(hf_get(value, "n.x"));
    ck_assert_ptr_null(hf_get(value, "missing.x"));
    ck_assert_ptr_null(hf_get(value, "."));
    ck_assert_ptr_null(hf_get(NULL, "a"));
    ck_assert_ptr_null(hf_get(NULL, ""));
    hf_mem_free(mem);
}
END_TEST

/* Accessors convert only what loses nothing, and otherwise give what the caller said. */
START_TEST(accessors)
{
    hf_mem *mem = hf_mem_new();
    hf_value v =
        hf_json_(mem, "{'i': 7, 'd': 7.0, 'f': 7.5, 'one': 1, 's': 'x', 't': true, 'big': 1e30,"
                      " 'list': [1, 2, 3], 'n': null, 'edge': 9223372036854775808,"
                      " 'long': 2305843009213693952}");

    ck_assert_int_eq(hf_int(v, "i", -1), 7);
    ck_assert_int_eq(hf_int(v, "d", -1), 7);
    ck_assert_int_eq(hf_int(v, "f", -1), -1);
    ck_assert_int_eq(hf_int(v, "big", -1), -1);
    ck_assert_int_eq(hf_int(v, "edge", -1), -1);
    ck_assert_int_eq(hf_int(v, "s", -1), -1);
    ck_assert_int_eq(hf_int(v, "t", -1), -1);
    ck_assert_double_eq(hf_num(v, "i", -1), 7);
    ck_assert_double_eq(hf_num(v, "f", -1), 7.5);
    ck_assert_double_eq(hf_num(v, "s", -1), -1);
    ck_assert(hf_bool(v, "t", false));
    ck_assert(hf_bool(v, "one", false));
    ck_assert(!hf_bool(v, "i", false));
    ck_assert(hf_bool(v, "n", true));
    ck_assert_str_eq(hf_str(v, "s", "?"), "x");
    ck_assert_str_eq(hf_str(v, "i", "?"), "?");
    ck_assert_ptr_null(hf_str(v, "missing", NULL));
    ck_assert_int_eq(hf_value_seconds_ms(v, "i", 0), 7000);
    ck_assert_int_eq(hf_value_seconds_ms(v, "missing", 3), 3000);
    ck_assert_int_eq(hf_value_seconds_ms(v, "long", 0), INT64_MAX / 1000 * 1000);
    ck_assert_uint_eq(hf_len(v), 11);
    ck_assert_uint_eq(hf_len(hf_get(v, "list")), 3);
    ck_assert_uint_eq(hf_len(hf_get(v, "s")), 1);
    ck_assert_uint_eq(hf_len(hf_get(v, "i")), 0);
    ck_assert_uint_eq(hf_len(NULL), 0);
    ck_assert_int_eq(hf_int(hf_at(hf_get(v, "list"), 2), "", 0), 3);
    ck_assert_ptr_null(hf_at(hf_get(v, "list"), 3));
    ck_assert_ptr_null(hf_at(hf_get(v, "s"), 0));
    ck_assert_ptr_null(hf_at(NULL, 0));
    ck_assert_int_eq(hf_int(hf_at(v, 0), "", 0), 7);
    hf_mem_free(mem);
}
END_TEST

#define BUILDS(expected, ...)                                                                      \
    do {                                                                                           \
        hf_value built = hf_json_(mem, __VA_ARGS__);                                               \
        ck_assert_ptr_nonnull(built);                                                              \
        ck_assert_str_eq(hf_text(mem, built), expected);                                           \
    } while (0)

/* A format with holes builds what it says. */
START_TEST(formats)
{
    hf_mem *mem = hf_mem_new();
    hf_value inner = hf_json_(mem, "[1, {'x': 2.0}]");
    hf_value bytes = hf_value_bytes(mem, HF_SLICE("\x01\x02"));

    BUILDS("true", "true");
    BUILDS("\"sent\"", "'sent'");
    BUILDS("0.19", "0.19");
    BUILDS("{\"sku\":\"TEA-1\",\"n\":3}", "{'sku': %s, 'n': %d}", "TEA-1", 3);
    BUILDS("[-1,2,-3,4,-5,6,7,-8,9]", "[%d,%u,%ld,%lu,%lld,%llu,%zu,%jd,%i]", -1, 2u, -3L, 4ul,
           -5LL, 6ULL, (size_t)7, (intmax_t)-8, 9);
    BUILDS("[90.0,0.1,1e+30,0.5]", "[%g,%f,%g,%lf]", 90.0, 0.1, 1e30, 0.5);
    BUILDS("[18446744073709552000.0]", "[%llu]", ~0ULL);
    BUILDS("{\"in\":[1,{\"x\":2.0}],\"none\":null}", "{'in': %p, 'none': %p}", (const void *)inner,
           NULL);
    BUILDS("{\"b\":\"AQI=\"}", "{'b': %p}", (const void *)bytes);
    BUILDS("\"SPRING-7 100% a\\\"b 2.5\"", "'SPRING-%d 100%% %s %g'", 7, "a\"b", 2.5);
    BUILDS("{\"k-1\":\"say \\\"hi\\\" it's\"}", "{'k-%d': 'say \"hi\" it\\'s'}", 1);
    BUILDS("{\"a'b\":\"\\n\\\\\"}", "{\"a'b\": '\\n\\\\'}");
    BUILDS("{\"key\":null}", "{%s: %s}", "key", hf_str(NULL, "", NULL));
    BUILDS("\"\xC3\xA9 \\n\"", "%s", "\xC3\xA9 \n");
    ck_assert_int_eq(hf_value_kind_of(hf_get(hf_json_(mem, "[%p]", (const void *)bytes), "0")),
                     HF_VALUE_BYTES);
    hf_mem_free(mem);
}
END_TEST

/* A wrong format, a wrong argument and no arena give no value. */
START_TEST(wrong_formats)
{
    /* Not literals, so that the compiler lets them through as a caller's might get through. */
    static const char *const wrong[] = {
        "",       "{",     "{'a': 1", "'open", "[1,]",          "%",      "[%x]",   "[%5d]",
        "[%.2f]", "%c",    "%ls",     "%%",    "{a: 1}",        "'%p'",   "[\x01]", "1 2",
        "'a\\",   "'\\q'", "[%lp]",   "%l",    "{'a':1,'a':2}", "'\xFF'", "[%zg]",  "nul"};
    hf_value (*const build)(hf_mem *, const char *, ...) = hf_json_;
    hf_mem *mem = hf_mem_new();

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        ck_assert_msg(build(mem, wrong[i], NULL) == NULL, "%s", wrong[i]);
    ck_assert_ptr_null(hf_json_(mem, "%s", "\xFF"));
    ck_assert_ptr_null(hf_json_(mem, "[%g]", (double)NAN));
    ck_assert_ptr_null(hf_json_(mem, "'%g'", (double)INFINITY));
    ck_assert_ptr_null(build(NULL, "1"));
    ck_assert_ptr_null(build(mem, NULL));
    hf_mem_free(mem);
}
END_TEST

/* Public parsing takes what the reader takes. */
START_TEST(parsing)
{
    hf_mem *mem = hf_mem_new();

    ck_assert_str_eq(hf_text(mem, hf_parse_(mem, "[1, 2]xx", 6)), "[1,2]");
    ck_assert_ptr_null(hf_parse_(mem, "[1, 2]xx", 8));
    ck_assert_ptr_null(hf_parse_(mem, NULL, 0));
    ck_assert_ptr_null(hf_parse_(mem, NULL, 5));
    ck_assert_ptr_null(hf_parse_(NULL, "1", 1));
    ck_assert_str_eq(hf_text(mem, NULL), "null");
    ck_assert_ptr_null(hf_text(NULL, hf_value_null()));
    hf_mem_free(mem);
}
END_TEST

/* What an inserted value stands on may go: it was copied. */
START_TEST(inserted_values_are_copied)
{
    hf_mem *mem = hf_mem_new();
    hf_mem *other = hf_mem_new();
    hf_value inner = hf_json_(other, "{'text': %s}", "still here");
    hf_value outer = hf_json_(mem, "{'inner': %p}", (const void *)inner);

    hf_mem_free(other);
    ck_assert_str_eq(hf_str(outer, "inner.text", "?"), "still here");
    hf_mem_free(mem);
}
END_TEST

static bool everything_is_made(hf_mem *mem, hf_value sample)
{
    hf_value_list *array = hf_value_array(mem);
    hf_value_list *object = hf_value_object(mem);
    char key[16];
    bool all = true;

    for (int i = 0; i < 100; i++) {
        (void)snprintf(key, sizeof(key), "k%d", i);
        hf_value_append(array, hf_value_double(mem, i / 3.0));
        hf_value_set(object, hf_slice_of(key), hf_value_string(mem, hf_slice_of(key)));
    }
    all &= hf_value_finish(array) != NULL;
    all &= hf_value_finish(object) != NULL;
    all &= hf_value_int(mem, 1) != NULL;
    all &= hf_value_bytes(mem, HF_SLICE("bytes")) != NULL;
    all &= hf_value_copy(mem, sample) != NULL;
    all &= hf_json_(mem, "{'a': %p, 'b': %s}", (const void *)sample, "text") != NULL;
    all &= hf_parse_(mem, "{\"a\":[1]}", 9) != NULL;
    all &= hf_text(mem, sample) != NULL;
    return all;
}

/* Whichever allocation fails, exactly the thing that needed it is missing, and nothing leaks. */
START_TEST(failed_allocations_are_reported)
{
    hf_mem *keep = hf_mem_new();
    hf_rng rng;
    hf_value sample = NULL;
    bool done = false;

    hf_rng_init_seeded(&rng, 5);
    while (hf_len(sample) < 5)
        sample = random_value(&rng, keep, RANDOM_DEPTH);
    for (int64_t nth = 1; !done; nth++) {
        hf_mem *mem = hf_mem_new();
        bool all;

        hf_fault_arm(HF_FAULT_ALLOC, nth, false);
        all = everything_is_made(mem, sample);
        done = nth > hf_fault_seen(HF_FAULT_ALLOC);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        ck_assert_int_eq(all, done);
        ck_assert(everything_is_made(mem, sample));
        hf_mem_free(mem);
    }
    hf_mem_free(keep);
}
END_TEST

/* What cannot be made is no null, though it reads as one; what contains it cannot be made either.
 */
START_TEST(broken_values_are_told_apart)
{
    hf_mem *mem = hf_mem_new();
    hf_value broken = hf_json_made_(mem, "%s", "\xff");
    int64_t bytes = -1;

    ck_assert(hf_value_broken(broken, &bytes));
    ck_assert_int_eq(bytes, 0);
    ck_assert_int_eq(hf_value_kind_of(broken), HF_VALUE_NULL);
    ck_assert(hf_value_broken(hf_value_copy(mem, broken), NULL));
    ck_assert(hf_value_broken(hf_json_made_(mem, "[%p]", (const void *)broken), NULL));
    ck_assert(hf_value_broken(hf_value_make_broken(mem, 7), &bytes));
    ck_assert_int_eq(bytes, 7);
    ck_assert(hf_value_broken(
        hf_json_made_(mem, "[%p]", (const void *)hf_value_make_broken(mem, 9)), &bytes));
    ck_assert_int_eq(bytes, 9);
    ck_assert(!hf_value_broken(NULL, NULL));
    ck_assert(!hf_value_broken(hf_value_null(), NULL));
    ck_assert(!hf_value_broken(hf_json_made_(mem, "null"), NULL));
    ck_assert_str_eq(hf_text(mem, hf_json_made_(mem, "{'a': [1]}")), "{\"a\":[1]}");
    ck_assert(hf_value_broken(hf_json_made_(NULL, "1"), NULL)); /* no memory for an arena */
    hf_mem_free(mem);
}
END_TEST

/* A value whose memory ran out is told from one whose text is broken, also inside another. */
START_TEST(unmade_is_not_broken)
{
    hf_value value = NULL;

    for (int nth = 1; !value || hf_value_broken(value, NULL); nth++) {
        hf_mem *mem = hf_mem_new();
        hf_value inner = NULL;

        ck_assert_ptr_nonnull(mem);
        hf_fault_arm(HF_FAULT_ALLOC, nth, false);
        inner = hf_json_made_(mem, "{'a': %s}", "text");
        value = hf_json_made_(mem, "[%p, 'b']", (const void *)inner);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        ck_assert(!hf_value_broken(value, NULL) || (hf_value_unmade(value) && nth < 100));
        value = hf_value_broken(value, NULL) ? value : hf_value_null();
        hf_mem_free(mem);
    }
    ck_assert(!hf_value_unmade(hf_json_made_(NULL, "1")));
    ck_assert(hf_value_broken(hf_json_made_(NULL, "{'a': "), NULL));
}
END_TEST

HF_SUITE_MAIN("base/value", {unmade_is_not_broken, 0}, {constants, 0}, {impossible_scalars, 0},
              {rooms_do_not_matter, 0}, {containers_are_built, 0}, {failed_lists, 0},
              {depth_is_bounded, 0}, {members_are_found, 0}, {equality, 0}, {merging, 0},
              {copies_stand_alone, 0}, {paths, 0}, {accessors, 0}, {formats, 0}, {wrong_formats, 0},
              {parsing, 0}, {inserted_values_are_copied, 0}, {failed_allocations_are_reported, 0},
              {broken_values_are_told_apart, 0})
