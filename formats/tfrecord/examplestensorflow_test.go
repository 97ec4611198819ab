package tfrecord_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/tfrecord"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// writeByTensorFlow writes ImageNet's features, and files that are refused.
const writeByTensorFlow = `
import base64, json, os, sys
import numpy as np
import tensorflow as tf
os.chdir(sys.argv[1])
rng = np.random.default_rng(0)

def feature(value):
    if isinstance(value, bytes): return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))
    if isinstance(value, float): return tf.train.Feature(float_list=tf.train.FloatList(value=[value]))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))
def example(i):
    image = tf.io.encode_jpeg(rng.integers(0, 256, (8, 9, 3), dtype=np.uint8)).numpy()
    return image, tf.train.Example(features=tf.train.Features(feature={"image/encoded": feature(image), "image/class/label": feature(900 + i % 2), "image/height": feature(8),
        "image/class/synset": feature([b"n02", b"n01"][i % 2]), "image/filename": feature(b"n0%d_%d.JPEG" % (i % 2, i)), "image/format": feature(b"JPEG"), "weight": feature(i / 2)}))
os.mkdir("imagenet")
images = {}
for shard in range(2):
    with tf.io.TFRecordWriter("imagenet/train-%05d-of-00002" % shard) as w:
        for i in range(3 * shard, 3 * shard + 3):
            image, record = example(i)
            images["train/n0%d_%d" % (i % 2, i)] = base64.b64encode(image).decode()
            w.write(record.SerializeToString())
json.dump(images, open("images.json", "w"))
for kind in "GZIP", "ZLIB":
    with tf.io.TFRecordWriter(kind + ".tfrecord", tf.io.TFRecordOptions(compression_type=kind)) as w:
        w.write(example(0)[1].SerializeToString())
with tf.io.TFRecordWriter("sequence.tfrecord") as w:
    lists = tf.train.FeatureLists(feature_list={"frames": tf.train.FeatureList(feature=[feature(example(0)[0])])})
    w.write(tf.train.SequenceExample(feature_lists=lists).SerializeToString())
`

// TestByTensorFlow: what TensorFlow writes has the samples that were written.
func TestByTensorFlow(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TF_CPP_MIN_LOG_LEVEL", "3")
	formatcheck.ForeignPython(t, writeByTensorFlow, dir)
	sameAsWritten(t, dir)
	for name, want := range map[string]string{"GZIP.tfrecord": "compressed", "ZLIB.tfrecord": "compressed", "sequence.tfrecord": "SequenceExample"} {
		if _, err := (tfrecord.Examples{}).Open(filepath.Join(dir, name)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func sameAsWritten(t *testing.T, dir string) {
	ds, err := formatcheck.OpenForeign(t, tfrecord.Examples{}, filepath.Join(dir, "imagenet"), "")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string][]byte
	formatcheck.ReadJSON(t, filepath.Join(dir, "images.json"), &want)
	if !slices.Equal(ds.Meta().Classes(), []string{"n01", "n02"}) || ds.Len() != len(want) {
		t.Errorf("%d samples of %v", ds.Len(), ds.Meta().Classes())
	}
	formatcheck.EachSample(t, ds, func(in formats.Info, s *formats.Sample) {
		if synset := map[int64]byte{0: '1', 1: '0'}[in.Label]; !bytes.Equal(s.Values[0].Data, want[in.Key]) || in.Key[len("train/n0")] != synset {
			text, _ := json.Marshal(in)
			t.Errorf("%s", text)
		}
	})
}
