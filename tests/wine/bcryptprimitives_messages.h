/* Windows' messages for the errors of HNS, which Wine's message table lacks. */
#ifndef TESTS_WINE_BCRYPTPRIMITIVES_MESSAGES_H
#define TESTS_WINE_BCRYPTPRIMITIVES_MESSAGES_H

void messages_repair(void);

#endif
