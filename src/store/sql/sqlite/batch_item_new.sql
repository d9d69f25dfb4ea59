-- ?1 batch, ?2 number, ?3 status, ?4 id, ?5 outcome, ?6 reason, ?7 message. Flag: it is new.
INSERT INTO batch_item (batch, number, status, id, outcome, reason, message) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
ON CONFLICT (batch, number) DO NOTHING
