UPDATE run r SET paused_us = u.paused_us FROM {rows key int, paused_us int}
WHERE r.key = u.key
