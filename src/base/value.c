/* value.c: making, walking, comparing and copying values. Rule: whatever comes out of here can be
   written as JSON. Must never change a node that a caller has seen. */
#include "base/value.h"

#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "base/utf8.h"
#include "base/value_node.h"

enum { LIST_FIRST = 8 }; /* nodes a list starts with */

struct hf_value_list {
    hf_mem *mem;
    hf_json_node *nodes; /* items, or keys and values in turn */
    size_t count;        /* nodes in use */
    size_t capacity;
    size_t first;       /* capacity to begin with */
    hf_value_kind kind; /* HF_VALUE_ARRAY or HF_VALUE_OBJECT */
    bool failed;
};

enum { NODE_BROKEN = 1 }; /* the length of a null that stands for a value that could not be made */

static const hf_json_node node_broken = {.kind = HF_VALUE_NULL, .len = NODE_BROKEN};
static const hf_json_node node_unmade = {.kind = HF_VALUE_NULL, .len = NODE_BROKEN};
static const hf_json_node node_null = {.kind = HF_VALUE_NULL};
static const hf_json_node node_false = {.kind = HF_VALUE_BOOL, .as.boolean = false};
static const hf_json_node node_true = {.kind = HF_VALUE_BOOL, .as.boolean = true};

static hf_value node_keep(hf_mem *mem, hf_json_node node)
{
    hf_json_node *kept = hf_mem_alloc(mem, sizeof(*kept));

    if (kept)
        *kept = node;
    return kept;
}

static bool text_node(hf_mem *mem, hf_value_kind kind, hf_slice text, hf_json_node *out_node)
{
    char *copy;

    if (text.len >= UINT32_MAX)
        return false;
    copy = hf_mem_text(mem, text);
    if (!copy)
        return false;
    *out_node = (hf_json_node){.kind = (uint8_t)kind, .len = (uint32_t)text.len, .as.text = copy};
    return true;
}

static hf_value_list *list_new(hf_mem *mem, hf_value_kind kind, size_t first)
{
    hf_value_list *list = hf_mem_alloc(mem, sizeof(*list));

    if (!list)
        return NULL;
    *list = (hf_value_list){.mem = mem, .kind = kind, .first = first};
    return list;
}

/* Room for two more nodes. */
static bool list_grow(hf_value_list *list)
{
    size_t capacity = list->capacity ? 2 * list->capacity : list->first;
    hf_json_node *grown;

    if (list->count + 2 <= list->capacity)
        return true;
    grown = hf_mem_array(list->mem, capacity, sizeof(*grown));
    if (!grown)
        return false;
    if (list->count)
        memcpy(grown, list->nodes, list->count * sizeof(*grown));
    list->nodes = grown;
    list->capacity = capacity;
    return true;
}

/* Bounded by HF_VALUE_DEPTH_MAX levels, as every recursion over values. */
static bool node_copy(hf_mem *mem, hf_json_node *node)
{
    hf_json_node *items;
    size_t nodes;
    size_t bytes;

    if (node->kind == HF_VALUE_STRING || node->kind == HF_VALUE_BYTES)
        return text_node(mem, (hf_value_kind)node->kind, hf_node_text(node), node);
    if (node->kind != HF_VALUE_ARRAY && node->kind != HF_VALUE_OBJECT)
        return true;
    bytes = hf_node_items_bytes(node);
    nodes = node->kind == HF_VALUE_ARRAY ? node->len : 2 * (size_t)node->len;
    items = hf_mem_alloc(mem, bytes);
    if (!items)
        return false;
    memcpy(items, node->as.items, bytes);
    for (size_t i = 0; i < nodes; i++) {
        if (!node_copy(mem, &items[i]))
            return false;
    }
    node->as.items = items;
    return true;
}

hf_value hf_value_null(void)
{
    return &node_null;
}

hf_value hf_value_make_broken(hf_mem *mem, int64_t bytes)
{
    const hf_json_node node = {.kind = HF_VALUE_NULL, .len = NODE_BROKEN, .as.integer = bytes};
    hf_value value = mem ? node_keep(mem, node) : &node_broken;

    return value ? value : &node_unmade;
}

hf_value hf_value_make_unmade(void)
{
    return &node_unmade;
}

bool hf_value_unmade(hf_value value)
{
    return value == &node_unmade;
}

bool hf_value_broken(hf_value value, int64_t *out_bytes)
{
    if (!value || value->kind != HF_VALUE_NULL || value->len != NODE_BROKEN)
        return false;
    if (out_bytes)
        *out_bytes = value->as.integer;
    return true;
}

hf_value hf_value_bool(bool boolean)
{
    return boolean ? &node_true : &node_false;
}

hf_value hf_value_int(hf_mem *mem, int64_t integer)
{
    return node_keep(mem, (hf_json_node){.kind = HF_VALUE_INT, .as.integer = integer});
}

hf_value hf_value_double(hf_mem *mem, double number)
{
    if (!isfinite(number))
        return NULL;
    return node_keep(mem, (hf_json_node){.kind = HF_VALUE_DOUBLE, .as.number = number});
}

hf_value hf_value_string(hf_mem *mem, hf_slice text)
{
    hf_json_node node;

    if (!hf_utf8_valid(text) || !text_node(mem, HF_VALUE_STRING, text, &node))
        return NULL;
    return node_keep(mem, node);
}

hf_value hf_value_bytes(hf_mem *mem, hf_slice bytes)
{
    hf_json_node node;

    return text_node(mem, HF_VALUE_BYTES, bytes, &node) ? node_keep(mem, node) : NULL;
}

