/* What a NodeConfiguration's verify.external names outside the cluster; services' arguments. */
#pragma once

#include "base/error.h"

/* "192.0.2.1". ERROR_USAGE. */
int node_address_check(const char *text, struct error *err);
/* "10.244.0.0/16". ERROR_USAGE. */
int node_prefix_check(const char *text, struct error *err);
/* "192.0.2.1", "192.0.2.1:443", "[2001:db8::1]:443". ERROR_USAGE. */
int node_target_address_check(const char *text, struct error *err);
/* "example.com", "example.com:443". ERROR_USAGE. */
int node_target_name_check(const char *text, struct error *err);
/* A whole word of a command line, "--v=4": the program would not start with others. ERROR_USAGE. */
int node_argument_check(const char *text, struct error *err);
/* An image's name, as containerd takes it, with its host: "mcr.microsoft.com/windows/nanoserver:
 * ltsc2022". ERROR_USAGE. */
int node_image_check(const char *text, struct error *err);
/* No control characters: a name or a path of one line. ERROR_USAGE. */
int node_line_check(const char *text, struct error *err);
