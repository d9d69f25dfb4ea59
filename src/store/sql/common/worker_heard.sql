-- ?1 worker -> when it last showed itself, at whichever node; null: never, or too long ago
SELECT MAX(recorded_us) FROM worker WHERE name = ?1
