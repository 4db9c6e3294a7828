/* winjoin adapter-watchdog: restores the network adapter when the winjoin that started it dies
 * while a virtual switch comes or goes. */
#include "cmd/program.h"
#include "netsetup/nic/nic_restore.h"

enum { EVENT_ID = 1001 };

int verb_watchdog(struct program *program, struct error *err) {
    bool restored = false;
    struct error why = {0};
    int result = nic_watchdog_run(program->host, &restored, err);

    if (result < 0)
        (void)host_event(program->host, 'e', EVENT_ID, err->message,
                         &why); /* nobody else reads it */
    else if (restored)
        (void)host_event(program->host, 'w', EVENT_ID,
                         "winjoin ended while the virtual switch was made or removed: the network "
                         "adapter's addresses, DNS servers and routes were restored",
                         &why);
    return result;
}
