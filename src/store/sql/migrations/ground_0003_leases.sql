-- The lease of an attempt that a worker of another process has: while the row is running and has an owner, the time
-- until which it is the owner's; null otherwise. A row that waits for its next attempt keeps the owner of one that was
-- lost, who may report until another begins.
ALTER TABLE activity ADD COLUMN lease_until_us {int};
UPDATE activity SET lease_until_us = started_us + 300000000 WHERE status = 2 AND owner IS NOT NULL;
