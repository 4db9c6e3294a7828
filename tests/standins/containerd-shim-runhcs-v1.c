/* Stand-in for the shim that containerd starts for each pod: a bundle must hold one, and the
 * stand-in containerd runs its pods itself. */
#include <stdio.h>

int main(void) {
    (void)fputs("stand-in of containerd-shim-runhcs-v1: containerd's stand-in never starts it\n",
                stderr);
    return 1;
}
