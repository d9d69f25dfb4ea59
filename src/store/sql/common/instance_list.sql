-- Every instance of a namespace. ?1 namespace key -> id, type, current_run
SELECT id, type, current_run FROM instance WHERE namespace = ?1 ORDER BY key
