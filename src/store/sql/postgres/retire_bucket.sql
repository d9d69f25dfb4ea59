DELETE FROM bucket b USING {bare key text, namespace int, now_us int}
WHERE b.key = u.key AND b.namespace = u.namespace AND b.full_us <= u.now_us
RETURNING u.row
