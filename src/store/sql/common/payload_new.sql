INSERT INTO payload {insert key int, run int, digest blob, codec int, size int, compression int, body blob}
ON CONFLICT (run, digest) DO NOTHING
