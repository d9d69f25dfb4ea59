/* play.h: requests to a server, written as rows of a table: each names the route that it is for,
   and what its answer must have. In paths and bodies 'x' is written for "x", $name stands for what
   an earlier answer had, and # for a text that is one byte longer than a payload may be. The body @
   is the play's document. */
#ifndef HF_TEST_LIB_PLAY_H
#define HF_TEST_LIB_PLAY_H

#include "base/buf.h"
#include "lib/site.h"
#include "server/route.h"

typedef struct hf_play_row {
    hf_route_id route;
    const char *path;
    const char *body; /* NULL: none */
    int status;
    const char *schema;   /* of cli-json-envelopes; NULL: no command reads it */
    const char *required; /* members separated by spaces */
    const char *keep;     /* "name=member" separated by spaces */
    enum {
        HF_PLAY_ASKS,
        HF_PLAY_SENDS, /* and goes on */
        HF_PLAY_HEARS  /* what was sent before */
    } how;
} hf_play_row;

enum { HF_PLAY_VARS = 32, HF_PLAY_VAR_SIZE = 64, HF_PLAY_SENT = 4 };

typedef struct hf_play {
    hf_site site;
    char names[HF_PLAY_VARS][HF_PLAY_VAR_SIZE];
    char values[HF_PLAY_VARS][HF_PLAY_VAR_SIZE];
    size_t vars;
    int fds[HF_PLAY_SENT]; /* of what was sent and not heard yet, the newest last */
    size_t sent;
    hf_buf path;
    hf_buf body;
    const char *document; /* NULL: the case has none */
} hf_play;

/* Each fails the case when something is not as it should be. */
void hf_play_open(hf_play *p, hf_engine_kind kind, const hf_app *app, hf_server_options options);
void hf_play_close(hf_play *p);

/* Asks as the row says and checks the answer, which lives until the next. */
hf_site_answer hf_play_ask(hf_play *p, const hf_play_row *r);

/* A text with everything in its place, in `out`; NULL for NULL. */
const char *hf_play_fill(const hf_play *p, const char *text, hf_buf *out);

#endif
