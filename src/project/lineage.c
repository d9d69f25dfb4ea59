/* lineage.c: see lineage.h. */
#include "project/lineage.h"

#include <stdbool.h>
#include <string.h>

#include "base/json.h"
#include "model/vocab.h"
#include "project/dossier.h"
#include "project/edge.h"
#include "project/why_short.h"
#include "store/row.h"

enum { CHAIN_MAX = 20 };

/* A run of the graph. */
typedef struct node {
    int64_t key;
    int64_t created_us;
    int64_t number;
    int64_t status;
    int64_t closed_reason;
    int64_t closed_us;
    hf_slice instance;
    hf_slice type;
    const char *relation;
    int64_t depth;
} node;

typedef struct graph {
    hf_db *db;
    hf_mem *mem;
    node nodes[HF_LINEAGE_NODES_MAX];
    size_t count;
    hf_value_list *edges;
    int64_t cut;
    int64_t depth_max;
} graph;

static hf_status text_take(const graph *g, hf_db_cursor *cursor, size_t column, hf_slice *out,
                           hf_err *err)
{
    hf_slice text = hf_db_column_bytes(cursor, column);

    *out = hf_slice_from(hf_mem_text(g->mem, text), text.len);
    return out->ptr ? HF_OK : hf_err_nomem(err, "a lineage");
}

/* Key, created_us, number, status, closed_reason and closed_us, as the first columns have them. */
static node node_take(hf_db_cursor *cursor)
{
    return (node){.key = hf_db_column_int(cursor, 0),
                  .created_us = hf_db_column_int(cursor, 1),
                  .number = hf_db_column_int(cursor, 2),
                  .status = hf_db_column_int(cursor, 3),
                  .closed_reason = hf_column_or_none(cursor, 4),
                  .closed_us = hf_column_or_none(cursor, 5)};
}

static hf_value run_id(hf_mem *mem, int64_t created_us, int64_t key)
{
    hf_ulid id = hf_ulid_form(created_us, key, 0);

    return hf_edge_id(mem, &id);
}

static bool node_known(const graph *g, int64_t key)
{
    for (size_t i = 0; i < g->count; i++)
        if (g->nodes[i].key == key)
            return true;
    return false;
}

/* False: it is there already, or there is no room. */
static bool node_add(graph *g, node n, const char *relation, int64_t depth)
{
    if (node_known(g, n.key))
        return false;
    if (g->count == HF_LINEAGE_NODES_MAX) {
        g->cut++;
        return false;
    }
    n.relation = relation;
    n.depth = depth;
    g->nodes[g->count++] = n;
    return true;
}

static void edge_add(graph *g, const node *from, const node *to, const char *kind, int64_t step)
{
    hf_value_append(
        g->edges,
        hf_json_(g->mem, "{'from': %p, 'to': %p, 'kind': %s, 'step': %p}",
                 (const void *)run_id(g->mem, from->created_us, from->key),
                 (const void *)run_id(g->mem, to->created_us, to->key), kind,
                 (const void *)(step == HF_NONE ? hf_value_null() : hf_value_int(g->mem, step))));
}

/* Rows of a statement about one run; at most `max`. */
typedef hf_status row_take(graph *g, hf_db_cursor *cursor, const node *of, hf_err *err);

static hf_status rows_read(graph *g, hf_stmt stmt, node of, int64_t max, row_take *take,
                           hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(of.key), hf_db_int(max + 1)};
    hf_db_cursor *cursor = NULL;
    int64_t count = 0;
    bool row = true;
    hf_status st = hf_db_query(g->db, stmt, params, 2, &cursor, err);

    while (!st && row) {
        st = hf_db_step(cursor, &row, err);
        if (st || !row)
            break;
        if (++count > max) {
            g->cut++;
            break;
        }
        st = take(g, cursor, &of, err);
    }
    hf_db_end(cursor);
    return st;
}

/* ---- what there is around a run */

static hf_status child_take(graph *g, hf_db_cursor *cursor, const node *of, hf_err *err)
{
    node n = node_take(cursor);
    int64_t step = hf_db_column_int(cursor, 6);
    hf_status st = text_take(g, cursor, 7, &n.instance, err);

    if (!st)
        st = text_take(g, cursor, 8, &n.type, err);
    if (st)
        return st;
    if (node_add(g, n, "child", of->depth + 1) || node_known(g, n.key))
        edge_add(g, of, &n, "child", step);
    return HF_OK;
}

/* Generation by generation, so that what is near is there when there is no room for all. */
static hf_status children_read(graph *g, hf_err *err)
{
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < g->count; i++)
        if (g->nodes[i].depth >= 0 && g->nodes[i].depth < g->depth_max &&
            strcmp(g->nodes[i].relation, "continued") != 0)
            st = rows_read(g, HF_STMT_LINEAGE_CHILDREN, g->nodes[i], HF_LINEAGE_CHILDREN_MAX,
                           child_take, err);
    return st;
}

/* The run of a key, which is added. */
static hf_status run_add(graph *g, int64_t key, const char *relation, int64_t depth, node *out,
                         hf_err *err)
{
    hf_dossier_run run;
    hf_run_base base;
    hf_status st = hf_dossier_find(g->db, g->mem, key, &run, err);

    if (!st)
        st = hf_run_base_get(g->db, key, &base, err);
    if (st)
        return st;
    *out = (node){.key = key,
                  .created_us = run.created_us,
                  .number = run.number,
                  .status = base.status,
                  .closed_reason = base.closed_reason,
                  .closed_us = base.closed_us,
                  .instance = run.instance_id,
                  .type = run.type};
    (void)node_add(g, *out, relation, depth);
    return HF_OK;
}

