/* test_machine.c: every pair of state and happening of every life cycle, and every invariant. */
#include <string.h>

#include "lib/suite.h"
#include "model/machine.h"

enum { ROWS_MAX = 64 };

static void expect_corrupt(hf_status st, const hf_err *err, const char *says)
{
    ck_assert_int_eq(st, HF_CORRUPT);
    ck_assert_msg(strstr(err->text, says) != NULL, "%s", err->text);
}

/* Every pair is tried: each row is taken exactly once, every other pair is refused by name. */
START_TEST(every_pair_is_decided)
{
    for (size_t m = 0; hf_machine_at(m); m++) {
        const hf_machine *machine = hf_machine_at(m);
        int taken[ROWS_MAX] = {0};

        ck_assert_uint_le(machine->count, ROWS_MAX);
        for (size_t s = 0; s <= machine->states->count; s++) {
            int from = s == 0 ? 0 : machine->states->items[s - 1].number;

            for (size_t o = 0; o < machine->happenings->count; o++) {
                int on = machine->happenings->items[o].number;
                const hf_machine_row *row = hf_machine_find(machine, from, on);
                hf_err err = {0};
                int to = -1;
                hf_status st = hf_machine_next(machine, from, on, &to, &err);

                if (row) {
                    ck_assert_int_eq(st, HF_OK);
                    ck_assert_int_eq(to, row->to);
                    taken[row - machine->rows]++;
                    continue;
                }
                ck_assert_int_eq(st, HF_CONFLICT);
                ck_assert_int_eq(to, -1);
                ck_assert_ptr_nonnull(strstr(err.text, machine->name));
                ck_assert_ptr_nonnull(strstr(err.text, machine->happenings->items[o].text));
                ck_assert_ptr_nonnull(strstr(err.text, hf_machine_state_text(machine, from)));
            }
        }
        for (size_t i = 0; i < machine->count; i++)
            ck_assert_msg(taken[i] == 1, "%s: row %zu taken %d times", machine->name, i, taken[i]);
    }
}
END_TEST

/* Every row has a reason and known words; every happening and every state but "reserved" is used.
 */
START_TEST(tables_are_complete)
{
    size_t machines = 0;

    for (; hf_machine_at(machines); machines++) {
        const hf_machine *machine = hf_machine_at(machines);

        for (size_t i = 0; i < machine->count; i++) {
            const hf_machine_row *row = &machine->rows[i];

            ck_assert_int_eq(row->why[strlen(row->why) - 1], '.');
            ck_assert(row->from == 0 || hf_vocab_by_number(machine->states, row->from));
            ck_assert_ptr_nonnull(hf_vocab_by_number(machine->states, row->to));
            ck_assert_ptr_nonnull(hf_vocab_by_number(machine->happenings, row->on));
        }
        for (size_t o = 0; o < machine->happenings->count; o++) {
            int used = 0;

            for (size_t i = 0; i < machine->count; i++)
                used += machine->rows[i].on == machine->happenings->items[o].number;
            ck_assert_msg(used > 0, "%s", machine->happenings->items[o].name);
        }
        for (size_t s = 0; s < machine->states->count; s++) {
            int reached = 0;

            for (size_t i = 0; i < machine->count; i++)
                reached += machine->rows[i].to == machine->states->items[s].number;
            ck_assert_msg(reached > 0 || strcmp(machine->states->items[s].text, "reserved") == 0,
                          "%s", machine->states->items[s].name);
        }
    }
    ck_assert_uint_eq(machines, 8);
}
END_TEST

