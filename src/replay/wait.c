/* wait.c: waits for time, signals and conditions. The rules: a signal that was received before the
   timeout fired wins, however late it is looked at; a fired timeout comes before the predicate; a
   predicate is never asked about a wait that history has resolved. */
#include <string.h>

#include "base/crypto.h"
#include "base/utf8.h"
#include "model/contract.h"
#include "model/name.h"
#include "replay/inside.h"

typedef struct waiting {
    hf_wait_opts options;
    int64_t timeout_us; /* HF_DECISION_NO_TIMEOUT: none */
} waiting;

static waiting wait_read(hf_replay *replay, const hf_wait_opts *o)
{
    waiting wait = {.timeout_us = HF_DECISION_NO_TIMEOUT};

    hf_in_options(replay, &wait.options, sizeof(wait.options), o);
    if (wait.options.timeout > hf_years(100))
        hf_in_misuse(replay, "invalid_options", "a wait times out within a hundred years");
    if (wait.options.timeout < 0)
        wait.timeout_us = 0;
    else if (wait.options.timeout > 0)
        wait.timeout_us = wait.options.timeout * 1000;
    if (wait.options.summary && !hf_utf8_valid(hf_slice_of(wait.options.summary)))
        hf_in_misuse(replay, "invalid_options", "the summary is not UTF-8");
    return wait;
}

static hf_decision_row *wait_decide(hf_replay *replay, hf_decision kind, const hf_record *record)
{
    return hf_in_decide(replay, kind, record->step, 1);
}

/* The timeout is no longer needed: its timer is cancelled, or not set at all when the wait was
   opened in this very turn. */
static void timer_drop(hf_replay *replay, const hf_record *record)
{
    if (record->timer == HF_RECORD_TIMER_SET)
        (void)wait_decide(replay, HF_DECISION_CANCEL_TIMER, record);
    for (size_t i = replay->decision_count; i > 0; i--) {
        hf_decision_row *row = &replay->decisions[i - 1];

        if (row->step == record->step && (row->kind == HF_DECISION_OPEN_SIGNAL_WAIT ||
                                          row->kind == HF_DECISION_OPEN_CONDITION_WAIT)) {
            row->wait.timeout_us = HF_DECISION_NO_TIMEOUT;
            return;
        }
    }
}

static void timer_consume(hf_replay *replay, const hf_record *record)
{
    if (record->timer == HF_RECORD_TIMER_FIRED && !record->timer_inline)
        hf_in_consume(replay, &record->fired);
}

/* ---- timers */

void hf_sleep(hf_ctx *w, hf_ms d)
{
    hf_replay *replay = hf_in_ready(w);
    const hf_want want = {.look = {.shape = HF_HISTORY_SHAPE_TIMER}};
    hf_record *record = NULL;
    hf_failure *failure;
    bool fresh = false;

    if (!replay)
        return;
    if (d > hf_years(100))
        hf_in_misuse(replay, "invalid_options", "a timer fires within a hundred years");
    failure = hf_in_enter(replay, &want, &record, &fresh);
    if (failure)
        hf_in_raise(replay, failure);
    if (fresh)
        hf_in_decide(replay, HF_DECISION_START_TIMER, record->step, d > 0 ? 1 : 2)->timer.delay_us =
            d > 0 ? d * 1000 : 0;
    if (!fresh || d > 0)
        failure = hf_in_await(replay, record, "timer", NULL);
    hf_in_pass(replay, record);
    if (failure)
        hf_in_raise(replay, failure);
}

/* ---- signals */

static hf_value signal_value(hf_replay *replay, const hf_stored *arguments)
{
    return arguments->form ? hf_contract_received(hf_in_value(replay, arguments))
                           : hf_value_bool(true);
}

static hf_signal_fact *signal_oldest(const hf_replay *replay, const char *name)
{
    const hf_list *queue = &replay->history.signals;

    for (hf_list *link = hf_list_first(queue); link; link = hf_list_next(queue, link)) {
        hf_signal_fact *signal = HF_LIST_ENTRY(link, hf_signal_fact, link);

        if (!signal->taken && signal->name && strcmp(signal->name, name) == 0)
            return signal;
    }
    return NULL;
}

static hf_value signal_recorded(hf_replay *replay, hf_record *record)
{
    hf_value value;

    hf_in_updates_recorded(replay, replay->history.entered, record->ended.seq);
    hf_in_consume(replay, &record->signal->fact);
    value = record->value.form ? hf_in_value(replay, &record->value)
                               : signal_value(replay, &record->signal->arguments);
    hf_in_pass(replay, record);
    return value;
}

