/* replay_file.c: history bundles replayed with the program's own definitions: hf_test_replay for a
   file, hf_replay_bundle for a text. Opens no store and runs no activity. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/value.h"
#include "engine/registry.h"
#include "engine/replay_check.h"
#include "holdfast/host.h"
#include "project/bundle.h"
#include "project/bundle_read.h"

static hf_status file_read(const char *path, hf_buf *text, hf_err *err)
{
    FILE *file = fopen(path, "rb");
    hf_status st = HF_OK;
    size_t taken = 1;

    if (!file)
        return hf_err_set(err, errno == ENOENT ? HF_NOTFOUND : HF_IO, "cannot open %s: %s", path,
                          strerror(errno));
    while (!st && taken && text->len <= HF_BUNDLE_BYTES_MAX) {
        char *room = hf_buf_reserve(text, 64 * 1024);

        taken = room ? fread(room, 1, 64 * 1024, file) : 0;
        if (room)
            hf_buf_advance(text, taken);
        else
            st = hf_err_nomem(err, "a bundle");
    }
    if (!st && ferror(file))
        st = hf_err_set(err, HF_IO, "cannot read %s", path);
    (void)fclose(file);
    return st;
}

static hf_status history_check(const hf_registry *registry, const hf_bundle_history *history,
                               hf_replay_verdict *verdict, hf_err *err)
{
    const hf_registry_workflow *workflow =
        hf_registry_find_workflow(registry, history->workflow_type);
    hf_replay_info info;

    *verdict = (hf_replay_verdict){0};
    if (!workflow)
        return hf_err_set(err, HF_NOTFOUND, "this program has no workflow %.*s",
                          (int)history->workflow_type.len, history->workflow_type.ptr);
    info = hf_replay_check_info(workflow, history->instance_id, history->run_id, history->run_key);
    return hf_replay_check(&info, history->events, history->count, NULL, verdict, err);
}

/* What became of it, as one object. */
static hf_value report_make(hf_mem *mem, const hf_bundle_history *history, hf_status st,
                            const hf_replay_verdict *verdict, const char *sentence)
{
    const char *word = st == HF_OK               ? "ok"
                       : st == HF_REPLAY_BLOCKED ? "blocked"
                       : st == HF_NOTFOUND       ? "unknown_type"
                                                 : "unreadable";
    hf_value step = verdict->step ? hf_value_int(mem, verdict->step) : hf_value_null();

    return hf_json_(mem,
                    "{'instance_id': %p, 'run_id': %p, 'workflow_type': %p, 'events': %zu, "
                    "'verdict': %s, 'reason': %s, 'step': %p, 'at': %s, 'sentence': %s}",
                    (const void *)hf_value_string(mem, history->instance_id),
                    (const void *)hf_value_string(mem, history->run_id),
                    (const void *)hf_value_string(mem, history->workflow_type), history->count,
                    word, verdict->reason, (const void *)step, verdict->at[0] ? verdict->at : NULL,
                    st ? sentence : NULL);
}

hf_status hf_test_replay(const hf_app *app, const char *bundle, char *why, size_t why_size)
{
    hf_registry *registry = NULL;
    hf_bundle_history history;
    hf_replay_verdict verdict;
    hf_buf text = {0};
    hf_err err = {0};
    hf_mem *mem = hf_mem_new();
    hf_status st;

    if (why && why_size)
        why[0] = '\0';
    if (!mem)
        st = hf_err_nomem(&err, "a replay");
    else if (!app || !bundle)
        st = hf_err_set(&err, HF_MISUSE, "an application and the path of a bundle are needed");
    else
        st = hf_registry_new(app, &registry, &err);
    if (!st)
        st = file_read(bundle, &text, &err);
    if (!st)
        st = hf_bundle_read(mem, hf_buf_slice(&text), &history, &err);
    hf_buf_fini(&text);
    if (!st)
        st = history_check(registry, &history, &verdict, &err);
    if (st && why && why_size)
        (void)snprintf(why, why_size, "%s", err.text);
    hf_registry_free(registry);
    hf_mem_free(mem);
    return st;
}

hf_status hf_replay_bundle(const hf_app *app, const char *text, size_t len, hf_mem *mem,
                           hf_value *out_report, hf_err *err)
{
    hf_registry *registry = NULL;
    hf_bundle_history history = {0};
    hf_replay_verdict verdict = {0};
    hf_err why = {0};
    hf_mem *work = NULL;
    hf_status st;

    if (!app || !text || !mem || !out_report)
        return hf_err_set(err, HF_MISUSE, "an application, a bundle and memory are needed");
    st = hf_registry_new(app, &registry, err);
    if (st)
        return st;
    work = hf_mem_new();
    st = work ? hf_bundle_read(work, hf_slice_from(text, len), &history, &why)
              : hf_err_nomem(&why, "a bundle");
    if (!st)
        st = history_check(registry, &history, &verdict, &why);
    if (st == HF_NOMEM) {
        st = hf_err_nomem(err, "a replay");
    } else {
        *out_report = report_make(mem, &history, st, &verdict, why.text);
        st = *out_report ? HF_OK : hf_err_nomem(err, "a report");
    }
    hf_mem_free(work);
    hf_registry_free(registry);
    return st;
}
