/* The query line: what each word means, which words are refused and why, that lines which are
   written are read back as the same filters, and what a line that somebody is writing could go on
   with. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/rng.h"
#include "lib/suite.h"
#include "project/filter.h"
#include "project/query_line.h"

#define NOW INT64_C(1776000000000000) /* 2026-04-12T13:20:00Z */

static hf_mem *mem;

static void begin(void)
{
    mem = hf_mem_new();
    ck_assert_ptr_nonnull(mem);
}

static hf_value line_read(const char *line)
{
    hf_value read = NULL;
    hf_err err = {0};

    ck_assert_msg(!hf_query_line_read(mem, hf_slice_of(line), NOW, &read, &err), "%s: %s", line,
                  err.text);
    return read;
}

static const char *json(hf_value value)
{
    hf_buf text = {0};
    const char *kept;

    hf_json_write_canonical(&text, value);
    ck_assert(hf_buf_ok(&text));
    kept = hf_mem_text(mem, hf_buf_slice(&text));
    hf_buf_fini(&text);
    return kept;
}

/* Every kind of word becomes the filter that it stands for. */
START_TEST(words_become_filters)
{
    static const char *const cases[][2] = {
        {"", "{}"},
        {"   ", "{}"},
        {"order-4", "{\"instance_id_contains\":\"order-4\"}"},
        {"-4", "{\"instance_id_contains\":\"-4\"}"},
        {"\"order:4 b\"", "{\"instance_id_contains\":\"order:4 b\"}"},
        {"01KP0000000000000000000000", "{\"run_id\":\"01KP0000000000000000000000\"}"},
        {"is:open type:order", "{\"status_bucket\":\"running\",\"workflow_type\":\"order\"}"},
        {"is:closed", "{\"is_terminal\":true}"},
        {"is:attention is:problem is:current",
         "{\"is_current_run\":true,\"repair_attention\":true,\"task_problem\":true}"},
        {"is:blocked", "{\"liveness_state\":\"workflow_replay_blocked\"}"},
        {"is:paused", "{\"liveness_state\":\"run_paused\"}"},
        {"type:*rde* id:*4* key:*k* run:*0A*", "{\"business_key_contains\":\"k\",\"instance_id_"
                                               "contains\":\"4\",\"run_id_contains\":\"0A\","
                                               "\"workflow_type_contains\":\"rde\"}"},
        {"type:\"*rde*\"", "{\"workflow_type\":\"*rde*\"}"},
        {"queue:\"a \\\"b\\\" \\\\c\"", "{\"queue\":\"a \\\"b\\\" \\\\c\"}"},
        {"build:2026.04 status:failed reason:timed_out waiting:signal failure:ab12",
         "{\"closed_reason\":\"timed_out\",\"compatibility\":\"2026.04\",\"failure\":\"ab12\","
         "\"status\":\"failed\",\"wait_kind\":\"signal\"}"},
        {"label.region:eu label.tier:gold", "{\"labels\":{\"region\":\"eu\",\"tier\":\"gold\"}}"},
        {"attr.amount>5 attr.amount<=50 attr.city:\"Bad Ems\" attr.ok:true attr.zip:\"01234\"",
         "{\"search_attributes\":{\"amount\":{\"gt\":5,\"lte\":50},\"city\":\"Bad "
         "Ems\",\"ok\":true,\"zip\":\"01234\"}}"},
        {"started<1h", "{\"started_from\":\"2026-04-12T12:20:00.000000Z\"}"},
        {"started>90s", "{\"started_to\":\"2026-04-12T13:18:30.000000Z\"}"},
        {"closed<2d closed>5m",
         "{\"closed_from\":\"2026-04-10T13:20:00.000000Z\",\"closed_to\":\"2026-04-12T13:15:00."
         "000000Z\"}"},
        {"started>=2026-04-12T00:00:00Z started<2026-04-12",
         "{\"started_from\":\"2026-04-12T00:00:00.000000Z\",\"started_to\":\"2026-04-12T00:00:00."
         "000000Z\"}"},
        {"started>2026-04-12T00:00:00Z", "{\"started_from\":\"2026-04-12T00:00:00.000001Z\"}"},
        {"started<=2026-04-12T00:00:00Z", "{\"started_to\":\"2026-04-12T00:00:00.000001Z\"}"},
        {"type:order type:order", "{\"workflow_type\":\"order\"}"},
        {"-type:a -type:b -type:a is:open",
         "{\"not\":{\"workflow_type\":[\"a\",\"b\"]},\"status_bucket\":\"running\"}"},
        {"-is:failed -is:archived -type:*x* -queue:\"a b\"",
         "{\"not\":{\"archived\":[true],\"queue\":[\"a b\"],\"status\":[\"failed\"],"
         "\"workflow_type_contains\":[\"x\"]}}"},
        {"label.region:eu -label.region:us -label.region:ap",
         "{\"labels\":{\"region\":\"eu\"},\"not\":{\"labels\":{\"region\":[\"us\",\"ap\"]}}}"}};

    begin();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        hf_value read = line_read(cases[i][0]);

        ck_assert_msg(hf_len(hf_get(read, "errors")) == 0, "%s: %s", cases[i][0],
                      json(hf_get(read, "errors")));
        ck_assert_str_eq(json(hf_get(read, "filters")), cases[i][1]);
    }
    hf_mem_free(mem);
}
END_TEST

