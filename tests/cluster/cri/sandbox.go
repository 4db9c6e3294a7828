// Pods: HNS namespace, the rig's sandbox, CNI ADD; in containerd's order, and back.
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

type sandbox struct {
	Config    document[*runtime.PodSandboxConfig]
	Handler   string
	Namespace string // HNS' GUID
	Addresses []string
	CreatedAt int64
	Ready     bool
	Torn      bool // the network is taken down
}

func (s *server) RunPodSandbox(ctx context.Context, q *runtime.RunPodSandboxRequest) (*runtime.RunPodSandboxResponse, error) {
	if q.GetConfig().GetMetadata() == nil {
		return nil, status.Error(codes.InvalidArgument, "sandbox config must include metadata")
	}
	if q.GetConfig().GetWindows().GetSecurityContext().GetHostProcess() {
		return nil, status.Error(codes.Unimplemented, "HostProcess pods are not played")
	}
	if h := q.GetRuntimeHandler(); h != "" && h != s.settings.Handler {
		return nil, status.Errorf(codes.Unknown, "no runtime for %q is configured", h)
	}
	id := newID()
	box := &sandbox{Config: document[*runtime.PodSandboxConfig]{q.GetConfig()}, Handler: q.GetRuntimeHandler(),
		CreatedAt: time.Now().UnixNano()}
	if err := s.connect(ctx, id, box); err != nil {
		return nil, err
	}
	box.Ready = true
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Sandboxes[id] = box
	s.Images[s.settings.SandboxImage] = time.Now()
	s.save()
	log.Printf("RunPodSandbox for %s/%s returns sandbox id %q: %s %v", q.GetConfig().GetMetadata().GetNamespace(),
		q.GetConfig().GetMetadata().GetName(), id, box.Namespace, box.Addresses)
	return &runtime.RunPodSandboxResponse{PodSandboxId: id}, nil
}

// connect makes the pod's network; what was made before a failure is taken back.
func (s *server) connect(ctx context.Context, id string, box *sandbox) (err error) {
	if box.Namespace, err = newNamespace(); err != nil {
		return fmt.Errorf("failed to create network namespace for sandbox %q: %w", id, err)
	}
	undo := func() {
		if e := removeNamespace(box.Namespace); e != nil {
			log.Printf("sandbox %s: take back its namespace: %v", id, e)
		}
	}
	if _, err = askRig(rigRequest{Op: "sandbox", Namespace: box.Namespace}); err != nil {
		undo()
		return err
	}
	box.Addresses, err = s.network.add(ctx, id, box.Namespace, box.Config.message)
	if err == nil {
		return nil
	}
	err = fmt.Errorf("failed to setup network for sandbox %q: %w", id, err)
	if e := s.network.del(ctx, id, box.Namespace, box.Config.message); e != nil {
		log.Printf("sandbox %s: take back its network: %v", id, e)
	}
	if _, e := askRig(rigRequest{Op: "sandbox", Namespace: box.Namespace, Remove: true}); e != nil {
		log.Printf("sandbox %s: take back its sandbox: %v", id, e)
	}
	undo()
	return err
}

func (s *server) StopPodSandbox(ctx context.Context, q *runtime.StopPodSandboxRequest) (*runtime.StopPodSandboxResponse, error) {
	s.mu.Lock()
	box := s.Sandboxes[q.GetPodSandboxId()]
	s.mu.Unlock()
	if box == nil {
		return &runtime.StopPodSandboxResponse{}, nil // containerd: gone is stopped
	}
	return &runtime.StopPodSandboxResponse{}, s.stopSandbox(ctx, q.GetPodSandboxId(), box)
}

func (s *server) stopSandbox(ctx context.Context, id string, box *sandbox) error {
	for container := range s.containersOf(id) {
		if err := s.stop(ctx, container); err != nil {
			return fmt.Errorf("failed to stop container %q: %w", container, err)
		}
	}
	s.mu.Lock()
	torn := box.Torn
	box.Ready = false
	s.save()
	s.mu.Unlock()
	if torn {
		return nil
	}
	if err := s.disconnect(ctx, id, box); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	box.Torn = true
	s.save()
	return nil
}

