/* Macros and functions for the rows of services; only services/rows/ and the table use them. */
#pragma once

#include "services/service_table.h"

/* The members that follow from a service's name. `spelt` is the name as kubeadm writes it in the id
 * of a check. */
#define SERVICE_NAMED(service_name, spelt)                                                         \
    .name = service_name, .settings_file = SERVICE_SETTINGS_DIR "\\" service_name ".json",         \
    .log_folder = "C:\\var\\log\\" service_name,                                                   \
    .log_file = "C:\\var\\log\\" service_name "\\" service_name ".log",                            \
    .unused = {"Service-" spelt, "no other service has the name " service_name,                    \
               SERVICE_REMOVAL(service_name)}
#define SERVICE_PORT(port, what)                                                                   \
    {                                                                                              \
        port, {                                                                                    \
            "Port-" #port, what " is free",                                                        \
                "powershell \"Get-Process -Id (Get-NetTCPConnection -LocalPort " #port             \
                " -State Listen).OwningProcess\""                                                  \
        }                                                                                          \
    }

/* Adds "--flag=value"; adds nothing when the value is empty. */
void argument_add(struct text_list *list, const char *flag, const char *value);
/* Does the list, from that index on, have the flag of this argument, with any value? */
bool argument_is_given(const char *argument, const struct text_list *list, size_t from);
