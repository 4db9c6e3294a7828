// Pod networks: containerd's own CNI library, told what containerd tells it.
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"

	"github.com/containerd/go-cni"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// network is the CNI configuration that counts, read again when the folder changed.
type network struct {
	cni    cni.CNI
	folder string
	mu     sync.Mutex
	seen   string
	loaded error
}

func newNetwork(s *settings) (*network, error) {
	c, err := cni.New(cni.WithMinNetworkCount(1), cni.WithPluginConfDir(s.CNIConfDir),
		cni.WithPluginMaxConfNum(s.CNIMaxConfs), cni.WithPluginDir(s.CNIBinDirs))
	if err != nil {
		return nil, fmt.Errorf("failed to initialize cni: %w", err)
	}
	return &network{cni: c, folder: s.CNIConfDir, seen: "never"}, nil
}

// state of the folder: names, sizes and times of what is in it.
func (n *network) state() string {
	var lines []string
	entries, _ := os.ReadDir(n.folder) // absent is empty
	for _, entry := range entries {
		if info, err := os.Stat(filepath.Join(n.folder, entry.Name())); err == nil {
			lines = append(lines, fmt.Sprintf("%s %d %d", entry.Name(), info.Size(), info.ModTime().UnixNano()))
		}
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

// load reads the configuration again if the folder is not as it was.
func (n *network) load() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if now := n.state(); now != n.seen {
		n.seen = now
		n.loaded = n.cni.Load(cni.WithDefaultConf)
		log.Printf("cni configuration in %s read again: %v", n.folder, n.loaded)
	}
}

// status says why there is no pod network, in containerd's words; nil: there is one.
func (n *network) status() error {
	n.load()
	return n.cni.Status()
}

// add and del let the plugins end when the caller goes away, and break off then: under Wine a plugin that
// is killed while it starts host-local.exe leaves a process unmade that holds that file for good.
func (n *network) add(ctx context.Context, id, namespace string, config *runtime.PodSandboxConfig) ([]string, error) {
	n.load()
	result, err := n.cni.Setup(context.WithoutCancel(ctx), id, namespace, namespaceOptions(id, config)...)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	return addresses(result)
}

func (n *network) del(ctx context.Context, id, namespace string, config *runtime.PodSandboxConfig) error {
	n.load()
	if err := n.cni.Remove(context.WithoutCancel(ctx), id, namespace, namespaceOptions(id, config)...); err != nil {
		return err
	}
	return ctx.Err()
}

func namespaceOptions(id string, config *runtime.PodSandboxConfig) []cni.NamespaceOpts {
	options := []cni.NamespaceOpts{
		cni.WithLabels(map[string]string{
			"K8S_POD_NAMESPACE":          config.GetMetadata().GetNamespace(),
			"K8S_POD_NAME":               config.GetMetadata().GetName(),
			"K8S_POD_INFRA_CONTAINER_ID": id,
			"K8S_POD_UID":                config.GetMetadata().GetUid(),
			"IgnoreUnknown":              "1",
		}),
		cni.WithCapability("io.kubernetes.cri.pod-annotations", config.GetAnnotations()),
	}
	if ports := portMappings(config); len(ports) > 0 {
		options = append(options, cni.WithCapabilityPortMap(ports))
	}
	if dns := config.GetDnsConfig(); dns != nil {
		options = append(options, cni.WithCapabilityDNS(cni.DNS{
			Servers: dns.GetServers(), Searches: dns.GetSearches(), Options: dns.GetOptions()}))
	}
	return options
}

func portMappings(config *runtime.PodSandboxConfig) (ports []cni.PortMapping) {
	for _, m := range config.GetPortMappings() {
		if m.GetHostPort() > 0 {
			ports = append(ports, cni.PortMapping{HostPort: m.GetHostPort(), ContainerPort: m.GetContainerPort(),
				Protocol: strings.ToLower(m.GetProtocol().String()), HostIP: m.GetHostIp()})
		}
	}
	return ports
}

// addresses of the pod's default interface, IPv4 first.
func addresses(result *cni.Result) ([]string, error) {
	first, there := result.Interfaces["eth0"]
	if !there || len(first.IPConfigs) == 0 {
		return nil, fmt.Errorf("failed to find network info for sandbox: no address of eth0")
	}
	var four, six []string
	for _, config := range first.IPConfigs {
		if ip := net.IP(config.IP); ip.To4() != nil {
			four = append(four, ip.String())
		} else {
			six = append(six, ip.String())
		}
	}
	return append(four, six...), nil
}
