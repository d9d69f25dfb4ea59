/* why_code.h: what the test programs of `why` share: asking for the code of a run, with all that
   must hold of any answer, and the workflows that more than one program runs. Included once per
   program. */
#ifndef HF_TEST_ENGINE_WHY_CODE_H
#define HF_TEST_ENGINE_WHY_CODE_H

#include <string.h>

#include "base/attr.h"
#include "lib/agree.h"
#include "lib/kit.h"
#include "project/why.h"

#define APPROVED                                                                                   \
    (const hf_signal_def[])                                                                        \
    {                                                                                              \
        {"approved-by", NULL},                                                                     \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }

static HF_UNUSED hf_value receiver(hf_ctx *w, hf_value in)
{
    return hf_receive(w, "approved-by", .timeout = hf_int(in, "timeout", 0));
}

static HF_UNUSED bool never(const void *state)
{
    return *(const int *)state > 0;
}

static HF_UNUSED hf_value conditional(hf_ctx *w, hf_value in)
{
    return hf_json(w, "%d", hf_wait(w, "stock", never, .timeout = hf_int(in, "timeout", 0)));
}

static HF_UNUSED hf_value raise_stock(hf_ctx *w, void *state, hf_value in)
{
    (void)w;
    *(int *)state += 1;
    return in;
}

static HF_UNUSED hf_value sleeper(hf_ctx *w, hf_value in)
{
    hf_sleep(w, hf_hours(8));
    return in;
}

static HF_UNUSED hf_value parent(hf_ctx *w, hf_value in)
{
    return hf_child(w, "receiver", in, .id = "kid");
}

static HF_UNUSED hf_value why(hf_engine *d, const char *id)
{
    hf_value out = NULL;

    hf_kit_ok(d, hf_why(d, id, hf_mem_of_engine(d), &out));
    ck_assert_ptr_nonnull(out);
    hf_agree_check(d, id, hf_get(out, "liveness"));
    return out;
}

/* What the published run summary may say of a run for which `why` has the code; NULL: several
   things. */
static HF_UNUSED const char *states_of(const char *code)
{
    static const char *const table[][2] = {
        {"waiting_for_signal", "waiting_for_signal"},
        {"signal_undeclared", "waiting_for_signal"},
        {"waiting_for_condition", "waiting_for_condition"},
        {"waiting_for_timer", "timer_scheduled"},
        {"waiting_for_child", "waiting_for_child"},
        {"waiting_for_update", "workflow_task_ready"},
        {"turn_ready", "workflow_task_ready timer_task_ready"},
        {"turn_held", "workflow_task_leased"},
        {"running_activity", "activity_task_leased"},
        {"running_unrecorded", "activity_running_without_task"},
        {"retrying_activity", "activity_task_ready"},
        {"heartbeat_late", "activity_task_leased"},
        {"queued_behind", "activity_task_ready"},
        {"queued_no_worker", "activity_task_ready"},
        {"no_compatible_worker", "workflow_task_waiting_for_compatible_worker "
                                 "activity_task_waiting_for_compatible_worker "
                                 "timer_task_waiting_for_compatible_worker"},
        {"replay_blocked_shape", "workflow_replay_blocked"},
        {"replay_blocked_key", "workflow_replay_blocked"},
        {"replay_blocked_topology", "workflow_replay_blocked"},
        {"replay_blocked_version", "workflow_replay_blocked"},
        {"quarantined", "run_quarantined"},
        {"lease_expired", "repair_needed"},
        {"task_missing", "repair_needed"},
        {"paused", "run_paused"},
        {"closed_completed", "closed"},
        {"closed_continued", "closed"},
        {"closed_failed", "closed"},
        {"closed_timed_out", "closed"},
        {"closed_cancelled", "closed"},
        {"closed_terminated", "closed"},
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (strcmp(table[i][0], code) == 0)
            return table[i][1];
    return NULL;
}

/* The code, and that the answer is whole: its severity is the table's, it has a sentence without
   holes, it says what it is about, and its state is one that goes with the code. */
static HF_UNUSED const char *code(hf_engine *d, const char *id)
{
    hf_value answer = why(d, id);
    const char *found = hf_str(answer, "code", "");
    const char *text = hf_str(answer, "text", "");
    const char *state = hf_str(answer, "liveness.liveness_state", "");
    const hf_why_row *row = NULL;

    for (size_t i = 0; i < HF_WHY_COUNT; i++)
        if (strcmp(hf_why_rows[i].code, found) == 0)
            row = &hf_why_rows[i];
    ck_assert_msg(row, "%s is not in the catalogue", found);
    ck_assert_str_eq(hf_str(answer, "severity", ""), hf_why_severity_text(row->severity));
    ck_assert_msg(text[0] && !strpbrk(text, "{}[]|") && !strstr(text, "unknown"), "%s: %s", found,
                  text);
    ck_assert_str_ne(hf_str(answer, "subject.kind", ""), "");
    ck_assert_str_ne(state, "");
    ck_assert_msg(!states_of(found) || strstr(states_of(found), state), "%s is %s", found, state);
    return found;
}

#endif
