/* definition_check.c: definitions before they are used. An engine checks once, when it opens; after
   that all code may rely on what is checked here. A mistake is an author's, so the text names the
   definition, the part and what is wrong with it. */
#include "model/definition.h"

#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "model/name.h"
#include "model/retry.h"

/* A type key that a definition serves. */
typedef struct claim {
    hf_slice type;
    const char *what;  /* "workflow" or "machine" */
    const char *owner; /* the definition's own type */
} claim;

static hf_name_kind target_name_kind(hf_target_kind kind)
{
    switch (kind) {
    case HF_TARGET_SIGNAL:
        return HF_NAME_SIGNAL;
    case HF_TARGET_UPDATE:
        return HF_NAME_UPDATE;
    case HF_TARGET_QUERY:
        return HF_NAME_QUERY;
    }
    return HF_NAME_SIGNAL;
}

static const char *target_word(hf_target_kind kind)
{
    switch (kind) {
    case HF_TARGET_SIGNAL:
        return "signal";
    case HF_TARGET_UPDATE:
        return "update";
    case HF_TARGET_QUERY:
        return "query";
    }
    return "target";
}

/* What a definition is called in messages. */
static const char *shown(const char *name)
{
    return name ? name : "(no name)";
}

/* -- parts */

static hf_status params_check(const char *params, hf_mem *mem, hf_err *err)
{
    const hf_contract *contract = NULL;

    return hf_err_because(err, hf_contract_parse(mem, params, &contract, err), "params");
}

static hf_status text_check(const char *text, const char *what, hf_err *err)
{
    if (!hf_utf8_valid(hf_slice_of(text)))
        return hf_err_set(err, HF_INVALID, "%s is not well-formed UTF-8", what);
    return HF_OK;
}

static hf_status time_check(hf_ms time, const char *what, hf_err *err)
{
    if (time < 0 || time > HF_RETRY_MS_MAX)
        return hf_err_set(err, HF_INVALID, "%s is %s", what,
                          time < 0 ? "negative" : "longer than ten years");
    return HF_OK;
}

/* The next item of a list with commas, without white space around it. */
static bool list_next(hf_slice *rest, hf_slice *out_item)
{
    if (!hf_slice_split(rest, ',', out_item))
        return false;
    *out_item = hf_slice_trim(*out_item);
    return true;
}

/* "a, b": each a type, each once, none of them `own`. NULL and "" are the empty list. */
static hf_status types_check(const char *list, hf_slice own, hf_err *err)
{
    hf_slice rest = hf_slice_of(list);
    hf_slice item;

    if (rest.len == 0)
        return HF_OK;
    while (list_next(&rest, &item)) {
        hf_slice behind = rest;
        hf_slice other;
        hf_status st = hf_name_check(HF_NAME_TYPE, item, err);

        if (st)
            return st;
        if (hf_slice_equal(item, own))
            return hf_err_set(err, HF_INVALID, "%.*s is the definition's own type", (int)item.len,
                              item.ptr);
        while (list_next(&behind, &other)) {
            if (hf_slice_equal(item, other))
                return hf_err_set(err, HF_INVALID, "%.*s is listed twice", (int)item.len, item.ptr);
        }
    }
    return HF_OK;
}

static hf_status target_check(const hf_workflow_def *def, hf_target_kind kind, size_t i,
                              const hf_target *target, hf_mem *mem, hf_err *err)
{
    hf_status st = hf_name_check(target_name_kind(kind), hf_slice_of(target->name), err);
    hf_target other;

    if (!st)
        st = params_check(target->params, mem, err);
    if (!st && !target->has_function)
        st = hf_err_set(err, HF_INVALID, "it has no function");
    for (size_t j = 0; !st && j < i && hf_definition_target(def, kind, j, &other); j++) {
        if (hf_slice_equal(hf_slice_of(other.name), hf_slice_of(target->name)))
            st = hf_err_set(err, HF_INVALID, "it is declared twice");
    }
    return hf_err_because(err, st, "%s %s", target_word(kind), target->name);
}

