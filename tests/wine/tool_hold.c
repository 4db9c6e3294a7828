/* hold: sleeps for ever. Who needs it: a played host between two programs, because Wine ends its
 * services with the last program that is none. */
#include <windows.h>

int wmain(void) {
    for (;;)
        Sleep(INFINITE);
}
