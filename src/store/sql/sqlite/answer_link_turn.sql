-- An answer was refused, and the next one is another. ?1 key, ?2 turn. Flag: it was that one's turn.
UPDATE answer_link SET turn = turn + 1 WHERE key = ?1 AND turn = ?2
