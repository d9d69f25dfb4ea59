UPDATE message m SET state = 2, taken_run = u.run, taken_step = u.step, taken_us = u.now_us
FROM {rows instance int, stream text, seq int, run int, step int, now_us int}
WHERE m.key = ANY (ARRAY(SELECT x.key FROM message x
    WHERE x.instance = u.instance AND x.stream = u.stream AND x.seq <= u.seq AND x.direction = 1 AND x.state = 1))
