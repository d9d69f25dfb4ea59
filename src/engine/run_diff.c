/* run_diff.c: hf_run_diff: two runs side by side, each of the store or of a bundle that was opened.
 */
#include "base/json.h"
#include "engine/call.h"
#include "engine/look.h"
#include "engine/opened.h"
#include "project/run_diff.h"

enum { STEPS = 200 };

/* The side that a request means, in a view that is open unless this fails; one before it is closed.
 */
static hf_status side_find(hf_call *c, hf_value request, const char *name,
                           const hf_bundle_view *bundle, hf_run_diff_side *out, bool *io_open,
                           hf_err *err)
{
    hf_value side = hf_get(request, name);
    hf_intake_target target;
    hf_status st;

    *out = (hf_run_diff_side){0};
    if (bundle) {
        out->opened = hf_bundle_view_opened(bundle);
        out->bundle = hf_look_member(side, "bundle");
        return HF_OK;
    }
    if (!hf_look_member(side, "id").len)
        return hf_err_set(err, HF_INVALID, "the id of an instance is needed on the %s", name);
    if (*io_open)
        hf_call_view_end(c);
    *io_open = false;
    st = hf_call_view_begin(c, hf_look_member(side, "id"), hf_look_member(side, "run_id"), &target,
                            err);
    if (st)
        return hf_err_because(err, st, "%s", name);
    *io_open = true;
    out->run = target.base.run;
    return HF_OK;
}

hf_status hf_run_diff(hf_engine *engine, hf_value request, const hf_bundle_view *left,
                      const hf_bundle_view *right, hf_mem *mem, hf_value *out)
{
    hf_run_diff_query query = {.after = hf_int(request, "after", 0),
                               .limit = hf_int(request, "limit", STEPS),
                               .different_only = hf_bool(request, "different_only", false)};
    hf_value answer = NULL;
    hf_mem *work = NULL;
    bool open = false;
    hf_err *err;
    hf_call c;
    hf_status st =
        hf_look_begin(&c, engine, request, "left right after limit different_only", mem, out);

    if (st)
        return st;
    err = &c.slot->err;
    work = hf_mem_new();
    st = work ? side_find(&c, request, "left", left, &query.left, &open, err)
              : hf_err_nomem(err, "a comparison");
    if (!st)
        st = side_find(&c, request, "right", right, &query.right, &open, err);
    if (!st)
        st = hf_run_diff_read(c.in.db, work, &query, &answer, err);
    if (open)
        hf_call_view_end(&c);
    return hf_look_give(mem, answer, st, out, work, err);
}
