-- only postgres
-- ?1 microseconds: letters that nobody fetched for so long are for nodes that are gone
DELETE FROM mail WHERE sent_us < (extract(epoch FROM clock_timestamp()) * 1000000)::bigint - ?1
