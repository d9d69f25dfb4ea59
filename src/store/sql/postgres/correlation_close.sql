DELETE FROM correlation c USING {rows instance int, ending int}
WHERE c.instance = u.instance AND (c.scope & u.ending) = 0