static hf_status targets_check(const hf_workflow_def *def, hf_target_kind kind, hf_mem *mem,
                               hf_err *err)
{
    hf_target target;

    for (size_t i = 0; hf_definition_target(def, kind, i, &target); i++) {
        hf_status st;

        if (i == HF_DEFINITION_TARGETS_MAX)
            return hf_err_set(err, HF_INVALID,
                              "more than %d of kind %s, or no { 0 } behind the last",
                              HF_DEFINITION_TARGETS_MAX, target_word(kind));
        st = target_check(def, kind, i, &target, mem, err);
        if (st)
            return st;
    }
    return HF_OK;
}

/* What workflows and machines have in common. */
static hf_status declared_check(const hf_workflow_def *def, hf_mem *mem, hf_err *err)
{
    hf_status st = hf_name_check(HF_NAME_TYPE, hf_slice_of(def->type), err);

    if (!st)
        st = params_check(def->params, mem, err);
    if (!st)
        st = text_check(def->doc, "doc", err);
    if (!st)
        st = targets_check(def, HF_TARGET_SIGNAL, mem, err);
    if (!st)
        st = targets_check(def, HF_TARGET_UPDATE, mem, err);
    if (!st)
        st = targets_check(def, HF_TARGET_QUERY, mem, err);
    return st;
}

static hf_status sizes_check(const hf_workflow_def *def, hf_err *err)
{
    hf_status st;

    if (def->stack != 0 &&
        (def->stack < HF_DEFINITION_STACK_MIN || def->stack > HF_DEFINITION_STACK_MAX))
        return hf_err_set(err, HF_INVALID,
                          "stack is %zu bytes; allowed are %d to %d, or 0 for the default",
                          def->stack, HF_DEFINITION_STACK_MIN, HF_DEFINITION_STACK_MAX);
    if (def->state_size > HF_DEFINITION_STATE_MAX)
        return hf_err_set(err, HF_INVALID, "state_size is %zu bytes; at most %d are allowed",
                          def->state_size, HF_DEFINITION_STATE_MAX);
    st = time_check(def->execution_timeout, "execution_timeout", err);
    return st ? st : time_check(def->run_timeout, "run_timeout", err);
}

static hf_status revision_check(const char *revision, hf_err *err)
{
    if (hf_slice_of(revision).len > HF_DEFINITION_REVISION_MAX)
        return hf_err_set(err, HF_INVALID, "revision is longer than %d bytes",
                          HF_DEFINITION_REVISION_MAX);
    return text_check(revision, "revision", err);
}

static hf_status workflow_check(const hf_workflow_def *def, hf_mem *mem, hf_err *err)
{
    hf_status st = declared_check(def, mem, err);

    if (!st && !def->run)
        st = hf_err_set(err, HF_INVALID, "it has no function");
    if (!st)
        st = sizes_check(def, err);
    if (!st)
        st = revision_check(def->revision, err);
    if (!st)
        st = hf_err_because(err, types_check(def->aliases, hf_slice_of(def->type), err), "aliases");
    return hf_err_because(err, st, "workflow %s", shown(def->type));
}

