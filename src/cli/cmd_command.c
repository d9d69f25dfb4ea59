/* cmd_command.c: the verbs that tell workflows something: start, signal, update, query, the orders
   cancel, terminate, repair, archive, pause and resume, and the copies fork and reset. */
#include <string.h>

#include "base/err.h"
#include "base/value.h"
#include "cli/follow.h"
#include "cli/input.h"
#include "cli/noun.h"
#include "cli/target.h"

enum { UPDATE_WAIT_MAX_S = 60, UPDATE_WAIT_S = 10 };

static const hf_cli_column command_columns[] = {{"workflow_id", 26, false},
                                                {"outcome", 24, false},
                                                {"run_id", 26, false},
                                                {"command_id", 0, false},
                                                {NULL, 0, false}};

/* A duration of a flag in whole seconds, rounded up. */
static hf_status seconds_set(hf_cli_call *call, hf_value_list *request, const char *name,
                             hf_cli_flag_id flag, hf_err *err)
{
    int64_t ms = 0;
    hf_status st;

    if (!call->flags[flag])
        return HF_OK;
    st = hf_cli_duration(call->flags[flag], &ms, err);
    if (!st)
        hf_value_set(request, hf_slice_of(name), hf_value_int(call->mem, (ms + 999) / 1000));
    return st;
}

static hf_status envelope_print(hf_cli_call *call, hf_value envelope, hf_err *err)
{
    if (call->print.format == HF_CLI_JSON)
        return hf_cli_print_value(call->print.out, envelope, err);
    return hf_cli_print_row(&call->print, command_columns, envelope, err);
}

/* ---- start */

static hf_status keys_set(hf_cli_call *call, hf_value_list *request, hf_err *err)
{
    static const struct {
        const char *name;
        hf_cli_flag_id flag;
        bool number;
    } keys[] = {{"correlation_key", HF_CLI_FLAG_CORRELATION_KEY, false},
                {"correlation_scope", HF_CLI_FLAG_CORRELATION_SCOPE, false},
                {"priority", HF_CLI_FLAG_PRIORITY, true},
                {"concurrency_key", HF_CLI_FLAG_CONCURRENCY_KEY, false},
                {"rate_limit", HF_CLI_FLAG_RATE_LIMIT, false},
                {"weight", HF_CLI_FLAG_WEIGHT, true}};
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < sizeof(keys) / sizeof(keys[0]); i++) {
        int64_t number = 0;

        if (!keys[i].number)
            hf_cli_text_set(call, request, keys[i].name, call->flags[keys[i].flag]);
        else
            st = hf_cli_count(call, keys[i].flag, 0, &number, err);
        if (!st && number)
            hf_value_set(request, hf_slice_of(keys[i].name), hf_value_int(call->mem, number));
    }
    return st;
}

static hf_status start_request(hf_cli_call *call, hf_value *out_request, hf_err *err)
{
    hf_value_list *request = hf_value_object(call->mem);
    const char *dup = call->flags[HF_CLI_FLAG_DUP];
    hf_value input = NULL;
    hf_value labels = NULL;
    hf_status st = hf_cli_input(call, 1, &input, err);

    if (!st && call->flags[HF_CLI_FLAG_LABEL])
        st = hf_cli_pairs(call->mem, call->flags[HF_CLI_FLAG_LABEL], &labels, err);
    hf_cli_text_set(call, request, "workflow_type", call->args[0]);
    hf_cli_text_set(call, request, "workflow_id", call->flags[HF_CLI_FLAG_ID]);
    hf_cli_text_set(call, request, "task_queue", call->flags[HF_CLI_FLAG_QUEUE]);
    hf_cli_text_set(call, request, "business_key", call->flags[HF_CLI_FLAG_BUSINESS_KEY]);
    hf_cli_text_set(call, request, "request_id", call->flags[HF_CLI_FLAG_DEDUP]);
    if (dup)
        hf_cli_text_set(call, request, "duplicate_policy",
                        strcmp(dup, "existing") == 0 ? "use-existing" : "fail");
    if (input)
        hf_value_set(request, HF_SLICE("input"), input);
    if (labels)
        hf_value_set(request, HF_SLICE("labels"), labels);
    if (!st)
        st = seconds_set(call, request, "execution_timeout_seconds", HF_CLI_FLAG_EXECUTION_TIMEOUT,
                         err);
    if (!st)
        st = seconds_set(call, request, "run_timeout_seconds", HF_CLI_FLAG_RUN_TIMEOUT, err);
    if (!st)
        st = seconds_set(call, request, "delay_seconds", HF_CLI_FLAG_DELAY, err);
    if (!st)
        st = keys_set(call, request, err);
    *out_request = hf_value_finish(request);
    return st ? st : *out_request ? HF_OK : hf_err_nomem(err, "a command");
}

