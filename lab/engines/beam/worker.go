package main

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/container/tools"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/harness"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
)

// serveRunner is a worker: it asks the runner for its endpoints, then does what the runner says until the runner goes away.
// Children of it end then too, because the process ends.
func serveRunner(ctx context.Context, id, provisionEndpoint string) error {
	ctx = grpcx.WriteWorkerID(ctx, id)
	info, err := tools.ProvisionInfo(ctx, provisionEndpoint)
	if err != nil {
		return err
	}
	return harness.MainWithOptions(ctx, info.GetLoggingEndpoint().GetUrl(), info.GetControlEndpoint().GetUrl(), harness.Options{
		StatusEndpoint:     info.GetStatusEndpoint().GetUrl(),
		RunnerCapabilities: info.GetRunnerCapabilities(),
	})
}
