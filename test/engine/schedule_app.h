/* schedule_app.h: what the test programs of schedules share: the workflows that are started, and
   looks at a schedule and at what it recorded. Included once per program. */
#ifndef HF_TEST_ENGINE_SCHEDULE_APP_H
#define HF_TEST_ENGINE_SCHEDULE_APP_H

#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "lib/kit.h"

#define EPOCH_MS                                                                                   \
    INT64_C(1767225600000) /* 2026-01-01 00:00, a Thursday: where the kit's clock begins */

static hf_value quick(hf_ctx *w, hf_value in)
{
    return hf_json(w, "%p", (const void *)in);
}

/* Stays open for an hour, or until it is let go. */
static hf_value slow(hf_ctx *w, hf_value in)
{
    (void)in;
    (void)hf_receive(w, "go", .timeout = hf_hours(1));
    return hf_json(w, "'done'");
}

static hf_value relay(hf_ctx *w, hf_value in)
{
    if (hf_int(in, "", 2) == 0)
        return in;
    hf_sleep(w, hf_seconds(30));
    hf_continue_as_new(w, hf_json(w, "0"));
}

static const hf_signal_def signals[] = {{"go", NULL}, {0}};
static const hf_workflow_def workflows[] = {{.type = "quick", .run = quick},
                                            {.type = "slow", .run = slow, .signals = signals},
                                            {.type = "relay", .run = relay},
                                            {.type = "strict", .run = quick, .params = "n:int"},
                                            {0}};
static const hf_app app = {.name = "test", .workflows = workflows};

static HF_UNUSED hf_value parsed(hf_engine *d, const char *text)
{
    return hf_parse_(hf_mem_of_engine(d), text, strlen(text));
}

/* ---- looking */

static HF_UNUSED hf_value shown(hf_engine *d, const char *id)
{
    hf_value out = NULL;

    hf_kit_ok(d, hf_schedule_show(d, id, &out));
    return out;
}

static HF_UNUSED const char *field(hf_engine *d, const char *id, const char *name)
{
    return hf_str(shown(d, id), name, "null");
}

/* The outcomes and types of its audit history, one word each. */
static HF_UNUSED const char *audit(hf_engine *d, const char *id)
{
    static char text[4096];
    hf_value out = NULL;
    size_t used = 0;

    hf_kit_ok(d, hf_schedule_history(d, id, 0, 1000, &out));
    text[0] = '\0';
    for (size_t i = 0; i < hf_len(hf_get(out, "events")); i++) {
        hf_value event = hf_at(hf_get(out, "events"), i);

        ck_assert_int_eq(hf_int(event, "sequence", 0), (int64_t)i + 1);
        used += (size_t)snprintf(
            text + used, sizeof(text) - used, "%s%s", i ? " " : "",
            hf_str(event, "payload.outcome",
                   hf_str(event, "payload.reason", hf_str(event, "event_type", "?") + 8)));
        ck_assert_uint_lt(used, sizeof(text));
    }
    return text;
}

static HF_UNUSED int64_t runs(hf_engine *d)
{
    return hf_kit_number(d, "SELECT count(*) FROM run");
}

static HF_UNUSED int64_t open_runs(hf_engine *d)
{
    return hf_kit_number(d, "SELECT count(*) FROM run WHERE closed_us IS NULL");
}

static HF_UNUSED const char *triggered(hf_engine *d, const char *id, const char *overlap)
{
    hf_value out = NULL;

    hf_kit_ok(d, hf_schedule_trigger(d, id, overlap, &out));
    return hf_str(out, "outcome", "?");
}

#endif
