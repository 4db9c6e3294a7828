/* Symbolic links as Go's os.Lstat and os.Readlink look at them. */
#ifndef TESTS_WINE_BCRYPTPRIMITIVES_REPARSE_H
#define TESTS_WINE_BCRYPTPRIMITIVES_REPARSE_H

/* After symlink_repair(). */
void reparse_repair(void);

#endif
