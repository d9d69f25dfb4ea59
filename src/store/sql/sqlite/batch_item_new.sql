-- ?1 batch, ?2 number, ?3 status, ?4 id, ?5 outcome, ?6 reason, ?7 message, ?8 epoch. Flag: it is new, and the batch has
-- come so far under this epoch.
INSERT INTO batch_item (batch, number, status, id, outcome, reason, message)
SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 FROM batch b WHERE b.key = ?1 AND b.epoch = ?8 AND ?2 < b.at
ON CONFLICT (batch, number) DO NOTHING