/* A word that cannot be is told where it stands, and the words beside it are asked. */
START_TEST(words_that_cannot_be)
{
    static const char *const cases[][2] = {
        {"tpye:x", "There is no field tpye; there are: is, type, id,"},
        {"tpye>5", "There is no field tpye;"},
        {":x", "There is no field ;"},
        {"type:", "A value is missing."},
        {"type:\"\"", "A value is missing."},
        {"type:\"a", "The quote is not closed."},
        {"\"a", "The quote is not closed."},
        {"-is:blocked", "Nothing can be left out by liveness_state."},
        {"-started<1h", "A minus leaves out states, fields and labels"},
        {"-attr.a:1", "A minus leaves out states, fields and labels"},
        {"-tpye:x", "There is no field tpye;"},
        {"-type:", "A value is missing."},
        {"-status:opne", "The filter status has no value \"opne\"."},
        {"-label.a/b:x", "The filter labels takes names"},
        {"is:opne", "There is no such state: open,"},
        {"is>open", "This field takes a colon"},
        {"queue>a", "This field takes a colon"},
        {"queue:*a*", "This field has no parts"},
        {"type:a*", "Stars stand at both ends"},
        {"type:*", "Stars stand at both ends"},
        {"type:**", "A value is missing."},
        {"status:opne", "The filter status has no value \"opne\"."},
        {"started:1h", "It takes < or >"},
        {"started<soon", "This is no age"},
        {"started<1y", "This is no age"},
        {"started<99999999999999999999d", "This is no age"},
        {"started>-5m", "This is no age"},
        {"attr.>5", "There is no field attr.;"},
        {"label.:x", "There is no field label.;"},
        {"label.a/b:x", "The filter labels takes names"},
        {"label.a:", "A value is missing."},
        {"attr.a:", "A value is missing."},
        {"is:open is:failed is:completed", "Something else is asked for already"},
        {"order-4 order-5", "Something else is asked for already"},
        {"label.a:1 label.a:2", "Something else is asked for already"},
        {"attr.a>1 attr.a>2", "Something else is asked for already"},
        {"attr.a>1 attr.a:2", "Something else is asked for already"}};

    begin();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char line[256];
        hf_value read;
        const char *message;
        int64_t end;

        (void)snprintf(line, sizeof(line), "queue:kept %s", cases[i][0]);
        read = line_read(line);
        ck_assert_msg(hf_len(hf_get(read, "errors")) == 1, "%s: %s", line,
                      json(hf_get(read, "errors")));
        message = hf_str(read, "errors.0.message", "");
        ck_assert_msg(strstr(message, cases[i][1]) == message, "%s: %s", line, message);
        ck_assert_str_eq(hf_str(read, "filters.queue", ""), "kept");
        end = hf_int(read, "errors.0.end", -1);
        ck_assert_int_eq(end, (int64_t)strlen(line));
        ck_assert_str_eq(hf_str(read, "errors.0.text", ""),
                         line + hf_int(read, "errors.0.start", 0));
    }
    hf_mem_free(mem);
}
END_TEST

/* What a token says of itself: where it stands in bytes, its field and value. */
START_TEST(tokens_say_where_they_stand)
{
    hf_value read;

    begin();
    read = line_read(" \xC3\xA4 type:\"a b\"  tpye:x ");
    ck_assert_str_eq(
        json(hf_get(read, "tokens")),
        "[{\"end\":3,\"error\":null,\"field\":null,\"not\":false,\"start\":1,\"text\":\"\xC3\xA4\","
        "\"value\":\"\xC3\xA4\"},{\"end\":14,\"error\":null,\"field\":\"type\",\"not\":false,"
        "\"start\":4,\"text\":\"type:\\\"a b\\\"\",\"value\":\"a "
        "b\"},{\"end\":22,\"error\":\"There is no field tpye; there are: is, type, id, run, key, "
        "queue, build, status, reason, waiting, liveness, failure, label.NAME, attr.NAME, started, "
        "closed. Ids with a colon go in "
        "quotes.\",\"field\":\"tpye\",\"not\":false,\"start\":16,\"text\":\"tpye:x\",\"value\":"
        "\"x\"}]");
    hf_mem_free(mem);
}
END_TEST

