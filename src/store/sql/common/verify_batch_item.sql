-- I40. ?1 lowest, ?2 highest run key -> items of no batch, or beyond what the batch has done
SELECT t.batch AS batch, t.number AS item FROM batch_item t LEFT JOIN batch b ON b.key = t.batch
WHERE (b.key IS NULL OR t.number >= b.at) AND ?1 < ?2
