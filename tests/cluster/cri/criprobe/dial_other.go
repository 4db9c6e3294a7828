//go:build !windows

package main

import (
	"context"
	"net"
	"strings"
)

func dialer(address string) func(context.Context, string) (net.Conn, error) {
	return func(ctx context.Context, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", strings.TrimPrefix(address, "tcp://"))
	}
}
