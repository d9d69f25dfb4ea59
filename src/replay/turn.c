/* turn.c: what a turn of code leaves behind: decisions, and the way out of the coroutine. The rule:
   a decision holds nothing of the user's memory, because that may be gone when it is read. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/avro.h"
#include "base/json.h"
#include "model/limit.h"
#include "replay/inside.h"

enum { DECISIONS_FIRST = 16 };

void hf_in_park(hf_replay *replay, const char *kind, const char *name)
{
    (void)snprintf(replay->waiting_text, sizeof(replay->waiting_text), name ? "%s:%s" : "%s", kind,
                   name ? name : "");
    replay->waiting = replay->waiting_text;
    replay->leave = HF_LEAVE_PARKED;
    hf_coro_yield(replay->coro);
    replay->waiting = "";
    if (replay->leaving)
        hf_in_unwind(replay);
}

void hf_in_leave(hf_replay *replay, hf_leave leave)
{
    replay->leave = leave;
    replay->waiting = "";
    for (;;)
        hf_coro_yield(replay->coro); /* whoever resumes it again has a bug, not a crash */
}

void hf_in_break(hf_replay *replay, hf_status status, const char *what)
{
    if (!replay->failure.status)
        (void)(status == HF_NOMEM ? hf_err_nomem(&replay->failure, what)
                                  : hf_err_set(&replay->failure, status, "%s", what));
    hf_in_leave(replay, HF_LEAVE_BROKEN);
}

void *hf_in_alloc(hf_replay *replay, size_t bytes)
{
    void *memory = hf_mem_alloc(replay->mem, bytes);

    if (!memory)
        hf_in_break(replay, HF_NOMEM, "workflow code");
    return memory;
}

char *hf_in_keep(hf_replay *replay, const char *text)
{
    char *copy = hf_mem_text(replay->mem, hf_slice_of(text));

    if (!copy)
        hf_in_break(replay, HF_NOMEM, "a text of workflow code");
    return copy;
}

hf_slice hf_in_text(hf_replay *replay, const char *text)
{
    char *copy;

    if (!text)
        return (hf_slice){0};
    copy = hf_mem_text(replay->turn, hf_slice_of(text));
    if (!copy)
        hf_in_break(replay, HF_NOMEM, "a decision");
    return hf_slice_of(copy);
}

void hf_in_decide_failure(hf_replay *replay, hf_decision_row *row, const hf_failure *failure)
{
    row->failure = (hf_decision_failure){.category = failure->category,
                                         .type = hf_in_text(replay, failure->seen.type),
                                         .message = hf_in_text(replay, failure->seen.message),
                                         .retryable = failure->seen.retryable};
    if (failure->seen.details)
        row->failure.details = hf_in_payload(replay, failure->seen.details);
}

static hf_decision_row *decision_add(hf_replay *replay, hf_decision kind, int64_t step)
{
    hf_decision_row *row;

    if (replay->decision_count == replay->decision_room) {
        size_t room = replay->decision_room ? replay->decision_room * 2 : DECISIONS_FIRST;
        hf_decision_row *grown = hf_mem_array(replay->turn, room, sizeof(*grown));

        if (!grown)
            hf_in_break(replay, HF_NOMEM, "the decisions of a turn");
        if (replay->decision_count)
            memcpy(grown, replay->decisions, replay->decision_count * sizeof(*grown));
        replay->decisions = grown;
        replay->decision_room = room;
    }
    row = &replay->decisions[replay->decision_count++];
    *row = (hf_decision_row){.kind = kind, .step = step};
    return row;
}

/* The failure takes the place of all that was decided: nothing of it may be written. */
HF_NORETURN_FN static void turn_fail(hf_replay *replay, const hf_failure *failure)
{
    replay->decision_count = 0;
    hf_in_decide_failure(replay, decision_add(replay, HF_DECISION_FAIL_WORKFLOW, 0), failure);
    hf_in_run_deferred(replay);
    hf_in_leave(replay, HF_LEAVE_CLOSED);
}

HF_NORETURN_FN static void limit_trip(hf_replay *replay, hf_limit limit, int64_t value,
                                      int64_t configured)
{
    hf_value details = hf_json_(replay->mem,
                                "{'structural_limit_kind': %s, 'structural_limit_value': %lld, "
                                "'structural_limit_configured': %lld}",
                                hf_limit_text(limit), (long long)value, (long long)configured);
    char message[160];
    hf_failure *failure;

    (void)snprintf(message, sizeof(message),
                   "%s is limited to %" PRId64 ", this turn needs %" PRId64, hf_limit_text(limit),
                   configured, value);
    failure = hf_in_failure(replay, HF_TOOBIG, HF_FAILURE_CATEGORY_STRUCTURAL_LIMIT,
                            "structural_limit", message);
    failure->seen.details = details;
    turn_fail(replay, failure);
}

