-- Takes ?2 numbers of counter ?1 -> the first of them.
UPDATE counter SET next = next + ?2 WHERE name = ?1 RETURNING next - ?2
