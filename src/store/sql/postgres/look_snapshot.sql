-- -> a text that is another one after every transaction that wrote, of whichever database of the server
SELECT txid_current_snapshot()::text
