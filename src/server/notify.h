/* notify.h: tells the service manager (systemd, Type=notify) how the service stands. Does nothing
   when there is none. */
#ifndef HF_SERVER_NOTIFY_H
#define HF_SERVER_NOTIFY_H

#include <stdint.h>

/* "READY=1", "STOPPING=1", "WATCHDOG=1", "STATUS=..." */
void hf_notify(const char *state);

/* How long the manager waits for "WATCHDOG=1" before it ends this process; 0: it does not. */
int64_t hf_notify_watchdog_ms(void);

#endif
