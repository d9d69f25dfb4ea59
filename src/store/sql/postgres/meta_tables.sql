-- -> 1 when the table meta is there, and the number of tables and views of any kind
SELECT count(*) FILTER (WHERE c.relname = 'meta' AND c.relkind = 'r'), count(*)
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
