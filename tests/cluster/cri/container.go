// Containers: Windows programs that the rig starts in the pod's network.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"path/filepath"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

const (
	created = runtime.ContainerState_CONTAINER_CREATED
	running = runtime.ContainerState_CONTAINER_RUNNING
	exited  = runtime.ContainerState_CONTAINER_EXITED

	unknownExit = 255 // containerd's, for an end that it did not see
	pollMs      = 500
)

type container struct {
	Sandbox                          string
	Config                           document[*runtime.ContainerConfig]
	LogPath                          string
	CreatedAt, StartedAt, FinishedAt int64
	ExitCode                         int32
	Reason, Message                  string
	Handle                           int   // the rig's, once started
	Read                             int64 // bytes of its output that are in the log

	releases []func() // of what the host may not delete meanwhile
	reopen   bool     // the log was rotated
}

func (c *container) state() runtime.ContainerState {
	switch {
	case c.FinishedAt != 0:
		return exited
	case c.StartedAt != 0:
		return running
	}
	return created
}

func (s *server) CreateContainer(_ context.Context, q *runtime.CreateContainerRequest) (*runtime.CreateContainerResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	config := q.GetConfig()
	if s.Sandboxes[q.GetPodSandboxId()] == nil {
		return nil, notFound("sandbox", q.GetPodSandboxId())
	}
	if config.GetMetadata() == nil {
		return nil, status.Error(codes.InvalidArgument, "container config must include metadata")
	}
	if s.image(config.GetImage().GetImage()) == "" {
		return nil, notFound("image", config.GetImage().GetImage())
	}
	if len(config.GetCommand())+len(config.GetArgs()) == 0 {
		return nil, status.Error(codes.Unknown, "failed to generate spec: no command specified") // images are empty here
	}
	id, c := newID(), &container{Sandbox: q.GetPodSandboxId(), Config: document[*runtime.ContainerConfig]{config},
		CreatedAt: time.Now().UnixNano()}
	if config.GetLogPath() != "" && q.GetSandboxConfig().GetLogDirectory() != "" {
		c.LogPath = filepath.Join(q.GetSandboxConfig().GetLogDirectory(), config.GetLogPath())
	}
	s.Containers[id] = c
	s.save()
	return &runtime.CreateContainerResponse{ContainerId: id}, nil
}

// execution is what the rig needs to run a command as the container's own one.
func (c *container) execution(namespace string, command []string) rigRequest {
	config := c.Config.message
	request := rigRequest{Op: "exec", Namespace: namespace, Command: command, Folder: config.GetWorkingDir(),
		Env: map[string]string{}}
	for _, e := range config.GetEnvs() {
		request.Env[e.GetKey()] = string(e.GetValue())
	}
	for _, m := range config.GetMounts() {
		request.Mounts = append(request.Mounts, rigMount{Host: m.GetHostPath(), Container: m.GetContainerPath()})
	}
	return request
}

// take holds the host's folders and files that the container uses.
func (c *container) take() {
	for _, m := range c.Config.message.GetMounts() {
		c.releases = append(c.releases, hold(m.GetHostPath()))
	}
}

func (c *container) end(code int32, reason, message string) {
	c.FinishedAt, c.ExitCode, c.Message = time.Now().UnixNano(), code, message
	c.Reason = reason
	for _, release := range c.releases {
		release()
	}
	c.releases = nil
}

func (s *server) StartContainer(_ context.Context, q *runtime.StartContainerRequest) (*runtime.StartContainerResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := q.GetContainerId()
	c := s.Containers[id]
	if c == nil {
		return nil, notFound("container", id)
	}
	if c.state() != created {
		return nil, status.Errorf(codes.Unknown, "container is in %s state", c.state())
	}
	box := s.Sandboxes[c.Sandbox]
	if box == nil || !box.Ready {
		return nil, status.Errorf(codes.Unknown, "sandbox container %q is not running", c.Sandbox)
	}
	config := c.Config.message
	c.StartedAt = time.Now().UnixNano()
	c.take()
	answer, err := askRig(c.execution(box.Namespace, append(append([]string{}, config.GetCommand()...), config.GetArgs()...)))
	if err != nil {
		c.end(128, "StartError", err.Error())
		s.save()
		return nil, fmt.Errorf("failed to start containerd task %q: %w", id, err)
	}
	c.Handle = answer.Handle
	s.save()
	go s.follow(id, c)
	return &runtime.StartContainerResponse{}, nil
}

