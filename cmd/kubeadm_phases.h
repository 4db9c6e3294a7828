/* A join called as kubeadm's prints what kubeadm does. */
#pragma once

#include "join/phases/phases.h"

/* kubeadm's phase in which it does what winjoin does in that phase. */
const char *kubeadm_phase(const struct join_phase *phase);
/* What kubeadm prints on standard output when that phase begins; "": nothing. */
const char *kubeadm_begin_text(const struct join_phase *phase);
/* What it prints there when a worker has joined. */
extern const char kubeadm_joined_text[];
