-- I25. ?1 lowest, ?2 highest run key, ?3 activity task -> activities whose attempts are not numbered 1 to the newest.
-- Attempts made in the engine's own process have neither rows nor a task; the activity's row counts them.
SELECT a.run AS run, a.key AS activity, a.attempt AS newest, count(t.number) AS attempts
FROM activity a LEFT JOIN attempt t ON t.activity = a.key
WHERE a.run BETWEEN ?1 AND ?2
GROUP BY a.run, a.key, a.attempt
HAVING (count(t.number) <> a.attempt OR coalesce(max(t.number), 0) <> a.attempt OR coalesce(min(t.number), 1) <> 1)
    AND (count(t.number) > 0
        OR EXISTS (SELECT 1 FROM task k WHERE k.run = a.run AND k.kind = ?3 AND k.source_key = a.key))
