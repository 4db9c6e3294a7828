/* Symbolic links made true for a program under Wine. */
#pragma once

/* Wine 8's CreateSymbolicLinkW says TRUE and makes nothing, and what it finds of links it looks
 * through. Afterwards, in this process, they are symbolic links of the machine below, which are
 * told, renamed and deleted as links. Who needs it: winjoin and the kubelet, whose
 * kubelet-client-current.pem must be one; the kubelet's projected volumes. Needs this DLL to stay
 * loaded, and sees to that. */
void symlink_repair(void);
