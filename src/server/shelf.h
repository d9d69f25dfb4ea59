/* shelf.h: bundles that people opened to look at: in memory, each seen by the credential that
   opened it and by nobody else, until nobody looked for a while. How many, and how much memory, is
   bounded for each credential and for all of them. Any thread. */
#ifndef HF_SERVER_SHELF_H
#define HF_SERVER_SHELF_H

#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/slice.h"
#include "holdfast/value.h"
#include "holdfast/view.h"

enum {
    HF_SHELF_ID_SIZE = 33,
    HF_SHELF_EACH_MAX = 8,               /* bundles of a credential */
    HF_SHELF_TEXT_MAX = 32 << 20,        /* bytes of one, as it came */
    HF_SHELF_EACH_BYTES_MAX = 128 << 20, /* of memory, of a credential */
    HF_SHELF_ALL_BYTES_MAX = 512 << 20,  /* the same of all */
    HF_SHELF_IDLE_S = 3600
};

typedef struct hf_shelf hf_shelf;

HF_NODISCARD hf_status hf_shelf_open(hf_shelf **out_shelf, hf_err *err);
void hf_shelf_close(hf_shelf *shelf); /* NULL is allowed */

/* Opens the text and puts it down. One is opened at a time, because that takes several times its
   size. HF_EXISTS: the credential keeps as many as it may; HF_BUSY: all of them together do. Else
   as hf_bundle_view_open. */
HF_NODISCARD hf_status hf_shelf_put(hf_shelf *shelf, const char *owner, const char *name,
                                    hf_slice text, int64_t wall_us, char out_id[HF_SHELF_ID_SIZE],
                                    hf_err *err);

/* One of them, which stays as long as it is held; NULL: the credential has none of that id. It
   counts as looked at. */
typedef struct hf_shelf_item hf_shelf_item;
hf_shelf_item *hf_shelf_take(hf_shelf *shelf, const char *owner, const char *id, int64_t wall_us);
const hf_bundle_view *hf_shelf_view(const hf_shelf_item *item);
void hf_shelf_return(hf_shelf *shelf, hf_shelf_item *item); /* NULL is allowed */

/* What is said of one that is held: {id, name, opened_at, expires_at} and what
   hf_bundle_view_about says. NULL: no memory. */
hf_value hf_shelf_about(hf_shelf *shelf, const hf_shelf_item *item, hf_mem *mem);

/* Those of the credential, the newest first. NULL: no memory. */
hf_value hf_shelf_list(hf_shelf *shelf, const char *owner, int64_t wall_us, hf_mem *mem);

/* Takes one away; false: there is none. */
bool hf_shelf_drop(hf_shelf *shelf, const char *owner, const char *id, int64_t wall_us);

/* Takes away all of a credential that is no more. */
void hf_shelf_clear(hf_shelf *shelf, const char *owner);

#endif
