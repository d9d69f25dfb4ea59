-- -> bytes of the database, 0
SELECT pg_database_size(current_database()), 0
