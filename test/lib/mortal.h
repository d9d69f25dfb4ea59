/* mortal.h: a program whose code kills its process, and somebody who begins it again and again, as
   whoever looks after programs would. What died is told by the next process of it. */
#ifndef HF_TEST_LIB_MORTAL_H
#define HF_TEST_LIB_MORTAL_H

#include <stdbool.h>
#include <sys/types.h>

enum {
    HF_MORTAL_LIMIT = 5,     /* after so many deaths the code is not run any more */
    HF_MORTAL_GIVEN_UP = 100 /* it was begun again too often */
};

/* The types that it brings, one of which is run: "calls" an activity that kills the process, "dies"
   and "machine", whose workflow code and step do, unless they were mended, "waits" for a signal
   while its process is killed from outside; "strays", a machine, kills its first process, of which
   the next knows nothing, as on another machine; "lives" is for bystanders. */
typedef struct hf_mortal {
    pid_t keeper;
    int fd; /* where it hears what to do */
} hf_mortal;

/* While there is one thread only. */
hf_mortal hf_mortal_new(const char *type);

/* Begins: the first process starts the run. `folder` is where processes leave their traces,
   `address` a store or a server. */
void hf_mortal_begin(const hf_mortal *mortal, const char *folder, const char *address,
                     const char *id);

/* The code kills nobody from now on. */
void hf_mortal_mend(const char *folder);

/* When the run is over: how many processes died. */
int hf_mortal_end(const hf_mortal *mortal);

#endif