static hf_value signal_take(hf_replay *replay, hf_record *record, hf_signal_fact *signal)
{
    hf_value value = signal_value(replay, &signal->arguments);
    hf_decision_row *row;

    hf_in_updates_recorded(replay, record->step, INT64_MAX);
    timer_drop(replay, record);
    row = wait_decide(replay, HF_DECISION_APPLY_SIGNAL, record);
    replay->events++; /* the message cursor moves too */
    row->name = hf_in_text(replay, signal->name);
    row->value = hf_in_payload(replay, value);
    row->fact.seq = signal->fact.seq;
    signal->taken = true;
    hf_in_consume(replay, &signal->fact);
    hf_in_pass(replay, record);
    return value;
}

/* Whether the timeout is what ended the wait. Where history has a later step it did: nothing else
   can have led there. A timeout of zero was only recorded because no signal was there. */
static bool signal_timed_out(const hf_replay *replay, const hf_record *record,
                             const hf_signal_fact *signal)
{
    if (record->timer != HF_RECORD_TIMER_FIRED || !hf_in_visible(replay, &record->fired))
        return false;
    return record->timer_inline || replay->history.top > record->step || !signal ||
           signal->fact.seq > record->fired.seq;
}

static hf_value signal_await(hf_replay *replay, const char *name, int64_t timeout_us,
                             hf_record *record, hf_failure **out_failure)
{
    for (;;) {
        hf_signal_fact *signal = signal_oldest(replay, name);
        bool timed_out;

        if (record->signal && hf_in_visible(replay, &record->ended))
            return signal_recorded(replay, record);
        timed_out = signal_timed_out(replay, record, signal);
        if (!timed_out && signal && !replay->frozen && !hf_in_cancel_waits(replay))
            return signal_take(replay, record, signal);
        if (!timed_out && !signal && timeout_us == 0 && !hf_in_cancel_waits(replay))
            timed_out = true;
        if (timed_out) {
            hf_in_updates_recorded(replay, record->step,
                                   record->fired.seq ? record->fired.seq : INT64_MAX);
            timer_consume(replay, record);
            record->timed_out = true;
            hf_in_pass(replay, record);
            return NULL;
        }
        *out_failure = hf_in_round(replay);
        if (*out_failure) {
            hf_in_pass(replay, record);
            return NULL;
        }
        hf_in_park(replay, "signal", name);
    }
}

/* Signals that are not declared are refused, so waiting for one would be for ever. What an earlier
   program waited for is on the record and stays. */
static void signal_check(hf_replay *replay, const char *name)
{
    const hf_signal_def *signal = replay->info.definition->signals;
    const hf_record *record = hf_history_get(&replay->history, replay->history.entered + 1);

    while (signal && signal->name && strcmp(signal->name, name) != 0)
        signal++;
    if ((signal && signal->name) ||
        (record && record->recorded.shape == HF_HISTORY_SHAPE_SIGNAL_WAIT &&
         record->recorded.name && strcmp(record->recorded.name, name) == 0))
        return;
    hf_in_misuse(replay, "undeclared_signal",
                 "%s waits for the signal %s, which it does not declare: none can come",
                 replay->info.definition->type, name);
}

hf_value hf_receive_with(hf_ctx *w, const char *signal, const hf_wait_opts *o)
{
    hf_replay *replay = hf_in_ready(w);
    hf_want want = {.look = {.shape = HF_HISTORY_SHAPE_SIGNAL_WAIT}};
    hf_record *record = NULL;
    hf_failure *failure = NULL;
    hf_value value;
    waiting wait;
    bool fresh = false;

    if (!replay)
        return NULL;
    hf_in_name(replay, HF_NAME_SIGNAL, signal);
    signal_check(replay, signal);
    wait = wait_read(replay, o);
    want.look.name = (char *)(uintptr_t)signal;
    want.at = wait.options.at_;
    failure = hf_in_enter(replay, &want, &record, &fresh);
    if (failure)
        hf_in_raise(replay, failure);
    if (fresh) {
        hf_decision_row *row = wait_decide(replay, HF_DECISION_OPEN_SIGNAL_WAIT, record);

        row->name = hf_in_text(replay, signal);
        row->wait.timeout_us = wait.timeout_us;
        replay->events += wait.timeout_us >= 0;
    }
    value = signal_await(replay, signal, wait.timeout_us, record, &failure);
    if (failure)
        hf_in_raise(replay, failure);
    return value;
}

