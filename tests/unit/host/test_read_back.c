/* Documents that winjoin writes and reads: with every member they come back as they were, with the
 * least that must be in them the rest is none, zero and false, and without that they are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "host/model/model.h"
#include "netsetup/nic/nic.h"
#include "node/chosen.h"

/* Both answer -1 with the error, or the document that is made of what was read. */
typedef int read_back(const json_t *json, json_t **ret, struct error *err);

static int read_chosen(const json_t *json, json_t **ret, struct error *err) {
    struct chosen chosen = {0};
    int result = chosen_read((json_t *)json, &chosen, err);

    if (result == 0)
        *ret = chosen_json(&chosen);
    chosen_free(&chosen);
    return result;
}

static int read_snapshot(const json_t *json, json_t **ret, struct error *err) {
    struct nic_snapshot snapshot = {0};
    int result = nic_snapshot_read(json, &snapshot, err);

    if (result == 0)
        *ret = nic_snapshot_json(&snapshot);
    nic_snapshot_free(&snapshot);
    return result;
}

static const struct {
    read_back *read;
    const char *all, *least, *completed; /* completed: the least, as it is written again */
    const char *needed[5];
} rows[] = {
    {read_chosen,
     "{'mode':'overlay','plugin':'flannel','agent':'calico','name':'n','adapter':'Ethernet',"
     "'podCIDR':'10.244.1.0/24','podCIDR6':'fd00:1::/64','clusterPodCIDRs':['10.244.0.0/16'],"
     "'serviceCIDRs':['10.96.0.0/12','fd00:2::/112'],'management':'10.0.0.21/24',"
     "'management6':'fd00::21/64','vni':4097,'vxlanPort':4790,'dnsDomain':'c.local',"
     "'dnsServers':['10.96.0.10'],'excludeFromNAT':['192.0.2.0/24','198.51.100.0/24'],"
     "'hnsMajor':13,'hnsMinor':3,'dsr':'off','routes':'own','node':'win-7k2',"
     "'kubeProxy':'none'}",
     "{'podCIDR':'10.244.1.0/24','management':'10.0.0.21/24','node':'n'}",
     "{'podCIDR':'10.244.1.0/24',"
     "'clusterPodCIDRs':[],'serviceCIDRs':[],'management':'10.0.0.21/24','vni':0,'vxlanPort':0,"
     "'dnsServers':[],'excludeFromNAT':[],'hnsMajor':0,'hnsMinor':0,'node':'n'}",
     {"podCIDR", "management", "node"}},
    {read_snapshot,
     "{'alias':'Ethernet','currentAlias':'vEthernet (Ethernet)','mac':'00-15-5D-00-00-01',"
     "'mtu':1450,'dhcp':true,'hasSwitch':true,'address':'10.0.0.21/24','address6':'fd00::21/64',"
     "'addresses':['10.0.0.21/24','10.0.0.22/24'],'gateways':['10.0.0.1'],'dnsServers':['10.0.0.2'"
     ",'fd00::2'],'metric':25,'metric6':35,'addresses6':['fd00::21/64'],'routes':[{'destination':"
     "'10.9.0.0/16','nextHop':'10.0.0.9','metric':4294967295}]}",
     "{'alias':'Ethernet','currentAlias':'Ethernet','mac':'m','address':'a',"
     "'routes':[{'destination':'d','nextHop':'h'}]}",
     "{'alias':'Ethernet','currentAlias':'Ethernet','mac':'m','mtu':0,'dhcp':false,"
     "'hasSwitch':false,'address':'a','addresses':[],'gateways':[],'dnsServers':[],'metric':0,"
     "'metric6':0,'addresses6':[],'routes':[{'destination':'d','nextHop':'h','metric':0}]}",
     {"alias", "currentAlias", "mac", "address"}},
};

static json_t *document(const char *text) {
    _cleanup_(freep) char *quoted = xstrdup(text);
    json_t *json = NULL;

    for (char *at = quoted; *at; at++)
        if (*at == '\'')
            *at = '"';
    assert_int_equal(json_read(quoted, strlen(quoted), "the case", &json, NULL), 0);
    return json;
}

static void comes_back(read_back *read, const char *from, const char *wanted_text) {
    _cleanup_json_ json_t *json = document(from), *wanted = document(wanted_text), *is = NULL;
    struct error err = {0};
    char *text;

    if (read(json, &is, &err) < 0)
        fail_msg("%s: %s", from, err.message);
    text = json_write(is);
    if (!json_equal(is, wanted))
        fail_msg("%s came back as %s", from, text);
    free(text);
}

static void documents_come_back(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        comes_back(rows[i].read, rows[i].all, rows[i].all);
        comes_back(rows[i].read, rows[i].least, rows[i].completed);
        for (const char *const *member = rows[i].needed; *member; member++) {
            _cleanup_json_ json_t *json = document(rows[i].all);
            json_t *none = NULL;
            struct error err = {0};

            json_object_del(json, *member);
            if (rows[i].read(json, &none, &err) != -1 || err.kind != ERROR_MALFORMED)
                fail_msg("row %zu is read without %s", i, *member);
        }
    }
}

/* A played Windows Server says of itself what its file says; what it does not say is as of a server
 * that was just set up (docs/rehearsal.md). */
static void a_server_that_says_little(void **state) {
    _cleanup_json_ json_t *server = document("{'adapters':[{}],'routes':[{}],"
                                             "'neighbors':[{}]}");
    struct host_adapters adapters = {0};
    struct host_neighbors neighbors = {0};
    struct host_routes routes = {0};

    (void)state;
    model_adapters(server, &adapters);
    assert_int_equal(adapters.count, 1);
    assert_string_equal(adapters.items[0].alias, "");
    assert_null(adapters.items[0].description);
    assert_string_equal(adapters.items[0].mac, "");
    assert_int_equal(adapters.items[0].index, 0);
    assert_int_equal(adapters.items[0].mtu, 1500);
    assert_true(adapters.items[0].up);
    assert_false(adapters.items[0].dhcp);
    assert_int_equal(adapters.items[0].metric, 0);
    assert_int_equal(adapters.items[0].metric6, 0);
    host_adapters_free(&adapters);
    model_routes(server, &routes);
    assert_int_equal(routes.count, 1);
    assert_string_equal(routes.items[0].destination, "");
    assert_string_equal(routes.items[0].next_hop, "");
    assert_int_equal(routes.items[0].interface_index, 0);
    assert_int_equal(routes.items[0].metric, 0);
    host_routes_free(&routes);
    model_neighbors(server, &neighbors);
    assert_int_equal(neighbors.count, 1);
    assert_string_equal(neighbors.items[0].address, "");
    assert_false(neighbors.items[0].fixed);
    host_neighbors_free(&neighbors);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents_come_back),
        cmocka_unit_test(a_server_that_says_little),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
