-- ?1 instance -> its open run, and which of its runs that is
SELECT key, number FROM run WHERE instance = ?1 AND closed_us IS NULL