static hf_status steps_check(const hf_machine_def *def, hf_err *err)
{
    const hf_step_def *steps = def->steps;
    bool initial = false;

    if (def->max_attempts < -1)
        return hf_err_set(err, HF_INVALID, "max_attempts is %d", def->max_attempts);
    for (size_t i = 0; i < def->backoff_n; i++)
        if (!def->backoff || def->backoff[i] < 0)
            return hf_err_set(err, HF_INVALID, "a backoff is negative");
    if (def->job && (steps || def->initial))
        return hf_err_set(err, HF_INVALID, "it is a job and has steps");
    if (def->job)
        return HF_OK;
    for (size_t i = 0; steps && steps[i].name; i++) {
        hf_slice name = hf_slice_of(steps[i].name);
        hf_status st = hf_name_check(HF_NAME_STEP, name, err);

        if (!st && !steps[i].run)
            st = hf_err_set(err, HF_INVALID, "it has no function");
        for (size_t j = 0; !st && j < i; j++) {
            if (hf_slice_equal(hf_slice_of(steps[j].name), name))
                st = hf_err_set(err, HF_INVALID, "it is declared twice");
        }
        if (st)
            return hf_err_because(err, st, "step %s", steps[i].name);
        initial = initial || hf_slice_equal(name, hf_slice_of(def->initial));
    }
    if (!initial)
        return hf_err_set(err, HF_INVALID, "the initial step %s is not among its steps",
                          shown(def->initial));
    return HF_OK;
}

static hf_status machine_check(const hf_machine_def *def, hf_mem *mem, hf_err *err)
{
    const hf_workflow_def same = {
        .type = def->type, .params = def->params, .doc = def->doc, .signals = def->signals};
    hf_status st = declared_check(&same, mem, err);

    if (!st)
        st = steps_check(def, err);
    return hf_err_because(err, st, "machine %s", shown(def->type));
}

static hf_status activity_check(const hf_activity_def *def, hf_mem *mem, hf_err *err)
{
    hf_status st = hf_name_check(HF_NAME_TYPE, hf_slice_of(def->name), err);

    if (!st && !def->run)
        st = hf_err_set(err, HF_INVALID, "it has no function");
    if (!st)
        st = params_check(def->params, mem, err);
    if (!st)
        st = text_check(def->doc, "doc", err);
    if (!st)
        st = time_check(def->start_to_close, "start_to_close", err);
    if (!st)
        st = time_check(def->heartbeat, "heartbeat", err);
    if (!st)
        st = hf_err_because(err, types_check(def->no_retry_on, (hf_slice){0}, err), "no_retry_on");
    return hf_err_because(err, st, "activity %s", shown(def->name));
}

/* -- an application */

static size_t claims_max(const hf_app *app)
{
    size_t count = 0;

    for (const hf_workflow_def *def = app->workflows; def && def->type; def++) {
        hf_slice rest = hf_slice_of(def->aliases);
        hf_slice ignored;

        count++;
        while (hf_slice_split(&rest, ',', &ignored))
            count++;
    }
    for (const hf_machine_def *def = app->machines; def && def->type; def++)
        count++;
    return count;
}

/* Adds a claim unless somebody made it before. */
static hf_status claim_add(claim *claims, size_t *count, claim one, hf_err *err)
{
    for (size_t i = 0; i < *count; i++) {
        if (hf_slice_equal(claims[i].type, one.type))
            return hf_err_set(err, HF_INVALID, "the type %.*s is claimed by %s %s and by %s %s",
                              (int)one.type.len, one.type.ptr, claims[i].what, claims[i].owner,
                              one.what, one.owner);
    }
    claims[(*count)++] = one;
    return HF_OK;
}

static hf_status types_unique(const hf_app *app, hf_mem *mem, hf_err *err)
{
    claim *claims = hf_mem_array(mem, claims_max(app) + 1, sizeof(*claims));
    size_t count = 0;
    hf_status st = HF_OK;

    if (!claims)
        return hf_err_nomem(err, "the types of an application");
    for (const hf_workflow_def *def = app->workflows; !st && def && def->type; def++) {
        hf_slice rest = hf_slice_of(def->aliases);
        claim one = {hf_slice_of(def->type), "workflow", def->type};

        st = claim_add(claims, &count, one, err);
        while (!st && rest.len > 0 && list_next(&rest, &one.type))
            st = claim_add(claims, &count, one, err);
    }
    for (const hf_machine_def *def = app->machines; !st && def && def->type; def++)
        st = claim_add(claims, &count, (claim){hf_slice_of(def->type), "machine", def->type}, err);
    return st;
}

