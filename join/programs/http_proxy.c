/* Selects the proxy for services, and the addresses that they reach without a proxy. */
#include "join/programs/programs.h"

#include "kube/kubeconfig.h"
#include "services/service_table.h"

#define MACHINE_VARIABLES "SYSTEM\\CurrentControlSet\\Control\\Session Manager\\Environment"

bool service_proxy_is_secret(const char *proxy) {
    _cleanup_(freep) char *shown = http_shown_proxy(proxy);

    return !text_equal(shown, proxy);
}

char *service_proxy_variable(struct host *host, const char *upper, const char *lower) {
    char *value = host_environment(host, upper);

    if (value && *value)
        return value;
    free(value);
    return host_environment(host, lower);
}

static void except(struct text_list *list, const char *item) {
    if (item && *item && !text_list_has(list, item))
        text_list_add(list, item);
}

/* Makes the proxy variables of a service. NO_PROXY names the API server if winjoin's own requests
 * reach it without a proxy. */
static void make(const struct join_found *found, const char *proxy, const char *excepted,
                 struct text_list *ret) {
    _cleanup_(text_list_free) struct text_list list = {0};
    const char *server = found->client.server, *domain = found->cluster.dns_domain;
    _cleanup_(freep) char *names_of_cluster = domain ? xasprintf(".%s", domain) : NULL;
    _cleanup_(freep) char *proxied = server ? http_proxy_for(server, proxy, excepted) : NULL;
    _cleanup_(freep) char *name = server && !proxied ? server_url_host(server) : NULL;
    _cleanup_(freep) char *no = NULL;

    text_list_split(&list, excepted ? excepted : "", ',');
    for (size_t i = 0; i < found->cluster.pod_subnets.count; i++)
        except(&list, found->cluster.pod_subnets.items[i]);
    for (size_t i = 0; i < found->cluster.service_subnets.count; i++)
        except(&list, found->cluster.service_subnets.items[i]);
    except(&list, ".svc");
    except(&list, names_of_cluster);
    except(&list, name);
    no = text_list_join(&list, ",");
    text_list_add_owned(ret, xasprintf("HTTP_PROXY=%s", proxy));
    text_list_add_owned(ret, xasprintf("HTTPS_PROXY=%s", proxy));
    text_list_add_owned(ret, xasprintf("NO_PROXY=%s", no));
}

/* Uses the proxy of WinHTTP. Its list of exceptions has semicolons and words that Go does not know,
 * such as "<local>" and "10.*"; these are left out. */
static void of_windows(const struct join_found *found, struct text_list *ret) {
    _cleanup_(freep) char *proxies = NULL, *bypass = NULL, *proxy = NULL;
    _cleanup_(text_list_free) struct text_list all = {0}, known = {0};
    _cleanup_(freep) char *url = NULL, *list = NULL;

    if (!http_system_proxy(&proxies, &bypass))
        return;
    proxy = http_machine_proxy_for("https://registry.k8s.io", proxies, "");
    if (!proxy || service_proxy_is_secret(proxy))
        return;
    text_list_split(&all, bypass ? bypass : "", ';');
    for (size_t i = 0; i < all.count; i++)
        if (!strpbrk(all.items[i], "*<> "))
            except(&known, all.items[i]);
    list = text_list_join(&known, ",");
    url = strstr(proxy, "://") ? xstrdup(proxy) : xasprintf("http://%s", proxy);
    make(found, url, list, ret);
}

const struct text_list *service_proxy(struct host *host, struct join_found *found) {
    static const char *const names[] = {"HTTP_PROXY=", "HTTPS_PROXY=", "NO_PROXY="};
    _cleanup_(freep) char *machine = NULL;
    _cleanup_(freep) char *session = service_proxy_variable(host, "HTTPS_PROXY", "https_proxy");
    _cleanup_(freep) char *excepted = service_proxy_variable(host, "NO_PROXY", "no_proxy");
    _cleanup_(host_service_free) struct host_service service = {0};
    struct text_list *ret = &found->service_proxy;

    if (ret->count ||
        host_registry_get(host, MACHINE_VARIABLES, "HTTPS_PROXY", &machine, ERROR_IGNORED) == 0)
        return ret;
    if (session && *session && !service_proxy_is_secret(session))
        make(found, session, excepted, ret);
    /* Else containerd's own variables are used, which another tool or an earlier join set. */
    if (!ret->count &&
        host_service_query(host, service_containerd.name, &service, ERROR_IGNORED) == 0)
        for (size_t i = 0; i < service.environment.count; i++)
            for (size_t k = 0; k < ARRAY_SIZE(names); k++)
                if (text_starts_with(service.environment.items[i], names[k]))
                    text_list_add(ret, service.environment.items[i]);
    if (!ret->count && !(session && *session))
        of_windows(found, ret);
    return ret;
}
