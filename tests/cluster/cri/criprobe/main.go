// criprobe ADDRESS METHOD [REQUEST]: one call to a CRI server; request and answer are JSON.
//
// ADDRESS is a named pipe or tcp://HOST:PORT. A pipe's first connection may break under Wine, so a
// server that does not answer is asked again for a while. Exit code 1: the server refused.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

const (
	patience = 30 * time.Second
	oneTry   = 5 * time.Second
	whole    = 120 * time.Second
)

// find looks a method up in CRI's two services.
func find(name string) (protoreflect.MethodDescriptor, error) {
	services := (&runtime.VersionRequest{}).ProtoReflect().Descriptor().ParentFile().Services()
	for i := 0; i < services.Len(); i++ {
		if method := services.Get(i).Methods().ByName(protoreflect.Name(name)); method != nil {
			return method, nil
		}
	}
	return nil, fmt.Errorf("CRI has no method %q", name)
}

func connect(ctx context.Context, address string) (*grpc.ClientConn, error) {
	for {
		conn, err := grpc.NewClient("passthrough:///cri", grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithContextDialer(dialer(address)))
		if err != nil {
			return nil, err
		}
		once, cancel := context.WithTimeout(ctx, oneTry)
		_, err = runtime.NewRuntimeServiceClient(conn).Version(once, &runtime.VersionRequest{})
		cancel()
		if code := status.Code(err); code != codes.Unavailable && code != codes.DeadlineExceeded {
			return conn, nil
		}
		_ = conn.Close()
		if ctx.Err() != nil {
			return nil, err
		}
		time.Sleep(200 * time.Millisecond)
	}
}

func run(address, name, document string) error {
	method, err := find(name)
	if err != nil {
		return err
	}
	request, answer := dynamicpb.NewMessage(method.Input()), dynamicpb.NewMessage(method.Output())
	if err := protojson.Unmarshal([]byte(document), request); err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := connect(waiting, address)
	if err != nil {
		return err
	}
	calling, cancelCall := context.WithTimeout(context.Background(), whole)
	defer cancelCall()
	path := fmt.Sprintf("/%s/%s", method.Parent().FullName(), name)
	if err := conn.Invoke(calling, path, request, answer); err != nil {
		return err
	}
	text, err := protojson.Marshal(answer)
	fmt.Println(string(text))
	return err
}

func main() {
	if len(os.Args) < 3 || len(os.Args) > 4 {
		fmt.Fprintln(os.Stderr, "usage: criprobe ADDRESS METHOD [REQUEST]")
		os.Exit(2)
	}
	document := "{}"
	if len(os.Args) == 4 {
		document = os.Args[3]
	}
	if err := run(os.Args[1], os.Args[2], document); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
