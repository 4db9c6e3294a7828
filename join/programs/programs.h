/* The node's programs as a join sees them: are their versions fit for the cluster, do they take
 * what they are to be told. */
#pragma once

#include "join/join.h"
#include "services/artifacts/artifacts.h"
#include "services/artifacts/image.h"
#include "services/service_table.h"

/* What --bundle or else --mirror names, opened once (a mirror's lock fetched) and kept until
 * programs_bundle_close(). Without them, once the network is planned: what this machine lacks, or
 * has otherwise (programs_unlike()), from upstream or --source-base. *ret is borrowed, NULL when
 * nothing is lacking, or nothing may be fetched. Kinds: those of bundle_open(),
 * bundle_open_mirror() and bundle_open_upstream(). */
int programs_bundle(struct join *join, struct bundle **ret, struct error *err);
void programs_bundle_close(struct join *join);
/* Notes in the journal that this program came from the source of programs_bundle(), with its digest
 * (join/undo/journal.h). */
void programs_note(struct join *join, const char *target, const char *sha256);
/* Writes what came from upstream, with its digests, as WINJOIN_FOLDER\winjoin.lock, which the next
 * machines can be given as their artifacts.lock. Of another source nothing is written. Kinds: those
 * of journal_write(). */
int programs_write_lock(struct join *join, const struct bundle *bundle, struct error *err);
/* Whether this node runs it: by --kube-proxy and, once the plan is made, by its network's agent. */
bool programs_wanted(const struct join_found *found, const struct service *service);
/* artifacts_missing() for the services that this node runs, and the network of its plan. */
int programs_missing(struct host *host, const struct join_found *found,
                     const struct artifacts *lock, struct text_list *ret, struct error *err);
/* Adds the names of needed programs that are on the machine and differ from artifacts.lock: they
 * are fetched again. Those that the list has already are not looked at. Without a lock they are
 * compared with the digests of upstream or --source-base, which are asked for once; a program
 * without a digest is passed over, and a warning names each that differs. Kinds: those of the lock
 * and of artifacts_published(). */
int programs_unlike(struct join *join, struct text_list *ret, struct error *err);
/* Adds to the phase's detail which needed programs neither the bundle (NULL: none) nor
 * programs_unlike() compares with a digest. */
int programs_say_uncompared(struct join *join, const struct artifacts *bundle, struct error *err);
/* ERROR_USAGE that names those that are neither here nor in the lock (NULL = no bundle). */
int programs_check_complete(struct join *join, const struct artifacts *lock, struct error *err);
/* The version of the installed program ("v1.37.1"), or NULL: by its file, and where that says none
 * and it may be run, by itself (services/program_flags.h). The caller frees. */
char *programs_version(struct host *host, bool may_run, const char *program);
/* Are both versions known, and the same? Either may lack its v. */
bool programs_same_version(const char *a, const char *b);
/* The version of the kubelet or kube-proxy (their rows) that runs on this node, or will: the
 * bundle's once it was checked, the installed one's, else the cluster's. Borrowed. */
const char *programs_node_version(struct host *host, struct join_found *found,
                                  const struct service *service);
/* The sandbox image: of the repository that the cluster names, or upstream's where a bundle brings
 * that. The caller frees. */
char *programs_sandbox_image(struct host *host, struct join_found *found);
/* What to know of an image that comes from the cluster's own repository, which may have Linux
 * images alone; NULL where it is upstream's or a bundle's. The caller frees. */
char *programs_image_warning(struct host *host, struct join_found *found);
/* Before anything is written: --kubernetes-version against the bundle's (or the installed) kubelet
 * and kube-proxy (ERROR_USAGE), the kubelet's against the control plane (version_skew_check(); a
 * warning when KubeletVersion is ignored). `lock` NULL = no bundle. A version that is not known
 * yet, because the lock has none and no kubelet is installed, is passed over (the version that was
 * asked for is compared with the control plane): call it again when it is installed.
 * ERROR_UNSUPPORTED for a kubelet that winjoin cannot run (before 1.24). */
int programs_check_versions(struct join *join, const struct artifacts *lock, struct error *err);
/* true when the lock tells the version of kubelet and kube-proxy. */
bool programs_versions_are_known(const struct artifacts *lock);
/* The user's own kubelet arguments (kubeletExtraArgs, services.kubelet.extraArgs) and config.yaml
 * against the kubelet itself, the bundle's or (NULL) the installed one: ERROR_USAGE names the
 * argument that it does not take, with "did you mean", or what it says against config.yaml
 * (kubelet_question.h). The bundle's is put aside for that and removed again. A program that cannot
 * be asked is passed over. */
