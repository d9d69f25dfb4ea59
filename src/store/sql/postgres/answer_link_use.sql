UPDATE answer_link a SET used_us = u.used_us, used_from = u.used_from
FROM {bare key int, used_us int, used_from text} WHERE a.key = u.key AND a.used_us IS NULL
RETURNING u.row
