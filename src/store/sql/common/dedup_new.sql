INSERT INTO dedup {insert instance int, hash blob, command int}
