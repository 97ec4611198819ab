package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
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
	if err := cancelNamed(ctx, endpoint, name); err != nil {
		return fmt.Errorf("%w, but the job %s may go on: %w", errInterrupted, name, err)
	}
	return errInterrupted
}

func cancelNamed(ctx context.Context, endpoint, name string) error {
	connection, err := grpc.NewClient(endpoint, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer connection.Close()
	server := jobpb.NewJobServiceClient(connection)
	jobs, err := server.GetJobs(ctx, &jobpb.GetJobsRequest{})
	if err != nil {
		return err
	}
	for _, job := range jobs.GetJobInfo() {
		// Flink's job server appends the user, the time and a random number.
		if strings.HasPrefix(job.GetJobName(), name) {
			_, err := server.Cancel(ctx, &jobpb.CancelJobRequest{JobId: job.GetJobId()})
			return err
		}
	}
	return errors.New("the job server does not know it")
}
