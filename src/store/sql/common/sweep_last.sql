-- The newest open run -> its key, null when there is none
SELECT max(key) FROM run WHERE closed_us IS NULL
