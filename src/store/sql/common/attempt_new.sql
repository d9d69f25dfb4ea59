INSERT INTO attempt {insert activity int, number int, status int, task int, epoch int, owner text, started_us int,
heartbeat_us int, lease_until_us int, closed_us int}
