package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
)

// chooseEnvironment fills in what the flags leave open of how the runner starts workers. Its result ends workers in this process.
func (j *job) chooseEnvironment(ctx context.Context) (stop func(), err error) {
	stop = func() {}
	if j.runner == "prism" && *jobopts.Endpoint == "" && *jobopts.EnvironmentType == "" {
		if stop, err = startOwnWorkers(ctx); err != nil {
			return nil, err
		}
	}
	switch strings.ToUpper(*jobopts.EnvironmentType) {
	case "":
		return nil, fmt.Errorf("--runner %s needs --environment_type: PROCESS, EXTERNAL or DOCKER", j.runner)
	case "PROCESS":
		if err := defaultToThisProgram(); err != nil {
			return nil, err
		}
		j.stageNothing()
	case "EXTERNAL":
		j.stageNothing()
	}
	return stop, nil
}

// startOwnWorkers lets Prism start its workers in this process. Beam's LOOPBACK would do that too, but forgets a file in the temporary folder.
func startOwnWorkers(ctx context.Context) (stop func(), err error) {
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		return nil, err
	}
	ctx, stop = context.WithCancel(ctx)
	go func() { _ = newPool(ctx).serve(listener) }()
	*jobopts.EnvironmentType, *jobopts.EnvironmentConfig = "EXTERNAL", listener.Addr().String()
	return stop, nil
}

// defaultToThisProgram makes this program the worker's process, under the same path there, unless the flags name another.
func defaultToThisProgram() error {
	if *jobopts.EnvironmentConfig != "" {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	config, err := json.Marshal(map[string]string{"command": self})
	*jobopts.EnvironmentConfig = string(config)
	return err
}

// stageNothing keeps Beam from uploading this program, 70 MB, to workers that already have it. Beam insists on a file: the plan is small.
func (j *job) stageNothing() {
	if *jobopts.WorkerBinary == "" {
		*jobopts.WorkerBinary = j.unit.Plan
	}
}
