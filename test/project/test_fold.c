/* Folds: whatever the portions in which events come, packing, loading and going on end up byte for
   byte where folding everything at once does; and what is stored is believed only when it is of the
   run's history. */
#include "base/buf.h"
#include "base/fault.h"
#include "base/rng.h"
#include "lib/suite.h"
#include "model/event.h"
#include "project/edge.h"
#include "project/fold.h"

enum { EVENTS_MAX = 1500 };

static const char *const names[] = {"charge", "ship", "mail", "refund"};

static void put_random(hf_event_builder *b, hf_rng *rng, hf_event_key key, size_t most)
{
    static const char digits[] = "[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21]";
    hf_buf text = {0};

    hf_buf_add_text(&text, "[");
    for (size_t i = 0; i < hf_rng_below(rng, most / sizeof(digits) + 2); i++) {
        hf_buf_add_text(&text, i ? "," : "");
        hf_buf_add_text(&text, digits);
    }
    hf_buf_add_text(&text, "]");
    hf_event_put_payload(b, key, hf_payload_inline(HF_PAYLOAD_CODEC_JSON, hf_buf_slice(&text)));
    hf_buf_fini(&text);
}

/* A history that is no workflow's but has every kind of fact that a fold looks at. */
static size_t history_make(hf_mem *mem, uint64_t seed, hf_event **out_events)
{
    hf_event_builder b;
    hf_rng rng;
    hf_err err = {0};
    int64_t now_us = INT64_C(1700000000000000);
    int64_t step = 0;
    size_t wanted;
    size_t count = 0;

    hf_rng_init_seeded(&rng, seed);
    wanted = 2 + (size_t)hf_rng_below(&rng, seed % 7 == 0 ? EVENTS_MAX : 80);
    hf_event_builder_init(&b, mem);
    hf_event_begin(&b, HF_EVENT_START_ACCEPTED, now_us, 0);
    hf_event_begin(&b, HF_EVENT_WORKFLOW_STARTED, now_us, 0);
    hf_event_put_text(&b, HF_KEY_WORKFLOW_TYPE, HF_SLICE("order"));
    if (hf_rng_below(&rng, 2))
        hf_event_put_json(&b, HF_KEY_VISIBILITY_LABELS, HF_SLICE("{\"region\":\"eu\"}"));
    hf_event_put_payload(
        &b, HF_KEY_SEARCH_ATTRIBUTES,
        hf_payload_inline(HF_PAYLOAD_CODEC_JSON, HF_SLICE("{\"n\":1,\"a\":\"x\"}")));
    put_random(&b, &rng, HF_KEY_ARGUMENTS, 600);
    for (size_t i = 2; i < wanted; i++) {
        now_us += (int64_t)hf_rng_below(&rng, 5000000);
        switch (hf_rng_below(&rng, 8)) {
        case 0:
        case 1:
            hf_event_begin(&b, HF_EVENT_ACTIVITY_SCHEDULED, now_us, ++step);
            hf_event_put_text(&b, HF_KEY_ACTIVITY_TYPE, hf_slice_of(names[hf_rng_below(&rng, 4)]));
            put_random(&b, &rng, HF_KEY_ARGUMENTS, 900);
            break;
        case 2:
            hf_event_begin(&b, HF_EVENT_ACTIVITY_STARTED, now_us, step ? step : 1);
            hf_event_put_int(&b, HF_KEY_ATTEMPT_NUMBER, 1);
            break;
        case 3:
            hf_event_begin(&b, HF_EVENT_ACTIVITY_COMPLETED, now_us, step ? step : 1);
            put_random(&b, &rng, HF_KEY_RESULT, 900);
            break;
        case 4:
            hf_event_begin(&b, HF_EVENT_ACTIVITY_FAILED, now_us, step ? step : 1);
            hf_event_put_text(&b, HF_KEY_EXCEPTION_TYPE, HF_SLICE("card_declined"));
            hf_event_put_text(&b, HF_KEY_MESSAGE, HF_SLICE("card 4711 was declined"));
            break;
        case 5:
            hf_event_begin(&b, HF_EVENT_FAILURE_HANDLED, now_us, step ? step : 1);
            break;
        case 6:
            hf_event_begin(&b, HF_EVENT_SEARCH_ATTRIBUTES_UPSERTED, now_us, ++step);
            hf_event_put_payload(
                &b, HF_KEY_ATTRIBUTES,
                hf_payload_inline(HF_PAYLOAD_CODEC_JSON, hf_rng_below(&rng, 2)
                                                             ? HF_SLICE("{\"n\":null,\"b\":2.5}")
                                                             : HF_SLICE("{\"n\":7}")));
            break;
        default:
            hf_event_begin(&b, HF_EVENT_NOTE_RECORDED, now_us, 0);
            hf_event_put_text(&b, HF_KEY_MESSAGE, HF_SLICE("so far so good"));
            break;
        }
    }
    ck_assert_msg(hf_event_builder_done(&b, out_events, &count, &err) == HF_OK, "%s", err.text);
    return count;
}

