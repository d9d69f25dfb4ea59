-- ?1 instance -> its newest run, when that is open
SELECT r.key
FROM instance i JOIN run r ON r.key = i.current_run
WHERE i.key = ?1 AND r.closed_us IS NULL
