// Streams: kubectl exec, attach and port-forward, by the kubelet's own streaming library. A program
// in a pod hears nothing from outside, so standard input and terminals are not played.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/cri-streaming/pkg/streaming"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	"k8s.io/utils/exec"
)

// streams answers what the streaming server asks.
type streams struct{ server *server }

func newStreams(s *server) (streaming.Server, error) {
	config := streaming.DefaultConfig
	config.Addr = "127.0.0.1:0"
	return streaming.NewServer(config, streams{s})
}

func (s streams) Exec(ctx context.Context, id string, command []string, _ io.Reader, out, _ io.WriteCloser, _ bool,
	_ <-chan remotecommand.TerminalSize) error {
	request, err := s.server.beside(id, command)
	if err != nil {
		return err
	}
	code, err := runInPod(ctx, request, out)
	if err == nil && code != 0 {
		err = exec.CodeExitError{Err: fmt.Errorf("command terminated with exit code %d", code), Code: int(code)}
	}
	return err
}

// Attach shows what the container says from now on, to its end.
func (s streams) Attach(ctx context.Context, id string, _ io.Reader, out, _ io.WriteCloser, _ bool,
	_ <-chan remotecommand.TerminalSize) error {
	if _, err := s.server.beside(id, nil); err != nil {
		return err
	}
	s.server.mu.Lock()
	handle, from := s.server.Containers[id].Handle, s.server.Containers[id].Read
	s.server.mu.Unlock()
	connection, err := dialRig()
	if err != nil {
		return err
	}
	defer connection.close()
	_, err = listenTo(ctx, connection, handle, from, out)
	return err
}

func (s streams) PortForward(ctx context.Context, id string, port int32, stream io.ReadWriteCloser) error {
	s.server.mu.Lock()
	box := s.server.Sandboxes[id]
	if box == nil || !box.Ready {
		s.server.mu.Unlock()
		return notFound("sandbox", id)
	}
	address := net.JoinHostPort(box.Addresses[0], strconv.Itoa(int(port)))
	s.server.mu.Unlock()
	conn, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("failed to execute portforward: %w", err)
	}
	defer conn.Close()
	go func() {
		_, _ = io.Copy(conn, stream) // the other direction ends the stream
		if tcp, is := conn.(*net.TCPConn); is {
			_ = tcp.CloseWrite()
		}
	}()
	_, err = io.Copy(stream, conn)
	return err
}

// beside is what the rig needs for a command beside the container's own.
func (s *server) beside(id string, command []string) (rigRequest, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.Containers[id]
	if c == nil {
		return rigRequest{}, notFound("container", id)
	}
	if c.state() != running {
		return rigRequest{}, status.Errorf(codes.Unknown, "container is in %s state", c.state())
	}
	return c.execution(s.Sandboxes[c.Sandbox].Namespace, command), nil
}

func (s *server) Exec(_ context.Context, q *runtime.ExecRequest) (*runtime.ExecResponse, error) {
	if _, err := s.beside(q.GetContainerId(), q.GetCmd()); err != nil {
		return nil, err
	}
	return s.streaming.GetExec(q)
}

func (s *server) Attach(_ context.Context, q *runtime.AttachRequest) (*runtime.AttachResponse, error) {
	if _, err := s.beside(q.GetContainerId(), nil); err != nil {
		return nil, err
	}
	return s.streaming.GetAttach(q)
}

func (s *server) PortForward(_ context.Context, q *runtime.PortForwardRequest) (*runtime.PortForwardResponse, error) {
	return s.streaming.GetPortForward(q)
}
