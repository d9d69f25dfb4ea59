/* standalone.c: activities that are asked for by themselves: a run of a type of our own whose code
   is one call of the activity, so that retries, deadlines, cancellation and history are those of
   any other. */
#include "engine/standalone.h"

#include <stdio.h>

#include "holdfast/host.h"

enum { BACKOFF_MAX = 32, TYPES_SIZE = 2048 };

static hf_ms seconds_of(hf_value in, const char *name)
{
    return hf_seconds(hf_int(in, name, 0));
}

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
        pauses[count] = hf_seconds(hf_int(hf_at(backoff, count), "", 1));
    if (!types_join(hf_get(in, "retry_policy.non_retryable_error_types"), types, sizeof(types)))
        hf_fail(w, "invalid_retry_policy", "the types that are not retried are too many");
    return hf_activity(w, hf_str(in, "activity_type", ""), hf_get(in, "input"),
                       .queue = hf_str(in, "task_queue", NULL),
                       .schedule_to_start = seconds_of(in, "schedule_to_start_timeout_seconds"),
                       .start_to_close = seconds_of(in, "start_to_close_timeout_seconds"),
                       .schedule_to_close = seconds_of(in, "schedule_to_close_timeout_seconds"),
                       .heartbeat = seconds_of(in, "heartbeat_timeout_seconds"),
                       .max_attempts = (int)hf_int(in, "retry_policy.max_attempts", 0),
                       .backoff = count ? pauses : NULL, .backoff_n = count,
                       .no_retry_on = types[0] ? types : NULL);
}

const hf_workflow_def hf_standalone_def = {
    .type = HF_STANDALONE_TYPE, .run = standalone_run, .doc = "One activity, asked for by itself."};
