/* Stand-in for Microsoft's sdnbridge.exe (windows-container-networking). */
#include "tests/standins/lib/wincni.h"

int main(void) {
    return wincni_main();
}
