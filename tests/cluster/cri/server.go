// The server: what it holds, and the calls that concern the runtime as a whole.
package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/cri-streaming/pkg/streaming"
)

type server struct {
	runtime.UnimplementedRuntimeServiceServer
	runtime.UnimplementedImageServiceServer
	settings  *settings
	network   *network
	streaming streaming.Server

	mu sync.Mutex // guards what follows
	kept
	closed bool
}

// kept is what outlives the program: the file of the state directory.
type kept struct {
	Sandboxes  map[string]*sandbox
	Containers map[string]*container
	Images     map[string]time.Time
}

func newServer(s *settings) (*server, error) {
	n, err := newNetwork(s)
	if err != nil {
		return nil, err
	}
	for _, folder := range []string{s.Root, s.State} {
		if err := makeFolder(folder); err != nil {
			return nil, err
		}
	}
	made := &server{settings: s, network: n}
	if made.streaming, err = newStreams(made); err != nil {
		return nil, err
	}
	made.kept, err = readKept(s.State)
	return made, err
}

// newID is 64 hexadecimal digits, as containerd's are.
func newID() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

func notFound(what, id string) error {
	return status.Errorf(codes.NotFound, "an error occurred when try to find %s %q: not found", what, id)
}

// quiet are the calls that the kubelet makes all the time.
var quiet = []string{"List", "Status", "Version", "Stats", "ImageFsInfo", "RuntimeConfig"}

func logCalls(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	start := time.Now()
	answer, err := handler(ctx, request)
	name := info.FullMethod[strings.LastIndex(info.FullMethod, "/")+1:]
	often := false
	for _, part := range quiet {
		often = often || strings.Contains(name, part)
	}
	if !often || err != nil {
		log.Printf("%s %v: %v", name, time.Since(start).Round(time.Millisecond), err)
	}
	return answer, err
}

func (s *server) Version(context.Context, *runtime.VersionRequest) (*runtime.VersionResponse, error) {
	return &runtime.VersionResponse{Version: "0.1.0", RuntimeName: "containerd", RuntimeVersion: version,
		RuntimeApiVersion: "v1"}, nil
}

func (s *server) Status(context.Context, *runtime.StatusRequest) (*runtime.StatusResponse, error) {
	network := &runtime.RuntimeCondition{Type: runtime.NetworkReady, Status: true}
	if err := s.network.status(); err != nil {
		network.Status, network.Reason = false, "NetworkPluginNotReady"
		network.Message = "Network plugin returns error: " + err.Error()
	}
	return &runtime.StatusResponse{
		Status: &runtime.RuntimeStatus{Conditions: []*runtime.RuntimeCondition{
			{Type: runtime.RuntimeReady, Status: true}, network,
			{Type: "ContainerdHasNoDeprecationWarnings", Status: true}}},
		RuntimeHandlers: []*runtime.RuntimeHandler{
			{Name: "", Features: &runtime.RuntimeHandlerFeatures{}},
			{Name: s.settings.Handler, Features: &runtime.RuntimeHandlerFeatures{}}},
		Features: &runtime.RuntimeFeatures{},
	}, nil
}

func (s *server) RuntimeConfig(context.Context, *runtime.RuntimeConfigRequest) (*runtime.RuntimeConfigResponse, error) {
	return &runtime.RuntimeConfigResponse{}, nil // has something to say on Linux alone
}

// UpdateRuntimeConfig hears the node's pod CIDR; containerd needs it for a template that is not used.
func (s *server) UpdateRuntimeConfig(context.Context, *runtime.UpdateRuntimeConfigRequest) (*runtime.UpdateRuntimeConfigResponse, error) {
	return &runtime.UpdateRuntimeConfigResponse{}, nil
}
