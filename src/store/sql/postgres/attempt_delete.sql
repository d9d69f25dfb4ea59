DELETE FROM attempt t USING {rows activity int}
WHERE t.activity = u.activity
