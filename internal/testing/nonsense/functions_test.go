package nonsense_test

import (
	"reflect"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/bench"
	"github.com/dsconv/dsconv/bench/page"
	"github.com/dsconv/dsconv/bench/plan"
	"github.com/dsconv/dsconv/bench/verdict"
	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/diff"
	"github.com/dsconv/dsconv/edit"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/archive"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/formats/hdf5"
	"github.com/dsconv/dsconv/formats/labels"
	"github.com/dsconv/dsconv/formats/lmdb"
	"github.com/dsconv/dsconv/formats/mds"
	"github.com/dsconv/dsconv/formats/parquet"
	"github.com/dsconv/dsconv/formats/shard"
	"github.com/dsconv/dsconv/formats/tfrecord"
	"github.com/dsconv/dsconv/gpudecode"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/order"
	"github.com/dsconv/dsconv/reader/random"
	"github.com/dsconv/dsconv/trainer"
	"github.com/dsconv/dsconv/verify"
)

// functions are the exported functions that the test calls with nonsense; generic ones for one type.
var functions = []any{
	codec.Decode, codec.DecodeFrom, codec.DecodeImage, codec.Encode, codec.EncodeImage, archive.ListClassArchives, archive.Open, archive.OpenClassArchives, archive.OpenMounted, archive.SplitPath, folder.OpenListed, folder.OpenMounts, folder.OpenTree, pixel.FromImage, preprocess.Thumbnail, preprocess.ThumbnailOf,
	diff.Run, edit.Describe, reader.Labels[int64], reader.NewBatch, reader.Pixels[uint8], reader.ViewPixels[uint8], reader.ViewSeed,
	page.WriteHTML,
	plan.Advise, plan.Candidates, plan.Run,
	bench.ReadReport, bench.Run, verdict.Advise, verdict.Join, verdict.Judge, verdict.Predict, convert.Run, convert.Shuffled,
	formats.CheckBuilt, formats.CheckKey, formats.CheckPath, formats.CheckSplit, formats.Find, formats.Locate, formats.NotFound, formats.Unreadable,
	formats.OpenFormat, formats.ParseMap, formats.ReadOptionsFromRecipe,
	formats.ParsePatterns, formats.PatternsFromRecipe, formats.RemovedFrom, formats.Sniff, formats.Content, formats.SplitFolders, formats.SplitWords, formats.IsSplitWord, formats.WrapDamaged,
	dsconv.Formats, dsconv.NewLoader, dsconv.NewReport, dsconv.Open, dsconv.OpenSource, dsconv.OpenSources, dsconv.SplitSources, dsconv.Pack, dsconv.PackDataset, dsconv.PlanPack, dsconv.PlanShards, dsconv.PackShard, dsconv.MissingShards, dsconv.CommitShards, dsconv.NewWriter, dsconv.PackItems,
	dsconv.Samples, dsconv.TablePath,
	augment.Compile, augment.CompileEach, augment.Eval, augment.FixesSize, augment.Parse, augment.Train,
	codec.Inspect, hdf5.LibraryVersion, lmdb.LibraryVersion,

	convert.New, convert.NewShard, convert.NewVersion, convert.Stitch, convert.WriteTable,

	edit.Add, edit.Merge, edit.Relabel, edit.Remove, edit.RemoveSelected, edit.RenameClasses, edit.Repair, edit.RepairDescription,
	folder.DescribeField, folder.IsDescription, folder.IsList, folder.NewPreview, folder.Open, folder.OpenList, folder.ReadRows, folder.WithProgress,
	gpudecode.ByKind, gpudecode.Open, gpudecode.Suits,
	labels.AreVectors, labels.ClassesOf, labels.FormatFloat, labels.Hot, labels.IndexOf, labels.NaN, labels.ParseTypes,
	order.Parse, order.ParseTail,
	pixel.EndsRun, pixel.Orient, pixel.OrientBox[float32], pixel.OrientBoxes,
	pixel.OrientedSize,
	preprocess.DeviceOf, preprocess.NewGPUDecoder, preprocess.NewProcessor, preprocess.ParseRecipe,
	random.Mix, random.NewRand,
	reader.Elements[uint8], reader.FirstSplit, reader.New, reader.NewConcat, reader.Open, reader.ParseCache, reader.ParseOnError, reader.TrainSplit,
	trainer.CheckDType, trainer.InputOf, trainer.Models, trainer.New, trainer.Run,
	verify.Run,
}

