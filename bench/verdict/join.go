package verdict

// Join returns the costs that decide how long an epoch of several ranks takes: those of the slowest rank by the
// model, because all ranks wait for it. Rank says which one that is. The longest measured epoch is that of all.
func Join(ranks []Costs) Costs {
	if len(ranks) == 0 {
		return Costs{}
	}
	slowest, epoch := 0, ranks[0].Epoch
	for i := range ranks {
		if ranks[i].modelled() > ranks[slowest].modelled() {
			slowest = i
		}
		epoch = max(epoch, ranks[i].Epoch)
	}
	joined := ranks[slowest]
	joined.Epoch, joined.Rank, joined.Ranks = epoch, slowest, len(ranks)
	return joined
}
