/* cookie.h: the cookie that holds a browser's session, as it is named, read, set and taken away. */
#ifndef HF_SERVER_COOKIE_H
#define HF_SERVER_COOKIE_H

#include <stdbool.h>

#include "base/slice.h"
#include "http/reply.h"
#include "http/request.h"

struct hf_server;

enum { HF_COOKIE_NAME_SIZE = 40 };

/* Cookies do not tell ports apart, so the name does: two servers of one machine keep theirs. Over
   TLS, or behind a proxy that speaks it, the name binds it to this host. */
void hf_cookie_name(const struct hf_server *server, char out_name[HF_COOKIE_NAME_SIZE]);

/* The secret that a request carries; false: none. */
bool hf_cookie_read(const struct hf_server *server, const hf_http_request *request,
                    hf_slice *out_secret);

/* Sets it on an answer; `secret` "": takes it away. */
void hf_cookie_set(const struct hf_server *server, hf_http_reply *reply, const char *secret);

#endif
