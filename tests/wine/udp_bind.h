/* A UDP socket that is bound to an address hears every interface, as on Windows. */
#pragma once

/* Wine 8 ties a UDP socket that is bound to an address to that address' interface, so that what
 * pods send to the node's own address is never heard. Afterwards this process' program binds such
 * sockets to all addresses; the rig's routes see to it that answers leave from the node's own. */
void udp_bind_repair(void);
