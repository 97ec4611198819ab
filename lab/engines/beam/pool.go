package main

import (
	"context"
	"fmt"
	"net"
	"os"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/harness"
	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
	"google.golang.org/grpc"
)

// A pool starts workers in this process for runners that ask for them. Beam's own pool refuses a worker's name that it
// knows; but each of Flink's TaskManagers asks for a worker 1-1, and so does one that was started again.
type pool struct {
	fnpb.UnimplementedBeamFnExternalWorkerPoolServer
	ctx    context.Context // of the workers: a call's own ends with the call
	server *grpc.Server
}

func newPool(ctx context.Context) *pool {
	p := &pool{ctx: ctx, server: grpc.NewServer()}
	fnpb.RegisterBeamFnExternalWorkerPoolServer(p.server, p)
	return p
}

// servePool starts workers for whoever asks at the address, until ctx is done.
func servePool(ctx context.Context, address string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "dsconv-beam: starting workers for runners that ask", listener.Addr())
	return newPool(ctx).serve(listener)
}

// serve answers until the pool's ctx is done.
func (p *pool) serve(listener net.Listener) error {
	defer context.AfterFunc(p.ctx, p.server.Stop)()
	err := p.server.Serve(listener)
	if p.ctx.Err() != nil {
		return nil
	}
	return err
}

// StartWorker starts a worker for the runner at the request's endpoints.
func (p *pool) StartWorker(_ context.Context, r *fnpb.StartWorkerRequest) (*fnpb.StartWorkerResponse, error) {
	go p.work(r)
	return &fnpb.StartWorkerResponse{}, nil
}

// work is a worker, until its runner goes away. Then what it still does for it ends too.
func (p *pool) work(r *fnpb.StartWorkerRequest) {
	ctx, cancel := context.WithCancel(grpcx.WriteWorkerID(p.ctx, r.GetWorkerId()))
	defer cancel()
	err := harness.MainWithOptions(ctx, r.GetLoggingEndpoint().GetUrl(), r.GetControlEndpoint().GetUrl(), harness.Options{})
	if err != nil && ctx.Err() == nil {
		fmt.Fprintf(os.Stderr, "dsconv-beam: worker %s of %s ended: %v\n", r.GetWorkerId(), r.GetControlEndpoint().GetUrl(), err)
	}
}

// StopWorker has nothing to do: a worker ends when its runner closes their connection. A name would not tell
// which of several workers is meant.
func (p *pool) StopWorker(context.Context, *fnpb.StopWorkerRequest) (*fnpb.StopWorkerResponse, error) {
	return &fnpb.StopWorkerResponse{}, nil
}
