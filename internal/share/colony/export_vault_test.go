package colony

// SetPartChars has new snapshots cut into smaller parts.
func (v *Vault) SetPartChars(n int) { v.partChars = n }
