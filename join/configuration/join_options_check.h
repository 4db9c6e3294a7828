/* A call's options, before anything is asked. */
#pragma once

#include "join/configuration/join_options.h"

/* The checks that need neither host nor network. ERROR_USAGE names the flag. */
int join_options_check(const struct join_options *options, struct error *err);
