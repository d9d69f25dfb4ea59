UPDATE inbox t SET run = u.next FROM {rows run int, next int}
WHERE t.run = u.run AND t.kind >= 16
