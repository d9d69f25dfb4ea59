/* why_short.c: see why_short.h. */
#include "project/why_short.h"

#include <string.h>

#include "base/clock.h"
#include "model/vocab.h"
#include "project/why.h"
#include "project/why_text.h"

static bool says(hf_value value, const char *member, const char *text)
{
    return strcmp(hf_str(value, member, ""), text) == 0;
}

hf_value hf_why_shorten(hf_mem *mem, hf_value why)
{
    return hf_json_(mem,
                    "{'code': %p, 'severity': %p, 'text': %p, 'since': %p, 'until': %p, "
                    "'subject': %p, 'next': %p}",
                    (const void *)hf_get(why, "code"), (const void *)hf_get(why, "severity"),
                    (const void *)hf_get(why, "text"), (const void *)hf_get(why, "since"),
                    (const void *)hf_get(why, "until"), (const void *)hf_get(why, "subject"),
                    (const void *)hf_get(why, "next"));
}

bool hf_why_row_suffices(hf_value item)
{
    return says(item, "closed_reason", "completed") || says(item, "closed_reason", "continued");
}

static hf_value short_value(hf_mem *mem, hf_value code, const char *severity, const char *text,
                            hf_value since)
{
    return hf_json_(mem,
                    "{'code': %p, 'severity': %s, 'text': %s, 'since': %p, 'until': null, "
                    "'subject': {'kind': 'run', 'name': null, 'step': null, 'source_line': null}, "
                    "'next': []}",
                    (const void *)code, severity, text, (const void *)since);
}

static hf_value closed_value(hf_mem *mem, hf_value item, int64_t now_us)
{
    static const struct {
        hf_closed_reason reason;
        hf_why_code code;
    } codes[] = {{HF_CLOSED_REASON_COMPLETED, HF_WHY_CLOSED_COMPLETED},
                 {HF_CLOSED_REASON_CONTINUED, HF_WHY_CLOSED_CONTINUED},
                 {HF_CLOSED_REASON_CANCELLED, HF_WHY_CLOSED_CANCELLED},
                 {HF_CLOSED_REASON_TERMINATED, HF_WHY_CLOSED_TERMINATED},
                 {HF_CLOSED_REASON_TIMED_OUT, HF_WHY_CLOSED_TIMED_OUT}};
    const hf_why_row *row = &hf_why_rows[HF_WHY_CLOSED_FAILED];
    int64_t us = now_us;
    hf_why_word since = {"since", NULL};

    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        if (says(item, "closed_reason", hf_closed_reason_text(codes[i].reason)))
            row = &hf_why_rows[codes[i].code];
    (void)hf_clock_parse(hf_slice_of(hf_str(item, "closed_at", "")), &us);
    since.text = hf_why_text_span(mem, now_us - us);
    return short_value(mem, hf_value_string(mem, hf_slice_of(row->code)),
                       hf_why_severity_text(row->severity),
                       hf_why_text_make(mem, row->text, &since, 1), hf_get(item, "closed_at"));
}

hf_value hf_why_of_row(hf_mem *mem, hf_value item, int64_t now_us)
{
    bool trouble = hf_bool(item, "repair_attention", false) || hf_bool(item, "task_problem", false);

    if (hf_bool(item, "is_terminal", false))
        return closed_value(mem, item, now_us);
    return short_value(mem, hf_value_null(),
                       hf_why_severity_text(trouble ? HF_WHY_ATTENTION : HF_WHY_OK),
                       hf_str(item, "wait_reason", ""), hf_value_null());
}

hf_value hf_why_unreadable(hf_mem *mem)
{
    const hf_why_row *row = &hf_why_rows[HF_WHY_HISTORY_UNREADABLE];

    return short_value(mem, hf_value_string(mem, hf_slice_of(row->code)),
                       hf_why_severity_text(row->severity), row->text, hf_value_null());
}

static const char *closed_glyph(hf_value item)
{
    const char *reason = hf_str(item, "closed_reason", "");

    return strcmp(reason, hf_closed_reason_text(HF_CLOSED_REASON_ABANDONED)) == 0
               ? hf_run_status_text(HF_RUN_STATUS_FAILED)
               : reason;
}

const char *hf_glyph(hf_value item, hf_value why)
{
    if (hf_str(item, "closed_reason", "")[0])
        return closed_glyph(item);
    if (says(item, "liveness_state", hf_liveness_state_text(HF_LIVENESS_RUN_PAUSED)))
        return "paused";
    if (says(why, "severity", hf_why_severity_text(HF_WHY_ATTENTION)))
        return "blocked";
    if (says(why, "code", hf_why_rows[HF_WHY_RETRYING_ACTIVITY].code) ||
        says(why, "code", hf_why_rows[HF_WHY_REPAIR_BACKOFF].code))
        return "retrying";
    return says(item, "status", hf_run_status_text(HF_RUN_STATUS_WAITING)) ? "waiting" : "running";
}
