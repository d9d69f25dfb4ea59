-- -> 1 when the table meta is there, and the number of tables and views of any kind
SELECT count(*) FILTER (WHERE name = 'meta' AND type = 'table'), count(*)
FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\_%' ESCAPE '\'
