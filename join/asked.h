/* What a call asks for, judged before the first packet. */
#pragma once

#include "join/join.h"

/* The values (join_options_check()), the form of endpoint, token and pins, a local discovery file,
 * the folder of patches and the bundle of found.options, which is left open there. Sends nothing,
 * changes nothing. ERROR_USAGE, ERROR_UNSUPPORTED; for a folder or file that cannot be read also
 * ERROR_DENIED, ERROR_HOST. */
int join_asked_check(struct join *join, struct error *err);
