package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// cancelTime is how long an interrupted launcher waits for the job server.
const cancelTime = 30 * time.Second

var errInterrupted = errors.New("interrupted")

// cancelJob cancels the job of that name, so that an interrupted launcher leaves no work behind. Beam does not: it
// does not even tell the job's number. The error is never nil.
func cancelJob(endpoint, name string) error {
	ctx, stop := context.WithTimeout(context.Background(), cancelTime)
	defer stop()
	connection, err := grpc.NewClient(endpoint, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return fmt.Errorf("%w; the job %s may go on: %w", errInterrupted, name, err)
	}
	defer connection.Close()
	server := jobpb.NewJobServiceClient(connection)
	jobs, err := server.GetJobs(ctx, &jobpb.GetJobsRequest{})
	for _, job := range jobs.GetJobInfo() {
		if err == nil && job.GetJobName() == name {
			_, err = server.Cancel(ctx, &jobpb.CancelJobRequest{JobId: job.GetJobId()})
		}
	}
	if err != nil {
		return fmt.Errorf("%w; the job %s may go on: %w", errInterrupted, name, err)
	}
	return errInterrupted
}