/* Waits for what was started and prints how it ended. */
static hf_status start_wait(hf_cli_target *target, hf_value envelope, hf_err *err)
{
    const hf_cli_aim aim = {.id = hf_str(envelope, "workflow_id", "")};
    int64_t timeout_ms;
    hf_status st = hf_cli_timeout(hf_cli_target_call(target), &timeout_ms, err);

    if (!st)
        st = hf_cli_follow(target, &aim, timeout_ms, NULL, NULL, err);
    return st ? st : hf_cli_end_print(target, &aim, err);
}

hf_status hf_cli_start(hf_cli_call *call, hf_err *err)
{
    hf_cli_target *target = NULL;
    hf_value envelope = NULL;
    hf_value request = NULL;
    hf_status st = start_request(call, &request, err);

    if (!st)
        st = hf_cli_target_open(call, true, &target, err);
    if (!st)
        st = hf_cli_target_command(target, "start", request, call->mem, &envelope, err);
    if (!st && call->flags[HF_CLI_FLAG_WAIT])
        st = start_wait(target, envelope, err);
    else if (!st)
        st = envelope_print(call, envelope, err);
    hf_cli_target_close(target);
    return st;
}

/* ---- signal, update, query */

/* ID, name and arguments of a message. */
static hf_status message_request(hf_cli_target *target, hf_value *out_request, hf_err *err)
{
    hf_cli_call *call = hf_cli_target_call(target);
    hf_value_list *request = hf_value_object(call->mem);
    hf_value input = NULL;
    hf_cli_aim aim = {0};
    hf_status st = hf_cli_input(call, 2, &input, err);

    if (!st)
        st = hf_cli_target_aim(target, call->args[0], &aim, err);
    if (!st)
        st = seconds_set(call, request, "wait_timeout_seconds", HF_CLI_FLAG_TIMEOUT, err);
    if (st)
        return st;
    hf_cli_text_set(call, request, "workflow_id", aim.id);
    hf_cli_text_set(call, request, "run_id", aim.run_id);
    hf_cli_text_set(call, request, "name", call->args[1]);
    hf_cli_text_set(call, request, "request_id", call->flags[HF_CLI_FLAG_DEDUP]);
    hf_cli_text_set(call, request, "wait_for", call->flags[HF_CLI_FLAG_WAIT_FOR]);
    hf_cli_text_set(call, request, "reason", call->flags[HF_CLI_FLAG_REASON]);
    if (input)
        hf_value_set(request, HF_SLICE("arguments"), input);
    *out_request = hf_value_finish(request);
    return *out_request ? HF_OK : hf_err_nomem(err, "a command");
}

static hf_status message_send(hf_cli_target *target, const char *command, hf_value *out_envelope,
                              hf_err *err)
{
    hf_value request = NULL;
    hf_status st = message_request(target, &request, err);

    return st ? st
              : hf_cli_target_command(target, command, request, hf_cli_target_call(target)->mem,
                                      out_envelope, err);
}

hf_status hf_cli_signal(hf_cli_call *call, hf_err *err)
{
    hf_cli_target *target = NULL;
    hf_value envelope = NULL;
    hf_status st = hf_cli_target_open(call, true, &target, err);

    if (!st)
        st = message_send(target, "signal", &envelope, err);
    if (!st)
        st = envelope_print(call, envelope, err);
    hf_cli_target_close(target);
    return st;
}

