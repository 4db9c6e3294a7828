// lease says to the API server what flanneld says, by flannel's own package, and makes no network: flanneld for Linux
// brings all its backends with it. Its arguments are a kubeconfig and a net-conf.json; NODE_NAME names the node.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"

	"github.com/flannel-io/flannel/pkg/ip"
	"github.com/flannel-io/flannel/pkg/lease"
	"github.com/flannel-io/flannel/pkg/subnet/kube"
)

// run asks in the order of flanneld's main.go and its VXLAN backend; it goes on until it is ended.
func run(kubeconfig, netConf string) error {
	ctx := context.Background()
	manager, err := kube.NewSubnetManager(ctx, "", kubeconfig, "flannel.alpha.coreos.com", netConf, true)
	if err != nil {
		return err
	}
	manager.GetStoredPublicIP(ctx)
	manager.GetStoredMacAddresses(ctx)
	own, err := manager.AcquireLease(ctx, &lease.LeaseAttrs{PublicIP: ip.MustParseIP4("10.0.0.41"), BackendType: "vxlan",
		BackendData: json.RawMessage(`{"VNI":4096,"VtepMAC":"02:00:00:00:00:41"}`)})
	if err != nil {
		return err
	}
	if err := manager.CompleteLease(ctx, own, &sync.WaitGroup{}); err != nil {
		return err
	}
	fmt.Println("registered", own.Subnet)
	return manager.WatchLeases(ctx, make(chan []lease.LeaseWatchResult, 1000))
}

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
