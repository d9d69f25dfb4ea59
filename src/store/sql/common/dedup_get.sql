-- ?1 instance, ?2 hash -> command
SELECT command FROM dedup WHERE instance = ?1 AND hash = ?2