// follow writes the container's log and notes its end.
func (s *server) follow(id string, c *container) {
	out, err := openContainerLog(c.LogPath)
	if err != nil {
		log.Printf("container %s: %v", id, err)
	}
	defer out.close()
	connection, err := dialRig()
	for err == nil {
		var answer *rigAnswer
		s.mu.Lock()
		from, over := c.Read, c.state() != running || s.closed
		if c.reopen {
			c.reopen = false
			out.reopen()
		}
		s.mu.Unlock()
		if over {
			break
		}
		answer, err = connection.ask(rigRequest{Op: "exec-wait", Handle: c.Handle, TimeoutMs: pollMs, From: &from})
		if err == nil && s.hear(c, out, answer) {
			break
		}
	}
	if connection != nil {
		connection.close()
	}
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		log.Printf("container %s: %v", id, err)
		if c.state() == running && !s.closed {
			c.end(unknownExit, "Unknown", err.Error())
			s.save()
		}
	}
}

// hear takes what the rig says of a container; true: it ended and all it said is in the log.
func (s *server) hear(c *container, out *containerLog, answer *rigAnswer) bool {
	out.write(answer.Output)
	s.mu.Lock()
	defer s.mu.Unlock()
	c.Read = answer.Next
	if answer.Output != "" || answer.Running || answer.Exit == nil {
		return false
	}
	out.flush()
	if c.state() == running {
		c.end(exitCode(*answer.Exit), "", "")
	}
	s.save()
	return true
}

// exitCode of a program that a signal of this machine ended: 128 and the signal, as of a shell.
func exitCode(code int) int32 {
	if code < 0 {
		code = 128 - code
	}
	return int32(code)
}

func (s *server) StopContainer(ctx context.Context, q *runtime.StopContainerRequest) (*runtime.StopContainerResponse, error) {
	return &runtime.StopContainerResponse{}, s.stop(ctx, q.GetContainerId())
}

