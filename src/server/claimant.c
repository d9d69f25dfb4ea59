/* claimant.c: see claimant.h. Names stand in the order of their last use, so that those that nobody
   uses any more are found first. */
#include "server/claimant.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/list.h"
#include "base/map.h"
#include "base/thread.h"

#define HELD_US INT64_C(300000000) /* as long as the longest lease */

enum { NAMES_MAX = 65536, NAME_SIZE = 400 };

typedef struct claimant {
    hf_list link;
    int64_t used_us;
    char principal[HF_AUTH_ID_SIZE];
    char name[NAME_SIZE];
} claimant;

struct hf_claimants {
    hf_mutex lock;
    hf_map *names;
    hf_list oldest;
};

hf_status hf_claimants_open(hf_claimants **out_claimants, hf_err *err)
{
    hf_claimants *claimants = hf_alloc(sizeof(*claimants));
    hf_map_seed seed;
    hf_status st;

    if (!claimants)
        return hf_err_nomem(err, "the names of workers");
    hf_list_init(&claimants->oldest);
    st = hf_mutex_init(&claimants->lock, err);
    if (st) {
        hf_alloc_free(claimants);
        return st;
    }
    st = hf_map_seed_system(&seed, err);
    if (!st) {
        claimants->names = hf_map_new(seed);
        st = claimants->names ? HF_OK : hf_err_nomem(err, "the names of workers");
    }
    if (st) {
        hf_claimants_close(claimants);
        return st;
    }
    *out_claimants = claimants;
    return HF_OK;
}

static void name_drop(hf_claimants *claimants, claimant *c)
{
    hf_list_remove(&c->link);
    (void)hf_map_remove(claimants->names, hf_slice_of(c->name));
    hf_alloc_free(c);
}

void hf_claimants_close(hf_claimants *claimants)
{
    hf_list *link;

    if (!claimants)
        return;
    while ((link = hf_list_first(&claimants->oldest)))
        name_drop(claimants, (claimant *)(void *)link); /* the link is its first member */
    hf_map_free(claimants->names);
    hf_mutex_fini(&claimants->lock);
    hf_alloc_free(claimants);
}

/* Under the lock: forgets some of those that are free again. */
static void names_prune(hf_claimants *claimants, int64_t now_us)
{
    for (int i = 0; i < 4; i++) {
        claimant *c = (claimant *)(void *)hf_list_first(&claimants->oldest);

        if (!c || now_us - c->used_us < HELD_US)
            return;
        name_drop(claimants, c);
    }
}

static hf_status name_add(hf_claimants *claimants, hf_slice name, const hf_principal *principal,
                          int64_t now_us, hf_err *err)
{
    claimant *c;
    hf_status st;

    if (hf_map_count(claimants->names) >= NAMES_MAX || name.len >= NAME_SIZE)
        return hf_err_set(err, HF_BUSY, "too many names of workers are in use");
    c = hf_alloc(sizeof(*c));
    if (!c)
        return hf_err_nomem(err, "the name of a worker");
    (void)snprintf(c->name, sizeof(c->name), "%.*s", (int)name.len, name.ptr);
    (void)snprintf(c->principal, sizeof(c->principal), "%s", principal->id);
    c->used_us = now_us;
    st = hf_map_put(claimants->names, name, c, NULL, err);
    if (st) {
        hf_alloc_free(c);
        return st;
    }
    hf_list_add_last(&claimants->oldest, &c->link);
    return HF_OK;
}

hf_status hf_claimants_use(hf_claimants *claimants, hf_slice name, const hf_principal *principal,
                           hf_auth *auth, int64_t now_us, hf_err *err)
{
    hf_status st = HF_OK;
    claimant *c;

    hf_mutex_lock(&claimants->lock);
    names_prune(claimants, now_us);
    c = hf_map_get(claimants->names, name);
    if (!c) {
        st = name_add(claimants, name, principal, now_us, err);
    } else if (strcmp(c->principal, principal->id) != 0 && now_us - c->used_us < HELD_US &&
               hf_auth_knows(auth, c->principal, now_us)) {
        st = hf_err_set(err, HF_DENIED, "another credential uses the name of this worker");
    } else {
        (void)snprintf(c->principal, sizeof(c->principal), "%s", principal->id);
        c->used_us = now_us;
        hf_list_remove(&c->link);
        hf_list_add_last(&claimants->oldest, &c->link);
    }
    hf_mutex_unlock(&claimants->lock);
    return st;
}
