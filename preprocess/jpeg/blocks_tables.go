package jpeg

// bestTable makes the Huffman table of T.81, K.2, for symbols of these counts, with codes of
// at most 16 bits none of which is all ones.
func bestTable(counts *[256]int) (lengths [17]byte, symbols []byte) {
	sizes := codeSizes(counts)
	var of [258]int // codes of a size
	for _, size := range sizes {
		of[size]++
	}
	of[0] = 0
	for i := len(of) - 1; i > 16; i-- {
		for of[i] > 0 {
			j := i - 2
			for of[j] == 0 {
				j--
			}
			of[i] -= 2
			of[i-1]++
			of[j+1] += 2
			of[j]--
		}
	}
	longest := 16
	for longest > 0 && of[longest] == 0 {
		longest--
	}
	of[longest]-- // the reserved code point
	for i := 1; i <= 16; i++ {
		lengths[i] = byte(of[i])
	}
	for size := 1; size < len(of); size++ {
		for i := range counts {
			if sizes[i] == size {
				symbols = append(symbols, byte(i))
			}
		}
	}
	return lengths, symbols
}

// codeSizes are the sizes of the codes of T.81, figure K.1; the last is of the reserved code.
func codeSizes(counts *[256]int) (sizes [257]int) {
	var weight, next [257]int
	var live []int
	copy(weight[:], counts[:])
	weight[256] = 1
	for i, n := range weight {
		next[i] = -1
		if n > 0 {
			live = append(live, i)
		}
	}
	for len(live) > 1 {
		a, b := -1, -1 // places of the two lightest, the later of equal ones
		for i, x := range live {
			switch {
			case a < 0 || weight[x] <= weight[live[a]]:
				a, b = i, a
			case b < 0 || weight[x] <= weight[live[b]]:
				b = i
			}
		}
		x, y := live[a], live[b]
		weight[x] += weight[y]
		live = append(live[:b], live[b+1:]...)
		for sizes[x]++; next[x] >= 0; sizes[x]++ {
			x = next[x]
		}
		next[x] = y
		for sizes[y]++; next[y] >= 0; sizes[y]++ {
			y = next[y]
		}
	}
	return sizes
}