/* Lines have bounds: bytes, words, and what is no text. */
START_TEST(lines_have_bounds)
{
    static char line[HF_QUERY_LINE_BYTES_MAX + 2];
    hf_value read = NULL;
    hf_err err = {0};

    begin();
    memset(line, 'a', sizeof(line) - 1);
    ck_assert_int_eq(hf_query_line_read(mem, hf_slice_of(line), NOW, &read, &err), HF_INVALID);
    line[HF_QUERY_LINE_BYTES_MAX] = '\0';
    read = line_read(line);
    ck_assert_int_eq((int64_t)hf_len(hf_get(read, "errors")), 1); /* longer than any id */
    ck_assert_int_eq(hf_query_line_read(mem, HF_SLICE("a\x01"), NOW, &read, &err), HF_INVALID);
    ck_assert_int_eq(hf_query_line_read(mem, HF_SLICE("\xFF"), NOW, &read, &err), HF_INVALID);
    for (size_t i = 0; i < HF_QUERY_LINE_BYTES_MAX; i++)
        line[i] = i % 2 ? ' ' : 'a';
    read = line_read(line);
    ck_assert_int_eq((int64_t)hf_len(hf_get(read, "tokens")), HF_QUERY_LINE_BYTES_MAX / 2);
    ck_assert_int_eq((int64_t)hf_len(hf_get(read, "errors")),
                     HF_QUERY_LINE_BYTES_MAX / 2 - HF_QUERY_LINE_TOKENS_MAX);
    hf_mem_free(mem);
}
END_TEST

/* A line that is written from filters is read back as the same filters, also with values that look
   like something else; what has no words gives no line. */
START_TEST(written_lines_are_read_back)
{
    static const char *const cases[][2] = {
        {"{}", ""},
        {"{\"status_bucket\":\"running\",\"repair_attention\":true}", "is:open is:attention"},
        {"{\"is_terminal\":false}", NULL},
        {"{\"status\":\"completed\",\"workflow_type\":\"a b\",\"queue\":\"x\\\\y\"}",
         "is:completed type:\"a b\" queue:\"x\\\\y\""},
        {"{\"workflow_type\":\"*a*\",\"workflow_type_contains\":\"a\"}", "type:\"*a*\" type:*a*"},
        {"{\"workflow_type_contains\":\"a b\"}", NULL},
        {"{\"not\":{\"status\":[\"failed\",\"pending\"],\"queue\":[\"a "
         "b\"],\"labels\":{\"a\":[\"1\"]}}}",
         "-is:failed -status:pending -queue:\"a b\" -label.a:1"},
        {"{\"not\":{\"declared_entry_mode\":[\"canonical\"]}}", NULL},
        {"{\"declared_entry_mode\":\"canonical\"}", NULL},
        {"{\"status\":\"pending\",\"instance_id\":\"is:open\"}", "status:pending id:is:open"},
        {"{\"started_from\":\"2026-04-12T00:00:00.000000Z\",\"closed_to\":\"2026-04-13T00:00:00."
         "000000Z\"}",
         "started>=2026-04-12T00:00:00.000000Z closed<2026-04-13T00:00:00.000000Z"},
        {"{\"labels\":{\"a\":\"1\",\"b:c\":\"2\"}}", NULL},
        {"{\"labels\":{\"a\":\"1\"},\"search_attributes\":{\"n\":{\"gte\":1,\"lt\":5.5},\"t\":"
         "\"5\",\"b\":true}}",
         "label.a:1 attr.b:true attr.n>=1 attr.n<5.5 attr.t:\"5\""}};

    begin();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        hf_value filters = NULL;
        hf_err err = {0};
        hf_value line;
        hf_value again;

        ck_assert_msg(
            !hf_filter_read(mem, hf_parse_(mem, cases[i][0], strlen(cases[i][0])), &filters, &err),
            "%s: %s", cases[i][0], err.text);
        line = hf_query_line_write(mem, filters);
        ck_assert_ptr_nonnull(line);
        if (!cases[i][1]) {
            ck_assert_int_eq(hf_value_kind_of(line), HF_VALUE_NULL);
            continue;
        }
        again = line_read(hf_str(line, "", "?"));
        ck_assert_msg(strcmp(hf_str(line, "", "?"), cases[i][1]) == 0, "%s: %s", cases[i][0],
                      json(line));
        again = line_read(cases[i][1]);
        ck_assert_str_eq(json(hf_get(again, "filters")), json(filters));
    }
    hf_mem_free(mem);
}
END_TEST

