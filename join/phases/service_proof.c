/* Tests whether a service does its work; one function per kind of proof. */
#include "join/phases/steps.h"

#include "join/found/need.h"
#include "join/kubelet/kubelet_files.h"
#include "join/programs/programs.h"
#include "join/services/service_watch.h"
#include "netsetup/agents/agent.h"
#include "netsetup/hns/hcn_network.h"
#include "services/cri.h"

enum { STEP_MS = 100, HEALTH_MS = 2000 };

char *service_proof_pipe(const struct join *join) {
    const char *socket = join->found.options.cri_socket;

    return cri_pipe_path(socket ? socket : KUBELET_CRI_SOCKET);
}

/* Each of these functions sets err to what is missing if that tells more than the row's text. */

/* Whether the service runs and has written its ready file; an old one was removed before. */
static enum wait_poll poll_runs(struct join *join, bool runs, struct error *) {
    const char *file = join->watch.service->ready_file;

    return runs && (!file || host_file_type(join->host, file) == HOST_FILE) ? POLL_DONE
                                                                            : POLL_AGAIN;
}

static enum wait_poll poll_pipe(struct join *join, bool, struct error *err) {
    _cleanup_(freep) char *pipe = service_proof_pipe(join);

    if (host_pipe_exists(join->host, pipe))
        return POLL_DONE;
    (void)error_set(err, ERROR_TIMED_OUT, "%s", pipe);
    return POLL_AGAIN;
}

static enum wait_poll poll_health(struct join *join, bool, struct error *err) {
    _cleanup_(freep) char *url = join_kubelet_health_url(join);
    struct http_request request = {.url = url, .timeout_ms = HEALTH_MS, .proxy = ""};
    _cleanup_(http_response_free) struct http_response response = {0};

    if (!url) {
        join_warn(&join->progress, "healthzPort is 0: the kubelet's health is not checked");
        return POLL_DONE;
    }
    if (http_perform(join->http, &request, &response, err) < 0)
        return POLL_AGAIN;
    if (response.status == 200)
        return POLL_DONE;
    (void)error_set(err, ERROR_TIMED_OUT, "not yet");
    return POLL_AGAIN;
}

static enum wait_poll poll_balancers(struct join *join, bool runs, struct error *err) {
    const struct network_plan *plan = &join->found.plan;
    _cleanup_(freep) char *text = NULL;
    _cleanup_json_ json_t *balancers = NULL; /* HNS ids; only their number is used */
    struct hcn_network network;
    struct error why = {0};
    size_t count;

    if (hcn_enumerate(join->host, HCN_LOAD_BALANCER, NULL, &text, err) < 0 ||
        json_read(text, strlen(text), "list of HNS IDs", &balancers, err) < 0)
        return POLL_FAILED;
    count = json_array_size(balancers);
    if (count) {
        text_addf(&join->progress.detail, "running, %zu load balancer%s programmed", count,
                  PLURAL(count));
        join_fact(&join->progress, "loadBalancers", json_integer((json_int_t)count));
        return POLL_DONE;
    }
    if (!runs || !plan->agent->pods_make_network ||
        hcn_network_find(join->host, plan->name, &network, &why) == 0)
        return POLL_AGAIN;
    if (why.kind != ERROR_ABSENT) {
        *err = why;
        return POLL_FAILED;
    }
    /* kube-proxy looks for its network every second without a limit, so it can wait. */
    text_addf(&join->progress.detail, "running; waits for HNS network '%s' of the first pod",
              plan->name);
    return POLL_DONE;
}

typedef enum wait_poll poll_function(struct join *join, bool runs, struct error *err);
static poll_function *const polls[] = {[SERVICE_RUNS] = poll_runs,
                                       [SERVICE_OPENS_PIPE] = poll_pipe,
                                       [SERVICE_IS_HEALTHY] = poll_health,
                                       [SERVICE_WRITES_FILE] = poll_runs,
                                       [SERVICE_BALANCES_LOAD] = poll_balancers};

static unsigned limit_of(const struct join *join, const struct service *service) {
    long long given = join->found.options.kubelet_health_check_timeout;
    bool of_kubelet = service->proof.kind == SERVICE_IS_HEALTHY && given;

    return (of_kubelet ? (unsigned)given : service->proof.timeout_ms) +
           /* Each end of the service so far has caused a pause before its next start. */
           join->watch.ends * SERVICE_PAUSE_MAX_MS;
}

static enum wait_poll poll_once(void *context, struct wait *wait, struct error *err) {
    struct join *join = context;
    const struct service *service = join->watch.service;
    struct error why = {0};
    bool runs = false;
    enum wait_poll result;

    if (service_watch_check(&join->watch, &runs, err) < 0)
        return POLL_FAILED;
    result = polls[service->proof.kind](join, runs, &why);
    if (result == POLL_FAILED && err)
        *err = why;
    if (result != POLL_AGAIN)
        return result;
    if (service->proof.reads && service_watch_rights(&join->watch, service->proof.reads, err) < 0)
        return POLL_FAILED;
    wait->limit_ms = limit_of(join, service);
    (void)error_set(err, ERROR_TIMED_OUT, "%s%s%s",
                    runs ? service->proof.waiting : "for the service to be started again",
                    why.kind ? ": " : "", why.message);
    return POLL_AGAIN;
}

int service_prove(struct join *join, struct error *err) {
    const struct service *service = join->watch.service;
    struct wait wait = {.limit_ms = limit_of(join, service),
                        .pause_ms = STEP_MS,
                        .poll = poll_once,
                        .context = join};
    enum wait_poll end = join_wait(join->host, &join->progress, &wait, err);

    if (end != POLL_AGAIN)
        return end;
    (void)error_set(err, ERROR_TIMED_OUT, "%s after %u s", service->proof.failed,
                    wait.limit_ms / 1000);
    (void)service_watch_hint(&join->watch, err);
    return error_hint(err, "to restart it: sc.exe stop %s, then run the same command again",
                      service->name);
}

int service_run(struct join *join, const struct service *service, struct error *err) {
    struct service_settings settings;

    programs_service_settings(join->host, &join->found, &settings);
    if (service_start(&join->watch, &join->journal, service, &settings, err) < 0)
        return -1;
    return service_prove(join, err);
}
