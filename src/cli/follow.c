/* follow.c: see follow.h. */
#include "cli/follow.h"

#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/thread.h"
#include "base/value.h"
#include "cli/input.h"
#include "cli/stop.h"
#include "server/payload.h"

enum {
    FIRST_MS = 20,
    LONGEST_MS = 500,
    REPEAT_MS = 1000,
    SERVER_MS = 20000, /* that a server is asked to wait */
    SERVER_LEAST_MS = 1000,
    AT_ONCE_US = 10000
};

hf_status hf_cli_timeout(const hf_cli_call *call, int64_t *out_ms, hf_err *err)
{
    const char *text = call->flags[HF_CLI_FLAG_TIMEOUT];

    *out_ms = -1;
    return text ? hf_cli_duration(text, out_ms, err) : HF_OK;
}

/* The row, or the whole run when a certain one is meant. */
static hf_status run_look(hf_cli_target *target, const hf_cli_aim *aim, hf_mem *mem,
                          hf_value *out_row, hf_err *err)
{
    return aim->run_id ? hf_cli_target_run(target, aim, mem, out_row, err)
                       : hf_cli_target_row(target, aim->id, mem, out_row, err);
}

static bool row_same(hf_value a, hf_value b)
{
    static const char *const keys[] = {"run_id", "status", "history_event_count",
                                       "last_history_sequence", "wait_kind"};

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (!hf_value_equal(hf_get(a, keys[i]), hf_get(b, keys[i])))
            return false;
    return true;
}

/* Somebody who follows a run. */
typedef struct follower {
    hf_cli_target *target;
    const hf_cli_aim *aim;
    hf_cli_target *waits; /* a server is asked to answer when there is news; NULL: a store is not */
    hf_thread stopper;    /* ends that wait at Ctrl-C */
    int64_t wait_ms;      /* until the next look, when nobody tells of news */
    hf_mem *looks[2];     /* this look and the one before */
} follower;

static void stopper_run(void *ctx)
{
    (void)hf_cli_stop_wait(-1);
    hf_cli_target_stop(ctx);
}

/* Waits a while, longer each time. */
static hf_status pause_make(follower *f, int64_t left_ms, hf_err *err)
{
    int64_t ms = left_ms >= 0 && left_ms < f->wait_ms ? left_ms + 1 : f->wait_ms;

    f->wait_ms = f->wait_ms * 2 > LONGEST_MS ? LONGEST_MS : f->wait_ms * 2;
    if (f->waits)
        return hf_cli_target_pause(f->waits, ms, err);
    return hf_cli_stop_wait(ms) ? HF_CANCELLED : HF_OK;
}

/* Until there is news, or it is time to look again. */
static hf_status news_await(follower *f, hf_value row, int64_t left_ms, hf_mem *mem, hf_err *err)
{
    int64_t began_us = hf_clock_mono_us(hf_clock_system());
    hf_status st = HF_OK;

    if (f->waits && (left_ms < 0 || left_ms > SERVER_LEAST_MS))
        st =
            hf_cli_target_await(f->waits, f->aim->id, row,
                                left_ms < 0 || left_ms > SERVER_MS ? SERVER_MS : left_ms, mem, err);
    if (st == HF_BUSY) /* too many wait there already */
        st = HF_OK;
    /* A server that answers at once has nothing to say or cannot wait. */
    if (!st && hf_clock_mono_us(hf_clock_system()) - began_us < AT_ONCE_US)
        st = pause_make(f, left_ms, err);
    return st == HF_CANCELLED
               ? hf_err_set(err, HF_CANCELLED, "stopped watching; %s goes on", f->aim->id)
               : st;
}

static hf_status follow(follower *f, int64_t timeout_ms, hf_cli_follow_fn *changed, void *ctx,
                        hf_err *err)
{
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + timeout_ms * 1000;
    hf_value before = NULL;

    for (int turn = 0;; turn = !turn) {
        int64_t left_ms = -1;
        hf_value row = NULL;
        hf_status st;

        hf_mem_reset(f->looks[turn]);
        st = run_look(f->target, f->aim, f->looks[turn], &row, err);
        if (!st && (!before || !row_same(before, row))) {
            f->wait_ms = FIRST_MS;
            st = changed ? changed(ctx, row, err) : HF_OK;
        }
        if (st || hf_bool(row, "is_terminal", false))
            return st;
        if (timeout_ms >= 0)
            left_ms = (until_us - hf_clock_mono_us(hf_clock_system())) / 1000;
        if (timeout_ms >= 0 && left_ms <= 0) {
            hf_cli_call *call = hf_cli_target_call(f->target);

            call->next = hf_mem_format(call->mem, "holdfast why %s {here}", f->aim->id);
            return hf_err_set(err, HF_TIMEOUT, "%s is still %s", f->aim->id,
                              hf_str(row, "status", "open"));
        }
        st = news_await(f, row, left_ms, f->looks[turn], err);
        if (st)
            return st;
        before = row;
    }
}

