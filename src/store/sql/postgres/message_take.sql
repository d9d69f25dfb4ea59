UPDATE message m SET state = 2, taken_run = u.run, taken_step = u.step, taken_us = u.now_us
FROM {rows instance int, stream text, seq int, run int, step int, now_us int}
WHERE m.instance = u.instance AND m.stream = u.stream AND m.seq <= u.seq AND m.direction = 1 AND m.state = 1
