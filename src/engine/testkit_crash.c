/* testkit_crash.c: hf_test_crash_everywhere. A scenario is run undisturbed and then once for each
   of its commits, with the process's memory lost right after that commit. The rule: nothing that
   was not committed may matter, so every run must end in the same place. What is compared is what a
   user can see; ids that the engine makes depend on key blocks, and a crash may cost one. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "engine/engine_impl.h"

enum { ID_CHARS = 26 }; /* of a ULID as text */

typedef hf_status scenario_fn(hf_engine *engine, void *arg);

/* How a run of the scenario ended: one line for each instance, sorted. */
typedef struct ending {
    hf_mem *mem;
    hf_status status;
    const char **lines;
    size_t count;
    int64_t commits;
} ending;

static bool is_id(const char *text)
{
    for (int i = 0; i < ID_CHARS; i++)
        if (!isdigit((unsigned char)text[i]) && !isupper((unsigned char)text[i]))
            return false;
    return !isalnum((unsigned char)text[ID_CHARS]);
}

/* The text without the ids that the engine made. */
static const char *text_mask(hf_mem *mem, const char *text)
{
    hf_buf masked = {0};
    const char *out;

    for (const char *at = text; *at;) {
        bool fresh = at == text || !isalnum((unsigned char)at[-1]);

        if (fresh && is_id(at)) {
            hf_buf_add_text(&masked, "(id)");
            at += ID_CHARS;
        } else {
            hf_buf_add_byte(&masked, (uint8_t)*at++);
        }
    }
    out = hf_buf_ok(&masked) ? hf_mem_text(mem, hf_buf_slice(&masked)) : NULL;
    hf_buf_fini(&masked);
    return out;
}

static const char *line_of(hf_engine *engine, hf_mem *mem, const char *id, const char *type)
{
    const char *status = hf_test_status(engine, id);
    const hf_error *error = NULL;
    hf_value out = NULL;
    hf_status st = hf_result(engine, id, 0, &out, &error);
    const char *text;

    if (st == HF_OK)
        text = hf_text(mem, out);
    else if (error)
        text = hf_mem_format(mem, "%s: %s", error->type, error->message);
    else
        text = "";
    text = text ? hf_mem_format(mem, "%s (%s) %s %s", id, type, status, text) : NULL;
    return text ? text_mask(mem, text) : NULL;
}

static int line_compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The ids and types of all instances, in the arena: two texts each. */
static hf_status instances_read(hf_engine *engine, hf_mem *mem, hf_buf *names, hf_err *err)
{
    const hf_db_value param = hf_db_int(engine->namespace_key);
    hf_db_cursor *cursor = NULL;
    bool row = true;
    hf_status st =
        hf_db_query(hf_store_writer(engine->store), HF_STMT_INSTANCE_LIST, &param, 1, &cursor, err);

    while (!st && row) {
        st = hf_db_step(cursor, &row, err);
        for (size_t column = 0; !st && row && column < 2; column++) {
            const char *text = hf_mem_text(mem, hf_db_column_bytes(cursor, column));

            hf_buf_add(names, &text, sizeof(text));
            if (!text || !hf_buf_ok(names))
                st = hf_err_nomem(err, "the ending of a scenario");
        }
    }
    hf_db_end(cursor);
    return st;
}

static hf_status ending_read(hf_engine *engine, ending *end, hf_err *err)
{
    hf_buf names = {0};
    hf_status st = instances_read(engine, end->mem, &names, err);
    const char *const *texts = (const char *const *)(const void *)hf_buf_slice(&names).ptr;

    end->count = names.len / sizeof(char *) / 2;
    if (!st)
        end->lines = hf_mem_array(end->mem, end->count + 1, sizeof(*end->lines));
    if (!st && !end->lines)
        st = hf_err_nomem(err, "the ending of a scenario");
    for (size_t i = 0; !st && i < end->count; i++) {
        end->lines[i] = line_of(engine, end->mem, texts[2 * i], texts[2 * i + 1]);
        if (!end->lines[i])
            st = hf_err_nomem(err, "the ending of a scenario");
    }
    hf_buf_fini(&names);
    if (!st && end->count)
        qsort(end->lines, end->count, sizeof(*end->lines), line_compare);
    return st;
}

/* Runs the scenario with a crash after commit `crash_at` (0: none) until nothing more happens. */
static hf_status scenario_run(const hf_app *app, scenario_fn *scenario, void *arg, int64_t crash_at,
                              ending *end, hf_err *err)
{
    hf_engine *engine = hf_test_open(app);
    hf_status st = HF_OK;

    *end = (ending){.mem = hf_mem_new()};
    if (!engine || !end->mem)
        st = hf_err_nomem(err, "a scenario");
    else if (engine->open_error.status)
        st = hf_err_set(err, engine->open_error.status, "%s", engine->open_error.text);
    if (!st) {
        engine->crash_at = crash_at;
        end->status = scenario(engine, arg);
        st = hf_test_drain(engine);
        end->commits = engine->commits;
        engine->crash_at = 0;
        if (st)
            st = hf_err_set(err, st, "%s", hf_errmsg(engine));
    }
    if (!st)
        st = ending_read(engine, end, err);
    hf_close(engine);
    return st;
}

/* What the crash changed, in one sentence; false when nothing. */
static bool ending_differs(const ending *whole, const ending *end, int64_t crash_at, char *why,
                           size_t why_size)
{
    size_t i = 0;

    if (end->status != whole->status) {
        (void)snprintf(why, why_size,
                       "a crash after commit %lld of %lld: the scenario returned %s instead of %s",
                       (long long)crash_at, (long long)whole->commits, hf_strstatus(end->status),
                       hf_strstatus(whole->status));
        return true;
    }
    while (i < whole->count && i < end->count && strcmp(whole->lines[i], end->lines[i]) == 0)
        i++;
    if (i == whole->count && i == end->count)
        return false;
    (void)snprintf(why, why_size, "a crash after commit %lld of %lld: \"%s\" instead of \"%s\"",
                   (long long)crash_at, (long long)whole->commits,
                   i < end->count ? end->lines[i] : "no such instance",
                   i < whole->count ? whole->lines[i] : "no such instance");
    return true;
}

hf_status hf_test_crash_everywhere(const hf_app *app, scenario_fn *scenario, void *arg, char *why,
                                   size_t why_size)
{
    ending whole;
    hf_err err = {0};
    hf_status st;

    if (!app || !scenario || (why_size && !why))
        return HF_MISUSE;
    st = scenario_run(app, scenario, arg, 0, &whole, &err);
    if (why_size)
        why[0] = '\0';
    if (st)
        (void)snprintf(why, why_size, "undisturbed: %s", err.text);
    for (int64_t at = 1; !st && at <= whole.commits; at++) {
        ending end;

        st = scenario_run(app, scenario, arg, at, &end, &err);
        if (st)
            (void)snprintf(why, why_size, "a crash after commit %lld of %lld: %s", (long long)at,
                           (long long)whole.commits, err.text);
        else if (ending_differs(&whole, &end, at, why, why_size))
            st = HF_ERROR;
        hf_mem_free(end.mem);
    }
    hf_mem_free(whole.mem);
    return st;
}
