/* wire.h: a client that sends any bytes it is told to and reads what comes back, for tests of the
   server. Nothing here knows HTTP beyond where an answer ends. Every wait is bounded. */
#ifndef HF_TEST_LIB_WIRE_H
#define HF_TEST_LIB_WIRE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/slice.h"

/* A connection to a port of this machine; fails the test when there is none. */
int hf_wire_connect(int port);

/* A listening socket of this machine, and its port. */
int hf_wire_listen(int *out_port);

/* Sends everything, as far as the other side takes it; false when it closed. */
bool hf_wire_send(int fd, hf_slice bytes);
void hf_wire_finish(int fd); /* no more will be sent */

/* Reads until the other side closes; false when it did not within fifteen seconds: a question waits
   ten for its worker. */
bool hf_wire_read_all(int fd, hf_buf *out_bytes);

/* One answer with Content-Length. */
typedef struct hf_wire_reply {
    int status;
    hf_buf head;
    hf_buf body;
} hf_wire_reply;

bool hf_wire_read_reply(int fd, hf_wire_reply *out_reply);
void hf_wire_reply_fini(hf_wire_reply *reply);
/* The value of a header line of an answer, or the empty slice. */
hf_slice hf_wire_field(const hf_wire_reply *reply, const char *name);

/* Connects, sends, half-closes when asked to, reads to the end, closes; the status of the answer or
   0 when there was none. Fails the test when the connection stays open. */
int hf_wire_ask(int port, hf_slice bytes, bool finish);

#endif
