/* computenetwork.dll: the HCN exports (ComputeNetwork.h), each forwarded to hnsd. Needed by
 * winjoin, win-bridge, win-overlay, flanneld, kube-proxy, containerd. Letters: tests/hns/hnsd.h. */
#define HNS_DLL "computenetwork"
#include "tests/wine/hns_forward.h"

#define FAMILY(one, many)                                                                          \
    EXPORT_3(HcnEnumerate##many, "soo")                                                            \
    EXPORT_3(HcnOpen##one, "gHo")                                                                  \
    EXPORT_3(HcnModify##one, "hso")                                                                \
    EXPORT_4(HcnQuery##one##Properties, "hsoo")                                                    \
    EXPORT_2(HcnDelete##one, "go")                                                                 \
    EXPORT_1(HcnClose##one, "h")

FAMILY(Network, Networks)
FAMILY(Endpoint, Endpoints)
FAMILY(Namespace, Namespaces)
FAMILY(LoadBalancer, LoadBalancers)
FAMILY(SdnRoute, SdnRoutes)

EXPORT_4(HcnCreateNetwork, "gsHo")
EXPORT_5(HcnCreateEndpoint, "hgsHo")
EXPORT_4(HcnCreateNamespace, "gsHo")
EXPORT_4(HcnCreateLoadBalancer, "gsHo")
EXPORT_4(HcnCreateSdnRoute, "gsHo")

EXPORT_3(HcnRegisterServiceCallback, "ppH")
EXPORT_1(HcnUnregisterServiceCallback, "h")

/* The guest network service: the model answers that it has none. */
EXPORT_4(HcnCreateGuestNetworkService, "gsHo")
EXPORT_1(HcnCloseGuestNetworkService, "h")
EXPORT_3(HcnModifyGuestNetworkService, "hso")
EXPORT_2(HcnDeleteGuestNetworkService, "go")
EXPORT_4(HcnRegisterGuestNetworkServiceCallback, "hppH")
EXPORT_1(HcnUnregisterGuestNetworkServiceCallback, "h")
EXPORT_5(HcnReserveGuestNetworkServicePort, "huuuH")
EXPORT_4(HcnReserveGuestNetworkServicePortRange, "huuH")
EXPORT_1(HcnReleaseGuestNetworkServicePortReservationHandle, "h")
EXPORT_2(HcnEnumerateGuestNetworkPortReservations, "pp")
EXPORT_1(HcnFreeGuestNetworkPortReservations, "p")
