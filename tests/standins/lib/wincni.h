/* Microsoft's CNI plugins nat, sdnbridge and sdnoverlay: one program under three names. */
#ifndef TESTS_STANDINS_LIB_WINCNI_H
#define TESTS_STANDINS_LIB_WINCNI_H

/* Reads environment and standard input, acts, prints; the program's exit code. */
int wincni_main(void);

#endif
