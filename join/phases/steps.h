/* Declares parts of phases that have files of their own. */
#pragma once

#include "join/phases/phases.h"
#include "netsetup/hns/hcn_network.h"

/* ---- the Pod network that a service of this node makes (hybrid-overlay-node) ---- */

/* Starts the network agent's service and waits until its HNS network exists for this node's Pods.
 * Meanwhile it gives the adapter back what the virtual switch removed, shows a certificate request
 * that needs approval, and restarts the service when the network does not appear. The agent's
 * networks are recorded, so that a reset deletes them. Fails as service_run(), nic_restore() and
 * HNS, or with ERROR_DENIED (the request is denied), ERROR_CONFLICT (another node has this host's
 * name, or the network is for other Pods), ERROR_TIMED_OUT. */
int agent_network_make(struct join *join, struct hcn_network *ret, struct error *err);

/* Records the networks that the agent makes, so that a reset deletes them. A network that exists
 * already is recorded as present and is not deleted. */
int agent_network_record(struct join *join, struct error *err);
/* Makes the folders of the plan's agent, also that of its keys, and restricts their access. */
int agent_folders_own(struct join *join, struct error *err);

/* ---- the Pod network that a DaemonSet of the cluster makes ---- */

/* Waits for the CNI configuration of the cluster's network agent, at most for the row's
 * wait_seconds, and reports whose it is. Fails with ERROR_TIMED_OUT and the command that shows the
 * agent's Pod, or as host_list() and host_read(). */
int daemon_set_network_await(struct join *join, struct error *err);
/* Marks the Node while its Pod network is pending, or removes the mark. An agent may write its CNI
 * configuration, which makes the Node Ready, before its network works, and the scheduler must not
 * use the node meanwhile. The request is sent only when the mark changes. */
int daemon_set_network_pending(struct join *join, bool pending, struct error *err);

/* ---- routes between this node's Pods and those of other nodes, without an agent ---- */

/* Publishes the routes once, for the Nodes that exist now. Does nothing when an agent maintains
 * them. When the network between the nodes has them (--routes none or print), routes of an earlier
 * join are removed, and with print the routes of all nodes are added to the next steps for the
 * user. Otherwise the Node gets annotations that tell other nodes the route to it, if the mode uses
 * them, and the routes to other nodes' Pods are written; routes of the host are recorded in the
 * journal. A node that may not list Nodes gets a warning. Fails as kube_patch(), kube_nodes_get(),
 * and the host's calls. */
int pod_routes_publish(struct join *join, const struct hcn_network *network, struct error *err);

/* ---- images from a bundle ---- */

/* Imports images with ctr, if ctr is installed; otherwise warns. containerd must run, and
 * images_begin() must not have started a pull. The images are the installed sandbox image and each
 * image of the open bundle that containerd lacks; these are imported from a verified copy.
 * Importing an image that containerd has already changes nothing. Fails as host_run(),
 * bundle_image_copy() and cri_image_has(), or with ERROR_HOST (ctr fails), ERROR_DENIED (a file
 * belongs to somebody who is not an administrator). */
int bundle_images_import(struct join *join, struct error *err);

/* ---- images from registries (join/phases/images.c) ---- */

/* Starts to pull the images that the options name, the required ones first, three at a time, while
 * the join continues. An image that cannot be pulled is tried up to three times where that may
 * help; then it is a warning, or a failure if it is required. Fails as cri_image_pull(). */
int images_begin(struct join *join, struct error *err);
/* Checks the pulls that run, each for up to wait_ms (0 after each phase). Begins the next pull when
 * one has ended. Does nothing when no pull was begun. Fails as images_begin(). */
int images_go_on(struct join *join, unsigned wait_ms, struct error *err);
/* Waits until all images are pulled and shows the progress. Does nothing without a pull. */
int images_await(struct join *join, struct error *err);
/* Ends all pulls. containerd keeps what is downloaded. */
void images_end(struct join *join);

/* ---- services: start them and wait until they work, by their rows (struct service, proof) ---- */

/* Starts the service with the settings of this join and waits until it works. Fails as
 * service_start() and service_prove(). */
int service_run(struct join *join, const struct service *service, struct error *err);
/* Waits until the service that was started last does its work. Fails with ERROR_TIMED_OUT and hints
 * at the service's log, or as service_watch_check() and service_watch_rights(). */
int service_prove(struct join *join, struct error *err);
/* Returns the pipe of CRI: that of --cri-socket, or containerd's own. The caller frees it. */
char *service_proof_pipe(const struct join *join);

/* ---- the client certificate, and the TLS bootstrap by the kubelet ---- */

/* Returns how long the client certificate is waited for, in milliseconds, whoever requests it:
 * --timeout, timeouts.tlsBootstrap, or CLIENT_CERTIFICATE_TIMEOUT_MS. */
unsigned certificate_limit_ms(const struct join_options *options);

/* Writes bootstrap-kubelet.conf (HOST_SECRET; kubeadm: kubelet-start), and removes a kubelet.conf
 * and a certificate of an earlier join, with which the kubelet would not use it. Discovery must
 * have been done. */
int kubelet_bootstrap_write(struct journal *journal, const struct join_found *found,
                            struct error *err);
/* Returns the name of the node's newest request when it was refused; it is from an earlier join.
 * Must be called before the kubelet starts. NULL when there is no such request. The caller frees
 * it. */
char *kubelet_bootstrap_refused_before(struct join *join);
/* Waits until kubelet.conf and the certificate that it names are usable, and shows the state of the
 * kubelet's request. `refused_before` is the name of an older request to ignore, or NULL. Fails
 * with ERROR_DENIED when the request is denied or failed (the kubelet is stopped, because it would
 * send requests forever), ERROR_TIMED_OUT, ERROR_INTERRUPTED. */
int kubelet_bootstrap_wait(struct join *join, const char *refused_before, struct error *err);
/* Removes the file with the token, if winjoin wrote it in this run or an earlier one. */
void kubelet_bootstrap_end(struct journal *journal, struct join_progress *progress);
