/* The flags of diag. */
#include <stddef.h>

#include "cmd/program.h"

#define AT(field) offsetof(struct program_options, field)

static const struct option diag_options[] = {
    {"kubeconfig", 0, OPTION_TEXT, AT(kubeconfig), "FILE",
     "diagnose the cluster of this kubeconfig (not in this version)", OPTION_HIDDEN},
    {"replay", 0, OPTION_TEXT, AT(replay), "FILE",
     "evaluate a saved report (diag -o json) or a collection again; measures nothing", 0},
    {"collect", 0, OPTION_TEXT, AT(collect), "FILE",
     "also write all evidence (HNS, routes, firewall, services, logs, events, versions) to this "
     ".zip",
     0},
    {"external-ip", 0, OPTION_TEXT, AT(external_ip), "IP:PORT", "external target, by address", 0},
    {"external-name", 0, OPTION_TEXT, AT(external_name), "NAME:PORT", "external target, by name",
     0},
    {"external-dns", 0, OPTION_TEXT, AT(external_dns), "IP", "external DNS server, for UDP", 0},
    {0},
};
const struct option_group diag_group = {"Diagnosis", diag_options};