/* Nothing leaves a closed state except a repaired task; closed runs can only be archived. */
START_TEST(closed_states_stay_closed)
{
    static const struct {
        const hf_machine *machine;
        int state;
        int only; /* the one thing that may happen; 0: none */
    } rows[] = {
        {&hf_machine_run, HF_RUN_STATUS_COMPLETED, HF_RUN_ON_ARCHIVE},
        {&hf_machine_run, HF_RUN_STATUS_FAILED, HF_RUN_ON_ARCHIVE},
        {&hf_machine_run, HF_RUN_STATUS_CANCELLED, HF_RUN_ON_ARCHIVE},
        {&hf_machine_run, HF_RUN_STATUS_TERMINATED, HF_RUN_ON_ARCHIVE},
        {&hf_machine_task, HF_TASK_STATUS_COMPLETED, 0},
        {&hf_machine_task, HF_TASK_STATUS_CANCELLED, 0},
        {&hf_machine_task, HF_TASK_STATUS_FAILED, HF_TASK_ON_REPAIR},
        {&hf_machine_activity, HF_ACTIVITY_STATUS_COMPLETED, 0},
        {&hf_machine_activity, HF_ACTIVITY_STATUS_FAILED, 0},
        {&hf_machine_activity, HF_ACTIVITY_STATUS_CANCELLED, 0},
        {&hf_machine_attempt, HF_ATTEMPT_STATUS_EXPIRED, 0},
        {&hf_machine_attempt, HF_ATTEMPT_STATUS_COMPLETED, 0},
        {&hf_machine_timer, HF_TIMER_STATUS_FIRED, 0},
        {&hf_machine_timer, HF_TIMER_STATUS_CANCELLED, 0},
        {&hf_machine_signal, HF_SIGNAL_STATUS_APPLIED, 0},
        {&hf_machine_update, HF_UPDATE_STATUS_COMPLETED, 0},
        {&hf_machine_child, HF_CHILD_CALL_STATUS_ABANDONED, 0},
    };

    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        const hf_machine *machine = rows[r].machine;

        for (size_t i = 0; i < machine->count; i++) {
            if (machine->rows[i].from == rows[r].state)
                ck_assert_int_eq(machine->rows[i].on, rows[r].only);
        }
    }
}
END_TEST

/* A run: closed, its time, its reason and its marks go together. */
START_TEST(runs_are_checked)
{
    hf_run_facts open = {.status = HF_RUN_STATUS_WAITING, .started_at_us = 10, .paused = true};
    hf_run_facts closed = {.status = HF_RUN_STATUS_COMPLETED,
                           .closed_reason = HF_CLOSED_REASON_CONTINUED,
                           .started_at_us = 10,
                           .closed_at_us = 10,
                           .archived_at_us = 11};
    hf_run_facts facts;
    hf_err err = {0};

    ck_assert_int_eq(hf_run_check(&open, &err), HF_OK);
    ck_assert_int_eq(hf_run_check(&closed, &err), HF_OK);
    facts = open;
    facts.status = HF_RUN_STATUS_RESERVED;
    expect_corrupt(hf_run_check(&facts, &err), &err, "status of its own");
    facts = open;
    facts.started_at_us = 0;
    expect_corrupt(hf_run_check(&facts, &err), &err, "has a start");
    facts = open;
    facts.closed_at_us = 12;
    expect_corrupt(hf_run_check(&facts, &err), &err, "time of closing");
    facts = open;
    facts.closed_reason = HF_CLOSED_REASON_FAILED;
    expect_corrupt(hf_run_check(&facts, &err), &err, "closed reason");
    facts = open;
    facts.archived_at_us = 1;
    expect_corrupt(hf_run_check(&facts, &err), &err, "archived");
    facts = closed;
    facts.closed_at_us = 9;
    expect_corrupt(hf_run_check(&facts, &err), &err, "after its start");
    facts = closed;
    facts.closed_reason = HF_CLOSED_REASON_ABANDONED;
    expect_corrupt(hf_run_check(&facts, &err), &err, "closed reason");
    facts = closed;
    facts.paused = true;
    expect_corrupt(hf_run_check(&facts, &err), &err, "paused");
}
END_TEST

