package main

import (
	"context"
	"net"
	"strings"

	"github.com/Microsoft/go-winio"
)

func dialer(address string) func(context.Context, string) (net.Conn, error) {
	return func(ctx context.Context, _ string) (net.Conn, error) {
		if tcp, is := strings.CutPrefix(address, "tcp://"); is {
			return (&net.Dialer{}).DialContext(ctx, "tcp", tcp)
		}
		return winio.DialPipeContext(ctx, address)
	}
}
