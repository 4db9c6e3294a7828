//go:build !windows

// Enough of a platform for the tests that need no Windows, and for the kubelet of a Linux machine that
// runs no pods: no HNS, no service manager.
package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
)

const (
	drive          = "/"
	defaultAddress = "tcp://127.0.0.1:0"
)

func listen(address string) (net.Listener, error) {
	if path, is := strings.CutPrefix(address, "unix://"); is {
		return net.Listen("unix", path)
	}
	tcp, is := strings.CutPrefix(address, "tcp://")
	if !is {
		return nil, fmt.Errorf("no named pipe here: %q", address)
	}
	return net.Listen("tcp", tcp)
}

func newNamespace() (string, error) {
	var b [16]byte
	_, err := rand.Read(b[:])
	return fmt.Sprintf("%X-%X-%X-%X-%X", b[:4], b[4:6], b[6:8], b[8:10], b[10:]), err
}

func namespaceClosed(string) (bool, error) { return false, nil }
func removeNamespace(string) error         { return nil }
func hold(string) func()                   { return func() {} }
func makeFolder(path string) error         { return os.MkdirAll(path, 0o755) }
func runService(*options) error            { return errors.New("there is no service manager here") }
