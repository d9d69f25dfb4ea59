/* shelf.c: see shelf.h. A list, because it is short. */
#include "server/shelf.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "base/json.h"
#include "base/rng.h"
#include "base/thread.h"
#include "server/auth.h"

enum { SECOND_US = 1000000 };

struct hf_shelf_item {
    struct hf_shelf_item *next;
    char id[HF_SHELF_ID_SIZE];
    char owner[HF_AUTH_ID_SIZE];
    char *name; /* NULL: none */
    hf_bundle_view *view;
    size_t bytes;
    int64_t opened_us;
    int64_t seen_us;
    int held;   /* by whom it is looked at */
    bool taken; /* off the shelf: the last who holds it frees it */
};

struct hf_shelf {
    hf_mutex opening; /* one at a time */
    hf_mutex mutex;   /* for all that follows */
    hf_rng rng;
    hf_shelf_item *first; /* the newest */
    size_t bytes;
};

hf_status hf_shelf_open(hf_shelf **out_shelf, hf_err *err)
{
    hf_shelf *shelf = hf_alloc(sizeof(*shelf));
    hf_status st = shelf ? hf_mutex_init(&shelf->mutex, err) : hf_err_nomem(err, "a shelf");

    if (!st) {
        st = hf_mutex_init(&shelf->opening, err);
        if (!st) {
            st = hf_rng_init_system(&shelf->rng, err);
            if (!st) {
                *out_shelf = shelf;
                return HF_OK;
            }
            hf_mutex_fini(&shelf->opening);
        }
        hf_mutex_fini(&shelf->mutex);
    }
    hf_alloc_free(shelf);
    return st;
}

static void item_free(hf_shelf_item *item)
{
    hf_bundle_view_close(item->view);
    hf_alloc_free(item->name);
    hf_alloc_free(item);
}

void hf_shelf_close(hf_shelf *shelf)
{
    if (!shelf)
        return;
    while (shelf->first) {
        hf_shelf_item *item = shelf->first;

        shelf->first = item->next;
        item_free(item);
    }
    hf_mutex_fini(&shelf->opening);
    hf_mutex_fini(&shelf->mutex);
    hf_alloc_free(shelf);
}

/* ---- under the mutex */

static void item_unlink(hf_shelf *shelf, hf_shelf_item **at)
{
    hf_shelf_item *item = *at;

    *at = item->next;
    shelf->bytes -= item->bytes;
    item->taken = true;
    if (!item->held)
        item_free(item);
}

/* What nobody looked at for a while goes. */
static void sweep(hf_shelf *shelf, int64_t wall_us)
{
    hf_shelf_item **at = &shelf->first;

    while (*at)
        if (!(*at)->held && wall_us - (*at)->seen_us >= (int64_t)HF_SHELF_IDLE_S * SECOND_US)
            item_unlink(shelf, at);
        else
            at = &(*at)->next;
}

static hf_shelf_item **item_find(hf_shelf *shelf, const char *owner, const char *id)
{
    hf_shelf_item **at = &shelf->first;

    while (*at && (strcmp((*at)->owner, owner) != 0 || strcmp((*at)->id, id) != 0))
        at = &(*at)->next;
    return at;
}

static hf_status room_check(hf_shelf *shelf, const char *owner, size_t bytes, hf_err *err)
{
    size_t kept = bytes;
    int count = 0;

    for (const hf_shelf_item *item = shelf->first; item; item = item->next)
        if (strcmp(item->owner, owner) == 0) {
            kept += item->bytes;
            count++;
        }
    if (count >= HF_SHELF_EACH_MAX || kept > HF_SHELF_EACH_BYTES_MAX)
        return hf_err_set(err, HF_EXISTS,
                          "At most %d bundles are open at a time, of %d MB together in memory; "
                          "close one of the %d that are.",
                          (int)HF_SHELF_EACH_MAX, HF_SHELF_EACH_BYTES_MAX >> 20, count);
    return shelf->bytes + bytes <= HF_SHELF_ALL_BYTES_MAX
               ? HF_OK
               : hf_err_set(err, HF_BUSY, "The server keeps as many opened bundles as it may.");
}

/* ---- putting down */

static hf_status item_new(hf_shelf *shelf, const char *owner, const char *name, int64_t wall_us,
                          hf_shelf_item **out, hf_err *err)
{
    uint8_t random[16];
    hf_slice said = hf_slice_of(name);
    hf_shelf_item *item = hf_alloc(sizeof(*item));

    if (item && said.len)
        item->name = hf_alloc_text(said.ptr, said.len);
    if (!item || (said.len && !item->name)) {
        hf_alloc_free(item);
        return hf_err_nomem(err, "a bundle");
    }
    hf_rng_fill(&shelf->rng, random, sizeof(random));
    hf_hex_print(hf_slice_from(random, sizeof(random)), item->id);
    (void)snprintf(item->owner, sizeof(item->owner), "%s", owner);
    item->opened_us = wall_us;
    item->seen_us = wall_us;
    *out = item;
    return HF_OK;
}

