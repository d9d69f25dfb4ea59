UPDATE run r SET last_us = r.last_us FROM {rows key int}
WHERE r.key = u.key