/* Which closed reason fits which status. */
START_TEST(closed_reasons_fit_statuses)
{
    static const int fits[][2] = {
        {HF_RUN_STATUS_COMPLETED, HF_CLOSED_REASON_COMPLETED},
        {HF_RUN_STATUS_COMPLETED, HF_CLOSED_REASON_CONTINUED},
        {HF_RUN_STATUS_FAILED, HF_CLOSED_REASON_FAILED},
        {HF_RUN_STATUS_FAILED, HF_CLOSED_REASON_TIMED_OUT},
        {HF_RUN_STATUS_CANCELLED, HF_CLOSED_REASON_CANCELLED},
        {HF_RUN_STATUS_TERMINATED, HF_CLOSED_REASON_TERMINATED},
    };

    for (int status = HF_RUN_STATUS_CANCELLED; status <= HF_RUN_STATUS_FAILED; status++) {
        for (int reason = 0; reason <= HF_CLOSED_REASON_ABANDONED; reason++) {
            hf_run_facts facts = {.status = (hf_run_status)status,
                                  .closed_reason = (hf_closed_reason)reason,
                                  .started_at_us = 1,
                                  .closed_at_us = 2};
            int fit = 0;

            for (size_t i = 0; i < sizeof(fits) / sizeof(fits[0]); i++)
                fit |= fits[i][0] == status && fits[i][1] == reason;
            ck_assert_int_eq(hf_run_check(&facts, NULL) == HF_OK, fit);
        }
    }
}
END_TEST

/* A task: leased if and only if owner and end of lease are set. */
START_TEST(tasks_are_checked)
{
    hf_task_facts facts;
    hf_err err = {0};

    for (int owner = 0; owner <= 1; owner++) {
        for (int lease = 0; lease <= 1; lease++) {
            for (int status = HF_TASK_STATUS_READY; status <= HF_TASK_STATUS_FAILED; status++) {
                bool leased = status == HF_TASK_STATUS_LEASED;

                facts = (hf_task_facts){.status = (hf_task_status)status,
                                        .has_owner = owner != 0,
                                        .lease_expires_us = lease * 100,
                                        .claims = 1};
                ck_assert_int_eq(hf_task_check(&facts, &err) == HF_OK,
                                 (owner != 0) == leased && (lease != 0) == leased);
            }
        }
    }
    facts = (hf_task_facts){.status = HF_TASK_STATUS_COMPLETED};
    expect_corrupt(hf_task_check(&facts, &err), &err, "claimed");
    facts = (hf_task_facts){.status = (hf_task_status)0};
    expect_corrupt(hf_task_check(&facts, &err), &err, "unknown");
}
END_TEST

/* An activity and its attempts. */
START_TEST(activities_are_checked)
{
    hf_activity_facts facts = {
        .status = HF_ACTIVITY_STATUS_RUNNING, .attempts = 1, .attempt_running = true};
    hf_err err = {0};

    ck_assert_int_eq(hf_activity_check(&facts, &err), HF_OK);
    facts.attempts = 0;
    expect_corrupt(hf_activity_check(&facts, &err), &err, "had an attempt");
    facts = (hf_activity_facts){.status = HF_ACTIVITY_STATUS_PENDING, .attempt_running = true};
    expect_corrupt(hf_activity_check(&facts, &err), &err, "if and only if the activity is");
    facts = (hf_activity_facts){.status = HF_ACTIVITY_STATUS_COMPLETED,
                                .attempts = 2,
                                .has_result = true,
                                .closed_at_us = 5};
    ck_assert_int_eq(hf_activity_check(&facts, &err), HF_OK);
    facts.has_result = false;
    expect_corrupt(hf_activity_check(&facts, &err), &err, "a result");
    facts.has_result = true;
    facts.closed_at_us = 0;
    expect_corrupt(hf_activity_check(&facts, &err), &err, "time of closing");
    facts.closed_at_us = 5;
    facts.has_failure = true;
    expect_corrupt(hf_activity_check(&facts, &err), &err, "a failure");
    facts = (hf_activity_facts){
        .status = HF_ACTIVITY_STATUS_FAILED, .has_failure = true, .closed_at_us = 5};
    ck_assert_int_eq(hf_activity_check(&facts, &err), HF_OK);
    facts.status = (hf_activity_status)77;
    expect_corrupt(hf_activity_check(&facts, &err), &err, "unknown");
}
END_TEST

