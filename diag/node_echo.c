/* The node's own UDP echo, which pods ask while diag runs, and the firewall rule that lets them. */
#include "diag/node_echo.h"

#include <stdatomic.h>

#include "host/socket.h"

#define NODE_ECHO "winjoin-node"
#define FIREWALL_RULE "winjoin-diag-udp-in"
enum {
    NODE_PORT = 18081, /* not the pods' port, which may be forwarded */
    TURN_MS = 20,
};

struct node_echo {
    struct socket_echo *echo;
    atomic_bool stop, ended;
};

static void serve(void *context) {
    struct node_echo *node = context;

    while (!atomic_load(&node->stop))
        socket_echo_serve(node->echo, TURN_MS);
    atomic_store(&node->ended, true);
}

struct node_echo *node_echo_open(struct host *host, struct diag_scene *scene) {
    const struct host_firewall_rule rule = {
        .name = FIREWALL_RULE,
        .description = "winjoin diag: UDP from pods to the node, while diag runs",
        .udp = true,
        .port = NODE_PORT,
    };
    struct node_echo *node;
    struct socket_echo *echo;

    if (!scene->node_ip || !*scene->node_ip || socket_start() < 0)
        return NULL;
    echo = socket_echo_open("", 0, NODE_PORT, NODE_ECHO " ");
    if (!echo)
        return NULL;
    node = xcalloc(1, sizeof *node);
    node->echo = echo;
    atomic_init(&node->stop, false);
    atomic_init(&node->ended, false);
    if (socket_thread(serve, node, 0) < 0) {
        socket_echo_close(echo);
        free(node);
        return NULL;
    }
    /* Without the rule the cell is red, which is then the truth about this firewall. */
    (void)host_firewall_put(host, &rule, ERROR_IGNORED);
    scene->node_echo = NODE_ECHO;
    scene->node_echo_port = NODE_PORT;
    return node;
}

void node_echo_close(struct host *host, struct node_echo *node) {
    if (!node)
        return;
    atomic_store(&node->stop, true);
    while (!atomic_load(&node->ended))
        socket_sleep(1);
    socket_echo_close(node->echo);
    free(node);
    /* Its port is closed again: a rule that stays lets nothing in. The next run puts it again. */
    node_echo_forget(host);
}

void node_echo_forget(struct host *host) {
    (void)host_firewall_remove(host, FIREWALL_RULE, ERROR_IGNORED); /* no firewall, no rule */
}