static hf_status item_place(hf_shelf *shelf, hf_shelf_item *item, hf_err *err)
{
    hf_status st;

    hf_mutex_lock(&shelf->mutex);
    st = room_check(shelf, item->owner, item->bytes, err);
    if (!st) {
        item->next = shelf->first;
        shelf->first = item;
        shelf->bytes += item->bytes;
    }
    hf_mutex_unlock(&shelf->mutex);
    return st;
}

hf_status hf_shelf_put(hf_shelf *shelf, const char *owner, const char *name, hf_slice text,
                       int64_t wall_us, char out_id[HF_SHELF_ID_SIZE], hf_err *err)
{
    hf_shelf_item *item = NULL;
    hf_status st;

    hf_mutex_lock(&shelf->mutex);
    sweep(shelf, wall_us);
    st = room_check(shelf, owner, text.len, err);
    hf_mutex_unlock(&shelf->mutex);
    if (!st)
        st = item_new(shelf, owner, name, wall_us, &item, err);
    if (st)
        return st;
    hf_mutex_lock(&shelf->opening);
    st = hf_bundle_view_open(text.ptr, text.len, &item->view, err);
    hf_mutex_unlock(&shelf->opening);
    if (!st) {
        item->bytes = hf_bundle_view_held(item->view);
        (void)snprintf(out_id, HF_SHELF_ID_SIZE, "%s", item->id);
        st = item_place(shelf, item, err);
    }
    if (st)
        item_free(item);
    return st;
}

/* ---- looking */

hf_shelf_item *hf_shelf_take(hf_shelf *shelf, const char *owner, const char *id, int64_t wall_us)
{
    hf_shelf_item *item;

    hf_mutex_lock(&shelf->mutex);
    sweep(shelf, wall_us);
    item = *item_find(shelf, owner, id);
    if (item) {
        item->held++;
        item->seen_us = wall_us;
    }
    hf_mutex_unlock(&shelf->mutex);
    return item;
}

const hf_bundle_view *hf_shelf_view(const hf_shelf_item *item)
{
    return item->view;
}

void hf_shelf_return(hf_shelf *shelf, hf_shelf_item *item)
{
    if (!item)
        return;
    hf_mutex_lock(&shelf->mutex);
    if (--item->held == 0 && item->taken)
        item_free(item);
    hf_mutex_unlock(&shelf->mutex);
}

static hf_value time_value(hf_mem *mem, int64_t us)
{
    char text[HF_CLOCK_TEXT_SIZE] = "";

    (void)hf_clock_print(us, text);
    return hf_value_string(mem, hf_slice_of(text));
}

/* With the mutex held. */
static hf_value about_make(const hf_shelf_item *item, hf_mem *mem)
{
    hf_value own = hf_json_(
        mem, "{'id': %s, 'name': %s, 'opened_at': %p, 'expires_at': %p}", item->id, item->name,
        (const void *)time_value(mem, item->opened_us),
        (const void *)time_value(mem, item->seen_us + (int64_t)HF_SHELF_IDLE_S * SECOND_US));

    return hf_value_merge(mem, own, hf_bundle_view_about(item->view, mem));
}

hf_value hf_shelf_about(hf_shelf *shelf, const hf_shelf_item *item, hf_mem *mem)
{
    hf_value about;

    hf_mutex_lock(&shelf->mutex);
    about = about_make(item, mem);
    hf_mutex_unlock(&shelf->mutex);
    return about;
}

hf_value hf_shelf_list(hf_shelf *shelf, const char *owner, int64_t wall_us, hf_mem *mem)
{
    hf_value_list *list = hf_value_array(mem);

    hf_mutex_lock(&shelf->mutex);
    sweep(shelf, wall_us);
    for (const hf_shelf_item *item = shelf->first; item; item = item->next)
        if (strcmp(item->owner, owner) == 0)
            hf_value_append(list, about_make(item, mem));
    hf_mutex_unlock(&shelf->mutex);
    return hf_value_finish(list);
}

/* ---- taking away */

bool hf_shelf_drop(hf_shelf *shelf, const char *owner, const char *id, int64_t wall_us)
{
    hf_shelf_item **at;
    bool there;

    hf_mutex_lock(&shelf->mutex);
    sweep(shelf, wall_us);
    at = item_find(shelf, owner, id);
    there = *at != NULL;
    if (there)
        item_unlink(shelf, at);
    hf_mutex_unlock(&shelf->mutex);
    return there;
}

void hf_shelf_clear(hf_shelf *shelf, const char *owner)
{
    hf_shelf_item **at = &shelf->first;

    hf_mutex_lock(&shelf->mutex);
    while (*at)
        if (strcmp((*at)->owner, owner) == 0)
            item_unlink(shelf, at);
        else
            at = &(*at)->next;
    hf_mutex_unlock(&shelf->mutex);
}
