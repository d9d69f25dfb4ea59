WITH made AS (
    INSERT INTO answer_link (key, digest, namespace, instance_id, run, step, name, label, created_by, created_us,
        expires_us, turn)
    SELECT u.key, u.digest, u.namespace, u.instance_id, u.run, u.step, u.name, u.label, u.created_by, u.created_us,
        u.expires_us, 0
    FROM {bare key int, digest blob, namespace int, instance_id text, run int, step int, name text, label text,
        created_by text, created_us int, expires_us int, most int}
    WHERE (SELECT count(*) FROM answer_link a WHERE a.namespace = u.namespace AND a.run = u.run AND a.step = u.step
        AND a.used_us IS NULL AND a.revoked_us IS NULL AND a.expires_us > u.created_us) < u.most
    RETURNING key
)
SELECT k.row FROM unnest(?1::bigint[]) WITH ORDINALITY AS k(key, row) JOIN made ON made.key = k.key
