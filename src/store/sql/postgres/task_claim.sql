UPDATE task t SET status = u.leased, epoch = u.epoch, token = u.token, owner = u.owner,
    lease_until_us = u.lease_until_us,
    attempt = CASE WHEN t.token = u.token THEN t.attempt ELSE t.attempt + 1 END
FROM {bare key int, expected int, epoch int, token blob, owner text, lease_until_us int, ready int, leased int}
WHERE t.key = u.key AND ((t.epoch = u.expected AND t.status = u.ready
        AND NOT EXISTS (SELECT 1 FROM run r WHERE r.key = t.run AND r.paused_us IS NOT NULL)) OR t.token = u.token)
RETURNING u.row
