// Plays the port 10250 of a kubelet whose pods the rig runs as processes: exec, by the kubelet's own
// streaming library. execd ADDRESS FOLDER: FOLDER/<namespace>_<pod>_<container> holds a process id.
package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"
)

const (
	idle     = 10 * time.Minute
	creation = 30 * time.Second
)

// inside runs a command where the container's process is; uid is the file that names it.
type inside struct{}

func (inside) ExecInContainer(ctx context.Context, _, uid, _ string, command []string, _ io.Reader, out, errs io.WriteCloser,
	_ bool, _ <-chan remotecommand.TerminalSize, _ time.Duration) error {
	pid, err := os.ReadFile(uid)
	if err != nil {
		return fmt.Errorf("container not found (%w)", err)
	}
	words := append([]string{"-t", strings.TrimSpace(string(pid)), "-m", "-u", "-n", "-r", "-w", "--"}, command...)
	run := exec.CommandContext(ctx, "nsenter", words...)
	run.Stdout, run.Stderr = out, errs
	err = run.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return utilexec.CodeExitError{Err: fmt.Errorf("command terminated with exit code %d", ended.ExitCode()), Code: ended.ExitCode()}
	}
	return err
}

func serve(folder string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		words := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
		if len(words) != 4 || words[0] != "exec" {
			http.NotFound(w, r)
			return
		}
		options, err := remotecommand.NewOptions(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		place := filepath.Join(folder, filepath.Base(strings.Join(words[1:], "_")))
		remotecommand.ServeExec(w, r, inside{}, words[2], place, words[3], r.URL.Query()["command"], options, idle, creation,
			remotecommand.SupportedStreamingProtocols)
	}
}

func certificate() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	is := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, is, is, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("execd ADDRESS FOLDER")
	}
	own, err := certificate()
	if err != nil {
		log.Fatal(err)
	}
	server := &http.Server{Addr: os.Args[1], Handler: serve(os.Args[2]), ReadHeaderTimeout: creation,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{own}, MinVersion: tls.VersionTLS12}}
	log.Fatal(server.ListenAndServeTLS("", ""))
}
