/* hold.h: a proxy between a program and PostgreSQL that stands still at a
   chosen point. It passes the client's messages on one by one and counts, on
   the connection that writes units or on the one that renews the lease, the
   points at which a node may be cut off: before a statement is carried out,
   before the end of a pipeline, and before the answer to it. At the point it is
   armed for, nothing moves any more on any connection, either way, and no new
   one is made, as if the node's network were gone; until it is let go. */
#ifndef HF_TEST_LIB_HOLD_H
#define HF_TEST_LIB_HOLD_H

#include <stdbool.h>
#include <stdint.h>

typedef struct hf_hold hf_hold;

typedef enum hf_hold_on { HF_HOLD_UNITS, HF_HOLD_LEASE } hf_hold_on;

/* In front of the server of `address`, without encryption; what to connect to
   instead is in `out_address`. Fails the case when it cannot. */
enum { HF_HOLD_ADDRESS = 512 };
hf_hold *hf_hold_new(const char *address, char out_address[HF_HOLD_ADDRESS]);
void hf_hold_free(hf_hold *hold); /* cuts every connection */

/* Counts from now on and stands still at the nth point, from 1, for so long at
 * most. */
void hf_hold_arm(hf_hold *hold, hf_hold_on on, int64_t nth, int64_t most_ms);

/* Whether it stands still. */
bool hf_hold_stands(hf_hold *hold);

/* Lets everything go on that waits, and stands still no more. */
void hf_hold_release(hf_hold *hold);

#endif
