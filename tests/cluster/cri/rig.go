// The rig's data plane, which plays what HCS does: a pod's sandbox, and programs in it.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"time"
)

const (
	rigAddress = "127.0.0.1:17998"
	rigTimeout = 90 * time.Second
)

// rigMount shows a folder or file of the host in the pod.
type rigMount struct {
	Host      string `json:"host"`
	Container string `json:"container"`
}

// rigRequest is one line to the data plane; tests/rig/dataplane.py lists the operations.
type rigRequest struct {
	Op        string            `json:"op"`
	Namespace string            `json:"namespace,omitempty"`
	Remove    bool              `json:"remove,omitempty"`
	Command   []string          `json:"command,omitempty"`
	Mounts    []rigMount        `json:"mounts,omitempty"`
	Env       map[string]string `json:"env,omitempty"`
	Folder    string            `json:"folder,omitempty"`
	Handle    int               `json:"handle,omitempty"`
	TimeoutMs int64             `json:"timeoutMs,omitempty"`
	From      *int64            `json:"from,omitempty"`
}

type rigAnswer struct {
	OK      bool   `json:"ok"`
	Error   string `json:"error"`
	Handle  int    `json:"handle"`
	Running bool   `json:"running"`
	Exit    *int   `json:"exit"`
	Output  string `json:"output"`
	Next    int64  `json:"next"`
}

var errRigGone = errors.New("the rig's data plane does not answer")

// rig is one connection; asked one thing after the other.
type rig struct {
	conn   net.Conn
	reader *bufio.Reader
}

func dialRig() (*rig, error) {
	conn, err := net.DialTimeout("tcp", rigAddress, 5*time.Second)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", errRigGone, err)
	}
	return &rig{conn, bufio.NewReader(conn)}, nil
}

func (r *rig) close() { _ = r.conn.Close() }

func (r *rig) ask(request rigRequest) (*rigAnswer, error) {
	line, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	_ = r.conn.SetDeadline(time.Now().Add(rigTimeout))
	if _, err := r.conn.Write(append(line, '\n')); err != nil {
		return nil, fmt.Errorf("%w: %v", errRigGone, err)
	}
	line, err = r.reader.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("%w: %v", errRigGone, err)
	}
	answer := &rigAnswer{}
	if err := json.Unmarshal(line, answer); err != nil {
		return nil, err
	}
	if !answer.OK {
		return nil, errors.New(answer.Error)
	}
	return answer, nil
}

// askRig asks one thing on a connection of its own.
func askRig(request rigRequest) (*rigAnswer, error) {
	r, err := dialRig()
	if err != nil {
		return nil, err
	}
	defer r.close()
	return r.ask(request)
}