static void size_check(hf_replay *replay, int64_t bytes)
{
    if (hf_limit_trips(HF_LIMIT_PAYLOAD_SIZE_BYTES, replay->info.payload_max, bytes))
        limit_trip(replay, HF_LIMIT_PAYLOAD_SIZE_BYTES, bytes, replay->info.payload_max);
}

/* A value that could not be made ends the run: going on with null in its place would be another
   program. */
static void broken_check(hf_replay *replay, hf_value value)
{
    int64_t bytes = 0;

    if (!hf_value_broken(value, &bytes))
        return;
    if (hf_value_unmade(value)) /* another time there is memory */
        hf_in_break(replay, HF_NOMEM, "a value");
    size_check(replay, bytes);
    turn_fail(replay,
              hf_in_failure(replay, HF_INVALID, HF_FAILURE_CATEGORY_TASK_FAILURE, "invalid_value",
                            "a value is no JSON: its text, its UTF-8 or a number is broken"));
}

hf_decision_payload hf_in_payload(hf_replay *replay, hf_value value)
{
    hf_buf buf = {0};
    hf_decision_payload payload = {.codec = HF_PAYLOAD_CODEC_JSON};
    char *copy = NULL;

    broken_check(replay, value);
    hf_json_write(&buf, value);
    if (hf_buf_ok(&buf))
        copy = hf_mem_text(replay->turn, hf_buf_slice(&buf));
    payload.bytes = hf_slice_from(copy, copy ? buf.len : 0);
    hf_buf_fini(&buf);
    if (!copy)
        hf_in_break(replay, HF_NOMEM, "a value");
    size_check(replay, (int64_t)payload.bytes.len);
    return payload;
}

void hf_in_room(hf_replay *replay, size_t more)
{
    int64_t count = (int64_t)(replay->decision_count + more);

    if (more && hf_limit_trips(HF_LIMIT_COMMAND_BATCH_SIZE, replay->info.batch_max, count - 1))
        limit_trip(replay, HF_LIMIT_COMMAND_BATCH_SIZE, count, replay->info.batch_max);
    if (hf_limit_trips(HF_LIMIT_HISTORY_TRANSACTION_SIZE, replay->info.events_max, replay->events))
        limit_trip(replay, HF_LIMIT_HISTORY_TRANSACTION_SIZE, replay->events + 1,
                   replay->info.events_max);
}

hf_decision_row *hf_in_decide(hf_replay *replay, hf_decision kind, int64_t step, int64_t events)
{
    const hf_record *record = step ? hf_history_get(&replay->history, step) : NULL;
    hf_decision_row *row;

    hf_in_room(replay, 1);
    replay->events += events;
    row = decision_add(replay, kind, step);
    row->at = record ? record->at : NULL;
    return row;
}

hf_value hf_in_value(hf_replay *replay, const hf_stored *stored)
{
    hf_slice bytes = hf_slice_from(stored->bytes, stored->len);
    hf_value value = NULL;
    hf_status st = HF_OK;

    switch ((int)stored->form) {
    case 0:
        return hf_value_null();
    case HF_PAYLOAD_FORM_ERASED:
        hf_in_break(replay, HF_NOTFOUND, "a value the code needs was erased");
    case HF_PAYLOAD_FORM_REFERENCE: {
        const hf_payload_value reference = {.form = stored->form,
                                            .codec = stored->codec,
                                            .size = stored->size,
                                            .digest = (const uint8_t *)stored->bytes};

        if (!replay->info.payload)
            hf_in_break(replay, HF_MISUSE, "nobody reads payloads that are stored apart");
        st = replay->info.payload(replay->info.payload_ctx, replay->mem, &reference, &bytes,
                                  &replay->failure);
        break;
    }
    }
    if (!st)
        st = stored->codec == HF_PAYLOAD_CODEC_AVRO
                 ? hf_avro_decode(replay->mem, bytes, NULL, &value, &replay->failure)
                 : hf_json_read(replay->mem, bytes, NULL, &value, &replay->failure);
    if (st) {
        (void)hf_err_because(&replay->failure, st, "read a recorded value");
        hf_in_leave(replay, HF_LEAVE_BROKEN);
    }
    return value;
}
