/* What gives a field of the configuration on the command line: errors name what was typed. */
#pragma once

/* "--node-name" for "nodeRegistration.name", "endpoint" for the word that is no flag; an index at
 * the end ("[2]") does not count. A field that nothing on the command line gives: its path. */
const char *flag_name(const char *path);
