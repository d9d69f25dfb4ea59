/* conn_count.c: how many connections each address has. Loopback is not counted: many of our own
   programs may share it. */
#include "base/assert.h"
#include "http/http_impl.h"
#include "http/listen.h"

void hf_conn_uncount(hf_http_exchange *conn)
{
    hf_slice peer = hf_slice_of(conn->peer);
    uintptr_t count = (uintptr_t)hf_map_get(conn->http->addresses, peer);

    if (!conn->counted)
        return;
    if (count <= 1) {
        (void)hf_map_remove(conn->http->addresses, peer);
        return;
    }
    /* The key exists, so that nothing is allocated and nothing can fail. */
    HF_ASSERT(hf_map_put(conn->http->addresses, peer, (void *)(count - 1), NULL, NULL) == HF_OK);
}

hf_status hf_conn_count(hf_http *http, hf_http_exchange *conn, hf_err *err)
{
    hf_slice peer = hf_slice_of(conn->peer);
    uintptr_t count = (uintptr_t)hf_map_get(http->addresses, peer);
    hf_status st;

    if (hf_listen_is_loopback(conn->peer))
        return HF_OK;
    if (count >= http->limits.address_max)
        return hf_err_set(err, HF_BUSY, "%s has %zu connections", conn->peer, (size_t)count);
    st = hf_map_put(http->addresses, peer, (void *)(count + 1), NULL, err);
    conn->counted = !st;
    return st;
}
