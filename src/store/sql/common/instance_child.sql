-- An instance that another run's unit creates; an id that is taken is an error, because that run already says so.
INSERT INTO instance {insert key int, namespace int, id text, shard int, type text, business_key text, current_run int,
run_count int, created_us int}
