/* The node's programs in a join: which are needed, whether their versions fit the cluster, and
 * whether they accept their arguments. The caller frees each char * that a function returns or
 * stores through a pointer. */
#pragma once

#include "join/join.h"
#include "services/artifacts/artifacts.h"
#include "services/artifacts/image.h"
#include "services/service_table.h"

/* Opens the bundle of --bundle, otherwise of --mirror (its lock is downloaded). The bundle is
 * opened once and stays open until programs_bundle_close(). Without both flags, and when the
 * network is planned, opens upstream or --source-base for the programs that this machine lacks or
 * has with other bytes (programs_unlike()). *ret is borrowed; NULL when no program is needed or
 * nothing may be downloaded. Fails as bundle_open(), bundle_open_mirror() and
 * bundle_open_upstream(). */
int programs_bundle(struct join *join, struct bundle **ret, struct error *err);
void programs_bundle_close(struct join *join);
/* Notes in the journal the program's digest, and that it came from the source of programs_bundle()
 * (join/undo/journal.h). */
void programs_note(struct join *join, const char *target, const char *sha256);
/* Writes what came from upstream, with digests, to WINJOIN_FOLDER\winjoin.lock. Other machines can
 * use that file as their artifacts.lock. Writes nothing for another source. Fails as
 * journal_write(). */
int programs_write_lock(struct join *join, const struct bundle *bundle, struct error *err);
/* Does this node run the service? This depends on --kube-proxy and, once the plan is made, on its
 * network's agent. */
bool programs_wanted(const struct join_found *found, const struct service *service);
/* Calls artifacts_missing() for the services that this node runs and the network of its plan. */
int programs_missing(struct host *host, const struct join_found *found,
                     const struct artifacts *lock, struct text_list *ret, struct error *err);
/* Adds the names of needed programs that are on the machine and differ from artifacts.lock, so that
 * they are downloaded again. Names that are in the list already are not checked. Without a lock,
 * the programs are compared with the digests of upstream or --source-base, which are requested
 * once; a program without a digest is skipped, and a warning names each that differs. Fails as
 * reading the lock and as artifacts_published(). */
int programs_unlike(struct join *join, struct text_list *ret, struct error *err);
/* Adds to the phase's detail the needed programs for which neither the bundle nor programs_unlike()
 * has a digest to compare. `bundle` is NULL when the join uses no bundle. */
int programs_say_uncompared(struct join *join, const struct artifacts *bundle, struct error *err);
/* Checks that all needed programs are installed or in the lock; `lock` is NULL when there is no
 * bundle. Fails with ERROR_USAGE, which names the missing programs. */
int programs_check_complete(struct join *join, const struct artifacts *lock, struct error *err);
/* Returns the version of an installed program ("v1.37.1"), or NULL. It is read from the file; when
 * the file has none and `may_run` is set, the program is run (services/program_flags.h). */
char *programs_version(struct host *host, bool may_run, const char *program);
/* Are both versions known and equal? A leading "v" does not matter. */
bool programs_same_version(const char *a, const char *b);
/* Returns the version of the kubelet or kube-proxy (`service`) that this node runs or will run:
 * that of the bundle once it was checked, otherwise the installed one, otherwise the cluster's.
 * `found` keeps the text. */
const char *programs_node_version(struct host *host, struct join_found *found,
                                  const struct service *service);
/* Returns the sandbox image: --sandbox-image, otherwise that of the cluster's imageRepository, or
 * upstream's when a bundle brings that image. */
char *programs_sandbox_image(struct host *host, struct join_found *found);
/* Returns a warning when the sandbox image comes from the cluster's own repository, which may have
 * images for Linux only. Returns NULL for an image of upstream or of a bundle. */
char *programs_image_warning(struct host *host, struct join_found *found);
/* Checks versions before anything is written. `lock` is NULL when there is no bundle. kubelet and
 * kube-proxy, from the bundle or installed, must be of --kubernetes-version (ERROR_USAGE) and fit
 * the control plane (version_skew_check(); a warning when KubeletVersion is ignored). A version may
 * be unknown, when the lock has none and no kubelet is installed: then --kubernetes-version is
 * compared with the control plane, and the caller repeats the call after the installation. Fails
 * with ERROR_UNSUPPORTED for a kubelet that winjoin cannot run (before 1.24). */
int programs_check_versions(struct join *join, const struct artifacts *lock, struct error *err);
/* Returns true when the lock has the versions of kubelet and kube-proxy. */
bool programs_versions_are_known(const struct artifacts *lock);
/* Asks the kubelet of the bundle, or the installed one when `bundle` is NULL, about config.yaml and
 * the user's own arguments (kubeletExtraArgs, services.kubelet.extraArgs). Fails with ERROR_USAGE,
 * which names the argument that the kubelet does not accept, with "did you mean", or says what the
 * kubelet objects to in config.yaml (kubelet_question.h). The bundle's kubelet is written to a
 * temporary folder, which is removed. A program that cannot be asked is ignored. */
