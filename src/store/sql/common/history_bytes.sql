-- ?1 run, ?2 event -> bytes of the chunks up to the one with the event
SELECT CAST(coalesce(sum(length(h.body)), 0) AS {int}) FROM history h WHERE h.run = ?1 AND h.first_seq <= ?2