static void fold_all(const hf_event *events, size_t count, hf_buf *out)
{
    hf_runfold *fold = NULL;
    hf_err err = {0};

    ck_assert_int_eq(hf_runfold_new(&fold, &err), HF_OK);
    ck_assert_msg(hf_runfold_add(fold, events, count, &err) == HF_OK, "%s", err.text);
    ck_assert_msg(hf_runfold_pack(fold, out, &err) == HF_OK, "%s", err.text);
    hf_runfold_free(fold);
}

/* A history to look names up in. */
typedef struct whole {
    const hf_event *events;
    size_t count;
} whole;

static hf_slice name_of(void *ctx, int64_t step)
{
    const whole *all = ctx;
    hf_slice name = {0};

    for (size_t i = 0; i < all->count; i++)
        if (all->events[i].step == step && hf_event_opens_step(&all->events[i]) &&
            hf_event_text(&all->events[i], HF_KEY_ACTIVITY_TYPE, &name))
            return name;
    return name;
}

static void columns_equal(const hf_runfold_columns *a, const hf_runfold_columns *b)
{
    ck_assert_int_eq(a->seq, b->seq);
    ck_assert_int_eq(a->exception_count, b->exception_count);
    ck_assert_int_eq(a->open_steps, b->open_steps);
    ck_assert_int_eq(a->fan_out, b->fan_out);
    ck_assert(hf_slice_equal(a->labels, b->labels));
    ck_assert(hf_slice_equal(a->attributes, b->attributes));
    ck_assert(hf_slice_equal(a->failure_print, b->failure_print));
}

/* Any history in any portions, through storage after each: the same bytes and columns. */
START_TEST(portions_do_not_matter)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        hf_mem *mem = hf_mem_new();
        hf_event *events = NULL;
        size_t count = history_make(mem, seed, &events);
        whole known = {.events = events, .count = count};
        hf_runfold_columns all = {0};
        hf_runfold_columns part = {0};
        hf_buf pack = {0};
        hf_buf stored = {0};
        hf_err err = {0};
        hf_rng rng;
        size_t at = 0;

        fold_all(events, count, &pack);
        ck_assert_int_eq(hf_runfold_columns_add(&all, mem, HF_SLICE("order"), events, count,
                                                name_of, &known, &err),
                         HF_OK);
        hf_rng_init_seeded(&rng, seed * 31);
        while (at < count) {
            size_t take = 1 + (size_t)hf_rng_below(&rng, count - at);
            hf_runfold *fold = NULL;

            ck_assert_int_eq(hf_runfold_new(&fold, &err), HF_OK);
            if (at)
                ck_assert_msg(hf_runfold_load(fold, hf_buf_slice(&stored), &err) == HF_OK, "%s",
                              err.text);
            ck_assert_int_eq(hf_runfold_seq(fold), (int64_t)at);
            ck_assert_int_eq(hf_runfold_add(fold, events + at, take, &err), HF_OK);
            hf_buf_clear(&stored);
            ck_assert_int_eq(hf_runfold_pack(fold, &stored, &err), HF_OK);
            hf_runfold_free(fold);
            ck_assert_int_eq(hf_runfold_columns_add(&part, mem, HF_SLICE("order"), events + at,
                                                    take, name_of, &known, &err),
                             HF_OK);
            at += take;
        }
        ck_assert_msg(hf_slice_equal(hf_buf_slice(&pack), hf_buf_slice(&stored)), "seed %llu",
                      (unsigned long long)seed);
        columns_equal(&all, &part);
        hf_buf_fini(&stored);
        hf_buf_fini(&pack);
        hf_mem_free(mem);
    }
}
END_TEST

/* What comes out has every event; payloads that are small stay, of the others the size stays. */
START_TEST(events_come_back_without_big_payloads)
{
    for (uint64_t seed = 1; seed <= 50; seed++) {
        hf_mem *mem = hf_mem_new();
        hf_event *events = NULL;
        hf_event *back = NULL;
        size_t count = history_make(mem, seed, &events);
        size_t got = 0;
        hf_buf pack = {0};
        hf_err err = {0};

        fold_all(events, count, &pack);
        ck_assert_int_eq(hf_runfold_events(mem, hf_buf_slice(&pack), INT64_MAX, &back, &got, &err),
                         HF_OK);
        ck_assert_uint_eq(got, count);
        for (size_t i = 0; i < count; i++) {
            hf_payload_value before;
            hf_payload_value after;

            ck_assert_int_eq(back[i].type, events[i].type);
            ck_assert_int_eq(back[i].time_us, events[i].time_us);
            ck_assert_int_eq(back[i].step, events[i].step);
            ck_assert_uint_eq(back[i].count, events[i].count);
            if (!hf_event_payload(&events[i], HF_KEY_ARGUMENTS, &before))
                continue;
            ck_assert(hf_event_payload(&back[i], HF_KEY_ARGUMENTS, &after));
            ck_assert_uint_eq(after.size, before.bytes.len);
            ck_assert_int_eq(after.form, before.bytes.len > HF_RUNFOLD_PAYLOAD_MAX
                                             ? HF_PAYLOAD_FORM_ERASED
                                             : HF_PAYLOAD_FORM_INLINE);
        }
        ck_assert_int_eq(hf_runfold_events(mem, hf_buf_slice(&pack), 1, &back, &got, &err), HF_OK);
        ck_assert_uint_eq(got, 1);
        hf_buf_fini(&pack);
        hf_mem_free(mem);
    }
}
END_TEST