int programs_check_kubelet(struct join *join, struct bundle *bundle, struct error *err);

/* Gives the values that command lines of services need, from the plan and the options; borrowed
 * from found. */
void programs_service_settings(struct host *host, struct join_found *found,
                               struct service_settings *ret);

/* ---- the proxy for services: programs in Go only use the variables of their own process ---- */

/* Returns HTTP_PROXY, HTTPS_PROXY and NO_PROXY as "NAME=value" for services. The list is empty when
 * there is no proxy, or when the machine's own variables name one. The first of these is used: this
 * session's HTTPS_PROXY, the variables of service containerd (from an earlier join or another
 * tool), WinHTTP's proxy. NO_PROXY has the exceptions of the session or WinHTTP, and the cluster's
 * Pods, Services and names. A proxy with a password is not used, because every user of the machine
 * may read a service's environment. Borrowed from found, which keeps the list. */
const struct text_list *service_proxy(struct host *host, struct join_found *found);
/* Returns true when the proxy's URL has a user or a password. */
bool service_proxy_is_secret(const char *proxy);
/* Returns a variable of this session, by its name in capitals, otherwise by its name in small
 * letters; NULL when neither is set. */
char *service_proxy_variable(struct host *host, const char *upper, const char *lower);

/* ---- Kubernetes' version skew policy ---- */

struct version_skew {
    const char *kubelet; /* Version to check: "v1.37.1" or "Kubernetes v1.37.1". */
    const char *cluster; /* kubernetesVersion of ClusterConfiguration; "" when unknown. */
    const char *server;  /* gitVersion of /version; NULL when unknown. */
    /* The program whose version is in `kubelet`, such as "kube-proxy"; NULL means "kubelet". */
    const char *program;
};
/* Checks Kubernetes' version skew policy (kubeadm: check KubeletVersion). A kubelet or kube-proxy
 * must not be newer (by minor version) than the control plane, and at most three minor versions
 * older; two for versions before 1.25. When cluster and server differ, as during an upgrade, the
 * older one decides what is too new and the newer one what is too old. Fails with ERROR_PREFLIGHT
 * "[KubeletVersion] ...", also for a kubelet's version that cannot be parsed. A cluster's version
 * that cannot be parsed is ignored. */
int version_skew_check(const struct version_skew *skew, struct error *err);

/* ---- missing programs for each network mode and plugin of this build ---- */

/* Finds what nodes would lack that have only these artifacts:
 * [{"mode","plugin","missing":[names]}], one object for each mode with each plugin that works in
 * it, in the tables' order. network_mode, network_plugin and kube_proxy of the options select rows.
 * *ret is a new reference. Fails with ERROR_USAGE when the plugin does not work in the mode. */
int node_programs_missing(const struct artifacts *artifacts, const struct join_options *options,
                          json_t **ret, struct error *err);

/* ---- whether an image's containers run on a build of Windows ---- */

enum image_fit { IMAGE_UNFIT, IMAGE_FITS, IMAGE_UNKNOWN };

/* Compares the facts of an image with a build of Windows; build 0 means unknown. */
enum image_fit image_fit(const struct image_facts *facts, unsigned build);
/* Compares an image in a registry with a build of Windows; asks the registry and fills *ret, which
 * the caller frees with image_facts_free(). docker.io is not asked, because its registry has
 * another host name. err only gets the failure of the registry. */
enum image_fit image_fit_ask(const struct mirror *from, const char *image, unsigned build,
                             struct image_facts *ret, struct error *err);
/* Returns the image's name with the tag for this build, when tags differ only in the year:
 * "...:ltsc2022". NULL when the tag has no such year, or the image is for this build already. */
char *image_for_build(const char *image, unsigned build);
/* Like image_for_build(), but returns the name only if the registry has that image and it fits. */
char *image_for_build_ask(const struct mirror *from, const char *image, unsigned build);

/* Checks by the beginning of its archive whether an image of the open bundle fits. An archive that
 * begins in another way than those of image_fetch() is not understood; containerd's import reports
 * what is wrong with it. */
enum image_fit bundle_image_fit(struct join *join, const struct artifact *image,
                                struct image_facts *ret);
/* Checks the images of the open bundle and its sandbox image; returns 0 without a bundle. Fails
 * with ERROR_PREFLIGHT when an image is not for this build, with the command that makes another
 * bundle. */
int bundle_images_check(struct join *join, struct error *err);
