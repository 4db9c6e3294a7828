// Statistics in the shapes that the kubelet reads; the numbers are made up.
package main

import (
	"context"
	"time"

	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

const (
	workingSet = 20 << 20
	cpuShare   = 100 // a hundredth of a core
)

func number(n uint64) *runtime.UInt64Value { return &runtime.UInt64Value{Value: n} }

func used(since int64) uint64 {
	if since == 0 {
		return 0
	}
	return uint64(time.Now().UnixNano()-since) / cpuShare
}

func (s *server) containerStats(id string, c *container) *runtime.ContainerStats {
	now, config := time.Now().UnixNano(), c.Config.message
	return &runtime.ContainerStats{
		Attributes: &runtime.ContainerAttributes{Id: id, Metadata: config.GetMetadata(), Labels: config.GetLabels(),
			Annotations: config.GetAnnotations()},
		Cpu:    &runtime.CpuUsage{Timestamp: now, UsageCoreNanoSeconds: number(used(c.StartedAt)), UsageNanoCores: number(1e9 / cpuShare)},
		Memory: &runtime.MemoryUsage{Timestamp: now, WorkingSetBytes: number(workingSet)},
		WritableLayer: &runtime.FilesystemUsage{Timestamp: now, UsedBytes: number(0),
			FsId: &runtime.FilesystemIdentifier{Mountpoint: s.settings.Root}},
	}
}

func (s *server) ContainerStats(_ context.Context, q *runtime.ContainerStatsRequest) (*runtime.ContainerStatsResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.Containers[q.GetContainerId()]
	if c == nil {
		return nil, notFound("container", q.GetContainerId())
	}
	return &runtime.ContainerStatsResponse{Stats: s.containerStats(q.GetContainerId(), c)}, nil
}

func (s *server) ListContainerStats(_ context.Context, q *runtime.ListContainerStatsRequest) (*runtime.ListContainerStatsResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, answer := q.GetFilter(), &runtime.ListContainerStatsResponse{}
	for id, c := range s.Containers {
		if c.state() == running && idMatches(f.GetId(), id) && idMatches(f.GetPodSandboxId(), c.Sandbox) &&
			labelsMatch(f.GetLabelSelector(), c.Config.message.GetLabels()) {
			answer.Stats = append(answer.Stats, s.containerStats(id, c))
		}
	}
	return answer, nil
}

func (s *server) podStats(id string, box *sandbox) *runtime.PodSandboxStats {
	now, config := time.Now().UnixNano(), box.Config.message
	windows := &runtime.WindowsPodSandboxStats{
		Cpu:     &runtime.WindowsCpuUsage{Timestamp: now, UsageCoreNanoSeconds: number(used(box.CreatedAt)), UsageNanoCores: number(0)},
		Memory:  &runtime.WindowsMemoryUsage{Timestamp: now, WorkingSetBytes: number(workingSet), AvailableBytes: number(0)},
		Network: &runtime.WindowsNetworkUsage{Timestamp: now, DefaultInterface: &runtime.WindowsNetworkInterfaceUsage{Name: "eth0"}},
		Process: &runtime.WindowsProcessUsage{Timestamp: now, ProcessCount: number(1)},
	}
	for ident, c := range s.Containers {
		if c.Sandbox == id && c.state() == running {
			windows.Containers = append(windows.Containers, &runtime.WindowsContainerStats{
				Attributes: &runtime.ContainerAttributes{Id: ident, Metadata: c.Config.message.GetMetadata(),
					Labels: c.Config.message.GetLabels(), Annotations: c.Config.message.GetAnnotations()},
				Cpu:    windows.Cpu,
				Memory: windows.Memory,
			})
		}
	}
	return &runtime.PodSandboxStats{Windows: windows, Attributes: &runtime.PodSandboxAttributes{Id: id,
		Metadata: config.GetMetadata(), Labels: config.GetLabels(), Annotations: config.GetAnnotations()}}
}

func (s *server) PodSandboxStats(_ context.Context, q *runtime.PodSandboxStatsRequest) (*runtime.PodSandboxStatsResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	box := s.Sandboxes[q.GetPodSandboxId()]
	if box == nil {
		return nil, notFound("sandbox", q.GetPodSandboxId())
	}
	return &runtime.PodSandboxStatsResponse{Stats: s.podStats(q.GetPodSandboxId(), box)}, nil
}

func (s *server) ListPodSandboxStats(_ context.Context, q *runtime.ListPodSandboxStatsRequest) (*runtime.ListPodSandboxStatsResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, answer := q.GetFilter(), &runtime.ListPodSandboxStatsResponse{}
	for id, box := range s.Sandboxes {
		if box.Ready && idMatches(f.GetId(), id) && labelsMatch(f.GetLabelSelector(), box.Config.message.GetLabels()) {
			answer.Stats = append(answer.Stats, s.podStats(id, box))
		}
	}
	return answer, nil
}