static hf_status follower_begin(follower *f, hf_err *err)
{
    hf_status st = HF_OK;

    f->looks[0] = hf_mem_new();
    f->looks[1] = hf_mem_new();
    if (!f->looks[0] || !f->looks[1])
        return hf_err_nomem(err, "a run");
    if (hf_cli_target_is_server(f->target))
        st = hf_cli_target_open(hf_cli_target_call(f->target), false, &f->waits, err);
    if (!st && f->waits)
        st = hf_thread_start(&f->stopper, "hf-stop", stopper_run, f->waits, err);
    return st;
}

hf_status hf_cli_follow(hf_cli_target *target, const hf_cli_aim *aim, int64_t timeout_ms,
                        hf_cli_follow_fn *changed, void *ctx, hf_err *err)
{
    follower f = {.target = target, .aim = aim, .wait_ms = FIRST_MS};
    hf_cli_stop old;
    hf_status st = hf_cli_stop_catch(&old, err);

    if (st)
        return st;
    st = follower_begin(&f, err);
    if (!st)
        st = follow(&f, timeout_ms, changed, ctx, err);
    if (f.stopper.started)
        hf_cli_stop_now();
    hf_thread_join(&f.stopper);
    hf_cli_stop_release(&old);
    hf_cli_target_close(f.waits);
    hf_mem_free(f.looks[0]);
    hf_mem_free(f.looks[1]);
    return st;
}

/* The pause between two looks; false: it is over. */
static bool repeat_pause(hf_cli_target *target)
{
    return target ? !hf_cli_target_pause(target, REPEAT_MS, NULL) : !hf_cli_stop_wait(REPEAT_MS);
}

hf_status hf_cli_repeat(hf_cli_target *target, hf_status (*look)(void *ctx, hf_err *err), void *ctx,
                        hf_err *err)
{
    hf_cli_target *waits = target && hf_cli_target_is_server(target) ? target : NULL;
    hf_thread stopper = {0};
    hf_cli_stop old;
    hf_status st = hf_cli_stop_catch(&old, err);

    if (st)
        return st;
    if (waits)
        st = hf_thread_start(&stopper, "hf-stop", stopper_run, waits, err);
    while (!st) {
        st = look(ctx, err);
        if (!st && !repeat_pause(waits))
            break;
    }
    if (st == HF_CANCELLED && waits && hf_cli_target_pause(waits, 0, NULL))
        st = HF_OK; /* told to stop while a server was asked */
    if (stopper.started)
        hf_cli_stop_now();
    hf_thread_join(&stopper);
    hf_cli_stop_release(&old);
    return st;
}

/* The failure that closed the run, which is the last one. */
static hf_value failure_find(hf_value run)
{
    hf_value all = hf_get(run, "exceptions");

    return hf_len(all) ? hf_at(all, hf_len(all) - 1) : NULL;
}

static hf_status failed_print(hf_cli_call *call, hf_value run, hf_err *err)
{
    hf_value failure = failure_find(run);
    const char *status = hf_str(run, "status", "failed");
    const char *reason = hf_str(run, "closed_reason", status);
    const char *message = hf_str(failure, "message", hf_str(run, "why.text", reason));

    if (call->print.format == HF_CLI_JSON || call->print.format == HF_CLI_JSONL)
        return hf_cli_print_value(
            call->print.out,
            hf_json_(call->mem,
                     "{'workflow_id': %s, 'run_id': %s, 'status': %s, 'closed_reason': %s, "
                     "'failure': {'type': %p, 'message': %s}}",
                     hf_str(run, "workflow_id", ""), hf_str(run, "run_id", ""), status, reason,
                     (const void *)hf_get(failure, "exception_type"), message),
            err);
    hf_cli_print_text(call->print.err, hf_str(run, "workflow_id", ""));
    (void)fprintf(call->print.err, " %s: ", reason);
    if (hf_str(failure, "exception_type", NULL)) {
        hf_cli_print_text(call->print.err, hf_str(failure, "exception_type", ""));
        (void)fputs(": ", call->print.err);
    }
    hf_cli_print_text(call->print.err, message);
    (void)fputc('\n', call->print.err);
    return HF_OK;
}

hf_status hf_cli_end_print(hf_cli_target *target, const hf_cli_aim *aim, hf_err *err)
{
    hf_cli_call *call = hf_cli_target_call(target);
    hf_value run = NULL;
    hf_value output = NULL;
    const char *status;
    hf_status st = hf_cli_target_run(target, aim, call->mem, &run, err);

    if (st)
        return st;
    status = hf_str(run, "status", "");
    if (strcmp(status, "completed") != 0) {
        call->exit = strcmp(status, "failed") == 0 &&
                             strcmp(hf_str(run, "closed_reason", ""), "timed_out") != 0
                         ? HF_CLI_EXIT_RUN_FAILED
                         : HF_CLI_EXIT_RUN_STOPPED;
        return failed_print(call, run, err);
    }
    st = hf_payload_open(call->mem, hf_get(run, "output"), &output, err);
    if (!st && call->print.format != HF_CLI_NONE)
        st = hf_cli_print_value(call->print.out, output ? output : hf_value_null(), err);
    return st;
}
