-- I40. ?1 lowest, ?2 highest run key, ?3 running, ?4 completed, ?5 aborted -> batches whose columns contradict each other
-- or that have not kept what became of each item they have done
SELECT b.key AS batch, b.at AS item FROM batch b LEFT JOIN namespace n ON n.key = b.namespace
WHERE ?1 < ?2 AND (n.key IS NULL OR b.at < 0 OR b.at > b.total OR b.total < 1
    OR (b.status = ?4) <> (b.closed_us IS NOT NULL AND b.status <> ?5) OR (b.status = ?5 AND b.closed_us IS NULL)
    OR (b.status = ?4 AND b.at < b.total)
    OR (b.owner IS NULL) <> (b.lease_until_us IS NULL) OR (b.owner IS NOT NULL AND b.epoch < 1)
    OR (b.owner IS NOT NULL AND b.status NOT IN (?3, ?4))
    OR (SELECT count(*) FROM batch_item t WHERE t.batch = b.key AND t.number < b.at) <> b.at)
