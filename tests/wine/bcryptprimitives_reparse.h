/* Symbolic links as Go's os.Lstat and os.Readlink look at them. */
#pragma once

/* After symlink_repair(). */
void reparse_repair(void);
