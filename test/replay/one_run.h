/* one_run.h: what the cases of one run share: the run, its turns, and code that more than one file
   uses. */
#ifndef HF_TEST_REPLAY_ONE_RUN_H
#define HF_TEST_REPLAY_ONE_RUN_H

#include "lib/suite.h"
#include "replay/driver.h"

static sim S;

static const hf_signal_def go_signals[] = {{.name = "go"}, {0}};

static inline void begin(hf_workflow_fn *run, const char *in)
{
    static hf_workflow_def definition;

    definition =
        (hf_workflow_def){.type = "t", .run = run, .state_size = 64, .signals = go_signals};
    sim_begin(&S, &definition, in);
}

static inline void finish(void)
{
    sim_check(&S);
    sim_end(&S);
}

static inline const char *turn(void)
{
    (void)sim_run(&S);
    return sim_last(&S);
}

static inline bool is_ready(const void *state)
{
    return *(const int *)state > 0;
}

static inline hf_value set_ready(hf_ctx *w, void *state, hf_value args)
{
    *(int *)state = (int)hf_int(args, "to", 1);
    if (hf_int(args, "to", 1) == 9)
        hf_sleep(w, 1); /* not for updates */
    if (*(int *)state < 0)
        hf_fail(w, "negative", "no");
    return hf_json(w, "%d", *(int *)state);
}

static inline const hf_replay_mismatch *blocked(void)
{
    hf_turn out = HF_TURN_PARKED;
    size_t count = 1;

    sim_evict(&S);
    ck_assert_int_eq(hf_replay_turn(S.replay, &out, &S.err), HF_OK);
    ck_assert_int_eq(out, HF_TURN_BLOCKED);
    (void)hf_replay_decisions(S.replay, &count);
    ck_assert_uint_eq(count, 0);
    ck_assert_int_eq(hf_replay_turn(S.replay, &out, &S.err), HF_OK);
    ck_assert_int_eq(out, HF_TURN_BLOCKED);
    return hf_replay_mismatch_get(S.replay);
}

static inline hf_value one_activity(hf_ctx *w, hf_value in)
{
    const hf_ms backoff[] = {100, 200};

    return hf_activity(w, "charge", in, .queue = "q", .summary = "Ada", .max_attempts = 5,
                       .start_to_close = 1000, .schedule_to_start = 2, .schedule_to_close = 3,
                       .heartbeat = 4, .backoff = backoff, .backoff_n = 2, .no_retry_on = "x");
}

#endif
