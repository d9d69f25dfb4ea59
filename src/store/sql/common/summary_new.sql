INSERT INTO run_summary {insert run int, namespace int, instance int, status int, sort_us int}
