/* replay_file.c: hf_test_replay: a history bundle in a file, replayed with the program's own
   definitions. Opens no store and runs no activity. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "engine/registry.h"
#include "engine/replay_check.h"
#include "holdfast/holdfast.h"
#include "model/limit.h"
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
                               hf_err *err)
{
    const hf_registry_workflow *workflow =
        hf_registry_find_workflow(registry, history->workflow_type);
    hf_replay_info info;

    if (!workflow)
        return hf_err_set(err, HF_NOTFOUND, "this program has no workflow %.*s",
                          (int)history->workflow_type.len, history->workflow_type.ptr);
    info = (hf_replay_info){
        .definition = workflow->definition,
        .machine = workflow->machine,
        .instance_id = history->instance_id,
        .run_id = history->run_id,
        .random_seed = hf_replay_seed(history->run_key),
        .fingerprint = hf_slice_of(workflow->snapshot.fingerprint),
        .batch_max = hf_limit_get(HF_LIMIT_COMMAND_BATCH_SIZE)->standard,
        .events_max = hf_limit_get(HF_LIMIT_HISTORY_TRANSACTION_SIZE)->standard,
        .continue_events = hf_limit_get(HF_LIMIT_BUDGET_EVENT_THRESHOLD)->standard,
        .continue_bytes = hf_limit_get(HF_LIMIT_BUDGET_SIZE_BYTES_THRESHOLD)->standard};
    return hf_replay_check(&info, history->events, history->count, err);
}

hf_status hf_test_replay(const hf_app *app, const char *bundle, char *why, size_t why_size)
{
    hf_registry *registry = NULL;
    hf_bundle_history history;
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
        st = history_check(registry, &history, &err);
    if (st && why && why_size)
        (void)snprintf(why, why_size, "%s", err.text);
    hf_registry_free(registry);
    hf_mem_free(mem);
    return st;
}
