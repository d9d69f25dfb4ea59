/* redact.c: see redact.h. */
#include "project/redact.h"

#include <string.h>

#include "base/buf.h"

/* Where a bundle holds what may be secret: section, member of each item ("" for the section's own
   path), category. */
static const struct {
    const char *section;
    const char *member;
    const char *category;
    bool list;
} places[] = {{"payloads", "arguments.data", "workflow_payload", false},
              {"payloads", "output.data", "workflow_payload", false},
              {"history_events", "payload", "history_event", true},
              {"commands", "payload", "command_payload", true},
              {"commands", "context", "command_context", true},
              {"commands", "reason", "command_reason", true},
              {"updates", "arguments", "update_payload", true},
              {"updates", "result", "update_payload", true},
              {"updates", "failure_message", "failure_diagnostic", true},
              {"signals", "arguments", "signal_payload", true},
              {"tasks", "payload", "task_payload", true},
              {"activities", "arguments", "activity_payload", true},
              {"activities", "result", "activity_payload", true},
              {"failures", "message", "failure_diagnostic", true}};

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

/* The object with the value at a dotted path replaced. */
static hf_value replaced(work *w, hf_value object, hf_slice path, const char *whole,
                         const char *category)
{
    hf_value_list *list = hf_value_object(w->mem);
    hf_slice head = {0};
    hf_slice name;
    hf_value item;

    (void)hf_slice_split(&path, '.', &head);
    for (size_t i = 0; hf_value_member(object, i, &name, &item); i++) {
        if (!w->st && hf_slice_equal(name, head) && hf_value_kind_of(item) != HF_VALUE_NULL)
            item = path.ptr ? replaced(w, item, path, whole, category)
                            : shown(w, whole, category, item);
        if (w->st)
            return NULL;
        hf_value_set(list, name, item);
    }
    return hf_value_finish(list);
}

static hf_value list_replaced(work *w, hf_value list, size_t place)
{
    hf_value_list *out = hf_value_array(w->mem);

    for (size_t i = 0; !w->st && i < hf_len(list); i++) {
        const char *path =
            hf_mem_format(w->mem, "%s.%zu.%s", places[place].section, i, places[place].member);

        w->item = hf_at(list, i);
        hf_value_append(out, path ? replaced(w, w->item, hf_slice_of(places[place].member), path,
                                             places[place].category)
                                  : NULL);
    }
    return w->st ? NULL : hf_value_finish(out);
}

static hf_value place_replaced(work *w, hf_value bundle, size_t place)
{
    hf_value_list *out = hf_value_object(w->mem);
    hf_slice name;
    hf_value item;

    for (size_t i = 0; hf_value_member(bundle, i, &name, &item); i++) {
        if (hf_slice_equal(name, hf_slice_of(places[place].section))) {
            const char *path =
                hf_mem_format(w->mem, "%s.%s", places[place].section, places[place].member);

            w->item = NULL;
            item = places[place].list ? list_replaced(w, item, place)
                                      : replaced(w, item, hf_slice_of(places[place].member), path,
                                                 places[place].category);
            if (w->st)
                return NULL;
        }
        hf_value_set(out, name, item);
    }
    return hf_value_finish(out);
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
        bundle = place_replaced(&w, bundle, i);
    if (!w.st)
        *out_bundle = bundle ? own_reduced(&w, bundle) : NULL;
    *out_paths = hf_value_finish(w.paths);
    *out_changed = hf_value_finish(w.changed);
    if (w.st)
        return w.st;
    return *out_bundle && *out_paths && *out_changed ? HF_OK : hf_err_nomem(err, "a redaction");
}
