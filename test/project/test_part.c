/* test_part.c: pieces of a payload's text: they join up to the whole, no character is cut in half,
   and what was erased says so. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "lib/engine.h"
#include "lib/suite.h"
#include "project/part.h"

enum { BEGIN_US = 1000000 };

static const char text[] = "{\"a\":\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80 plain\"}";

/* A run of one event that has a value, and one that was erased. */
static hf_opened opened_make(hf_mem *mem)
{
    hf_opened o = {.dossier = {.run = {.key = 7, .created_us = BEGIN_US, .number = 1},
                               .base = {.closed_us = HF_NONE, .closed_reason = HF_NONE},
                               .archived_us = HF_NONE,
                               .parent = {.key = HF_NONE}}};
    const hf_payload_value erased = {
        .form = HF_PAYLOAD_FORM_ERASED, .codec = HF_PAYLOAD_CODEC_AVRO, .size = 900};
    hf_event_builder b;
    hf_event *events = NULL;
    hf_err err = {0};

    hf_event_builder_init(&b, mem);
    hf_event_begin(&b, HF_EVENT_WORKFLOW_STARTED, BEGIN_US, 0);
    hf_event_put_payload(&b, HF_KEY_ARGUMENTS,
                         hf_payload_inline(HF_PAYLOAD_CODEC_JSON, hf_slice_of(text)));
    hf_event_begin(&b, HF_EVENT_WORKFLOW_COMPLETED, BEGIN_US, 0);
    hf_event_put_payload(&b, HF_KEY_OUTPUT,
                         hf_payload_inline(HF_PAYLOAD_CODEC_JSON, HF_SLICE("1")));
    hf_test_ok(hf_event_builder_done(&b, &events, &o.dossier.event_count, &err), &err, "events");
    for (size_t i = 0; i < events[1].count; i++)
        if (events[1].fields[i].key == HF_KEY_OUTPUT)
            events[1].fields[i].payload = erased;
    o.dossier.events = events;
    o.dossier.current = o.dossier.run;
    o.whole = events;
    return o;
}

static hf_status piece(const hf_opened *o, hf_mem *mem, int64_t event, const char *key,
                       int64_t from, int64_t size, hf_value *out)
{
    const hf_why_world world = {0};
    const hf_part_query query = {.detail = {.opened = o, .at = INT64_MAX, .world = &world},
                                 .part = HF_SLICE("payload"),
                                 .event = event,
                                 .key = hf_slice_of(key),
                                 .from = from,
                                 .size = size};
    hf_projection_state state;

    return hf_part_read(NULL, mem, &query, out, &state, NULL);
}

/* However small they are. */
START_TEST(pieces_join_up)
{
    hf_mem *mem = hf_mem_new();
    hf_opened o = opened_make(mem);

    for (int64_t size = 1; size <= (int64_t)sizeof(text); size++) {
        hf_buf joined = {0};
        int64_t from = 0;
        hf_value out = NULL;

        do {
            ck_assert_int_eq(piece(&o, mem, 1, "arguments", from, size, &out), HF_OK);
            ck_assert_int_eq(hf_int(out, "from", -1), from);
            ck_assert_int_gt(hf_int(out, "to", 0), from);
            ck_assert_int_eq((int64_t)strlen(hf_str(out, "text", "")), hf_int(out, "to", 0) - from);
            ck_assert(hf_utf8_valid(hf_slice_of(hf_str(out, "text", ""))));
            hf_buf_add_text(&joined, hf_str(out, "text", ""));
            from = hf_int(out, "to", 0);
        } while (from < hf_int(out, "size", 0));
        ck_assert_str_eq(hf_buf_text(&joined), text);
        hf_buf_fini(&joined);
        ck_assert_int_eq(piece(&o, mem, 1, "arguments", from + 99, size, &out), HF_OK);
        ck_assert_str_eq(hf_str(out, "text", "-"), "");
    }
    hf_mem_free(mem);
}
END_TEST

START_TEST(what_is_not_there)
{
    hf_mem *mem = hf_mem_new();
    hf_opened o = opened_make(mem);
    hf_value out = NULL;

    ck_assert_int_eq(piece(&o, mem, 2, "output", 0, 10, &out), HF_OK);
    ck_assert_int_eq(hf_value_kind_of(hf_get(out, "text")), HF_VALUE_NULL);
    ck_assert_int_eq(hf_int(out, "bytes", 0), 900);
    ck_assert_str_eq(hf_str(out, "codec", ""), "avro");
    ck_assert_int_eq(piece(&o, mem, 1, "output", 0, 10, &out), HF_NOTFOUND);
    ck_assert_int_eq(piece(&o, mem, 1, "workflow_type", 0, 10, &out), HF_NOTFOUND);
    ck_assert_int_eq(piece(&o, mem, 3, "output", 0, 10, &out), HF_NOTFOUND);
    ck_assert_int_eq(piece(&o, mem, 0, "output", 0, 10, &out), HF_NOTFOUND);
    hf_mem_free(mem);
}
END_TEST

HF_SUITE_MAIN("project/part", {pieces_join_up, 0}, {what_is_not_there, 0})
