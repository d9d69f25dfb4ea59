/* pgclock.h: a PostgreSQL whose clock a case sets, while its machine's and this program's go on as
   ever. It is a database of its own in the server of the run, in which clock_timestamp() is
   another function. Places that are made between open and close are in it. */
#ifndef HF_TEST_LIB_PGCLOCK_H
#define HF_TEST_LIB_PGCLOCK_H

typedef struct hf_pgclock hf_pgclock;

/* Fails the case when it cannot be had, as all of these. */
hf_pgclock *hf_pgclock_open(void);

/* Its clock is so many seconds ahead of the real one from the next statement on. */
void hf_pgclock_set(hf_pgclock *clock, long long ahead_s);

/* When the places are gone. */
void hf_pgclock_close(hf_pgclock *clock);

#endif