// stop ends the container's program, and waits until its end is noted.
func (s *server) stop(ctx context.Context, id string) error {
	s.mu.Lock()
	c := s.Containers[id]
	over := c == nil || c.state() != running
	s.mu.Unlock()
	if over {
		return nil // containerd: gone is stopped
	}
	if _, err := askRig(rigRequest{Op: "exec-kill", Handle: c.Handle}); err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		c.end(unknownExit, "Unknown", err.Error())
		s.save()
		return nil
	}
	for {
		s.mu.Lock()
		over := c.state() != running
		s.mu.Unlock()
		if over {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (s *server) RemoveContainer(ctx context.Context, q *runtime.RemoveContainerRequest) (*runtime.RemoveContainerResponse, error) {
	if err := s.stop(ctx, q.GetContainerId()); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.Containers, q.GetContainerId())
	s.save()
	return &runtime.RemoveContainerResponse{}, nil
}

func (s *server) containersOf(sandbox string) map[string]*container {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := map[string]*container{}
	for id, c := range s.Containers {
		if c.Sandbox == sandbox {
			found[id] = c
		}
	}
	return found
}

func (s *server) ContainerStatus(_ context.Context, q *runtime.ContainerStatusRequest) (*runtime.ContainerStatusResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.Containers[q.GetContainerId()]
	if c == nil {
		return nil, notFound("container", q.GetContainerId())
	}
	config, ref := c.Config.message, s.image(c.Config.message.GetImage().GetImage())
	answer := &runtime.ContainerStatus{
		Id: q.GetContainerId(), Metadata: config.GetMetadata(), State: c.state(), CreatedAt: c.CreatedAt,
		Image: &runtime.ImageSpec{Image: ref}, ImageRef: digest(ref), ImageId: digest(ref), Labels: config.GetLabels(),
		Annotations: config.GetAnnotations(), Mounts: config.GetMounts(), LogPath: c.LogPath,
		StartedAt: c.StartedAt, FinishedAt: c.FinishedAt, ExitCode: c.ExitCode, Reason: c.Reason, Message: c.Message,
	}
	if c.state() == exited && c.Reason == "" {
		answer.Reason = "Completed"
		if c.ExitCode != 0 {
			answer.Reason = "Error"
		}
	}
	return &runtime.ContainerStatusResponse{Status: answer}, nil
}

func (s *server) ListContainers(_ context.Context, q *runtime.ListContainersRequest) (*runtime.ListContainersResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, answer := q.GetFilter(), &runtime.ListContainersResponse{}
	for id, c := range s.Containers {
		config := c.Config.message
		if !idMatches(f.GetId(), id) || !idMatches(f.GetPodSandboxId(), c.Sandbox) ||
			f.GetState() != nil && f.GetState().GetState() != c.state() ||
			!labelsMatch(f.GetLabelSelector(), config.GetLabels()) {
			continue
		}
		ref := s.image(config.GetImage().GetImage())
		answer.Containers = append(answer.Containers, &runtime.Container{Id: id, PodSandboxId: c.Sandbox,
			Metadata: config.GetMetadata(), Image: config.GetImage(), ImageRef: digest(ref), ImageId: digest(ref),
			State: c.state(), CreatedAt: c.CreatedAt, Labels: config.GetLabels(), Annotations: config.GetAnnotations()})
	}
	return answer, nil
}

func (s *server) ReopenContainerLog(_ context.Context, q *runtime.ReopenContainerLogRequest) (*runtime.ReopenContainerLogResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.Containers[q.GetContainerId()]
	if c == nil || c.state() != running {
		return nil, status.Errorf(codes.Unknown, "container %q is not running", q.GetContainerId())
	}
	c.reopen = true
	return &runtime.ReopenContainerLogResponse{}, nil
}

func (s *server) UpdateContainerResources(context.Context, *runtime.UpdateContainerResourcesRequest) (*runtime.UpdateContainerResourcesResponse, error) {
	return &runtime.UpdateContainerResourcesResponse{}, nil // nothing is limited here
}

// ExecSync runs a command beside the container's own: probes and lifecycle hooks.
func (s *server) ExecSync(ctx context.Context, q *runtime.ExecSyncRequest) (*runtime.ExecSyncResponse, error) {
	request, err := s.beside(q.GetContainerId(), q.GetCmd())
	if err != nil {
		return nil, err
	}
	if q.GetTimeout() > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(q.GetTimeout())*time.Second)
		defer cancel()
	}
	var said bytes.Buffer
	code, err := runInPod(ctx, request, &said)
	if err == nil && code == 1 && bytes.HasPrefix(said.Bytes(), []byte(wineGaveUp)) {
		said.Reset()
		code, err = runInPod(ctx, request, &said)
	}
	if err != nil {
		return nil, err
	}
	return &runtime.ExecSyncResponse{Stdout: said.Bytes(), ExitCode: code}, nil
}

// wineGaveUp begins what Wine says when, once in a while, it does not start a program that is there.
const wineGaveUp = "Application could not be started"

// runInPod runs a command to its end, or until ctx is over.
func runInPod(ctx context.Context, request rigRequest, out io.Writer) (int32, error) {
	connection, err := dialRig()
	if err != nil {
		return 0, err
	}
	defer connection.close()
	started, err := connection.ask(request)
	if err != nil {
		return 0, fmt.Errorf("failed to exec in container: %w", err)
	}
	code, err := listenTo(ctx, connection, started.Handle, 0, out)
	if ctx.Err() != nil {
		_, _ = connection.ask(rigRequest{Op: "exec-kill", Handle: started.Handle})
		return 0, status.Errorf(codes.DeadlineExceeded, "failed to exec in container: timeout exceeded: %v", ctx.Err())
	}
	return code, err
}

// listenTo hands on what a program says, from a byte of its output on, until it ended or ctx is over.
func listenTo(ctx context.Context, connection *rig, handle int, from int64, out io.Writer) (int32, error) {
	for ctx.Err() == nil {
		answer, err := connection.ask(rigRequest{Op: "exec-wait", Handle: handle, TimeoutMs: pollMs / 5, From: &from})
		if err != nil {
			return 0, err
		}
		if _, err := io.WriteString(out, answer.Output); err != nil {
			return 0, err
		}
		from = answer.Next
		if !answer.Running && answer.Output == "" && answer.Exit != nil {
			return exitCode(*answer.Exit), nil
		}
	}
	return 0, ctx.Err()
}