static hf_query_focus focus_at(const char *line, size_t at)
{
    hf_query_focus focus = {0};
    hf_err err = {0};

    ck_assert_int_eq(hf_query_line_focus(mem, hf_slice_of(line), at, NOW, &focus, &err), HF_OK);
    return focus;
}

static const char *slice_text(hf_slice slice)
{
    return hf_mem_text(mem, slice);
}

/* At the caret: the word it is in, what is written of it, what the other words ask for, and what
   the grammar could go on with. */
START_TEST(a_line_goes_on)
{
    hf_query_focus focus;

    begin();
    focus = focus_at("is:op", 5);
    ck_assert_uint_eq(focus.start, 0);
    ck_assert_uint_eq(focus.end, 5);
    ck_assert_str_eq(json(focus.words),
                     "[{\"help\":\"Runs that are not over.\",\"text\":\"is:open\"}]");
    focus = focus_at("type:order is:open queue:a", 8);
    ck_assert_uint_eq(focus.start, 0);
    ck_assert_uint_eq(focus.end, 10);
    ck_assert_str_eq(slice_text(focus.head), "type:");
    ck_assert_str_eq(slice_text(focus.part), "ord");
    ck_assert_str_eq(slice_text(focus.facet), "workflow_type");
    ck_assert_str_eq(json(focus.rest), "{\"queue\":\"a\",\"status_bucket\":\"running\"}");
    focus = focus_at("label.region:\"e u\"", 16);
    ck_assert_str_eq(slice_text(focus.facet), "label:region");
    ck_assert_str_eq(slice_text(focus.part), "e ");
    focus = focus_at("is:open ", 99);
    ck_assert_uint_eq(focus.start, 8);
    ck_assert_uint_eq(focus.end, 8);
    ck_assert_uint_eq(hf_len(focus.words), 18); /* every field, once */
    focus = focus_at("", 0);
    ck_assert_uint_eq(focus.end, 0);
    focus = focus_at("a  b", 2);
    ck_assert_uint_eq(focus.start, 2);
    ck_assert_uint_eq(focus.end, 2);
    focus = focus_at("a b", 2);
    ck_assert_uint_eq(focus.start, 2);
    ck_assert_uint_eq(focus.end, 3);
    ck_assert_str_eq(slice_text(focus.part), "");
    hf_mem_free(mem);
}
END_TEST

/* Any bytes: nothing breaks, tokens cover what is not blank, and what is understood can be asked.
 */
START_TEST(any_line)
{
    static const char alphabet[] = "is:openty<>=*\"\\ -.15hd\xC3\xA4 label.attr.started";
    hf_rng rng;

    hf_rng_init_seeded(&rng, 7);
    for (size_t i = 0; i < 20000; i++) {
        char line[40];
        size_t len = (size_t)hf_rng_below(&rng, sizeof(line));
        hf_value read = NULL;
        hf_value filters = NULL;
        hf_query_focus focus;
        hf_err err = {0};
        hf_status st;

        begin();
        for (size_t j = 0; j < len; j++)
            line[j] = alphabet[hf_rng_below(&rng, sizeof(alphabet) - 1)];
        st = hf_query_line_read(mem, hf_slice_from(line, len), NOW, &read, &err);
        ck_assert(st == HF_OK || st == HF_INVALID);
        if (!st) {
            ck_assert_int_eq(hf_filter_read(mem, hf_get(read, "filters"), &filters, &err), HF_OK);
            ck_assert_int_eq(hf_query_line_focus(mem, hf_slice_from(line, len),
                                                 (size_t)hf_rng_below(&rng, 41), NOW, &focus, &err),
                             HF_OK);
            ck_assert(focus.start <= focus.end && focus.end <= len);
        }
        hf_mem_free(mem);
    }
}
END_TEST

HF_SUITE_MAIN("project/query_line", {words_become_filters, 0}, {words_that_cannot_be, 0},
              {tokens_say_where_they_stand, 0}, {lines_have_bounds, 0},
              {written_lines_are_read_back, 0}, {a_line_goes_on, 0}, {any_line, 0})
