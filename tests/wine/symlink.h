/* kernel32!CreateSymbolicLinkW made true for a program under Wine. */
#ifndef TESTS_WINE_SYMLINK_H
#define TESTS_WINE_SYMLINK_H

/* Wine 8's function says TRUE and makes nothing. Afterwards, in this process: a link to a file that
 * is there is a copy of it, because Wine renames what a link points to instead of the link; any
 * other is a symbolic link of the machine below (ln). Needs this DLL to stay loaded, and sees to
 * that. */
void symlink_mend(void);

#endif
