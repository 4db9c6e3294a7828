/* Stand-in for Microsoft's nat.exe (windows-container-networking). */
#include "tests/standins/lib/wincni.h"

int main(void) {
    return wincni_main();
}
