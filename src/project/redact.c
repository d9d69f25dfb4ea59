/* redact.c: see redact.h. */
#include "project/redact.h"

/* Where a bundle holds what may be secret. A path goes through every item of the lists on its way.
 */
static const struct {
    const char *path;
    const char *category;
} places[] = {{"payloads.arguments.data", "workflow_payload"},
              {"payloads.output.data", "workflow_payload"},
              {"history_events.payload", "history_event"},
              {"commands.payload", "command_payload"},
              {"commands.context", "command_context"},
              {"commands.reason", "command_reason"},
              {"updates.arguments", "update_payload"},
              {"updates.result", "update_payload"},
              {"updates.failure_message", "failure_diagnostic"},
              {"signals.arguments", "signal_payload"},
              {"tasks.payload", "task_payload"},
              {"activities.arguments", "activity_payload"},
              {"activities.result", "activity_payload"},
              {"activities.last_heartbeat_progress", "activity_payload"},
              {"activities.attempts.last_heartbeat_progress", "activity_payload"},
              {"activities.attempts.message", "failure_diagnostic"},
              {"links.children.arguments", "workflow_payload"},
              {"failures.message", "failure_diagnostic"},
              {"failures.exception", "failure_diagnostic"}};

typedef struct work {
    hf_mem *mem;
    hf_redact_fn *redact;
    void *arg;
    hf_value_list *paths;
    hf_value_list *changed;
    hf_value item; /* whose ids the redactor is told */
    hf_err *err;
    hf_status st;
} work;

static hf_value shown(work *w, const char *path, const char *category, hf_value value)
{
    const char *id = hf_str(w->item, "id", NULL);
    const char *type = hf_str(w->item, "type", NULL);
    hf_value context = hf_json_(w->mem, "{'path': %s, 'category': %s, 'id': %s, 'type': %s}", path,
                                category, id, type);
    hf_value back = context ? w->redact(w->arg, w->mem, context, value) : NULL;

    if (!back) {
        w->st = context ? hf_err_set(w->err, HF_ERROR, "the redactor failed at %s", path)
                        : hf_err_nomem(w->err, "a redaction");
        return NULL;
    }
    hf_value_append(w->paths, hf_value_string(w->mem, hf_slice_of(path)));
    if (!hf_value_equal(back, value))
        hf_value_append(w->changed, hf_value_string(w->mem, hf_slice_of(path)));
    return back;
}

/* The value with what lies at `path` in it replaced; `whole` is where the value itself lies. */
static hf_value replaced(work *w, hf_value value, hf_slice path, const char *whole,
                         const char *category)
{
    bool array = hf_value_kind_of(value) == HF_VALUE_ARRAY;
    hf_value_list *list = array ? hf_value_array(w->mem) : hf_value_object(w->mem);
    hf_slice head = {0};
    hf_slice rest = path;
    hf_slice name;
    hf_value item;

    if (!path.ptr)
        return hf_value_kind_of(value) == HF_VALUE_NULL ? value : shown(w, whole, category, value);
    for (size_t i = 0; array && i < hf_len(value) && !w->st; i++) {
        const char *inner = hf_mem_format(w->mem, "%s.%zu", whole, i);

        w->item = hf_at(value, i);
        hf_value_append(list, inner ? replaced(w, w->item, path, inner, category) : NULL);
    }
    (void)hf_slice_split(&rest, '.', &head);
    for (size_t i = 0; !array && hf_value_member(value, i, &name, &item); i++) {
        if (hf_slice_equal(name, head)) {
            const char *inner = hf_mem_format(w->mem, "%s%s%.*s", whole, *whole ? "." : "",
                                              (int)head.len, head.ptr);

            item = inner ? replaced(w, item, rest, inner, category) : NULL;
        }
        if (w->st)
            return NULL;
        hf_value_set(list, name, item);
    }
    return w->st ? NULL : hf_value_finish(list);
}

/* Our own section repeats what events store: without it nothing comes back that was taken away. */
static hf_value own_reduced(work *w, hf_value bundle)
{
    static const char *const kept[] = {"format", "program", "run_key", "history_head"};
    hf_value_list *out = hf_value_object(w->mem);
    hf_value_list *own = hf_value_object(w->mem);
    hf_slice name;
    hf_value item;

    for (size_t i = 0; i < 4; i++) {
        hf_value value =
            hf_value_find(hf_value_find(bundle, HF_SLICE("holdfast")), hf_slice_of(kept[i]));

        if (value)
            hf_value_set(own, hf_slice_of(kept[i]), value);
    }
    for (size_t i = 0; hf_value_member(bundle, i, &name, &item); i++)
        hf_value_set(out, name,
                     hf_slice_equal(name, HF_SLICE("holdfast")) ? hf_value_finish(own) : item);
    return hf_value_finish(out);
}

hf_status hf_redact_bundle(hf_mem *mem, hf_value bundle, hf_redact_fn *redact, void *arg,
                           hf_value *out_bundle, hf_value *out_paths, hf_value *out_changed,
                           hf_err *err)
{
    work w = {.mem = mem,
              .redact = redact,
              .arg = arg,
              .paths = hf_value_array(mem),
              .changed = hf_value_array(mem),
              .err = err};

    for (size_t i = 0; !w.st && bundle && i < sizeof(places) / sizeof(places[0]); i++)
        bundle = replaced(&w, bundle, hf_slice_of(places[i].path), "", places[i].category);
    if (!w.st)
        *out_bundle = bundle ? own_reduced(&w, bundle) : NULL;
    *out_paths = hf_value_finish(w.paths);
    *out_changed = hf_value_finish(w.changed);
    if (w.st)
        return w.st;
    return *out_bundle && *out_paths && *out_changed ? HF_OK : hf_err_nomem(err, "a redaction");
}
