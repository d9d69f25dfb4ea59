/* clock.h: time, real or virtual, in microseconds. Wall time counts from the Unix epoch and may
   jump either way; monotonic time counts from an arbitrary moment and never goes back. A steady
   clock has a wall time that does not jump: what durations are counted with. Every
   function may be called from any thread and none blocks. Nothing else may ask the system for the
   time. */
#ifndef HF_BASE_CLOCK_H
#define HF_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/slice.h"

typedef struct hf_clock hf_clock;

enum { HF_CLOCK_TEXT_SIZE = 28 }; /* "2026-04-02T10:11:12.123456Z" and its NUL */

#define HF_CLOCK_WALL_US_MAX INT64_C(253402300799999999) /* the last microsecond of 9999 */

/* The system's clock; lives as long as the process. */
const hf_clock *hf_clock_system(void);

/* A clock that stands still until it is told to move. NULL when memory ran out. */
HF_NODISCARD hf_clock *hf_clock_new_virtual(int64_t wall_us);
void hf_clock_free_virtual(hf_clock *clock); /* NULL is allowed */

/* A clock whose wall time is that of `under` now, and from then on as much later as time has passed
   (CLOCK_BOOTTIME: also while the machine sleeps). `under` must outlive it. NULL: no memory. */
HF_NODISCARD hf_clock *hf_clock_new_steady(const hf_clock *under);
void hf_clock_free_steady(hf_clock *clock); /* NULL is allowed */

/* Steady clocks only, by one thread. Somebody whose wall time counts from now on said that it was
   theirs_us, at some moment between the two, which are hf_clock_passing_us. The first time the
   clock takes it over; after that it follows what is less than a second away, so that they do not
   drift apart, and takes all else for a jump. It is never ahead of who does not jump. */
void hf_clock_learn(hf_clock *clock, int64_t theirs_us, int64_t sent_us, int64_t heard_us);

/* Wall time as the system has it, jumps and all: of a steady clock, that of the one under it, or of
   whom it learns from. */
int64_t hf_clock_real_us(const hf_clock *clock);

/* How far that is ahead of the clock's own wall time; 0 when it is less than a second. */
int64_t hf_clock_ahead_us(const hf_clock *clock);

/* Steady clocks only. True once for each jump of at least a second that wall time has made since it
   was last told of: *out_by_us, negative when it went back. */
bool hf_clock_jumped(hf_clock *clock, int64_t *out_by_us);
bool hf_clock_jump_waits(const hf_clock *clock); /* to be told */

int64_t hf_clock_wall_us(const hf_clock *clock);
int64_t hf_clock_mono_us(const hf_clock *clock);

/* What passes whatever is done to wall time, also while the machine sleeps, which monotonic time
   does not count. Threads wait by monotonic time; durations and leases are counted by this. */
int64_t hf_clock_passing_us(const hf_clock *clock);

/* So many milliseconds after a time; not before it, and not beyond what can be counted. */
int64_t hf_clock_after(int64_t from_us, int64_t ms);

/* Virtual clocks only: lets time pass on both scales, or makes wall time jump, backwards as well,
   while monotonic time stays. */
void hf_clock_advance(hf_clock *clock, int64_t by_us);
void hf_clock_set_wall(hf_clock *clock, int64_t wall_us);

/* Writes a wall time of the years 1970 to 9999 as UTC with six decimals; false, and "", for any
   other. Text order is time order. */
bool hf_clock_print(int64_t wall_us, char out_text[HF_CLOCK_TEXT_SIZE]);

/* Reads such a text. The fraction may have one to six digits or be missing together with its point;
   everything else is exactly as printed: no offsets, no lower case, no second 60, no 24:00. */
bool hf_clock_parse(hf_slice text, int64_t *out_wall_us);

#endif
