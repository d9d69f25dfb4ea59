/* standalone.c: activities that are asked for by themselves: a run of a type of our own whose code
   is one call of the activity, so that retries, deadlines, cancellation and history are those of
   any other. */
#include "engine/standalone.h"

#include <stdio.h>

#include "base/value.h"
#include "holdfast/host.h"

enum { BACKOFF_MAX = 32, TYPES_SIZE = 2048 };

/* "a,b" of a list of texts; false: they do not fit. */
static bool types_join(hf_value types, char *out, size_t size)
{
    size_t len = 0;

    out[0] = '\0';
    for (size_t i = 0; i < hf_len(types); i++) {
        int more =
            snprintf(out + len, size - len, "%s%s", i ? "," : "", hf_str(hf_at(types, i), "", ""));

        if (more < 0 || (size_t)more >= size - len)
            return false;
        len += (size_t)more;
    }
    return true;
}

static hf_value standalone_run(hf_ctx *w, hf_value in)
{
    hf_value backoff = hf_get(in, "retry_policy.backoff_seconds");
    char types[TYPES_SIZE];
    hf_ms pauses[BACKOFF_MAX];
    size_t count = 0;

    for (; count < hf_len(backoff) && count < BACKOFF_MAX; count++)
        pauses[count] = hf_value_seconds_ms(hf_at(backoff, count), "", 1);
    if (!types_join(hf_get(in, "retry_policy.non_retryable_error_types"), types, sizeof(types)))
        hf_fail(w, "invalid_retry_policy", "the types that are not retried are too many");
    return hf_activity(
        w, hf_str(in, "activity_type", ""), hf_get(in, "input"),
        .queue = hf_str(in, "task_queue", NULL),
        .schedule_to_start = hf_value_seconds_ms(in, "schedule_to_start_timeout_seconds", 0),
        .start_to_close = hf_value_seconds_ms(in, "start_to_close_timeout_seconds", 0),
        .schedule_to_close = hf_value_seconds_ms(in, "schedule_to_close_timeout_seconds", 0),
        .heartbeat = hf_value_seconds_ms(in, "heartbeat_timeout_seconds", 0),
        .max_attempts = (int)hf_int(in, "retry_policy.max_attempts", 0),
        .backoff = count ? pauses : NULL, .backoff_n = count,
        .no_retry_on = types[0] ? types : NULL);
}

const hf_workflow_def hf_standalone_def = {
    .type = HF_STANDALONE_TYPE, .run = standalone_run, .doc = "One activity, asked for by itself."};
