package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// load reads all files below a folder.
func load(folder string) (images []formats.Value, size int, err error) {
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		encoding, _, err := codec.Inspect(data)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		images = append(images, formats.Value{Data: data, Encoding: encoding})
		size += len(data)
		return nil
	})
	return images, size, err
}

// decode decodes whole images to RGB.
func decode(folder string) (pass, result, error) {
	images, size, err := load(folder)
	ready := result{Images: len(images), BytesIn: size}
	decoder := codec.NewDecoder()
	var pixels pixel.Image
	return func() (result, error) {
		for i := range images {
			if err := decoder.Decode(&pixels, &images[i], codec.DecodeOptions{}); err != nil {
				return ready, err
			}
		}
		return ready, nil
	}, ready, err
}

// process processes each image as dsconv pack does.
func process(folder, resize, encode, decode string) (pass, result, error) {
	images, size, err := load(folder)
	ready := result{Images: len(images), BytesIn: size}
	if err != nil {
		return nil, ready, err
	}
	recipe, err := parseRecipe(resize, encode, decode)
	if err != nil {
		return nil, ready, err
	}
	processor, err := preprocess.NewProcessor(recipe, formats.Schema{{Name: "image", Kind: formats.Image}})
	if err != nil {
		return nil, ready, err
	}
	var in, out formats.Sample
	in.Resize(1)
	return func() (result, error) {
		r := ready
		for _, v := range images {
			in.Values[0].Set(v)
			if err := processor.Process(&in, &out); err != nil {
				return r, err
			}
			r.BytesOut += len(out.Values[0].Data)
		}
		return r, nil
	}, ready, nil
}

func parseRecipe(resize, encode, decode string) (r preprocess.Recipe, err error) {
	err = errors.Join(r.Resize.UnmarshalText([]byte(resize)), r.Encode.UnmarshalText([]byte(encode)), r.Decode.UnmarshalText([]byte(decode)))
	return r, err
}
