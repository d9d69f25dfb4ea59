/* follow.h: who follows what changes: the streams and long polls of the console. What may have
   changed has a name, a topic: "list", "metrics", "attention", "workers", "batch:ID", "run:ID" or
   "run:ID/RUN". One thread looks several times a second, as long as somebody follows, and tells
   each follower the topics of its own that may have changed; what they show, followers ask anew.

   A change has an id, which grows as long as the server runs and beyond its end: it counts what
   changed from the moment on at which the server began. Whoever comes back with an older one, or
   one of another life, is told all of its topics. */
#ifndef HF_SERVER_FOLLOW_H
#define HF_SERVER_FOLLOW_H

#include "base/err.h"
#include "server/api.h"

typedef struct hf_followers hf_followers;

enum { HF_FOLLOW_TOPICS_MAX = 32, HF_FOLLOW_MAX = 1024 };

HF_NODISCARD hf_status hf_followers_open(struct hf_server *server, hf_followers **out_followers,
                                         hf_err *err);
/* Every request has been answered. NULL is allowed. */
void hf_followers_close(hf_followers *followers);

/* The request follows `topics`, an array of texts, from the change `after` on (negative: from now
   on): until its end as server-sent events, or with `poll` until something changed, for at most so
   long. The loop's thread; the handler returns. */
void hf_follow(hf_api *api, hf_value topics, int64_t after, bool poll, int64_t wait_ms);

/* Whether there can be such a topic. */
bool hf_follow_topic(hf_slice text);

#endif
