WITH made AS (
    INSERT INTO token (id, digest, label, role, namespaces, created_us, expires_us)
    SELECT u.id, u.digest, u.label, u.role, u.namespaces, u.created_us, u.expires_us
    FROM {bare id text, digest blob, label text, role text, namespaces text, created_us int, expires_us int}
    ON CONFLICT (id) DO NOTHING
    RETURNING id
)
SELECT k.row FROM unnest(?1::text[]) WITH ORDINALITY AS k(id, row) JOIN made ON made.id = k.id
