/* session_store.c: see session_store.h. */
#include "server/session_store.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/value.h"
#include "holdfast/host.h"
#include "server/cookie.h"
#include "server/server_impl.h"

hf_status hf_session_write(hf_server *server, const hf_session_row *row)
{
    hf_sign_in one = {.token = row->token,
                      .begun_us = row->begun_us,
                      .seen_us = row->seen_us,
                      .ended_us = row->ended_us};

    memcpy(one.digest, row->digest, sizeof(one.digest));
    return server->engine && row->token[0] ? hf_sign_in_put(server->engine, &one) : HF_OK;
}

void hf_session_touch(hf_api *api)
{
    const char *method = api->principal.method;
    hf_session_row row;
    hf_slice secret;

    if (method && strcmp(method, "session") == 0 &&
        hf_cookie_read(api->server, api->request, &secret) &&
        hf_session_due(api->server->sessions, secret, &row))
        (void)!hf_session_write(api->server, &row); /* in an hour it is tried again */
}

/* One row; that of a token which is not there, or not any more, is nobody's. */
static hf_status row_learn(hf_server *server, hf_value kept, hf_err *err)
{
    hf_session_row row = {.begun_us = hf_int(kept, "begun_us", 0),
                          .seen_us = hf_int(kept, "seen_us", 0),
                          .ended_us = hf_int(kept, "ended_us", 0)};
    hf_principal who;

    if (!hf_auth_principal(server->auth, hf_str(kept, "token", ""), &who) ||
        !hf_hex_parse(hf_slice_of(hf_str(kept, "digest", "")), row.digest, sizeof(row.digest)))
        return HF_OK;
    who.method = "session";
    return hf_session_learn(server->sessions, &who, &row, hf_clock_real_us(server->clock), err);
}

hf_status hf_sessions_read(hf_server *server, int64_t since_us, hf_mem *mem, hf_err *err)
{
    hf_value kept = NULL;
    hf_status st = hf_sign_ins(server->engine, since_us, mem, &kept);

    if (st)
        return hf_err_set(err, st, "%s", hf_errmsg(server->engine));
    for (size_t i = hf_len(kept); !st && i-- > 0;) /* the oldest give way */
        st = row_learn(server, hf_at(kept, i), err);
    return st;
}
