// Package preprocess says what happens to the images of a dataset when it is packed.
//
// A [Recipe] has the steps: decode, turn upright, scale, crop, encode. Package convert applies it to a
// dataset; a [Processor] applies it to one sample:
//
//	recipe := preprocess.Recipe{
//		Resize: preprocess.Resize{Mode: preprocess.ResizeShorter, W: 256},
//		Encode: codec.EncodeOptions{Encoding: formats.JPEG, Quality: 90},
//	}
//	p, err := preprocess.NewProcessor(recipe, schema)
//	...
//	defer p.Close()
//	if err := p.Process(in, out); err != nil {
//		return err
//	}
//
// Package github.com/dsconv/dsconv/preprocess/codec decodes and encodes single images, package
// github.com/dsconv/dsconv/preprocess/pixel has the images themselves.
//
// # Same pixels
//
// The pixels of a recipe equal Pillow's bit for bit, those of Image.open(p).convert, Image.resize and
// Image.save; a recipe records the decoder. A build with CGO_ENABLED=0 keeps images as they are.
//
// # Texts
//
// The options have the texts of the command's flags: they implement encoding.TextMarshaler and
// encoding.TextUnmarshaler. [Recipe.Map] and [ParseRecipe] are the form in which a dataset stores its
// recipe.
//
// # Threads and lifetime
//
// A Processor holds scratch memory and memory of C. Use one a goroutine for many samples, and close it
// at the end. The functions are for any goroutine.
package preprocess
