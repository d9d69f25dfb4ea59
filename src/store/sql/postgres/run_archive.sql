UPDATE run r SET archived_us = u.archived_us FROM {rows key int, archived_us int}
WHERE r.key = u.key
