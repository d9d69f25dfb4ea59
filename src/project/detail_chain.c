/* detail_chain.c: the runs beside a run, for whoever goes from one to the next: see detail_impl.h.
 */
#include "project/detail_impl.h"
#include "project/edge.h"

enum { CHAIN_MAX = 100 };

hf_status hf_detail_chain_read(hf_detail_view *v, hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(v->dossier.run.key), hf_db_int(CHAIN_MAX)};
    hf_db_cursor *cursor = NULL;
    bool row = true;
    hf_status st = HF_OK;

    v->chain = hf_mem_array(v->mem, CHAIN_MAX, sizeof(*v->chain));
    if (!v->chain)
        return hf_err_nomem(err, "the runs of an instance");
    if (!v->db) { /* a bundle has one */
        const hf_dossier *d = &v->dossier;

        v->chain[v->chain_count++] = (hf_detail_link){.key = d->run.key,
                                                      .created_us = d->run.created_us,
                                                      .number = d->run.number,
                                                      .status = d->base.status,
                                                      .closed_reason = d->base.closed_reason,
                                                      .closed_us = d->base.closed_us};
        return HF_OK;
    }
    st = hf_db_query(v->db, HF_STMT_RUN_CHAIN, params, 2, &cursor, err);
    while (!st && row && v->chain_count < CHAIN_MAX) {
        st = hf_db_step(cursor, &row, err);
        if (st || !row)
            break;
        v->chain[v->chain_count++] = (hf_detail_link){.key = hf_db_column_int(cursor, 0),
                                                      .created_us = hf_db_column_int(cursor, 1),
                                                      .number = hf_db_column_int(cursor, 2),
                                                      .status = hf_db_column_int(cursor, 3),
                                                      .closed_reason = hf_column_or_none(cursor, 4),
                                                      .closed_us = hf_column_or_none(cursor, 5)};
        if (!v->space.ptr) {
            v->space = hf_db_column_bytes(cursor, 6);
            v->space.ptr = hf_mem_text(v->mem, v->space);
            if (!v->space.ptr)
                st = hf_err_nomem(err, "a namespace");
        }
    }
    hf_db_end(cursor);
    return st;
}

static hf_value link_id(const hf_detail_view *v, const hf_detail_link *link)
{
    hf_ulid id;

    if (!link)
        return hf_value_null();
    id = hf_ulid_form(link->created_us, link->key, 0);
    return hf_edge_id(v->mem, &id);
}

/* The run with this number; NULL: not among those that were read. */
static const hf_detail_link *link_find(const hf_detail_view *v, int64_t number)
{
    for (size_t i = 0; i < v->chain_count; i++)
        if (v->chain[i].number == number)
            return &v->chain[i];
    return NULL;
}

static hf_status link_append(const hf_detail_view *v, const hf_detail_link *link,
                             hf_value_list *list, hf_err *err)
{
    hf_sheet sh = hf_sheet_begin(&v->section, err);

    hf_sheet_put(&sh, "run_id", link_id(v, link));
    hf_sheet_int(&sh, "run_number", link->number);
    hf_sheet_word(&sh, "status", &hf_run_status_list, link->status);
    hf_sheet_word(&sh, "status_bucket", &hf_status_bucket_list,
                  hf_run_status_bucket((hf_run_status)link->status));
    hf_sheet_word(&sh, "closed_reason", &hf_closed_reason_list, link->closed_reason);
    hf_sheet_time(&sh, "started_at", link->created_us);
    hf_sheet_time(&sh, "closed_at", link->closed_us);
    hf_sheet_put(&sh, "is_current_run", hf_value_bool(link == v->chain));
    hf_sheet_put(&sh, "is_selected_run", hf_value_bool(link->key == v->dossier.run.key));
    return hf_sheet_append(&sh, list);
}

/* The newest run is the current one. When the instance's row names another, the order of runs is
   believed, and the answer says so. */
void hf_detail_chain_put(hf_sheet *sh, const hf_detail_view *v)
{
    const hf_detail_link *current = v->chain_count ? &v->chain[0] : NULL;
    int64_t number = v->dossier.run.number;
    hf_value_list *list = hf_value_array(v->mem);
    hf_value runs;

    for (size_t i = 0; !sh->st && i < v->chain_count; i++)
        sh->st = link_append(v, &v->chain[i], list, sh->err);
    runs = hf_value_finish(list);
    hf_sheet_text(sh, "namespace", v->space);
    hf_sheet_put(sh, "is_current_run", hf_value_bool(current && current->number == number));
    hf_sheet_put(sh, "current_run_id", link_id(v, current));
    hf_sheet_word(sh, "current_run_source", &hf_current_run_source_list,
                  current && current->key == v->dossier.current.key
                      ? HF_CURRENT_RUN_SOURCE_CONTINUE_AS_NEW_LINEAGE
                      : HF_CURRENT_RUN_SOURCE_RUN_ORDER_FALLBACK);
    hf_sheet_word(sh, "current_run_status", &hf_run_status_list,
                  current ? current->status : HF_NONE);
    hf_sheet_word(sh, "current_run_status_bucket", &hf_status_bucket_list,
                  current ? (int64_t)hf_run_status_bucket((hf_run_status)current->status)
                          : HF_NONE);
    hf_sheet_word(sh, "current_run_closed_reason", &hf_closed_reason_list,
                  current ? current->closed_reason : HF_NONE);
    hf_sheet_put(sh, "run_navigation",
                 hf_json_(v->mem, "{'previous_run_id': %p, 'next_run_id': %p, 'runs': %p}",
                          (const void *)link_id(v, link_find(v, number - 1)),
                          (const void *)link_id(v, link_find(v, number + 1)), (const void *)runs));
}
