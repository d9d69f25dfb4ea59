/* script.c: see script.h. */
#include "lib/script.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/value.h"
#include "lib/kit.h"

hf_engine *hf_script_engine;
static atomic_int runs[4096];

static size_t slot_of(const char *id)
{
    size_t hash = 5381;

    for (; *id; id++)
        hash = hash * 33 + (unsigned char)*id;
    return hash % 4096;
}

int hf_script_runs(const char *id)
{
    return atomic_load(&runs[slot_of(id)]);
}

static void names_add(hf_buf *line, hf_value signals)
{
    for (size_t i = 0; i < hf_len(signals); i++) {
        hf_value payload = hf_get(hf_at(signals, i), "payload");

        hf_buf_add_format(line, "%s%s", i ? "," : "", hf_str(hf_at(signals, i), "name", "?"));
        if (hf_int(payload, "", -1) >= 0)
            hf_buf_add_format(line, "%lld", (long long)hf_int(payload, "", 0));
    }
}

/* The state after this execution. */
static hf_value state_next(hf_step *s, bool error)
{
    hf_mem *mem = hf_mem_of_step(s);
    hf_value state = hf_step_state(s);
    hf_value log = hf_get(state, "log");
    hf_value_list *lines = hf_value_array(mem);
    hf_value_list *next = hf_value_object(mem);
    hf_buf line = {0};

    hf_buf_add_text(&line, "aw=");
    names_add(&line, hf_step_awaited(s));
    hf_buf_add_text(&line, " all=");
    names_add(&line, hf_step_inbox(s));
    hf_buf_add_format(&line, " t=%d", hf_step_attempt(s));
    if (hf_len(hf_step_children(s))) {
        hf_buf_add_text(&line, " kids=");
        for (size_t i = 0; i < hf_len(hf_step_children(s)); i++)
            hf_buf_add_format(&line, "%s%s", i ? "," : "",
                              hf_str(hf_at(hf_step_children(s), i), "status", "?"));
    }
    if (hf_step_timed_out(s))
        hf_buf_add_text(&line, " late");
    if (error)
        hf_buf_add_text(&line, " err");
    for (size_t i = 0; i < hf_len(log); i++)
        hf_value_append(lines, hf_at(log, i));
    hf_value_append(lines, hf_value_string(mem, hf_buf_slice(&line)));
    hf_buf_fini(&line);
    hf_value_set(next, HF_SLICE("plan"), hf_get(state, "plan"));
    hf_value_set(next, HF_SLICE("at"), hf_value_int(mem, hf_int(state, "at", 0) + 1));
    hf_value_set(next, HF_SLICE("log"), hf_value_finish(lines));
    return hf_value_finish(next);
}

static hf_outcome park(hf_step *s, hf_value move, hf_value next)
{
    const char *names[9] = {NULL};

    for (size_t i = 0; i < hf_len(hf_get(move, "names")) && i < 8; i++)
        names[i] = hf_str(hf_at(hf_get(move, "names"), i), "", NULL);
    return hf_park_any(s, names, hf_int(move, "ms", HF_NO_TIMEOUT), "run", next);
}

static hf_outcome fan(hf_step *s, hf_value move, hf_value next)
{
    hf_leaf leaves[65] = {{0}};
    hf_value plans = hf_get(move, "plans");

    for (size_t i = 0; i < hf_len(plans) && i < 64; i++)
        leaves[i] = (hf_leaf)HF_CHILD(hf_str(move, "type", "script"),
                                      hf_json(s, "{'plan': %p}", (const void *)hf_at(plans, i)),
                                      .id = hf_str(hf_at(hf_get(move, "ids"), i), "", NULL));
    return hf_fan_out(s, leaves, "run", next);
}

static hf_outcome play(hf_step *s, bool error)
{
    hf_value state = hf_step_state(s);
    hf_value move = hf_at(hf_get(state, "plan"), (size_t)hf_int(state, "at", 0));
    hf_value next = state_next(s, error);
    const char *what = hf_str(move, "do", "done");
    const char *send = hf_str(move, "send", NULL);

    if (send)
        (void)!hf_signal(hf_script_engine, hf_step_id(s), send, NULL);
    if (strcmp(what, "park") == 0)
        return park(s, move, next);
    if (strcmp(what, "next") == 0)
        return hf_next(s, "run", next);
    if (strcmp(what, "again") == 0)
        return hf_again(s, next, hf_int(move, "ms", 0));
    if (strcmp(what, "fan") == 0)
        return fan(s, move, next);
    if (strcmp(what, "stop") == 0)
        return hf_stop(s, "told_to", "the plan says so");
    if (strcmp(what, "raise") == 0)
        return hf_raise(s, "told_to", "the plan says so");
    return hf_done(s, hf_get(next, "log"));
}

static hf_outcome run(hf_step *s)
{
    atomic_fetch_add(&runs[slot_of(hf_step_id(s))], 1);
    return play(s, false);
}

/* The move that failed is behind it: the next one is the handler's. */
static hf_outcome handle(hf_step *s, const hf_error *e)
{
    hf_value state = hf_step_state(s);
    hf_value move = hf_at(hf_get(state, "plan"), (size_t)hf_int(state, "at", 0) + 1);
    hf_value moved = hf_json(
        s, "{'plan': %p, 'at': %lld, 'log': %p}", (const void *)hf_get(state, "plan"),
        (long long)hf_int(state, "at", 0) + 2, (const void *)hf_get(state_next(s, true), "log"));
    const char *what = hf_str(move, "do", "stop");

    if (strcmp(what, "park") == 0)
        return park(s, move, moved);
    if (strcmp(what, "next") == 0)
        return hf_next(s, "run", moved);
    if (strcmp(what, "again") == 0)
        return hf_again(s, moved, hf_int(move, "ms", 0));
    return hf_stop(s, e->type, e->message);
}

static const hf_step_def steps[] = {{"run", run}, {0}};
static const hf_signal_def signals[] = {{"a", NULL}, {"b", NULL}, {"c", NULL}, {"d", NULL}, {0}};

const hf_machine_def hf_script_machines[] = {
    {"script", .initial = "run", .steps = steps, .signals = signals, .on_error = handle},
    {"bare", .initial = "run", .steps = steps, .signals = signals},
    {0}};

hf_value hf_script_plan(hf_engine *engine, const char *moves)
{
    hf_value value = hf_parse_(hf_mem_of_engine(engine), moves, strlen(moves));

    ck_assert_msg(value != NULL, "%s", moves);
    return hf_json(engine, "{'plan': %p}", (const void *)value);
}

void hf_script_play(hf_engine *engine, const char *id, const char *moves)
{
    hf_kit_ok(engine, hf_start(engine, "script", hf_script_plan(engine, moves), .id = id));
    hf_kit_ok(engine, hf_test_drain(engine));
}
