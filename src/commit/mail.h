/* mail.h: letters between nodes that share a PostgreSQL store, as rows of its table `mail`. A hint
   (wake.h) tells the addressee that one is there; who misses the hint finds it with the next
   renewal of its lease. A letter may be lost, and may come twice: whoever needs an answer asks
   again under the same number.

   One thread at a time, with a connection that writes. */
#ifndef HF_COMMIT_MAIL_H
#define HF_COMMIT_MAIL_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/slice.h"
#include "store/db.h"

/* Stored; a kind that is not known is a newer node's, and is dropped. */
typedef enum hf_letter_kind {
    HF_LETTER_ASK = 1,    /* something is to be done with a run of a shard that the receiver has */
    HF_LETTER_ANSWER = 2, /* what came of it */
    HF_LETTER_DEMAND = 3, /* what polls at the sender wait for */
    HF_LETTER_OFFER = 4,  /* a task for polls of the receiver */
    HF_LETTER_WITHDRAW = 5, /* it is not to be had there any more */
    HF_LETTER_CLAIM = 6,    /* a poll at the sender took an offered task */
    HF_LETTER_TASK = 7,     /* the task, for the poll that claimed it */
    HF_LETTER_TAKEN = 8     /* the poll has got it, or it comes back */
} hf_letter_kind;

typedef struct hf_letter {
    int64_t to;
    int64_t from;
    hf_letter_kind kind;
    hf_slice body; /* JSON */
} hf_letter;

/* All of them in one transaction. */
HF_NODISCARD hf_status hf_mail_send(hf_db *db, const hf_letter *letters, size_t count, hf_err *err);

/* Takes letters for the node, in the order in which they were sent, and calls `came` for each; how
   many they were. There may be more when *out_count is HF_MAIL_MOST. */
enum { HF_MAIL_MOST = 512 };
HF_NODISCARD hf_status hf_mail_take(hf_db *db, int64_t node,
                                    void (*came)(void *ctx, const hf_letter *letter), void *ctx,
                                    size_t *out_count, hf_err *err);

/* Drops what nobody fetched for so long. */
HF_NODISCARD hf_status hf_mail_expire(hf_db *db, int64_t after_us, hf_err *err);

#endif
