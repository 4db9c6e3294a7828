/* Microsoft's CNI plugins nat, sdnbridge and sdnoverlay: one program under three names. */
#pragma once

/* Reads environment and standard input, acts, prints; the program's exit code. */
int wincni_main(void);