func (s *server) disconnect(ctx context.Context, id string, box *sandbox) error {
	path := box.Namespace
	gone, err := namespaceClosed(path)
	if err != nil {
		return fmt.Errorf("failed to check network namespace closed: %w", err)
	}
	if gone {
		path = "" // what CNI says for a namespace that is no more
	}
	if err := s.network.del(ctx, id, path, box.Config.message); err != nil {
		return fmt.Errorf("failed to destroy network for sandbox %q: %w", id, err)
	}
	if _, err := askRig(rigRequest{Op: "sandbox", Namespace: box.Namespace, Remove: true}); err != nil {
		return err
	}
	if err := removeNamespace(box.Namespace); err != nil {
		return fmt.Errorf("failed to remove network namespace for sandbox %q: %w", id, err)
	}
	return nil
}

func (s *server) RemovePodSandbox(ctx context.Context, q *runtime.RemovePodSandboxRequest) (*runtime.RemovePodSandboxResponse, error) {
	id := q.GetPodSandboxId()
	if _, err := s.StopPodSandbox(ctx, &runtime.StopPodSandboxRequest{PodSandboxId: id}); err != nil {
		return nil, err
	}
	containers := s.containersOf(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	for container := range containers {
		delete(s.Containers, container)
	}
	delete(s.Sandboxes, id)
	s.save()
	return &runtime.RemovePodSandboxResponse{}, nil
}

func (b *sandbox) state() runtime.PodSandboxState {
	if b.Ready {
		return runtime.PodSandboxState_SANDBOX_READY
	}
	return runtime.PodSandboxState_SANDBOX_NOTREADY
}

func (b *sandbox) network() *runtime.PodSandboxNetworkStatus {
	n := &runtime.PodSandboxNetworkStatus{}
	for i, address := range b.Addresses {
		if i == 0 {
			n.Ip = address
		} else {
			n.AdditionalIps = append(n.AdditionalIps, &runtime.PodIP{Ip: address})
		}
	}
	return n
}

func (s *server) PodSandboxStatus(_ context.Context, q *runtime.PodSandboxStatusRequest) (*runtime.PodSandboxStatusResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	box := s.Sandboxes[q.GetPodSandboxId()]
	if box == nil {
		return nil, notFound("sandbox", q.GetPodSandboxId())
	}
	config, answer := box.Config.message, &runtime.PodSandboxStatusResponse{}
	answer.Status = &runtime.PodSandboxStatus{
		Id: q.GetPodSandboxId(), Metadata: config.GetMetadata(), State: box.state(), CreatedAt: box.CreatedAt,
		Network: box.network(), Labels: config.GetLabels(), Annotations: config.GetAnnotations(),
		RuntimeHandler: box.Handler,
		Linux:          &runtime.LinuxPodSandboxStatus{Namespaces: &runtime.Namespace{Options: &runtime.NamespaceOption{}}},
	}
	if o := config.GetLinux().GetSecurityContext().GetNamespaceOptions(); o != nil {
		answer.Status.Linux.Namespaces.Options = o
	}
	if q.GetVerbose() {
		answer.Info = map[string]string{"netns": box.Namespace}
	}
	return answer, nil
}

func (s *server) ListPodSandbox(_ context.Context, q *runtime.ListPodSandboxRequest) (*runtime.ListPodSandboxResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, answer := q.GetFilter(), &runtime.ListPodSandboxResponse{}
	for id, box := range s.Sandboxes {
		config := box.Config.message
		if !idMatches(f.GetId(), id) || f.GetState() != nil && f.GetState().GetState() != box.state() ||
			!labelsMatch(f.GetLabelSelector(), config.GetLabels()) {
			continue
		}
		answer.Items = append(answer.Items, &runtime.PodSandbox{Id: id, Metadata: config.GetMetadata(),
			State: box.state(), CreatedAt: box.CreatedAt, Labels: config.GetLabels(),
			Annotations: config.GetAnnotations(), RuntimeHandler: box.Handler})
	}
	return answer, nil
}

func (s *server) UpdatePodSandboxResources(context.Context, *runtime.UpdatePodSandboxResourcesRequest) (*runtime.UpdatePodSandboxResourcesResponse, error) {
	return &runtime.UpdatePodSandboxResourcesResponse{}, nil
}