/* What an update came to: its result, its failure, or that it goes on. */
static hf_status update_print(hf_cli_call *call, hf_value envelope, hf_err *err)
{
    const char *outcome = hf_str(envelope, "outcome", "");
    bool whole = call->print.format == HF_CLI_JSON || call->print.format == HF_CLI_JSONL;
    hf_value result = hf_get(envelope, "result");

    if (whole && hf_cli_print_value(call->print.out, envelope, err))
        return HF_NOMEM;
    if (strcmp(outcome, "update_failed") == 0) {
        call->exit = HF_CLI_EXIT_FAILED;
        return whole
                   ? HF_OK
                   : hf_err_set(err, HF_ERROR, "%s: %s", hf_str(envelope, "failure_type", "error"),
                                hf_str(envelope, "failure_message",
                                       hf_str(envelope, "message", "the update failed")));
    }
    if (hf_bool(envelope, "wait_timed_out", false))
        return hf_err_set(err, HF_TIMEOUT, "the update is accepted and not answered yet");
    if (whole || call->print.format == HF_CLI_NONE)
        return HF_OK;
    if (strcmp(outcome, "update_completed") == 0)
        return hf_cli_print_value(call->print.out, result ? result : hf_value_null(), err);
    return envelope_print(call, envelope, err);
}

hf_status hf_cli_update(hf_cli_call *call, hf_err *err)
{
    hf_cli_target *target = NULL;
    hf_value envelope = NULL;
    hf_status st = hf_cli_target_open(call, true, &target, err);

    if (!st)
        st = message_send(target, "update", &envelope, err);
    if (!st)
        st = update_print(call, envelope, err);
    hf_cli_target_close(target);
    return st;
}

hf_status hf_cli_query(hf_cli_call *call, hf_err *err)
{
    hf_cli_target *target = NULL;
    hf_value input = NULL;
    hf_value result = NULL;
    hf_cli_aim aim = {0};
    hf_status st = hf_cli_input(call, 2, &input, err);

    if (!st)
        st = hf_cli_target_open(call, true, &target, err);
    if (!st)
        st = hf_cli_target_aim(target, call->args[0], &aim, err);
    if (!st)
        st = hf_cli_target_query(target, &aim, call->args[1], input, call->mem, &result, err);
    if (!st && call->print.format != HF_CLI_NONE)
        st = hf_cli_print_value(call->print.out, result ? result : hf_value_null(), err);
    hf_cli_target_close(target);
    return st;
}

/* ---- orders */

static hf_status order_send(hf_cli_target *target, const char *name, hf_value *out_envelope,
                            hf_err *err)
{
    hf_cli_call *call = hf_cli_target_call(target);
    hf_value_list *request = hf_value_object(call->mem);
    hf_cli_aim aim = {0};
    hf_status st = hf_cli_target_aim(target, name, &aim, err);

    if (st)
        return st;
    hf_cli_text_set(call, request, "workflow_id", aim.id);
    hf_cli_text_set(call, request, "run_id", aim.run_id);
    hf_cli_text_set(call, request, "reason", call->flags[HF_CLI_FLAG_REASON]);
    hf_cli_text_set(call, request, "request_id", call->flags[HF_CLI_FLAG_DEDUP]);
    if (call->flags[HF_CLI_FLAG_CLEANUP])
        hf_value_set(request, HF_SLICE("cleanup"), hf_value_bool(true));
    return hf_cli_target_command(target, call->command->name, hf_value_finish(request), call->mem,
                                 out_envelope, err);
}

/* What would be told what: the run, and how it stands. */
static hf_status order_rehearse(hf_cli_target *target, const char *name, hf_value *out_row,
                                hf_err *err)
{
    hf_cli_call *call = hf_cli_target_call(target);
    hf_cli_aim aim = {0};
    hf_value run = NULL;
    hf_status st = hf_cli_target_aim(target, name, &aim, err);

    if (!st)
        st = aim.run_id ? hf_cli_target_run(target, &aim, call->mem, &run, err)
                        : hf_cli_target_row(target, aim.id, call->mem, &run, err);
    if (st)
        return st;
    *out_row =
        hf_json_(call->mem,
                 "{'workflow_id': %s, 'outcome': 'would_%s', 'run_id': %s, 'command_id': "
                 "null, 'status': %s}",
                 aim.id, call->command->name, hf_str(run, "run_id", ""), hf_str(run, "status", ""));
    return *out_row ? HF_OK : hf_err_nomem(err, "a row");
}

