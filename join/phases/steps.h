/* What phases do in files of their own. */
#pragma once

#include "join/phases/phases.h"
#include "netsetup/hns/hcn_network.h"

/* ---- the pod network where a service of this node makes it (hybrid-overlay-node) ---- */

/* Starts the network agent's service and waits until its HNS network exists for this node's pods:
 * gives the adapter back what the virtual switch cost it, names a certificate request that waits
 * for its approval, starts the service again when the network does not come. Its networks are
 * recorded, so that a reset deletes them. Kinds: those of service_run(), of HNS and of
 * nic_restore(); ERROR_DENIED (its request is denied), ERROR_CONFLICT (another node has this
 * host's name; a network for other pods), ERROR_TIMED_OUT. */
int agent_network_make(struct join *join, struct hcn_network *ret, struct error *err);

/* Writes down the networks that the agent makes, so that a reset deletes them; what stands already
 * is not this join's. */
int agent_network_record(struct join *join, struct error *err);
/* The folders of the plan's agent, its keys' too: made and closed. */
int agent_folders_own(struct join *join, struct error *err);

/* ---- the pod network where a DaemonSet of the cluster makes it ---- */

/* Waits, as long as its agent may take (its row's wait_seconds), until a CNI configuration is
 * there, and says whose. ERROR_TIMED_OUT with the command that shows the agent's pod; kinds of
 * host_list(), host_read(). */
int external_network_await(struct join *join, struct error *err);
/* An agent writes its CNI configuration, with which the Node becomes Ready, before its network
 * stands: while it is pending, the scheduler must not take the node. Sent only when it changes. */
int external_network_pending(struct join *join, bool pending, struct error *err);

/* ---- the routes between this node's pods and other nodes', where no agent keeps them ---- */

/* Where an agent keeps them: nothing. Where the network between the nodes has them (--routes none,
 * print): takes away what an earlier join wrote, and with print adds text and commands for the
 * routes of every node to what is left to do. Else announces this node in its Node's annotations,
 * where the nodes of its network want that, and writes the route to each other node's pods (the
 * host's own are journalled). As the nodes are now, once; a node that may not list the others is
 * told so in a warning. Kinds: those of kube_patch, kube_nodes_get, and of the host. */
int pod_routes_publish(struct join *join, const struct hcn_network *network, struct error *err);

/* ---- images that a bundle brought ---- */

/* Imports them by ctr, where it was installed; containerd runs, and has been asked for no other:
 * the sandbox image that was installed, and each of the open bundle that containerd does not have,
 * by a copy that is proved. Without ctr: a warning. Importing an image that containerd has changes
 * nothing. Kinds: those of host_run(), bundle_image_copy() and cri_image_has(), ERROR_HOST (ctr
 * fails), ERROR_DENIED (somebody else than an administrator has put one of the files there). */
int bundle_images_import(struct join *join, struct error *err);

/* ---- images (join/phases/images.c) ---- */

/* Has containerd pull the images that were asked for, the required ones first: three at once, each
 * of its layers by containerd's own settings. It goes on while the join does. One that cannot be
 * pulled, thrice where that may help, is a warning, unless it is required. Kinds: those of
 * cri_image_pull(). */
int images_begin(struct join *join, struct error *err);
/* Looks at each that is under way, waiting for each up to wait_ms (behind each phase: 0); where one
 * has come, the next is begun. Nothing was begun: nothing. The same kinds. */
int images_go_on(struct join *join, unsigned wait_ms, struct error *err);
/* Waits until each has come, and tells how far they are. Nothing was begun: nothing. */
int images_await(struct join *join, struct error *err);
/* Ends what is under way; what has come of it stays with containerd. */
void images_end(struct join *join);

/* ---- services that run and do their work, known as their rows say (struct service, proof) ---- */

/* Starts it with the settings of this join and waits for its work. Kinds: those of service_start()
 * and service_prove(). */
int service_run(struct join *join, const struct service *service, struct error *err);
/* Waits for the work of the service that was started last. ERROR_TIMED_OUT with hints at its log;
 * those of service_watch_look() and service_watch_rights(). */
int service_prove(struct join *join, struct error *err);
/* CRI's pipe: of --cri-socket or containerd's own. The caller frees. */
char *service_proof_pipe(const struct join *join);

/* ---- kubelet bootstrap ---- */

/* Writes bootstrap-kubelet.conf (HOST_SECRET; kubeadm: kubelet-start), and takes away what would
 * keep the kubelet from using it: a kubelet.conf and a certificate of another life. Discovery must
 * have been done. */
int kubelet_bootstrap_write(struct journal *journal, const struct join_found *found,
                            struct error *err);
/* Name of the node's newest request, when it was refused: one of an earlier join, to be asked for
 * before the kubelet starts. NULL when there is none. Allocated. */
char *kubelet_bootstrap_refused_before(struct join *join);
/* Waits until kubelet.conf and the certificate that it names are usable, telling meanwhile what the
 * kubelet's request waits for. refused_before: not the one that is waited for (may be NULL).
 * ERROR_DENIED when it is denied or failed (the kubelet is stopped: it would ask again for ever),
 * ERROR_TIMED_OUT, ERROR_INTERRUPTED. */
int kubelet_bootstrap_wait(struct join *join, const char *refused_before, struct error *err);
/* Removes the file with the token, when it was written by us (in this run or one before). */
void kubelet_bootstrap_end(struct journal *journal, struct join_progress *progress);
