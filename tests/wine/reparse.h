/* Symbolic links as one looks at them by handle. */
#pragma once

/* A part of symlink_repair(), which sees to it that this happens once. */
void reparse_repair(void);
