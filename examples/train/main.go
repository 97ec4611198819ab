// Train goes through the split train for 3 epochs; interrupted, it resumes: train DATA STATE.json RANK WORLD
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
)

func main() {
	check := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	c := reader.Config{BatchSize: 32, Shuffle: true, Split: "train", Transforms: augment.Train(128)}
	check(json.Unmarshal([]byte("["+os.Args[3]+","+os.Args[4]+"]"), &[]any{&c.Rank, &c.WorldSize}))
	loader, err := dsconv.NewLoader(os.Args[1], c)
	check(err)
	state, model := loader.StateAt(0, 0), 0
	if text, err := os.ReadFile(os.Args[2]); !os.IsNotExist(err) {
		check(json.Unmarshal(text, &[]any{&state, &model}))
	}
	for ; state.Epoch < 3; state = loader.StateAt(state.Epoch+1, 0) {
		for batch, err := range loader.Resume(context.Background(), state) {
			check(err)
			model += int(reader.Pixels[uint8](batch)[0]) // your step
			text, _ := json.Marshal([]any{loader.State(state.Epoch, batch), model})
			check(os.WriteFile(os.Args[2]+".tmp", text, 0o600))
			check(os.Rename(os.Args[2]+".tmp", os.Args[2]))
		}
	}
	log.Println("trained:", model)
	check(loader.Close())
}
