package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func fresh(t *testing.T) *server {
	t.Helper()
	folder := t.TempDir()
	s, err := newServer(&settings{Root: folder + "/root", State: folder + "/state", CNIConfDir: folder + "/net.d",
		CNIBinDirs: []string{folder}, CNIMaxConfs: 1, SandboxImage: "pause:1", Handler: "h"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func condition(t *testing.T, s *server, name string) *runtime.RuntimeCondition {
	t.Helper()
	answer, err := s.Status(context.Background(), &runtime.StatusRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range answer.GetStatus().GetConditions() {
		if c.GetType() == name {
			return c
		}
	}
	t.Fatal("no condition", name)
	return nil
}

func TestNetworkReadyFollowsTheFolder(t *testing.T) {
	s := fresh(t)
	if c := condition(t, s, runtime.NetworkReady); c.GetStatus() || !strings.Contains(c.GetMessage(), "cni plugin not initialized") {
		t.Error(c)
	}
	path := filepath.Join(s.settings.CNIConfDir, "10-a.conf")
	if err := os.MkdirAll(s.settings.CNIConfDir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(`{"cniVersion":"1.0.0","name":"n","type":"x"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if c := condition(t, s, runtime.NetworkReady); !c.GetStatus() {
		t.Error(c)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if c := condition(t, s, runtime.NetworkReady); c.GetStatus() {
		t.Error(c)
	}
}

// pod puts one into the server as if it had been made.
func pod(s *server, id, name string, ready bool) {
	s.Sandboxes[id] = &sandbox{Ready: ready, CreatedAt: 1, Addresses: []string{"10.0.0.1", "fd00::1"},
		Config: document[*runtime.PodSandboxConfig]{&runtime.PodSandboxConfig{
			Metadata: &runtime.PodSandboxMetadata{Name: name}, Labels: map[string]string{"name": name}}}}
}

func create(t *testing.T, s *server, box string, config *runtime.ContainerConfig) (string, error) {
	t.Helper()
	answer, err := s.CreateContainer(context.Background(), &runtime.CreateContainerRequest{PodSandboxId: box, Config: config,
		SandboxConfig: &runtime.PodSandboxConfig{LogDirectory: "/logs"}})
	return answer.GetContainerId(), err
}

func TestKeptOverARestart(t *testing.T) {
	s := fresh(t)
	pod(s, "aa", "one", true)
	s.Images["img"] = s.Images["img"]
	id, err := create(t, s, "aa", &runtime.ContainerConfig{Metadata: &runtime.ContainerMetadata{Name: "c", Attempt: 2},
		Image: &runtime.ImageSpec{Image: "img"}, Command: []string{"x"}, LogPath: "c/2.log"})
	if err != nil {
		t.Fatal(err)
	}
	s.close()
	again, err := newServer(s.settings)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := again.ContainerStatus(context.Background(), &runtime.ContainerStatusRequest{ContainerId: id})
	if err != nil {
		t.Fatal(err)
	}
	c := answer.GetStatus()
	if c.GetMetadata().GetAttempt() != 2 || c.GetState() != created || c.GetLogPath() != filepath.Join("/logs", "c/2.log") {
		t.Error(c)
	}
	pods, err := again.PodSandboxStatus(context.Background(), &runtime.PodSandboxStatusRequest{PodSandboxId: "aa"})
	if err != nil || pods.GetStatus().GetNetwork().GetIp() != "10.0.0.1" ||
		pods.GetStatus().GetNetwork().GetAdditionalIps()[0].GetIp() != "fd00::1" {
		t.Error(pods, err)
	}
}

func TestRefusals(t *testing.T) {
	s, ctx := fresh(t), context.Background()
	pod(s, "aa", "one", true)
	s.Images["img"] = s.Images["img"]
	meta, image := &runtime.ContainerMetadata{Name: "c"}, &runtime.ImageSpec{Image: "img"}
	for _, row := range []struct {
		box    string
		config *runtime.ContainerConfig
		want   codes.Code
	}{
		{"none", &runtime.ContainerConfig{Metadata: meta, Image: image, Command: []string{"x"}}, codes.NotFound},
		{"aa", &runtime.ContainerConfig{Metadata: meta, Image: &runtime.ImageSpec{Image: "other"}, Command: []string{"x"}}, codes.NotFound},
		{"aa", &runtime.ContainerConfig{Metadata: meta, Image: image}, codes.Unknown},
		{"aa", &runtime.ContainerConfig{Image: image, Command: []string{"x"}}, codes.InvalidArgument},
	} {
		if _, err := create(t, s, row.box, row.config); status.Code(err) != row.want {
			t.Errorf("%v: %v", row, err)
		}
	}
	if _, err := s.PullImage(ctx, &runtime.PullImageRequest{Image: &runtime.ImageSpec{Image: "no.invalid/x:1"}}); status.Code(err) != codes.NotFound {
		t.Error(err)
	}
	if _, err := s.StopContainer(ctx, &runtime.StopContainerRequest{ContainerId: "none"}); err != nil {
		t.Error(err)
	}
	if _, err := s.ExecSync(ctx, &runtime.ExecSyncRequest{ContainerId: "none"}); err == nil {
		t.Error("a command in nothing")
	}
}

func TestFilters(t *testing.T) {
	s, ctx := fresh(t), context.Background()
	pod(s, "aa11", "one", true)
	pod(s, "bb22", "two", false)
	ready := &runtime.PodSandboxStateValue{State: runtime.PodSandboxState_SANDBOX_READY}
	for _, row := range []struct {
		filter *runtime.PodSandboxFilter
		want   int
	}{
		{nil, 2}, {&runtime.PodSandboxFilter{Id: "aa"}, 1}, {&runtime.PodSandboxFilter{State: ready}, 1},
		{&runtime.PodSandboxFilter{LabelSelector: map[string]string{"name": "two"}}, 1},
		{&runtime.PodSandboxFilter{Id: "aa", LabelSelector: map[string]string{"name": "two"}}, 0},
	} {
		answer, err := s.ListPodSandbox(ctx, &runtime.ListPodSandboxRequest{Filter: row.filter})
		if err != nil || len(answer.GetItems()) != row.want {
			t.Errorf("%v: %v %v", row.filter, answer, err)
		}
	}
}

func TestImagesByNameAndId(t *testing.T) {
	s, ctx := fresh(t), context.Background()
	pulled, err := s.PullImage(ctx, &runtime.PullImageRequest{Image: &runtime.ImageSpec{Image: "a.example/b:1"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.example/b:1", pulled.GetImageRef()} {
		answer, err := s.ImageStatus(ctx, &runtime.ImageStatusRequest{Image: &runtime.ImageSpec{Image: name}})
		if err != nil || answer.GetImage().GetRepoTags()[0] != "a.example/b:1" {
			t.Error(name, answer, err)
		}
	}
	absent, err := s.ImageStatus(ctx, &runtime.ImageStatusRequest{Image: &runtime.ImageSpec{Image: "c"}})
	if err != nil || absent.GetImage() != nil {
		t.Error(absent, err)
	}
}
