// Plays containerd on a Windows node of the rig: a CRI server that reads containerd's configuration,
// makes pods as containerd does (HNS namespace, the real CNI plugins), and has the rig run their
// programs. It takes containerd.exe's place, flags included.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"path/filepath"

	"google.golang.org/grpc"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// The version that is played; the part behind "+" says that it is played.
const version = "v2.4.2+rig"

type options struct {
	config, logFile, logLevel, address, root, state, serviceName string
	runService, printVersion                                     bool
}

func parse(words []string) (*options, error) {
	o := &options{}
	flags := flag.NewFlagSet("containerd", flag.ContinueOnError)
	flags.StringVar(&o.config, "config", defaultFolder("Program Files", "config.toml"), "path to the configuration file")
	flags.StringVar(&o.logFile, "log-file", "", "path to the log file")
	flags.StringVar(&o.logLevel, "log-level", "info", "taken, and not looked at")
	flags.StringVar(&o.address, "address", "", "address of the server: a named pipe, or tcp://HOST:PORT")
	flags.StringVar(&o.root, "root", "", "root directory")
	flags.StringVar(&o.state, "state", "", "state directory")
	flags.StringVar(&o.serviceName, "service-name", "containerd", "the Windows service's name")
	flags.BoolVar(&o.runService, "run-service", false, "run as that service")
	flags.BoolVar(&o.printVersion, "version", false, "print the version")
	if err := flags.Parse(words); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("unknown command %q", flags.Arg(0))
	}
	return o, nil
}

// openLog makes the log file take what the program says, its own folder being the caller's to make.
func openLog(path string) error {
	if path == "" {
		return nil
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("open log file %q: %w", path, err)
	}
	log.SetOutput(io.Writer(file))
	return nil
}

// serve answers CRI until stop is closed; ready is called once the listener is open.
func serve(o *options, stop <-chan struct{}, ready func()) error {
	if err := openLog(o.logFile); err != nil {
		return err
	}
	settings, err := readSettings(o.config)
	if err != nil {
		return err
	}
	settings.override(o)
	server, err := newServer(settings)
	if err != nil {
		return err
	}
	listener, err := listen(settings.Address)
	if err != nil {
		return fmt.Errorf("failed to get listener for main endpoint: %w", err)
	}
	g := grpc.NewServer(grpc.UnaryInterceptor(logCalls))
	runtime.RegisterRuntimeServiceServer(g, server)
	runtime.RegisterImageServiceServer(g, server)
	server.recover()
	go func() {
		if err := server.streaming.Start(true); err != nil {
			log.Print("streaming: ", err)
		}
	}()
	go func() {
		<-stop
		_ = server.streaming.Stop() // what still streams is cut off
		g.Stop()
	}()
	log.Printf("containerd %s successfully booted: %s, cni %v, conf %s", version, settings.Address,
		settings.CNIBinDirs, settings.CNIConfDir)
	ready()
	err = g.Serve(listener)
	server.close()
	return err
}

func console(o *options) error {
	stop, signals := make(chan struct{}), make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	go func() {
		<-signals
		close(stop)
	}()
	return serve(o, stop, func() {})
}

func main() {
	o, err := parse(os.Args[1:])
	if err != nil {
		os.Exit(2)
	}
	if o.printVersion {
		fmt.Println("containerd github.com/containerd/containerd/v2", version, "rig")
		return
	}
	if o.runService {
		err = runService(o)
	} else {
		err = console(o)
	}
	if err != nil {
		log.Print("containerd: ", err)
		fmt.Fprintln(os.Stderr, "containerd:", err)
		os.Exit(1)
	}
}

// defaultFolder is where containerd looks for that file when nothing else is said.
func defaultFolder(top, name string) string {
	return filepath.Join(drive, top, "containerd", name)
}
