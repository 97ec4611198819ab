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

// writeByTFDS prepares datasets of TensorFlow Datasets, and saves what it reads from them in the order of the files.
const writeByTFDS = `
import base64, json, os, sys
import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds
from tensorflow_datasets.core.utils import gcs_utils
gcs_utils._is_gcs_disabled = True # nothing is fetched
os.chdir(sys.argv[1])
rng = np.random.default_rng(0)

class Toy(tfds.core.GeneratorBasedBuilder):
    VERSION = tfds.core.Version("1.0.0")

    def _info(self):
        return tfds.core.DatasetInfo(builder=self, features=tfds.features.FeaturesDict({
            "image": tfds.features.Image(shape=(None, None, 3), encoding_format="png"), "label": tfds.features.ClassLabel(names=["zebra", "ant", "bee"]),
            "file_name": tfds.features.Text(), "caption": tfds.features.Text(), "score": np.float32, "many": tfds.features.Sequence(np.int64),
            "depth": tfds.features.Image(shape=(None, None, 1), dtype=np.uint16, encoding_format="png"),
            "objects": tfds.features.Sequence({"bbox": tfds.features.BBoxFeature(), "label": tfds.features.ClassLabel(names=["cow", "calf"])}),
        }))

    def _split_dl_generators(self): pass
    def _split_generators(self, dl_manager):
        return {"train": self._generate_examples(23), "validation": self._generate_examples(6)}

    def _generate_examples(self, n):
        for i in range(n):
            yield i, {"image": rng.integers(0, 256, (5 + i % 3, 4, 3), dtype=np.uint8), "label": i % 3, "file_name": "n%d/%05d.png" % (i % 3, i),
                      "caption": "wörd %d" % i, "score": i / 4, "many": list(range(i % 4)), "depth": rng.integers(0, 65536, (4, 4, 1), dtype=np.uint16),
                      "objects": [{"bbox": tfds.features.BBox(0.125, 0.25, 0.5, 0.75), "label": k % 2} for k in range(i % 3)]}

want = {}
for kind in "tfrecord", "array_record":
    config = tfds.download.DownloadConfig(num_shards=4)
    builder = Toy(data_dir=kind, file_format=kind)
    builder.download_and_prepare(download_config=config)
    if kind == "tfrecord":
        for split in "train", "validation":
            options = tfds.ReadConfig(interleave_cycle_length=1)
            data = builder.as_dataset(split=split, shuffle_files=False, read_config=options, decoders={"image": tfds.decode.SkipDecoding(), "depth": tfds.decode.SkipDecoding()})
            want[split] = [{
                "image": base64.b64encode(r["image"]).decode(), "depth": base64.b64encode(r["depth"]).decode(), "label": int(r["label"]),
                "filename": r["file_name"].decode(), "caption": r["caption"].decode(), "score": float(r["score"]), "many": r["many"].tolist(),
                "bbox": base64.b64encode(r["objects"]["bbox"].tobytes()).decode(),
            } for r in tfds.as_numpy(data)]
        os.symlink(builder.data_dir, "prepared")
    else:
        os.symlink(builder.data_dir, "arrayrecord")
json.dump(want, open("want.json", "w"))

# TensorFlow's own writer: ImageNet's features, and files that are refused.
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

// TestByTensorFlow: what TensorFlow Datasets and TensorFlow write has the samples that they read.
func TestByTensorFlow(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TF_CPP_MIN_LOG_LEVEL", "3")
	formatcheck.ForeignPython(t, writeByTFDS, dir)
	t.Run("TFDS", func(t *testing.T) { sameAsTFDS(t, dir) })
	t.Run("ImageNet", func(t *testing.T) { sameAsWritten(t, dir) })
	for name, want := range map[string]string{"arrayrecord": "array_record", "GZIP.tfrecord": "compressed", "ZLIB.tfrecord": "compressed", "sequence.tfrecord": "SequenceExample"} {
		if _, err := (tfrecord.Examples{}).Open(filepath.Join(dir, name)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func sameAsTFDS(t *testing.T, dir string) {
	ds, err := formatcheck.OpenForeign(t, tfrecord.Examples{}, filepath.Join(dir, "prepared"), "")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string][]struct {
		Image, Depth, Bbox []byte
		Label              int64
		Filename, Caption  string
		Score              float64
		Many               []int64
	}
	formatcheck.ReadJSON(t, filepath.Join(dir, "want.json"), &want)
	m := ds.Meta()
	if !slices.Equal(m.Classes(), []string{"zebra", "ant", "bee"}) || ds.Len() != 29 || len(m.Files) < 3 {
		t.Fatalf("%d samples of %v in %v", ds.Len(), m.Classes(), m.Files)
	}
	if got := formatcheck.SchemaText(m.Schema); got != "image:image label:label caption:text depth:image many:array/int64[] "+
		"objects_bbox:array/float32[] objects_label:array/int64[] score:number" {
		t.Errorf("the fields are %s", got)
	}
	for split, rows := range want {
		for _, w := range rows {
			i, err := formats.Find(ds, split+"/"+strings.TrimSuffix(w.Filename, ".png"))
			if err != nil {
				t.Fatal(err)
			}
			var s formats.Sample
			if err := ds.Read(i, &s); err != nil {
				t.Fatal(err)
			}
			get := func(name string) *formats.Value { return &s.Values[m.Schema.Index(name)] }
			label, _ := get("label").Int64()
			score, _ := get("score").Float32()
			if !bytes.Equal(get("image").Data, w.Image) || !bytes.Equal(get("depth").Data, w.Depth) || label != w.Label || string(get("caption").Data) != w.Caption || float64(score) != w.Score {
				t.Errorf("%s differs: %d, %v", s.Key, label, score)
			}
			if !bytes.Equal(get("objects_bbox").Data, w.Bbox) || len(get("many").Data) != 8*len(w.Many) {
				t.Errorf("%s: the boxes are %v, many %v of %v", s.Key, get("objects_bbox"), get("many"), w.Many)
			}
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
