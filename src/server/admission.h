/* admission.h: how many requests may be in work at one time, by class, and so who is turned away
   when more is asked than can be done. Three rules:

   A class has a bound of its own, so that none can take what another needs: a flood of starts does
   not keep workers from reporting, and probes are always answered.

   A burst waits inside: reads and commands may be in work up to the bound of their class, and who
   has waited longer than HF_ADMISSION_WAIT_US when a thread takes it is turned away after all. It
   is a flood when they waited more than 3 ms on average for most of a second, or when more were
   turned away than got a thread, and until nobody was turned away for a second. Then the bound
   moves with the wait. Each tenth of a second it is looked at: when they waited longer than 0.2 ms
   on average (3 ms before the flood) it shrinks to what would have waited that long, when they
   waited less than half of that it grows by a quarter. So an overload costs those who are accepted
   little.

   Where there are several namespaces, none of them takes more than three quarters of a class, so
   that one that floods the server leaves room for the others; and each may be held to so many
   requests in a second, and to so many polls and streams.

   Any thread. It knows no clock: callers say what time it is. */
#ifndef HF_SERVER_ADMISSION_H
#define HF_SERVER_ADMISSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/slice.h"
#include "server/route.h"

typedef struct hf_admission hf_admission;

enum { HF_ADMISSION_WAIT_US = 10000000 };

typedef enum hf_class {
    HF_CLASS_OPEN,    /* probes and descriptions of the server: never turned away */
    HF_CLASS_REPORT,  /* workers on what they hold */
    HF_CLASS_READ,    /* what changes nothing */
    HF_CLASS_COMMAND, /* what changes something */
    HF_CLASS_WAIT,    /* callers that wait for a run or for a worker's answer */
    HF_CLASS_HELD,    /* polls and streams: they cost memory and no thread */
    HF_CLASSES
} hf_class;

const char *hf_class_text(hf_class class);
hf_class hf_class_of(const hf_route *route);

/* The most that may be in work, by class; 0: the default. */
typedef struct hf_admission_limits {
    size_t most[HF_CLASSES];
    size_t least; /* to which reads and commands may shrink; 0: 16. In a flood at most 12 */
    int64_t rate; /* reads, commands and waits of a namespace in a second; 0: any number */
    size_t polls; /* polls and streams of a namespace that are held; 0: its share of them all */
} hf_admission_limits;

HF_NODISCARD hf_status hf_admission_open(const hf_admission_limits *limits,
                                         hf_admission **out_admission, hf_err *err);
void hf_admission_close(hf_admission *admission); /* NULL is allowed */

/* One more is in work; false: it must be turned away, as one of many in a flood. */
bool hf_admission_enter(hf_admission *admission, hf_class class, int64_t now_us, bool *out_flood);
/* It got its thread after so long. */
void hf_admission_waited(hf_admission *admission, hf_class class, int64_t waited_us,
                         int64_t now_us);
void hf_admission_leave(hf_admission *admission, hf_class class);

/* One of those in work is the namespace's; false: it has its share already, or was too fast.
   `alone`: there is no other namespace, and so no share, unless one was set. */
bool hf_admission_share(hf_admission *admission, hf_class class, hf_slice space, bool alone,
                        int64_t now_us);
void hf_admission_unshare(hf_admission *admission, hf_class class, hf_slice space);

typedef struct hf_admission_state {
    size_t in_work;
    size_t limit;     /* that moves; it holds in a flood */
    size_t bound;     /* that holds now */
    uint64_t refused; /* ever */
} hf_admission_state;

void hf_admission_look(hf_admission *admission, hf_class class, hf_admission_state *out_state);

#endif
