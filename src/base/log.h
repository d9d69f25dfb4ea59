/* log.h: structured log lines. One sink per log; by default a JSON object per line, written to a
   file descriptor with one write, so that lines of several threads or processes do not mix. Logging
   allocates nothing, keeps errno and never fails its caller: a line that is too long is cut (and
   says "cut":true), a line that cannot be written is lost. Callable from any thread as long as the
   sink is. */
#ifndef HF_BASE_LOG_H
#define HF_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/slice.h"

enum { HF_LOG_LINE_MAX = 4096 }; /* what a pipe takes in one piece */

typedef enum hf_log_level { HF_LOG_DEBUG, HF_LOG_INFO, HF_LOG_WARN, HF_LOG_ERROR } hf_log_level;

typedef enum hf_log_kind {
    HF_LOG_TEXT, /* any bytes */
    HF_LOG_INT,  /* a signed number */
    HF_LOG_TIME  /* wall time in microseconds, written as a timestamp */
} hf_log_kind;

typedef struct hf_log_field {
    const char *key;
    hf_log_kind kind;
    hf_slice text;  /* HF_LOG_TEXT */
    int64_t number; /* HF_LOG_INT, HF_LOG_TIME */
} hf_log_field;

/* What a sink is given; borrowed for the call. */
typedef struct hf_log_entry {
    hf_log_level level;
    int64_t wall_us;
    const char *message;
    const hf_log_field *fields;
    size_t field_count;
} hf_log_entry;

typedef void hf_log_sink(const hf_log_entry *entry, void *ctx);

/* Fill with one of the two init functions; must not change while it is in use. */
typedef struct hf_log {
    hf_log_level least; /* entries below it are dropped */
    const hf_clock *clock;
    hf_log_sink *sink; /* NULL: lines go to fd */
    void *ctx;
    int fd;
} hf_log;

void hf_log_init_fd(hf_log *log, hf_log_level least, const hf_clock *clock, int fd);
void hf_log_init_sink(hf_log *log, hf_log_level least, const hf_clock *clock, hf_log_sink *sink,
                      void *ctx);

static inline hf_log_field hf_log_text(const char *key, hf_slice text)
{
    return (hf_log_field){.key = key, .kind = HF_LOG_TEXT, .text = text};
}

static inline hf_log_field hf_log_int(const char *key, int64_t number)
{
    return (hf_log_field){.key = key, .kind = HF_LOG_INT, .number = number};
}

static inline hf_log_field hf_log_time(const char *key, int64_t wall_us)
{
    return (hf_log_field){.key = key, .kind = HF_LOG_TIME, .number = wall_us};
}

const char *hf_log_level_text(hf_log_level level);

/* Whether such an entry would be kept, for callers to whom its fields are costly. */
bool hf_log_wants(const hf_log *log, hf_log_level level);

/* Logs one entry. `log` may be NULL: nothing happens. */
void hf_log_write(const hf_log *log, hf_log_level level, const char *message,
                  const hf_log_field *fields, size_t field_count);

/* Renders an entry as one line of JSON, a line feed at the end, no NUL. Whatever the texts hold,
   the line is plain UTF-8 without control characters and without characters that change the
   direction of text; bytes that are not UTF-8 become U+FFFD. Returns the length. */
size_t hf_log_line(const hf_log_entry *entry, char out_line[HF_LOG_LINE_MAX]);

#endif
