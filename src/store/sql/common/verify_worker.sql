-- I40. ?1 lowest, ?2 highest run key -> signs of life that end before they begin, or of nobody
SELECT w.process AS process, w.recorded_us AS recorded FROM worker w
WHERE ?1 < ?2 AND (w.expires_us < w.recorded_us OR w.name = '' OR w.queue = '')