START_TEST(attempts_are_checked)
{
    hf_attempt_facts running = {.status = HF_ATTEMPT_STATUS_RUNNING,
                                .number = 1,
                                .has_owner = true,
                                .lease_expires_us = 9,
                                .started_at_us = 5};
    hf_attempt_facts facts;
    hf_err err = {0};

    ck_assert_int_eq(hf_attempt_check(&running, &err), HF_OK);
    facts = running;
    facts.number = 0;
    expect_corrupt(hf_attempt_check(&facts, &err), &err, "from 1");
    facts = running;
    facts.started_at_us = 0;
    expect_corrupt(hf_attempt_check(&facts, &err), &err, "has a start");
    facts = running;
    facts.has_owner = false;
    expect_corrupt(hf_attempt_check(&facts, &err), &err, "owner");
    facts = running;
    facts.lease_expires_us = 0;
    expect_corrupt(hf_attempt_check(&facts, &err), &err, "end of lease");
    facts = running;
    facts.closed_at_us = 6;
    expect_corrupt(hf_attempt_check(&facts, &err), &err, "if and only if it is over");
    facts = running;
    facts.status = HF_ATTEMPT_STATUS_EXPIRED;
    expect_corrupt(hf_attempt_check(&facts, &err), &err, "if and only if it is over");
    facts.closed_at_us = 4;
    expect_corrupt(hf_attempt_check(&facts, &err), &err, "after its start");
    facts.closed_at_us = 5;
    ck_assert_int_eq(hf_attempt_check(&facts, &err), HF_OK);
    facts.status = (hf_attempt_status)0;
    expect_corrupt(hf_attempt_check(&facts, &err), &err, "unknown");
}
END_TEST

/* A timer never fires early. */
START_TEST(timers_are_checked)
{
    hf_timer_facts fired = {.status = HF_TIMER_STATUS_FIRED, .fire_at_us = 100, .fired_at_us = 100};
    hf_timer_facts facts = fired;
    hf_err err = {0};

    ck_assert_int_eq(hf_timer_check(&fired, &err), HF_OK);
    facts.fired_at_us = 99;
    expect_corrupt(hf_timer_check(&facts, &err), &err, "never fires early");
    facts.fired_at_us = 0;
    expect_corrupt(hf_timer_check(&facts, &err), &err, "if and only if it fired");
    facts = fired;
    facts.fire_at_us = 0;
    expect_corrupt(hf_timer_check(&facts, &err), &err, "due");
    facts = fired;
    facts.cancelled_at_us = 1;
    expect_corrupt(hf_timer_check(&facts, &err), &err, "cancelling");
    facts = (hf_timer_facts){
        .status = HF_TIMER_STATUS_CANCELLED, .fire_at_us = 100, .cancelled_at_us = 50};
    ck_assert_int_eq(hf_timer_check(&facts, &err), HF_OK);
    facts.cancelled_at_us = 0;
    expect_corrupt(hf_timer_check(&facts, &err), &err, "cancelling");
    facts.status = (hf_timer_status)0;
    expect_corrupt(hf_timer_check(&facts, &err), &err, "unknown");
}
END_TEST