/* One row for what was refused, so that nobody has to guess which. */
static hf_status order_failed(hf_cli_call *call, const char *name, hf_status st, const hf_err *why,
                              hf_value_list *list, hf_err *err)
{
    hf_value row = hf_json_(call->mem,
                            "{'workflow_id': %s, 'outcome': %s, 'run_id': null, 'command_id': "
                            "null, 'message': %s}",
                            name, hf_strstatus(st), hf_cli_utf8(call->mem, why->text));

    (void)fputs("error: ", call->print.err);
    hf_cli_print_text(call->print.err, name);
    (void)fputs(": ", call->print.err);
    hf_cli_print_text(call->print.err, why->text);
    (void)fputc('\n', call->print.err);
    hf_value_append(list, row);
    return call->print.format == HF_CLI_JSON
               ? HF_OK
               : hf_cli_print_row(&call->print, command_columns, row, err);
}

/* The order to each of them; the first failure ends it only when it stands alone. */
static hf_status orders_send(hf_cli_target *target, hf_value_list *list, hf_err *err)
{
    hf_cli_call *call = hf_cli_target_call(target);
    hf_status worst = HF_OK;
    size_t refused = 0;
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < call->word_count; i++) {
        hf_value envelope = NULL;
        hf_status sent = call->flags[HF_CLI_FLAG_DRY_RUN]
                             ? order_rehearse(target, call->words[i], &envelope, err)
                             : order_send(target, call->words[i], &envelope, err);

        if (sent && (call->word_count == 1 || sent == HF_UNREACHABLE || sent == HF_NOMEM))
            return sent;
        if (sent) {
            const hf_err why = *err;

            refused++;
            worst = sent;
            st = order_failed(call, call->words[i], sent, &why, list, err);
            continue;
        }
        hf_value_append(list, envelope);
        if (call->print.format != HF_CLI_JSON)
            st = hf_cli_print_row(&call->print, command_columns, envelope, err);
    }
    if (refused)
        call->exit = refused < call->word_count ? HF_CLI_EXIT_PARTLY : hf_cli_exit_of(worst);
    return st;
}

hf_status hf_cli_order(hf_cli_call *call, hf_err *err)
{
    hf_value_list *list = hf_value_array(call->mem);
    hf_cli_target *target = NULL;
    hf_value all;
    hf_status st = HF_OK;

    if (strcmp(call->command->name, "terminate") == 0 && !call->flags[HF_CLI_FLAG_REASON])
        return hf_err_set(err, HF_INVALID, "terminate needs a --reason: nothing is cleaned up");
    st = hf_cli_target_open(call, !call->flags[HF_CLI_FLAG_DRY_RUN], &target, err);
    if (!st)
        st = orders_send(target, list, err);
    hf_cli_target_close(target);
    if (st || call->print.format != HF_CLI_JSON)
        return st;
    all = hf_value_finish(list);
    return hf_cli_print_value(call->print.out, call->word_count == 1 ? hf_at(all, 0) : all, err);
}

/* ---- copies */

hf_status hf_cli_copy(hf_cli_call *call, hf_err *err)
{
    hf_value_list *request = hf_value_object(call->mem);
    hf_cli_target *target = NULL;
    hf_value envelope = NULL;
    hf_cli_aim aim = {0};
    int64_t step = 0;
    hf_status st = hf_cli_count(call, HF_CLI_FLAG_STEP, 0, &step, err);

    if (!st)
        st = hf_cli_target_open(call, true, &target, err);
    if (!st)
        st = hf_cli_target_aim(target, call->args[0], &aim, err);
    if (!st) {
        hf_cli_text_set(call, request, "workflow_id", aim.id);
        hf_cli_text_set(call, request, "run_id", aim.run_id);
        hf_cli_text_set(call, request, "new_workflow_id", call->flags[HF_CLI_FLAG_ID]);
        hf_cli_text_set(call, request, "signals", call->flags[HF_CLI_FLAG_SIGNALS]);
        hf_cli_text_set(call, request, "reason", call->flags[HF_CLI_FLAG_REASON]);
        hf_cli_text_set(call, request, "request_id", call->flags[HF_CLI_FLAG_DEDUP]);
        if (step)
            hf_value_set(request, HF_SLICE("step"), hf_value_int(call->mem, step));
        st = hf_cli_target_command(target, call->command->name, hf_value_finish(request), call->mem,
                                   &envelope, err);
    }
    if (!st)
        st = envelope_print(call, envelope, err);
    hf_cli_target_close(target);
    return st;
}
