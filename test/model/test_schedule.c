/* test_schedule.c: what comes of a firing, as one table over policies, states and buffers; and the
   reason that is recorded for each that starts nothing. */
#include "lib/suite.h"
#include "model/schedule.h"

/* A schedule that may start `left` more runs, with so many in its buffer. */
static hf_schedule schedule_of(hf_schedule_status status, hf_overlap_policy overlap,
                               size_t buffered, int64_t left)
{
    return (hf_schedule){.status = status,
                         .overlap = overlap,
                         .buffered_count = buffered,
                         .fires = 5,
                         .max_runs = left < 0 ? 0 : 5 + left};
}

typedef struct judgement {
    hf_overlap_policy overlap;
    size_t buffered;
    hf_trigger_outcome outcome;
    hf_skip_reason reason;
    bool stops_other;
} judgement;

/* The last run is open: what each policy makes of that. A buffer that is full is the one reason
   that both buffers have; the other policies find a way, or skip. */
START_TEST(b143_each_policy_has_its_reason)
{
    static const judgement cases[] = {
        {HF_OVERLAP_POLICY_SKIP, 0, HF_TRIGGER_OUTCOME_SKIPPED, HF_SKIP_REASON_OVERLAP_POLICY_SKIP,
         false},
        {HF_OVERLAP_POLICY_BUFFER_ONE, 0, HF_TRIGGER_OUTCOME_BUFFERED, 0, false},
        {HF_OVERLAP_POLICY_BUFFER_ONE, 1, HF_TRIGGER_OUTCOME_BUFFER_FULL,
         HF_SKIP_REASON_BUFFER_FULL, false},
        {HF_OVERLAP_POLICY_BUFFER_ALL, 1, HF_TRIGGER_OUTCOME_BUFFERED, 0, false},
        {HF_OVERLAP_POLICY_BUFFER_ALL, HF_SCHEDULE_BUFFER_MAX - 1, HF_TRIGGER_OUTCOME_BUFFERED, 0,
         false},
        {HF_OVERLAP_POLICY_BUFFER_ALL, HF_SCHEDULE_BUFFER_MAX, HF_TRIGGER_OUTCOME_BUFFER_FULL,
         HF_SKIP_REASON_BUFFER_FULL, false},
        {HF_OVERLAP_POLICY_ALLOW_ALL, 0, HF_TRIGGER_OUTCOME_TRIGGERED, 0, false},
        {HF_OVERLAP_POLICY_CANCEL_OTHER, 0, HF_TRIGGER_OUTCOME_TRIGGERED, 0, true},
        {HF_OVERLAP_POLICY_TERMINATE_OTHER, 0, HF_TRIGGER_OUTCOME_TRIGGERED, 0, true}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const judgement *c = &cases[i];
        const hf_schedule own = schedule_of(HF_SCHEDULE_STATUS_ACTIVE, c->overlap, c->buffered, -1);
        const hf_schedule plain =
            schedule_of(HF_SCHEDULE_STATUS_ACTIVE, HF_OVERLAP_POLICY_SKIP, c->buffered, -1);
        hf_verdict verdict = hf_schedule_judge(&own, &(hf_fire){.kind = HF_FIRE_TICK}, true);

        ck_assert_int_eq(verdict.outcome, c->outcome);
        ck_assert_int_eq(verdict.reason, c->reason);
        ck_assert_int_eq(verdict.stops_other, c->stops_other);
        ck_assert_int_eq(verdict.starts, c->outcome == HF_TRIGGER_OUTCOME_TRIGGERED);
        ck_assert_int_eq(verdict.effective, c->overlap);
        verdict = hf_schedule_judge(
            &plain, &(hf_fire){.kind = HF_FIRE_TRIGGER, .overlap = c->overlap}, true);
        ck_assert_int_eq(verdict.outcome, c->outcome); /* by hand, with the policy of that hand */
        ck_assert_int_eq(verdict.reason, c->reason);
        verdict = hf_schedule_judge(&own, &(hf_fire){.kind = HF_FIRE_TICK}, false);
        ck_assert_int_eq(verdict.outcome, HF_TRIGGER_OUTCOME_TRIGGERED); /* nobody is in the way */
        ck_assert(!verdict.stops_other);
    }
}
END_TEST

/* The reasons that come before every policy. A backfill of a paused schedule is wanted; buffers
   count as allow_all there. */
START_TEST(b141_reasons_before_the_policy)
{
    for (int policy = HF_OVERLAP_POLICY_SKIP; policy <= HF_OVERLAP_POLICY_TERMINATE_OTHER;
         policy++) {
        const hf_overlap_policy overlap = (hf_overlap_policy)policy;
        hf_schedule s = schedule_of(HF_SCHEDULE_STATUS_PAUSED, overlap, 0, -1);
        bool buffers =
            overlap == HF_OVERLAP_POLICY_BUFFER_ONE || overlap == HF_OVERLAP_POLICY_BUFFER_ALL;
        hf_verdict verdict = hf_schedule_judge(&s, &(hf_fire){.kind = HF_FIRE_TRIGGER}, false);

        ck_assert_int_eq(verdict.reason, HF_SKIP_REASON_STATUS_NOT_TRIGGERABLE);
        verdict = hf_schedule_judge(&s, &(hf_fire){.kind = HF_FIRE_BACKFILL}, true);
        ck_assert_int_eq(verdict.starts, overlap != HF_OVERLAP_POLICY_SKIP);
        ck_assert_int_eq(verdict.effective, buffers ? HF_OVERLAP_POLICY_ALLOW_ALL : overlap);
        s.status = HF_SCHEDULE_STATUS_DELETED;
        verdict = hf_schedule_judge(&s, &(hf_fire){.kind = HF_FIRE_BACKFILL}, false);
        ck_assert_int_eq(verdict.reason, HF_SKIP_REASON_STATUS_NOT_TRIGGERABLE);
        s = schedule_of(HF_SCHEDULE_STATUS_ACTIVE, overlap, 0, 0);
        verdict = hf_schedule_judge(&s, &(hf_fire){.kind = HF_FIRE_TICK}, false);
        ck_assert_int_eq(verdict.reason, HF_SKIP_REASON_REMAINING_ACTIONS_EXHAUSTED);
        s = schedule_of(HF_SCHEDULE_STATUS_ACTIVE, overlap, 0, 1);
        verdict = hf_schedule_judge(&s, &(hf_fire){.kind = HF_FIRE_TICK, .blocked = true}, false);
        ck_assert_int_eq(verdict.reason, HF_SKIP_REASON_COMPATIBILITY_BLOCKED);
        ck_assert(!verdict.starts);
    }
}
END_TEST

HF_SUITE_MAIN("model/schedule", {b143_each_policy_has_its_reason, 0},
              {b141_reasons_before_the_policy, 0})
