// Windows' side: named pipes, the service manager, HNS namespaces, folders held open.
package main

import (
	"log"
	"net"
	"os"
	"strings"

	"github.com/Microsoft/go-winio"
	"github.com/Microsoft/hcsshim/hcn"
	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/svc"
)

const (
	drive          = `C:\`
	defaultAddress = `\\.\pipe\containerd-containerd`
)

func listen(address string) (net.Listener, error) {
	if tcp, is := strings.CutPrefix(address, "tcp://"); is {
		return net.Listen("tcp", tcp)
	}
	return winio.ListenPipe(address, nil)
}

// namespace is an HNS namespace: a pod's network.
func newNamespace() (string, error) {
	made, err := (&hcn.HostComputeNamespace{}).Create()
	if err != nil {
		return "", err
	}
	return made.Id, nil
}

func namespaceClosed(id string) (bool, error) {
	_, err := hcn.GetNamespaceByID(id)
	if hcn.IsNotFoundError(err) {
		return true, nil
	}
	return false, err
}

func removeNamespace(id string) error {
	found, err := hcn.GetNamespaceByID(id)
	if err == nil {
		err = found.Delete()
	}
	if hcn.IsNotFoundError(err) {
		return nil
	}
	return err
}

// hold keeps a folder or file of the host from being deleted while a container uses it, as Windows
// does; the rig's pods live in a Wine of their own, which this one's sharing rules do not reach.
func hold(path string) (release func()) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return func() {}
	}
	handle, err := windows.CreateFile(name, windows.GENERIC_READ, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE,
		nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return func() {}
	}
	return func() { _ = windows.CloseHandle(handle) }
}

// service is the SCM's view of the program.
type service struct{ options *options }

func runService(o *options) error {
	return svc.Run(o.serviceName, &service{o})
}

func (s *service) Execute(_ []string, requests <-chan svc.ChangeRequest, status chan<- svc.Status) (bool, uint32) {
	status <- svc.Status{State: svc.StartPending}
	stop, ready, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() { ended <- serve(s.options, stop, func() { close(ready) }) }()
	for {
		select {
		case <-ready:
			status <- svc.Status{State: svc.Running, Accepts: svc.AcceptStop | svc.AcceptShutdown}
			ready = nil
		case err := <-ended:
			if err != nil {
				log.Print("containerd: ", err)
				return false, 1
			}
			return false, 0
		case request := <-requests:
			switch request.Cmd {
			case svc.Interrogate:
				status <- request.CurrentStatus
			case svc.Stop, svc.Shutdown:
				status <- svc.Status{State: svc.StopPending}
				if stop != nil {
					close(stop)
					stop = nil
				}
			}
		}
	}
}

// makeFolder makes a folder and those above it.
func makeFolder(path string) error { return os.MkdirAll(path, 0o755) }