hf_value_list *hf_value_array(hf_mem *mem)
{
    return list_new(mem, HF_VALUE_ARRAY, LIST_FIRST);
}

hf_value_list *hf_value_object(hf_mem *mem)
{
    return list_new(mem, HF_VALUE_OBJECT, LIST_FIRST);
}

hf_value_list *hf_value_object_of(hf_mem *mem, size_t members)
{
    /* keys, values and the index behind them */
    return list_new(mem, HF_VALUE_OBJECT, 2 * members + members / 4 + 2);
}

void hf_value_append(hf_value_list *array, hf_value item)
{
    if (!array || array->failed)
        return;
    if (!item || array->kind != HF_VALUE_ARRAY || !list_grow(array)) {
        array->failed = true;
        return;
    }
    array->nodes[array->count++] = *item;
}

void hf_value_set(hf_value_list *object, hf_slice key, hf_value item)
{
    hf_json_node key_node;

    if (!object || object->failed)
        return;
    if (!item || object->kind != HF_VALUE_OBJECT || !hf_utf8_valid(key) || !list_grow(object) ||
        !text_node(object->mem, HF_VALUE_STRING, key, &key_node)) {
        object->failed = true;
        return;
    }
    object->nodes[object->count++] = key_node;
    object->nodes[object->count++] = *item;
}

void hf_value_set_text(hf_value_list *object, const char *key, hf_slice text)
{
    if (object)
        hf_value_set(object, hf_slice_of(key), hf_value_string(object->mem, text));
}

void hf_value_set_int(hf_value_list *object, const char *key, int64_t integer)
{
    if (object)
        hf_value_set(object, hf_slice_of(key), hf_value_int(object->mem, integer));
}

void hf_value_put(hf_value_list *object, const char *key, hf_value item)
{
    size_t len = key ? strlen(key) : 0;

    if (!object || object->failed)
        return;
    if (!item || !key || len >= UINT32_MAX || object->kind != HF_VALUE_OBJECT ||
        !list_grow(object)) {
        object->failed = true;
        return;
    }
    object->nodes[object->count++] =
        (hf_json_node){.kind = HF_VALUE_STRING, .len = (uint32_t)len, .as.text = key};
    object->nodes[object->count++] = *item;
}

hf_value hf_value_finish(hf_value_list *list)
{
    hf_json_node node;
    size_t duplicate;
    hf_status st;

    if (!list || list->failed)
        return NULL;
    if (list->kind == HF_VALUE_ARRAY)
        st = hf_node_array(list->mem, list->nodes, list->count, list->capacity, &node);
    else
        st = hf_node_object(list->mem, list->nodes, list->count / 2, list->capacity, &node,
                            &duplicate);
    list->failed = true; /* a list is finished once */
    return st ? NULL : node_keep(list->mem, node);
}

hf_value_kind hf_value_kind_of(hf_value value)
{
    return value ? (hf_value_kind)value->kind : HF_VALUE_NULL;
}

hf_slice hf_value_slice(hf_value value)
{
    if (!value || (value->kind != HF_VALUE_STRING && value->kind != HF_VALUE_BYTES))
        return (hf_slice){0};
    return hf_node_text(value);
}

bool hf_value_member(hf_value object, size_t i, hf_slice *out_key, hf_value *out_item)
{
    if (!object || object->kind != HF_VALUE_OBJECT || i >= object->len)
        return false;
    *out_key = hf_node_text(&object->as.items[2 * i]);
    *out_item = &object->as.items[2 * i + 1];
    return true;
}

bool hf_value_equal(hf_value a, hf_value b)
{
    if (a == b)
        return true;
    if (!a || !b || a->kind != b->kind || a->len != b->len || a->depth != b->depth)
        return false;
    switch ((hf_value_kind)a->kind) {
    case HF_VALUE_NULL:
        return true;
    case HF_VALUE_BOOL:
        return a->as.boolean == b->as.boolean;
    case HF_VALUE_INT:
        return a->as.integer == b->as.integer;
    case HF_VALUE_DOUBLE:
        return memcmp(&a->as.number, &b->as.number, sizeof(double)) == 0;
    case HF_VALUE_STRING:
    case HF_VALUE_BYTES:
        return hf_slice_equal(hf_node_text(a), hf_node_text(b));
    case HF_VALUE_ARRAY:
        for (size_t i = 0; i < a->len; i++) {
            if (!hf_value_equal(&a->as.items[i], &b->as.items[i]))
                return false;
        }
        return true;
    case HF_VALUE_OBJECT:
        for (size_t i = 0; i < a->len; i++) {
            hf_value other = hf_value_find(b, hf_node_text(&a->as.items[2 * i]));

            if (!other || !hf_value_equal(&a->as.items[2 * i + 1], other))
                return false;
        }
        return true;
    }
    hf_panic("a node of unknown kind", __FILE__, __LINE__);
}

hf_value hf_value_copy(hf_mem *mem, hf_value value)
{
    hf_json_node node;

    if (!value)
        return NULL;
    node = *value;
    return node_copy(mem, &node) ? node_keep(mem, node) : NULL;
}

hf_value hf_value_merge(hf_mem *mem, hf_value object, hf_value more)
{
    hf_value_list *list = hf_value_object(mem);
    hf_slice key;
    hf_value item;

    for (size_t i = 0; hf_value_member(object, i, &key, &item); i++) {
        hf_value newer = hf_value_find(more, key);

        hf_value_set(list, key, newer ? newer : item);
    }
    for (size_t i = 0; hf_value_member(more, i, &key, &item); i++)
        if (!hf_value_find(object, key))
            hf_value_set(list, key, item);
    return hf_value_finish(list);
}