// types are those whose exported methods the test calls with nonsense.
var types = []reflect.Type{
	reflect.TypeFor[*archive.FS](),
	reflect.TypeFor[*codec.EncodeOptions](),
	reflect.TypeFor[parquet.Format](),
	reflect.TypeFor[*codec.Mode](),
	reflect.TypeFor[*pixel.Color](),
	reflect.TypeFor[*pixel.EXIF](),
	reflect.TypeFor[*pixel.Filter](),
	reflect.TypeFor[*pixel.Sampling](),
	reflect.TypeFor[*preprocess.Check](),
	reflect.TypeFor[*preprocess.Decoded](),
	reflect.TypeFor[*preprocess.Decoder](),
	reflect.TypeFor[preprocess.Device](),
	reflect.TypeFor[*preprocess.GPUDecoder](),
	reflect.TypeFor[*preprocess.Resize](),
	reflect.TypeFor[*preprocess.Zstd](),
	reflect.TypeFor[*augment.Func](),
	reflect.TypeFor[*diff.Report](),
	reflect.TypeFor[*augment.Steps](),
	reflect.TypeFor[*convert.Splitter](),
	reflect.TypeFor[*convert.Splits](),
	reflect.TypeFor[*dsconv.PackPlan](),
	reflect.TypeFor[*dsconv.Report](),
	reflect.TypeFor[*dsconv.Writer](),
	reflect.TypeFor[augment.CenterCrop](),
	reflect.TypeFor[augment.ColorJitter](),
	reflect.TypeFor[augment.CutMix](),
	reflect.TypeFor[augment.GaussianBlur](),
	reflect.TypeFor[augment.MixUp](),
	reflect.TypeFor[augment.Normalize](),
	reflect.TypeFor[augment.NormalizeByDataset](),
	reflect.TypeFor[*augment.Ops](),
	reflect.TypeFor[*augment.Pipeline](),
	reflect.TypeFor[augment.RandAugment](),
	reflect.TypeFor[augment.RandomAdjustSharpness](),
	reflect.TypeFor[augment.RandomApply](),
	reflect.TypeFor[augment.RandomAutocontrast](),
	reflect.TypeFor[augment.RandomCrop](),
	reflect.TypeFor[augment.RandomEqualize](),
	reflect.TypeFor[augment.RandomErasing](),
	reflect.TypeFor[augment.RandomGrayscale](),
	reflect.TypeFor[augment.RandomHorizontalFlip](),
	reflect.TypeFor[augment.RandomInvert](),
	reflect.TypeFor[augment.RandomPosterize](),
	reflect.TypeFor[augment.RandomResizedCrop](),
	reflect.TypeFor[augment.RandomRotation](),
	reflect.TypeFor[augment.RandomSolarize](),
	reflect.TypeFor[augment.RandomVerticalFlip](),
	reflect.TypeFor[augment.Resize](),
	reflect.TypeFor[*augment.Runner](),
	reflect.TypeFor[augment.TrivialAugmentWide](),
	reflect.TypeFor[bench.Options](),
	reflect.TypeFor[*bench.Report](),
	reflect.TypeFor[plan.Options](),
	reflect.TypeFor[*plan.Plan](),
	reflect.TypeFor[convert.Options](),
	reflect.TypeFor[convert.Order](),
	reflect.TypeFor[*convert.Plan](),
	reflect.TypeFor[*convert.Problem](),
	reflect.TypeFor[*convert.Report](),
	reflect.TypeFor[*edit.Added](),
	reflect.TypeFor[folder.Config](),
	reflect.TypeFor[*folder.Dataset](),
	reflect.TypeFor[*folder.ListedDataset](),
	reflect.TypeFor[*folder.Description](),
	reflect.TypeFor[*folder.FieldColumn](),
	reflect.TypeFor[folder.Format](),
	reflect.TypeFor[folder.ListFormat](),
	reflect.TypeFor[*folder.Preview](),
	reflect.TypeFor[formats.DType](),
	reflect.TypeFor[formats.Encoding](),
	reflect.TypeFor[*formats.FileFilter](),
	reflect.TypeFor[*formats.Keep](),
	reflect.TypeFor[*formats.Info](),
	reflect.TypeFor[formats.Kind](),
	reflect.TypeFor[*formats.Field](),
	reflect.TypeFor[*formats.Meta](),
	reflect.TypeFor[tfrecord.Examples](),
	reflect.TypeFor[lmdb.Images](),
	reflect.TypeFor[formats.Patterns](),
	reflect.TypeFor[formats.Portion](),
	reflect.TypeFor[formats.ReadOptions](),
	reflect.TypeFor[formats.Registry](),
	reflect.TypeFor[*formats.Sample](),
	reflect.TypeFor[formats.Schema](),
	reflect.TypeFor[*formats.Value](),
	reflect.TypeFor[*gpudecode.Batcher](),
	reflect.TypeFor[*gpudecode.Decoder](),
	reflect.TypeFor[*gpudecode.GPU](),
	reflect.TypeFor[*gpudecode.Memory](),
	reflect.TypeFor[*gpudecode.Tally](),
	reflect.TypeFor[hdf5.Format](),
	reflect.TypeFor[*labels.Column](),
	reflect.TypeFor[*labels.Source](),
	reflect.TypeFor[labels.Types](),
	reflect.TypeFor[lmdb.Format](),
	reflect.TypeFor[mds.Format](),
	reflect.TypeFor[order.Kind](),
	reflect.TypeFor[*order.Spec](),
	reflect.TypeFor[*order.Tail](),
	reflect.TypeFor[pixel.Area](),
	reflect.TypeFor[pixel.Color](),
	reflect.TypeFor[*pixel.Image](),
	reflect.TypeFor[pixel.Rect](),
	reflect.TypeFor[*pixel.Stop](),
	reflect.TypeFor[*preprocess.Processor](),
	reflect.TypeFor[preprocess.Recipe](),
	reflect.TypeFor[preprocess.Resize](),
	reflect.TypeFor[*random.Rand](),
	reflect.TypeFor[*reader.Batch](),
	reflect.TypeFor[reader.Clock](),
	reflect.TypeFor[reader.Config](),
	reflect.TypeFor[*reader.Field](),
	reflect.TypeFor[*reader.Loader](),
	reflect.TypeFor[reader.Memory](),
	reflect.TypeFor[*reader.Run](),
	reflect.TypeFor[shard.Format](),
	reflect.TypeFor[tfrecord.Format](),
	reflect.TypeFor[*trainer.Trainer](),
	reflect.TypeFor[*verify.Report](),
	reflect.TypeFor[shard.WebDataset](),
}

// harmless take nothing that could be wrong, or are tested for misuse in their own package.
var harmless = map[string]bool{}
