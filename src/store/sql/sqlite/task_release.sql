-- ?1 key, ?2 epoch, ?3 token, ?4 status ready, ?5 available_us. The epoch stays: the next claim raises it.
-- Flag: the claim was still held.
UPDATE task SET status = ?4, token = NULL, owner = NULL, lease_until_us = NULL, available_us = ?5
WHERE key = ?1 AND epoch = ?2 AND token = ?3
