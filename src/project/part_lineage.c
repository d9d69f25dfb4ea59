/* part_lineage.c: the runs around a run, as its own history names them: of a bundle nobody can ask
   further; see part.h. lineage.c has those of a store. */
#include <string.h>

#include "base/json.h"
#include "project/edge.h"
#include "project/lineage.h"
#include "project/part_impl.h"
#include "project/why_short.h"

/* A relative and the line that leads to it, from a link of hf_section_links. */
static void relative_append(const hf_detail_view *v, hf_value link, bool up, hf_value_list *nodes,
                            hf_value_list *edges)
{
    bool child =
        strcmp(hf_str(link, "link_type", ""), hf_link_type_text(HF_LINK_TYPE_CHILD_WORKFLOW)) == 0;
    const char *status = up || !child ? NULL : hf_str(link, "status", NULL);
    const char *closed = status && strcmp(status, "started") != 0 ? status : NULL;
    hf_value other = hf_get(link, "workflow_run_id");
    hf_ulid id = hf_dossier_run_id(&v->dossier.run);
    hf_value self = hf_edge_id(v->mem, &id);
    hf_value state = closed ? hf_json_(v->mem, "{'closed_reason': %s}", closed) : NULL;

    if (hf_value_kind_of(other) != HF_VALUE_STRING)
        return; /* it never began */
    hf_value_append(
        nodes,
        hf_json_(v->mem,
                 "{'run_id': %p, 'workflow_id': %p, 'workflow_type': %p, 'run_number': null, "
                 "'status': %s, 'status_bucket': null, 'closed_reason': null, 'glyph': %s, "
                 "'started_at': null, 'closed_at': null, 'relation': %s, 'depth': %d, "
                 "'failing': %p}",
                 (const void *)other, (const void *)hf_get(link, "workflow_instance_id"),
                 (const void *)(child ? hf_get(link, "workflow_type")
                                      : hf_edge_text(v->mem, v->dossier.run.type)),
                 closed, state ? hf_glyph(state, NULL) : NULL,
                 child ? up ? "parent" : "child" : "continued", child ? up ? -1 : 1 : 0,
                 (const void *)hf_value_bool(closed && strcmp(closed, "failed") == 0)));
    hf_value_append(
        edges, hf_json_(v->mem, "{'from': %p, 'to': %p, 'kind': %s, 'step': %p}",
                        (const void *)(up ? other : self), (const void *)(up ? self : other),
                        child ? "child" : "continued", (const void *)hf_get(link, "sequence")));
}

static hf_value self_node(const hf_detail_view *v, hf_value run)
{
    static const char *const names[] = {"run_id",     "workflow_type", "run_number",
                                        "status",     "status_bucket", "closed_reason",
                                        "started_at", "closed_at"};
    hf_value_list *node = hf_value_object(v->mem);

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        hf_value_put(node, names[i], hf_get(run, names[i]));
    hf_value_put(node, "workflow_id", hf_get(run, "instance_id"));
    hf_value_put(node, "glyph", hf_value_string(v->mem, hf_slice_of(hf_glyph(run, NULL))));
    hf_value_put(node, "relation", hf_value_string(v->mem, HF_SLICE("self")));
    hf_value_put(node, "depth", hf_value_int(v->mem, 0));
    hf_value_put(node, "failing",
                 hf_value_bool(strcmp(hf_str(run, "status_bucket", ""), "failed") == 0));
    return hf_value_finish(node);
}

hf_status hf_part_lineage(hf_detail_view *v, const hf_part_query *query, hf_value *out_part,
                          hf_err *err)
{
    hf_value_list *nodes = hf_value_array(v->mem);
    hf_value_list *edges = hf_value_array(v->mem);
    hf_value run = NULL;
    hf_value links = NULL;
    size_t cut = 0;
    hf_status st = hf_detail_pass(v, err);

    (void)query;
    if (!st)
        st = hf_section_workflow(&v->section, &run, err);
    if (!st)
        st = hf_section_links(&v->section, &links, err);
    if (st)
        return st;
    hf_value_append(nodes, self_node(v, run));
    for (size_t i = 0; i < hf_len(hf_get(links, "parents")); i++)
        relative_append(v, hf_at(hf_get(links, "parents"), i), true, nodes, edges);
    for (size_t i = 0; i < hf_len(hf_get(links, "children")); i++)
        if (i < HF_LINEAGE_CHILDREN_MAX)
            relative_append(v, hf_at(hf_get(links, "children"), i), false, nodes, edges);
        else
            cut++;
    *out_part = hf_json_(v->mem, "{'root': %p, 'nodes': %p, 'edges': %p, 'cut': %zu}",
                         (const void *)hf_get(run, "run_id"), (const void *)hf_value_finish(nodes),
                         (const void *)hf_value_finish(edges), cut);
    return *out_part ? HF_OK : hf_err_nomem(err, "a lineage");
}