/* Signals and updates: a refusal has a reason, an application a step or an answer. */
START_TEST(messages_are_checked)
{
    hf_signal_facts signal = {.status = HF_SIGNAL_STATUS_APPLIED, .command_sequence = 2, .step = 1};
    hf_update_facts update = {.status = HF_UPDATE_STATUS_COMPLETED,
                              .command_sequence = 1,
                              .has_result = true,
                              .closed_at_us = 3};
    hf_err err = {0};

    ck_assert_int_eq(hf_signal_check(&signal, &err), HF_OK);
    signal.step = 0;
    expect_corrupt(hf_signal_check(&signal, &err), &err, "a step");
    signal.command_sequence = 0;
    expect_corrupt(hf_signal_check(&signal, &err), &err, "command sequence");
    signal.status = HF_SIGNAL_STATUS_REJECTED;
    expect_corrupt(hf_signal_check(&signal, &err), &err, "a reason");
    signal.reason = HF_REJECTION_UNKNOWN_SIGNAL;
    ck_assert_int_eq(hf_signal_check(&signal, &err), HF_OK);
    signal.status = (hf_signal_status)0;
    expect_corrupt(hf_signal_check(&signal, &err), &err, "unknown");

    ck_assert_int_eq(hf_update_check(&update, &err), HF_OK);
    update.has_failure = true;
    expect_corrupt(hf_update_check(&update, &err), &err, "a failure");
    update.has_failure = false;
    update.closed_at_us = 0;
    expect_corrupt(hf_update_check(&update, &err), &err, "time of closing");
    update.has_result = false;
    expect_corrupt(hf_update_check(&update, &err), &err, "a result");
    update.command_sequence = 0;
    expect_corrupt(hf_update_check(&update, &err), &err, "command sequence");
    update = (hf_update_facts){.status = HF_UPDATE_STATUS_REJECTED, .closed_at_us = 1};
    expect_corrupt(hf_update_check(&update, &err), &err, "a reason");
    update.reason = HF_REJECTION_UNKNOWN_UPDATE;
    ck_assert_int_eq(hf_update_check(&update, &err), HF_OK);
    update.status = (hf_update_status)0;
    expect_corrupt(hf_update_check(&update, &err), &err, "unknown");
}
END_TEST

START_TEST(child_calls_are_checked)
{
    hf_child_facts facts = {.status = HF_CHILD_CALL_STATUS_COMPLETED,
                            .has_run = true,
                            .closed_reason = HF_CLOSED_REASON_COMPLETED,
                            .closed_at_us = 4};
    hf_err err = {0};

    ck_assert_int_eq(hf_child_check(&facts, &err), HF_OK);
    facts.closed_reason = (hf_closed_reason)0;
    expect_corrupt(hf_child_check(&facts, &err), &err, "closed reason");
    facts.closed_at_us = 0;
    expect_corrupt(hf_child_check(&facts, &err), &err, "time of closing");
    facts.has_run = false;
    expect_corrupt(hf_child_check(&facts, &err), &err, "has a run");
    facts = (hf_child_facts){.status = HF_CHILD_CALL_STATUS_SCHEDULED};
    ck_assert_int_eq(hf_child_check(&facts, &err), HF_OK);
    facts.has_run = true;
    expect_corrupt(hf_child_check(&facts, &err), &err, "has no run");
    facts = (hf_child_facts){.status = HF_CHILD_CALL_STATUS_FAILED,
                             .closed_reason = HF_CLOSED_REASON_FAILED,
                             .closed_at_us = 4};
    ck_assert_int_eq(hf_child_check(&facts, &err), HF_OK);
    facts.status = (hf_child_call_status)0;
    expect_corrupt(hf_child_check(&facts, &err), &err, "unknown");
}
END_TEST

HF_SUITE_MAIN("model/machine", {every_pair_is_decided, 0}, {tables_are_complete, 0},
              {closed_states_stay_closed, 0}, {runs_are_checked, 0},
              {closed_reasons_fit_statuses, 0}, {tasks_are_checked, 0}, {activities_are_checked, 0},
              {attempts_are_checked, 0}, {timers_are_checked, 0}, {messages_are_checked, 0},
              {child_calls_are_checked, 0})
