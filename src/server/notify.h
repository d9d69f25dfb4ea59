/* notify.h: tells the service manager (systemd, Type=notify) how the service stands. Does nothing
   when there is none. */
#ifndef HF_SERVER_NOTIFY_H
#define HF_SERVER_NOTIFY_H

/* "READY=1", "STOPPING=1", "STATUS=..." */
void hf_notify(const char *state);

#endif