/* ---- conditions */

static char *fingerprint_make(hf_replay *replay, const char *revision)
{
    char text[HF_SHA256_TEXT_SIZE];
    uint8_t digest[HF_SHA256_BYTES];
    hf_status st = HF_OK;
    char *made;

    if (!revision)
        return NULL;
    if (!replay->sha)
        st = hf_sha256_new(&replay->sha, &replay->failure);
    if (!st)
        st = hf_sha256_digest(replay->sha, hf_slice_of(revision), digest, &replay->failure);
    if (st)
        hf_in_leave(replay, HF_LEAVE_BROKEN);
    hf_hex_print(hf_slice_from(digest, sizeof(digest)), text);
    made = hf_mem_format(replay->turn, "sha256:%s", text);
    if (!made)
        hf_in_break(replay, HF_NOMEM, "a fingerprint");
    return made;
}

static bool predicate_holds(hf_replay *replay, hf_predicate *predicate)
{
    hf_place place = replay->place;
    bool holds;

    replay->place = HF_PLACE_PREDICATE;
    holds = predicate(replay->state);
    replay->place = place;
    return holds;
}

static bool condition_end(hf_replay *replay, hf_record *record, hf_decision kind)
{
    hf_in_updates_recorded(replay, record->step, INT64_MAX);
    if (kind == HF_DECISION_SATISFY_CONDITION)
        timer_drop(replay, record);
    (void)wait_decide(replay, kind, record);
    timer_consume(replay, record);
    hf_in_pass(replay, record);
    return kind == HF_DECISION_SATISFY_CONDITION;
}

static bool condition_await(hf_replay *replay, hf_predicate *predicate, const char *key,
                            int64_t timeout_us, hf_record *record, hf_failure **out_failure)
{
    for (;;) {
        if (hf_in_ended(replay, record)) {
            bool held = record->end == HF_RECORD_VALUE;

            hf_in_updates_recorded(replay, replay->history.entered, record->ended.seq);
            if (!held)
                timer_consume(replay, record);
            hf_in_pass(replay, record);
            return held;
        }
        if (record->timer == HF_RECORD_TIMER_FIRED && !replay->frozen &&
            !hf_in_cancel_waits(replay))
            return condition_end(replay, record, HF_DECISION_TIME_OUT_CONDITION);
        *out_failure = hf_in_round(replay);
        if (*out_failure) {
            hf_in_pass(replay, record);
            return false;
        }
        if (!replay->frozen && predicate_holds(replay, predicate))
            return condition_end(replay, record, HF_DECISION_SATISFY_CONDITION);
        if (timeout_us == 0 && !replay->frozen)
            return condition_end(replay, record, HF_DECISION_TIME_OUT_CONDITION);
        hf_in_park(replay, "condition", key);
    }
}

bool hf_wait_with(hf_ctx *w, const char *key, hf_predicate *p, const hf_wait_opts *o)
{
    hf_replay *replay = hf_in_ready(w);
    hf_want want = {.look = {.shape = HF_HISTORY_SHAPE_CONDITION_WAIT}};
    hf_record *record = NULL;
    hf_failure *failure = NULL;
    waiting wait;
    bool fresh = false;
    bool held;

    if (!replay)
        return false;
    if (key)
        hf_in_name(replay, HF_NAME_CONDITION_KEY, key);
    if (!p)
        hf_in_misuse(replay, "invalid_call", "a condition wait needs a predicate");
    wait = wait_read(replay, o);
    want.look.name = (char *)(uintptr_t)key;
    want.look.fingerprint = fingerprint_make(replay, wait.options.revision);
    want.at = wait.options.at_;
    failure = hf_in_enter(replay, &want, &record, &fresh);
    if (failure)
        hf_in_raise(replay, failure);
    if (fresh) {
        hf_decision_row *row = wait_decide(replay, HF_DECISION_OPEN_CONDITION_WAIT, record);

        row->name = hf_in_text(replay, key);
        row->wait.timeout_us = wait.timeout_us;
        row->wait.fingerprint = hf_in_text(replay, want.look.fingerprint);
        replay->events += wait.timeout_us >= 0;
    }
    held = condition_await(replay, p, key, wait.timeout_us, record, &failure);
    if (failure)
        hf_in_raise(replay, failure);
    return held;
}
