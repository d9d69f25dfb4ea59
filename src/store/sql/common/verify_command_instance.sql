-- I40. ?1 lowest, ?2 highest run key -> commands of an instance that does not exist or that their run is not of
SELECT c.key AS command, c.instance AS instance, c.run AS run
FROM command c LEFT JOIN instance i ON i.key = c.instance LEFT JOIN run r ON r.key = c.run
WHERE (i.key IS NULL OR r.instance <> c.instance) AND (?1 < ?2 OR c.run = ?1)