/* Whoever waits for it, and so on up. */
static hf_status parents_read(graph *g, node child, hf_err *err)
{
    hf_status st = HF_OK;

    for (int64_t depth = -1; !st && depth >= -g->depth_max; depth--) {
        const hf_db_value param = hf_db_int(child.key);
        hf_db_cursor *cursor = NULL;
        int64_t key = HF_NONE;
        int64_t step = HF_NONE;
        bool row = false;
        node parent;

        st = hf_db_query(g->db, HF_STMT_LINK_PARENT, &param, 1, &cursor, err);
        if (!st)
            st = hf_db_step(cursor, &row, err);
        if (!st && row) {
            key = hf_db_column_int(cursor, 0);
            step = hf_db_column_int(cursor, 1);
        }
        hf_db_end(cursor);
        if (st || key == HF_NONE)
            break;
        st = run_add(g, key, "parent", depth, &parent, err);
        if (!st)
            edge_add(g, &parent, &child, "child", step);
        child = parent;
    }
    return st;
}

static hf_status chain_take(graph *g, hf_db_cursor *cursor, const node *of, hf_err *err)
{
    node n = node_take(cursor);

    (void)err;
    n.instance = of->instance;
    n.type = of->type;
    (void)node_add(g, n, "continued", 0);
    return HF_OK;
}

static bool same_instance(const node *a, const node *b)
{
    return a->depth == 0 && b->depth == 0 && hf_slice_equal(a->instance, b->instance);
}

/* The other runs of the instance, each leading to the next. */
static hf_status chain_read(graph *g, node self, hf_err *err)
{
    hf_status st = rows_read(g, HF_STMT_RUN_CHAIN, self, CHAIN_MAX, chain_take, err);

    for (size_t i = 0; !st && i < g->count; i++)
        for (size_t j = 0; j < g->count; j++)
            if (same_instance(&g->nodes[i], &g->nodes[j]) &&
                g->nodes[j].number == g->nodes[i].number + 1)
                edge_add(g, &g->nodes[i], &g->nodes[j], "continued", HF_NONE);
    return st;
}

/* ---- the answer */

static hf_value word(hf_mem *mem, const char *text)
{
    return text ? hf_value_string(mem, hf_slice_of(text)) : hf_value_null();
}

static hf_value node_value(hf_mem *mem, const node *n)
{
    hf_run_status status = (hf_run_status)n->status;
    const char *reason = n->closed_reason == HF_NONE
                             ? NULL
                             : hf_closed_reason_text((hf_closed_reason)n->closed_reason);
    hf_value_list *object = hf_value_object(mem);
    hf_value state =
        hf_json_(mem, "{'status': %s, 'closed_reason': %s}", hf_run_status_text(status), reason);

    hf_value_put(object, "run_id", run_id(mem, n->created_us, n->key));
    hf_value_put(object, "workflow_id", hf_edge_text(mem, n->instance));
    hf_value_put(object, "workflow_type", hf_edge_text(mem, n->type));
    hf_value_put(object, "run_number", hf_value_int(mem, n->number));
    hf_value_put(object, "status", word(mem, hf_run_status_text(status)));
    hf_value_put(object, "status_bucket",
                 word(mem, hf_vocab_text(&hf_status_bucket_list, hf_run_status_bucket(status))));
    hf_value_put(object, "closed_reason", word(mem, reason));
    hf_value_put(object, "glyph", word(mem, hf_glyph(state, NULL)));
    hf_value_put(object, "started_at", hf_edge_time(mem, n->created_us));
    hf_value_put(object, "closed_at", hf_edge_time(mem, n->closed_us));
    hf_value_put(object, "relation", word(mem, n->relation));
    hf_value_put(object, "depth", hf_value_int(mem, n->depth));
    hf_value_put(object, "failing",
                 hf_value_bool(hf_run_status_bucket(status) == HF_STATUS_BUCKET_FAILED));
    return hf_value_finish(object);
}

static hf_status answer_make(const graph *g, hf_value *out, hf_err *err)
{
    hf_value_list *nodes = hf_value_array(g->mem);
    hf_value edges = hf_value_finish(g->edges);

    for (size_t i = 0; i < g->count; i++)
        hf_value_append(nodes, node_value(g->mem, &g->nodes[i]));
    *out = hf_json_(g->mem, "{'root': %p, 'nodes': %p, 'edges': %p, 'cut': %lld}",
                    (const void *)run_id(g->mem, g->nodes[0].created_us, g->nodes[0].key),
                    (const void *)hf_value_finish(nodes), (const void *)edges, (long long)g->cut);
    return edges && *out ? HF_OK : hf_err_nomem(err, "a lineage");
}

hf_status hf_lineage_read(hf_db *db, hf_mem *mem, int64_t run, int64_t depth, hf_value *out_lineage,
                          hf_err *err)
{
    graph *g;
    node self;
    hf_status st;

    if (depth < 1 || depth > HF_LINEAGE_DEPTH_MAX)
        return hf_err_set(err, HF_INVALID, "a lineage has 1 to %d generations",
                          HF_LINEAGE_DEPTH_MAX);
    g = hf_mem_alloc(mem, sizeof(*g));
    if (!g)
        return hf_err_nomem(err, "a lineage");
    g->db = db;
    g->mem = mem;
    g->edges = hf_value_array(mem);
    g->depth_max = depth;
    st = run_add(g, run, "self", 0, &self, err);
    if (!st)
        st = parents_read(g, self, err);
    if (!st)
        st = chain_read(g, self, err);
    if (!st)
        st = children_read(g, err);
    return st ? st : answer_make(g, out_lineage, err);
}
