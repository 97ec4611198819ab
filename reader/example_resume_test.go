package reader_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/dsconv/dsconv/reader"
)

// A program that trains goes on where it was stopped, with the state that it keeps in a file.
func ExampleLoader_Resume_program() {
	dir, err := os.MkdirTemp("", "resume")
	if err != nil {
		log.Panic(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "state.json")
	for range 2 { // two runs of the program
		if err := trainUntilStopped(file); err != nil {
			log.Panic(err)
		}
	}
	// Output:
	// epoch 0 position 4
	// epoch 0 position 8
	// stopped
	// epoch 0 position 10
	// epoch 1 position 4
	// epoch 1 position 8
	// epoch 1 position 10
}

// trainUntilStopped trains two epochs from the state in the file on. Its first run is stopped in the
// first epoch.
func trainUntilStopped(file string) error {
	loader, err := reader.New(squares{}, reader.Config{BatchSize: 4, Shuffle: true, Seed: 1})
	if err != nil {
		return err
	}
	defer loader.Close()
	var state reader.State // the zero State is the beginning
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &state)
	}
	first := os.IsNotExist(err)
	if err != nil && !first {
		return err
	}
	for epoch := state.Epoch; epoch < 2; epoch++ {
		for batch, err := range loader.Resume(context.Background(), state) {
			if err != nil {
				return err
			}
			state = loader.State(epoch, batch)
			fmt.Println("epoch", state.Epoch, "position", state.Position)
			if err := save(file, state); err != nil {
				return err
			}
			if first && state.Position == 8 {
				fmt.Println("stopped")
				return nil
			}
		}
		state = reader.State{Epoch: epoch + 1}
	}
	return nil
}

// save writes to another file and renames it, so that the file is whole at any time.
func save(file string, state reader.State) error {
	text, err := json.Marshal(state)
	if err == nil {
		err = os.WriteFile(file+".new", text, 0o644)
	}
	if err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}