static hf_status activities_unique(const hf_activity_def *activities, hf_err *err)
{
    for (size_t i = 0; activities && activities[i].name; i++) {
        for (size_t j = 0; j < i; j++) {
            if (hf_slice_equal(hf_slice_of(activities[i].name), hf_slice_of(activities[j].name)))
                return hf_err_set(err, HF_INVALID, "the activity %s is defined twice",
                                  activities[i].name);
        }
    }
    return HF_OK;
}

static hf_status app_names_check(const hf_app *app, hf_err *err)
{
    hf_status st = text_check(app->name, "the application's name", err);

    if (!st && app->build_id)
        st = hf_name_check(HF_NAME_BUILD, hf_slice_of(app->build_id), err);
    if (!st && app->queue)
        st = hf_name_check(HF_NAME_QUEUE, hf_slice_of(app->queue), err);
    return st;
}

static hf_status app_check(const hf_app *app, hf_mem *mem, hf_err *err)
{
    hf_status st = app_names_check(app, err);

    for (const hf_workflow_def *def = app->workflows; !st && def && def->type; def++)
        st = workflow_check(def, mem, err);
    for (const hf_machine_def *def = app->machines; !st && def && def->type; def++)
        st = machine_check(def, mem, err);
    for (const hf_activity_def *def = app->activities; !st && def && def->name; def++)
        st = activity_check(def, mem, err);
    if (!st)
        st = types_unique(app, mem, err);
    if (!st)
        st = activities_unique(app->activities, err);
    return st;
}

hf_status hf_definition_check(const hf_workflow_def *def, hf_err *err)
{
    hf_mem *mem = hf_mem_new();
    hf_status st = mem ? workflow_check(def, mem, err) : hf_err_nomem(err, "a check");

    hf_mem_free(mem);
    return st;
}

hf_status hf_definition_check_machine(const hf_machine_def *def, hf_err *err)
{
    hf_mem *mem = hf_mem_new();
    hf_status st = mem ? machine_check(def, mem, err) : hf_err_nomem(err, "a check");

    hf_mem_free(mem);
    return st;
}

hf_status hf_definition_check_activity(const hf_activity_def *def, hf_err *err)
{
    hf_mem *mem = hf_mem_new();
    hf_status st = mem ? activity_check(def, mem, err) : hf_err_nomem(err, "a check");

    hf_mem_free(mem);
    return st;
}

hf_status hf_limit_check(const hf_limit_def *def, hf_err *err)
{
    bool slots = def->at_once > 0;
    bool tokens = def->allowed > 0;
    hf_status st = hf_name_check(HF_NAME_TYPE, hf_slice_of(def->name), err);

    if (!st && (slots == tokens || def->at_once < 0 || def->allowed < 0))
        st = hf_err_set(err, HF_INVALID, "it needs either at_once or allowed");
    if (!st && tokens && (def->per <= 0 || def->burst < 0))
        st = hf_err_set(err, HF_INVALID, "it needs a positive time and no negative burst");
    return hf_err_because(err, st, "limit %s", shown(def->name));
}

static hf_status limits_check(const hf_limit_def *limits, hf_err *err)
{
    hf_status st = HF_OK;

    for (size_t at = 0; !st && limits && limits[at].name; at++) {
        st = hf_limit_check(&limits[at], err);
        for (size_t i = 0; !st && i < at; i++)
            if (strcmp(limits[i].name, limits[at].name) == 0)
                st = hf_err_set(err, HF_INVALID, "limit %s: it is declared twice",
                                shown(limits[at].name));
    }
    return st;
}

hf_status hf_app_check(const hf_app *app, hf_err *err)
{
    hf_mem *mem = hf_mem_new();
    hf_status st = mem ? app_check(app, mem, err) : hf_err_nomem(err, "a check");

    if (!st)
        st = limits_check(app->limits, err);
    hf_mem_free(mem);
    return st;
}
