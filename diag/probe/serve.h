/* The probe's life inside a pod. */
#pragma once

/* Text is borrowed. */
struct probe_server {
    const char *mailbox;         /* folder */
    const char *name;            /* what the echo answers with */
    const char *run;             /* reported in heartbeats, "" = none */
    const char *address;         /* to listen on and to report; "" = all, and what the system has */
    unsigned tcp_port, udp_port; /* 0 = no echo */
};
/* Serves until a file "stop" is in the mailbox or nothing could be written there for a minute. */
void probe_serve(const struct probe_server *options);
