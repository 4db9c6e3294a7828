/* AF_UNIX sockets for Go programs under Wine 8, which answers WSAEAFNOSUPPORT. */
#pragma once

/* Afterwards WSASocketW, bind, connect, getsockname and getpeername, as GetProcAddress hands them
 * out, take AF_UNIX: such a socket is TCP on 127.0.0.1, its port is in a file at the socket's
 * path. Who needs it: kubelet's device-plugins\kubelet.sock. */
void unix_socket_repair(void);