int programs_check_kubelet(struct join *join, struct bundle *bundle, struct error *err);

/* The plain values that command lines need, from the plan and the options; borrowed from found. */
void programs_service_settings(struct host *host, struct join_found *found,
                               struct service_settings *ret);

/* ---- the proxy through which winjoin reaches the world: Go's programs know the variables of their
 * own process alone ---- */

/* HTTP_PROXY, HTTPS_PROXY and NO_PROXY as "NAME=value", none where the services need none: there is
 * no proxy, or the machine's own variables name one. In this order: this session's HTTPS_PROXY,
 * what service containerd has (of an earlier join, or its owner's), WinHTTP's. What the session or
 * WinHTTP excepts is excepted, and the cluster's pods, Services and names. One with a password is
 * passed over: every user of the machine may read a service's environment. Borrowed from found,
 * where it is kept. */
const struct text_list *service_proxy(struct host *host, struct join_found *found);
/* Has the proxy's URL a user or a password? */
bool service_proxy_is_secret(const char *proxy);
/* A variable of this session, by its usual name or else the other one. The caller frees; NULL. */
char *service_proxy_variable(struct host *host, const char *upper, const char *lower);

/* ---- Kubernetes' version skew policy ---- */

struct version_skew {
    const char *kubelet; /* "v1.37.1" or "Kubernetes v1.37.1" */
    const char *cluster; /* kubernetesVersion of ClusterConfiguration, "" = not known */
    const char *server;  /* gitVersion of /version, NULL = not known */
    const char *program; /* whose version `kubelet` is: "kube-proxy"; NULL = "kubelet" */
};
/* A kubelet must not be newer (by minor version) than the control plane, and at most three minor
 * versions older, two for kubelets before 1.25 (Kubernetes' version skew policy; kubeadm: check
 * KubeletVersion); for kube-proxy the policy is the same. Where cluster and server differ, as in
 * the midst of an upgrade, the older decides what is too new and the newer what is too old.
 * ERROR_PREFLIGHT "[KubeletVersion] ...", also for a kubelet whose version cannot be read; a
 * cluster's that cannot be read is passed over. */
int version_skew_check(const struct version_skew *skew, struct error *err);

/* ---- for each network mode and plugin that this build can do ---- */

/* What nodes need that have nothing but these artifacts: [{"mode","plugin","missing":[names]}], one
 * object for each mode with each plugin that works in it, in the tables' order; network_mode,
 * network_plugin and kube_proxy of the options choose among them. New reference.
 * ERROR_USAGE: that plugin does not work in that mode. */
int node_programs_missing(const struct artifacts *artifacts, const struct join_options *options,
                          json_t **ret, struct error *err);

/* Whether an image's containers run on a build of Windows, and which other tag's would. */

enum image_fit { IMAGE_UNFIT, IMAGE_FITS, IMAGE_UNKNOWN };

/* By what is known of it; build 0: not known. */
enum image_fit image_fit(const struct image_facts *facts, unsigned build);
/* The same of an image in a registry, which is asked; ret is filled (image_facts_free()). docker.io
 * is not asked: its registry has another name. What the registry failed with is in err, which says
 * nothing else. */
enum image_fit image_fit_ask(const struct mirror *from, const char *image, unsigned build,
                             struct image_facts *ret, struct error *err);
/* The same name with the tag of this build, where tags differ in that alone: "...:ltsc2022". NULL:
 * it has no such tag, or it is for this build already. The caller frees. */
char *image_for_build(const char *image, unsigned build);
/* The same name, where the registry has it and it fits. */
char *image_for_build_ask(const struct mirror *from, const char *image, unsigned build);

/* Does this image of the open bundle fit? By the beginning of its archive. One that begins
 * otherwise than those of image_fetch() is not understood: its import says what is wrong. */
enum image_fit bundle_image_fit(struct join *join, const struct artifact *image,
                                struct image_facts *ret);
/* ERROR_PREFLIGHT: an image of the open bundle (none: 0), or its sandbox image, is not for this
 * build; with the command that makes another. */
int bundle_images_check(struct join *join, struct error *err);