/* Bytes that no fold has packed are refused, whatever they are; nothing is read beyond them. */
START_TEST(damaged_packs_are_refused)
{
    hf_mem *mem = hf_mem_new();
    hf_runfold *fold = NULL;
    hf_event *events = NULL;
    size_t count = history_make(mem, 7, &events);
    hf_buf pack = {0};
    hf_err err = {0};
    hf_rng rng;

    fold_all(events, count, &pack);
    hf_rng_init_seeded(&rng, 99);
    ck_assert_int_eq(hf_runfold_new(&fold, &err), HF_OK);
    for (int i = 0; i < 2000; i++) {
        hf_mem *scratch = hf_mem_new();
        hf_event *back = NULL;
        size_t got = 0;
        size_t len = pack.len;
        size_t at = (size_t)hf_rng_below(&rng, pack.len);
        char saved = pack.ptr[at];
        hf_status st;

        if (i % 2)
            len = at;
        else
            pack.ptr[at] = (char)(saved ^ (1 << hf_rng_below(&rng, 8)));
        st = hf_runfold_load(fold, hf_slice_from(pack.ptr, len), &err);
        ck_assert(st == HF_OK || st == HF_CORRUPT || st == HF_NEWER);
        st = hf_runfold_events(scratch, hf_slice_from(pack.ptr, len), INT64_MAX, &back, &got, &err);
        ck_assert(st == HF_OK || st == HF_CORRUPT || st == HF_NEWER);
        pack.ptr[at] = saved;
        hf_mem_free(scratch);
    }
    pack.ptr[0] = HF_RUNFOLD_VERSION + 1;
    ck_assert_int_eq(hf_runfold_load(fold, hf_buf_slice(&pack), &err), HF_NEWER);
    hf_runfold_free(fold);
    hf_buf_fini(&pack);
    hf_mem_free(mem);
}
END_TEST

/* Failures that differ in numbers only are of one kind; others are not. */
START_TEST(fingerprints_mask_numbers)
{
    static const char *const messages[] = {"order 17 has 3 items", "order 4711 has 12 items",
                                           "order has items"};
    char prints[3][33];

    for (size_t i = 0; i < 3; i++) {
        hf_mem *mem = hf_mem_new();
        hf_event_builder b;
        hf_event *events = NULL;
        size_t count = 0;
        hf_runfold_columns columns = {0};
        hf_err err = {0};

        hf_event_builder_init(&b, mem);
        hf_event_begin(&b, HF_EVENT_WORKFLOW_FAILED, 1, 0);
        hf_event_put_text(&b, HF_KEY_EXCEPTION_TYPE, HF_SLICE("stock"));
        hf_event_put_text(&b, HF_KEY_MESSAGE, hf_slice_of(messages[i]));
        ck_assert_int_eq(hf_event_builder_done(&b, &events, &count, &err), HF_OK);
        ck_assert_int_eq(hf_runfold_columns_add(&columns, mem, HF_SLICE("order"), events, count,
                                                NULL, NULL, &err),
                         HF_OK);
        ck_assert_int_eq(columns.exception_count, 1);
        ck_assert_str_eq(columns.failures->name.ptr, "order");
        memcpy(prints[i], columns.failures->print, sizeof(prints[i]));
        hf_mem_free(mem);
    }
    ck_assert_str_eq(prints[0], prints[1]);
    ck_assert_str_ne(prints[0], prints[2]);
}
END_TEST

/* Memory that runs out at any point leaves nothing behind and is said. */
START_TEST(memory_may_run_out)
{
    hf_mem *mem = hf_mem_new();
    hf_event *events = NULL;
    size_t count = history_make(mem, 14, &events);
    bool done = false;

    for (int64_t nth = 1; !done; nth++) {
        hf_runfold *fold = NULL;
        hf_buf pack = {0};
        hf_err err = {0};
        hf_status st;

        hf_fault_arm(HF_FAULT_ALLOC, nth, false);
        st = hf_runfold_new(&fold, &err);
        if (!st)
            st = hf_runfold_add(fold, events, count, &err);
        if (!st)
            st = hf_runfold_pack(fold, &pack, &err);
        if (!st)
            st = hf_runfold_load(fold, hf_buf_slice(&pack), &err);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        ck_assert(st == HF_OK || st == HF_NOMEM);
        done = st == HF_OK;
        hf_buf_fini(&pack);
        hf_runfold_free(fold);
    }
    hf_mem_free(mem);
}
END_TEST

HF_SUITE_MAIN("project/fold", {portions_do_not_matter, 120},
              {events_come_back_without_big_payloads, 0}, {damaged_packs_are_refused, 120},
              {fingerprints_mask_numbers, 0}, {memory_may_run_out, 0})
