-- What belongs to no run and is over. ?1 a moment, ?2 namespace (0: all), ?3, ?4 other moments -> slots and workers whose
-- lease ended before the first, builds that work again, points of charts that begin before the second,
-- workers of which nobody heard since the third, links that ended before it, sessions that changed last before it, builds
-- of which no worker was there since
SELECT (SELECT count(*) FROM slot s WHERE s.lease_until_us < ?1), (SELECT count(*) FROM worker w WHERE w.expires_us < ?1),
    (SELECT count(*) FROM build b WHERE b.drained_us IS NULL AND b.promoted_us IS NULL AND (?2 = 0 OR b.namespace = ?2)),
    (SELECT count(*) FROM metric_point m WHERE m.at_us < ?3), (SELECT count(*) FROM registration g WHERE g.seen_us < ?4),
    (SELECT count(*) FROM answer_link a WHERE a.expires_us < ?4), (SELECT count(*) FROM sign_in i WHERE i.seen_us < ?4),
    (SELECT count(*) FROM build_seen d WHERE d.last_us < ?4)
